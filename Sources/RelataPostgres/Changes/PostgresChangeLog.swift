#if PostgreSQL
import RelataCore
import RelataEngine

/// The change log of a server, with many concurrent writers: version 3 of ``ChangeLogFormat``.
///
/// Each transaction draws a number from the server's transaction numbers after its other writes. Rows are ordered by
/// this number. If a transaction came after another because it changed the same rows, it has the greater number. A
/// reader takes rows below the oldest running transaction, because no row can appear below it any more.
struct PostgresChangeLog: ChangeLogStorage {
    private static let table = ChangeLogFormat.table
    /// The lock for creating the tables, which is held until the end of the transaction.
    private static let creationLock: Int64 = 7_885_075_893_412
    /// The row of `relata_metadata` that holds the number of the first log.
    private static let firstLog = "change log begun"
    /// The row of `relata_metadata` that holds the position of the last change that was removed.
    private static let removedThrough = "change log removed"

    let driver: PostgresDriver

    var version: Int { ChangeLogFormat.transactionVersion }

    // MARK: Making

    func create(on connection: Connection) throws {
        try connection.transaction {
            try Self.lock(connection)
            try ChangeLog.check(connection)
            if try Metadata.changeLogVersion(connection) == version { return }
            // Earlier versions let one process number the rows. No reader can continue from their positions.
            try connection.execute("DROP TABLE IF EXISTS \(Self.table)")
            try connection.execute(
                """
                CREATE TABLE \(Self.table) (
                    log bigint NOT NULL, position bigint NOT NULL, number bigint NOT NULL,
                    "transaction" bigint NOT NULL, writer bigint NOT NULL, time bigint NOT NULL, entity text NOT NULL,
                    kind text NOT NULL, ids text NOT NULL, properties text NOT NULL, origin text,
                    "originNumber" bigint, versions text, PRIMARY KEY (log, position, number))
                """)
            // Creates the metadata table if it doesn't exist.
            try Metadata.writeChangeLogVersion(version, connection)
            try Metadata.put(Self.firstLog, text: "\(try DatabaseIdentity.read(driver).log)", connection)
        }
    }

    private static func lock(_ connection: Connection) throws(RelataError) {
        _ = try connection.value(
            SQLStatement("SELECT pg_advisory_xact_lock($1::bigint)", [.value(.integer(creationLock))]))
    }

    func createAnnouncements(on connection: Connection) throws {
        if try connection.hasTable(CommitTable.name) { return }
        try connection.transaction {
            try Self.lock(connection)
            try CommitTable.create(on: connection)
        }
    }

    func moment(on connection: Connection) throws(RelataError) -> TransactionSnapshot? {
        try CommitTable.moment(on: driver).snapshot
    }

    /// The number of the log that this connection reads and writes.
    private func log() throws(RelataError) -> Int64 {
        if let known = driver.knownLog, known.generation == driver.session.generation { return known.log }
        let identity = try DatabaseIdentity.read(driver)
        // A standby may be promoted while the connection lasts.
        if !identity.isStandby { driver.knownLog = (driver.session.generation, identity.log) }
        return identity.log
    }

    // MARK: Writing

    func announce(_ announcement: CommitAnnouncement, on connection: Connection) throws(RelataError) {
        try CommitTable.announce(announcement, on: driver)
    }

    func append(
        _ rows: [LogRow], by origin: ChangeOrigin?, _ announcement: CommitAnnouncement, to connection: Connection
    ) throws(RelataError) -> ChangePosition? {
        guard !rows.isEmpty else { return nil }
        let log = try log()
        // The writes of a savepoint have a separate transaction number, which is drawn by its first write: now.
        let row = try driver.ownRow(
            """
            WITH announced AS (
                INSERT INTO \(CommitTable.name) ("transaction", writer, tables, "isLogged")
                VALUES (pg_current_xact_id()::text::bigint, $1::bigint, $2::text[], true)
                RETURNING "transaction", "transaction" + ((xmin::text::bigint - "transaction") & 4294967295) AS position)
            INSERT INTO \(Self.table) (log, position, number, "transaction", writer, time, entity, kind, ids, properties,
                origin, "originNumber", versions)
            SELECT $3::bigint, a.position, c.number, a."transaction", $1::bigint,
                (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, c.entity, c.kind, c.ids, c.properties,
                $4::text, $5::bigint, c.versions
            FROM announced AS a CROSS JOIN unnest($6::text[], $7::text[], $8::text[], $9::text[], $10::text[])
                WITH ORDINALITY AS c (entity, kind, ids, properties, versions, number)
            RETURNING position
            """,
            [
                .value(.integer(announcement.writer)), .list(announcement.tables.map { .text($0) }),
                .value(.integer(log)), .value(origin.map { .text($0.name) } ?? .null),
                .value(origin?.number.map { .integer($0) } ?? .null), .list(rows.map { .text($0.entity) }),
                .list(rows.map { .text($0.kind) }), .list(rows.map { .text($0.ids) }),
                .list(rows.map { .text($0.properties) }),
                .list(rows.map { $0.versions.map { .text($0) } ?? .null }),
            ], after: ["SAVEPOINT relata_log"])
        return ChangePosition(log: log, transaction: row.integer(0), number: Int64(rows.count))
    }

    // MARK: Reading

    /// The facts about the log that a reader needs, as its transaction sees them.
    private struct State {
        let log: Int64
        /// The oldest transaction that runs.
        let oldest: Int64
        /// The number that no transaction has yet.
        let next: Int64
        /// The first log of this database.
        let firstLog: Int64?
        /// The last change that was removed.
        let removed: ChangePosition?

        var end: ChangePosition { ChangePosition(log: log, transaction: oldest, number: 0) }
    }

    private func state(_ connection: Connection) throws(RelataError) -> State {
        let row = try driver.ownRow(
            """
            SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
                pg_snapshot_xmax(pg_current_snapshot())::text::bigint
            """)
        let removed = try Metadata.text(Self.removedThrough, connection).flatMap { ChangePosition($0) }
        let log = try log()
        return State(
            log: log, oldest: row.integer(0), next: row.integer(1),
            firstLog: try Metadata.text(Self.firstLog, connection).flatMap { Int64($0) },
            removed: removed?.log == log ? removed : nil)
    }

    func end(on connection: Connection) throws(RelataError) -> ChangePosition { try state(connection).end }

    /// Refuses a position from which no reader can continue.
    private func check(_ position: ChangePosition, _ state: State) throws(RelataError) {
        let advice = "read all objects again, then continue from position \(state.end)"
        if position == .start {
            guard let firstLog = state.firstLog, firstLog == state.log else {
                throw .invalidUse(
                    "the log was restarted when the database was restored, moved or promoted, and doesn't contain earlier changes: \(advice)"
                )
            }
            guard let removed = state.removed else { return }
            throw ChangeLog.isRemoved(position, first: "after \(removed)", end: state.end)
        }
        guard position.log == state.log else {
            throw .invalidUse(
                "the position \(position) isn't from this log, which was restarted since, for example when a dump was restored or a standby promoted: transactions have other numbers now. Please \(advice)"
            )
        }
        guard position.transaction <= state.next else {
            throw .invalidUse(
                "the position \(position) is later than the last change of this database: an earlier copy of its files was restored. Please \(advice)"
            )
        }
        if let removed = state.removed, position < removed {
            throw ChangeLog.isRemoved(position, first: "after \(removed)", end: state.end)
        }
    }

    func changes(
        after position: ChangePosition, limit: Int, schema: Schema, on connection: Connection
    ) throws(RelataError) -> [LoggedChange] {
        try rows(after: position, limit: limit, schema: schema, on: connection).map(\.change)
    }

    /// The changes after a position with the transactions that made them.
    func rows(
        after position: ChangePosition, limit: Int, schema: Schema, on connection: Connection
    ) throws(RelataError) -> [(transaction: Int64, change: LoggedChange)] {
        let state = try state(connection)
        try check(position, state)
        var changes: [(transaction: Int64, change: LoggedChange)] = []
        let sql = """
            SELECT position, number, "transaction", \(ChangeLog.contentColumns(.postgres)) FROM \(Self.table)
            WHERE log = $1::bigint AND (position, number) > ($2::bigint, $3::bigint) AND position < $4::bigint
            ORDER BY log, position, number LIMIT $5::bigint
            """
        let values = [state.log, position.transaction, position.number, state.oldest, Int64(limit)]
        try connection.rows(SQLStatement(sql, values.map { .value(.integer($0)) })) { (row) throws(RelataError) in
            let (transaction, number) = (row.integer(at: 0), row.integer(at: 1))
            let change = try ChangeLog.change(
                row, from: 3, at: ChangePosition(log: state.log, transaction: transaction, number: number),
                batch: ChangePosition(log: state.log, transaction: transaction, number: 1), schema: schema)
            changes.append((row.integer(at: 2), change))
        }
        return changes
    }

    /// Whether changes are withheld because an older transaction runs.
    func isWithheld(from oldest: Int64) throws(RelataError) -> Bool {
        let row = try driver.ownRow(
            "SELECT EXISTS (SELECT 1 FROM \(Self.table) WHERE log = $1::bigint AND position >= $2::bigint)",
            [.value(.integer(try log())), .value(.integer(oldest))])
        return row.integer(0) == 1
    }

    func remove(through position: ChangePosition, on connection: Connection) throws(RelataError) -> Int {
        let state = try state(connection)
        guard position.log == state.log || position == .start else {
            throw .invalidUse("the position \(position) isn't from this log, which was restarted since")
        }
        // The remains of an earlier log have no use.
        try connection.run(
            SQLStatement("DELETE FROM \(Self.table) WHERE log <> $1::bigint", [.value(.integer(state.log))]))
        let through = min(position, ChangePosition(log: state.log, transaction: state.oldest, number: 0))
        guard through > state.removed ?? .start, position != .start else { return 0 }
        try Metadata.put(Self.removedThrough, text: through.description, connection)
        return try connection.run(
            SQLStatement(
                "DELETE FROM \(Self.table) WHERE log = $1::bigint AND (position, number) <= ($2::bigint, $3::bigint)",
                [state.log, through.transaction, through.number].map { .value(.integer($0)) }))
    }
}
#endif
