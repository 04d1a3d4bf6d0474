#if PostgreSQL
import RelataCore
import RelataEngine

extension PostgresEngine {
    package func serverPosition(_ connection: Connection) throws(RelataError) -> ServerPosition? {
        let sql = """
            SELECT (CASE WHEN r THEN coalesce(pg_last_wal_replay_lsn() - '0/0', 0) ELSE pg_current_wal_lsn() - '0/0' END)::bigint,
                r, (1000 * CASE
                    WHEN NOT r THEN (SELECT extract(epoch FROM max(replay_lag)) FROM pg_stat_replication)
                    WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
                    ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())
                END)::bigint
            FROM pg_is_in_recovery() AS r
            """
        var position: ServerPosition?
        try connection.rows(SQLStatement(sql)) { row in
            position = ServerPosition(
                logPosition: row.integer(at: 0), isReplica: row.integer(at: 1) == 1,
                lag: row.isNull(at: 2) ? nil : Double(row.integer(at: 2)) / 1000)
        }
        return position
    }
}
#endif
