#if PostgreSQL
import RelataCore

/// The identity of a database. The numbers of transactions have another meaning in a restored copy, on another server,
/// and on another timeline of a server, such as after the promotion of a standby.
struct DatabaseIdentity: Hashable, Sendable {
    /// The cluster, its timeline and the database. A standby doesn't report its timeline.
    let place: String
    /// The identity of the change log's table; empty if it doesn't exist.
    let logTable: String
    /// Whether it is a standby, which can't be written to.
    let isStandby: Bool

    static func read(_ driver: PostgresDriver) throws(RelataError) -> DatabaseIdentity {
        let row = try driver.ownRow(
            """
            SELECT system_identifier::text || '/' || (SELECT oid::text FROM pg_database WHERE datname = current_database())
                || '/' || CASE WHEN pg_is_in_recovery() THEN ''
                    ELSE left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END,
                coalesce(to_regclass('\(ChangeLogFormat.table)')::oid::text, ''),
                pg_is_in_recovery()
            FROM pg_control_system()
            """)
        return DatabaseIdentity(
            place: row.text(0), logTable: row.text(1), isStandby: row.integer(2) == 1)
    }

    /// The number of the change log: another one for each database, timeline and table.
    var log: Int64 { ChangeLogFormat.number(ofLog: place + "/" + logTable) }
}
#endif
