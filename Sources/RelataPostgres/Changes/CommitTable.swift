#if PostgreSQL
import Foundation
import RelataCore
import RelataEngine

/// The table `relata_commits`: a row for each transaction of a store, with the tables that it wrote, for observers in
/// other stores. Rows are kept for about a minute.
package enum CommitTable {
    static let name = "relata_commits"
    /// The minimum time that rows are kept.
    static let retention = Duration.seconds(60)
    /// The lock that is held while rows are removed.
    private static let trimmingLock: Int64 = 7_885_075_893_413
    /// The row of `relata_metadata` that holds the last transaction whose row was removed.
    private static let removedThrough = "commits removed"

    static func create(on connection: Connection) throws(RelataError) {
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS \(name) (
                "transaction" bigint PRIMARY KEY, writer bigint NOT NULL, tables text[] NOT NULL,
                "isLogged" boolean NOT NULL, time timestamptz NOT NULL DEFAULT clock_timestamp())
            """)
    }

    /// Records the tables that the open transaction wrote.
    static func announce(_ announcement: CommitAnnouncement, on driver: PostgresDriver) throws(RelataError) {
        try driver.runOwnWithCommit(
            """
            INSERT INTO \(name) ("transaction", writer, tables, "isLogged")
            VALUES (pg_current_xact_id()::text::bigint, $1::bigint, $2::text[], false)
            """,
            [.value(.integer(announcement.writer)), .list(announcement.tables.map { .text($0) })])
    }

    /// The transactions of others that ended since a moment, as the open transaction sees them.
    static func commits(
        since moment: TransactionSnapshot, except writer: Int64, on driver: PostgresDriver
    ) throws(RelataError) -> [ExternalCommit] {
        let rows = try driver.runOwn(
            """
            SELECT "transaction", array_to_json(tables)::text, "isLogged" FROM \(name)
            WHERE ("transaction" >= $1::bigint OR "transaction" = ANY($2::bigint[])) AND writer <> $3::bigint
            """,
            [
                .value(.integer(moment.next)), .list(moment.running.map { .integer($0) }), .value(.integer(writer)),
            ])
        var commits: [ExternalCommit] = []
        commits.reserveCapacity(rows.count)
        for row in rows {
            commits.append(
                ExternalCommit(
                    transaction: row.integer(0), tables: try ChangeLogFormat.names(row.text(1)),
                    isLogged: row.integer(2) == 1))
        }
        return commits
    }

    /// The state that a transaction sees.
    struct Moment {
        /// The transactions that had ended.
        var snapshot: TransactionSnapshot
        /// Whether the server is a standby, which doesn't report the running transactions.
        let isStandby: Bool
        /// Whether the table exists.
        let hasTable: Bool
    }

    /// The state that the open transaction sees.
    static func moment(on driver: PostgresDriver) throws(RelataError) -> Moment {
        let row = try driver.ownRow(
            """
            SELECT pg_snapshot_xmin(s)::text::bigint, pg_snapshot_xmax(s)::text::bigint,
                (SELECT coalesce(json_agg(x::text::bigint), '[]')::text FROM pg_snapshot_xip(s) AS x),
                to_regclass('\(name)') IS NOT NULL, pg_is_in_recovery()
            FROM (SELECT pg_current_snapshot() AS s) AS q
            """)
        let (oldest, next) = (row.integer(0), row.integer(1))
        let isStandby = row.integer(4) == 1
        return Moment(
            snapshot: TransactionSnapshot(
                oldest: oldest, next: isStandby ? oldest : next,
                running: isStandby ? [] : Set(try numbers(row.text(2)))),
            isStandby: isStandby, hasTable: row.integer(3) == 1)
    }

    /// The last transaction whose row was removed; 0 if none was removed.
    static func lastRemoved(on driver: PostgresDriver) throws(RelataError) -> Int64 {
        let rows = try driver.runOwn("SELECT value FROM relata_metadata WHERE name = '\(removedThrough)'")
        return rows.first.flatMap { Int64($0.text(0)) } ?? 0
    }

    private static func numbers(_ json: String) throws(RelataError) -> [Int64] {
        do {
            return try JSONDecoder().decode([Int64].self, from: Data(json.utf8))
        } catch {
            throw .corruptStore("the server's snapshot is \(json.prefix(80)): \(error)")
        }
    }

    /// Removes rows that all readers have had the time to read, unless another process does so now.
    package static func trim(olderThan age: Duration, on session: Session) throws(PostgresFailure) {
        let seconds = Double(age.components.seconds) + Double(age.components.attoseconds) / 1e18
        let sql = """
            WITH gone AS (
                DELETE FROM \(name) WHERE (SELECT pg_try_advisory_xact_lock(\(trimmingLock)))
                    AND "transaction" < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
                    AND time < clock_timestamp() - $1::double precision * interval '1 second'
                RETURNING "transaction")
            INSERT INTO relata_metadata (name, value)
            SELECT '\(removedThrough)', max("transaction")::text FROM gone HAVING count(*) > 0
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """
        _ = try session.execute(SQLStatement(sql, [.value(.real(seconds))]))
    }
}
#endif
