import Foundation
import RelataCore

/// The change log of an engine with one writing transaction at a time: rows are numbered when they are written.
struct NumberedChangeLog: ChangeLogStorage {
    private var table: String { ChangeLogFormat.table }

    /// The columns that the format has had since version 2, and whether they are integers.
    private static let newerColumns = [("origin", false), ("originNumber", true), ("versions", false)]

    var version: Int { ChangeLogFormat.version }

    func create(on connection: Connection) throws {
        // Waits for other writers. Another process may have done it in the meantime.
        try connection.transaction {
            try ChangeLog.check(connection)
            let (integer, key) = (connection.dialect.integerType, connection.dialect.assignedKey)
            try connection.execute(
                """
                CREATE TABLE IF NOT EXISTS \(table) (
                    position \(key), batch \(integer) NOT NULL, time \(integer) NOT NULL, entity TEXT NOT NULL,
                    kind TEXT NOT NULL, ids TEXT NOT NULL, properties TEXT NOT NULL)
                """)
            let columns = try connection.driver.columnNames(of: table, connection)
            for (column, isInteger) in Self.newerColumns where !columns.contains(column) {
                let type = isInteger ? integer : "TEXT"
                try connection.execute("ALTER TABLE \(table) ADD COLUMN \(connection.dialect.quote(column)) \(type)")
            }
            try Metadata.writeChangeLogVersion(version, connection)
        }
    }

    func append(
        _ rows: [LogRow], by origin: ChangeOrigin?, _ announcement: CommitAnnouncement, to connection: Connection
    ) throws(RelataError) -> ChangePosition? {
        guard !rows.isEmpty else { return nil }
        let time = Int64(Date().timeIntervalSince1970 * 1_000_000)
        let dialect = connection.dialect
        let batch = try lastNumber(connection) + 1
        let places = (1...9).map(dialect.parameter).joined(separator: ", ")
        var position: Int64 = 0
        for row in rows {
            let values: [Value] = [
                .integer(batch), .integer(time), .text(row.entity), .text(row.kind), .text(row.ids),
                .text(row.properties), origin.map { .text($0.name) } ?? .null,
                origin?.number.map { .integer($0) } ?? .null, row.versions.map { .text($0) } ?? .null,
            ]
            let key = try connection.value(
                SQLStatement(
                    """
                    INSERT INTO \(table)
                        (batch, time, entity, kind, ids, properties, origin, \(dialect.quote("originNumber")), versions)
                    VALUES (\(places)) RETURNING position
                    """, values.map { .value($0) }))
            if case .integer(let last)? = key { position = last }
        }
        return ChangePosition(position)
    }

    /// The number of the last row, even if it was removed; 0 if there never was one.
    private func lastNumber(_ connection: Connection) throws(RelataError) -> Int64 {
        try connection.driver.lastAssignedKey(of: table, connection)
    }

    func end(on connection: Connection) throws(RelataError) -> ChangePosition {
        ChangePosition(try lastNumber(connection))
    }

    func changes(
        after position: ChangePosition, limit: Int, schema: Schema, on connection: Connection
    ) throws(RelataError) -> [LoggedChange] {
        guard position.log == 0 else {
            throw .invalidUse(
                "the position \(position) belongs to a log on a server, and this log's positions are numbers")
        }
        let first = try connection.value(SQLStatement("SELECT min(position) FROM \(table)"))
        let end = try lastNumber(connection)
        var kept = end + 1
        if case .integer(let first)? = first { kept = first }
        if position.number < kept - 1 {
            throw ChangeLog.isRemoved(position, first: "at \(kept)", end: ChangePosition(end))
        }
        var changes: [LoggedChange] = []
        let dialect = connection.dialect
        let sql = """
            SELECT position, batch, \(ChangeLog.contentColumns(dialect)) FROM \(table)
            WHERE position > \(dialect.parameter(1)) ORDER BY position LIMIT \(dialect.parameter(2))
            """
        let statement = SQLStatement(sql, [.value(.integer(position.number)), .value(.integer(Int64(limit)))])
        try connection.rows(statement) { (row) throws(RelataError) in
            changes.append(
                try ChangeLog.change(
                    row, from: 2, at: ChangePosition(row.integer(at: 0)), batch: ChangePosition(row.integer(at: 1)),
                    schema: schema))
        }
        return changes
    }

    func remove(through position: ChangePosition, on connection: Connection) throws(RelataError) -> Int {
        guard position.log == 0 else {
            throw .invalidUse(
                "the position \(position) belongs to a log on a server, and this log's positions are numbers")
        }
        return try connection.run(
            SQLStatement(
                "DELETE FROM \(table) WHERE position <= \(connection.dialect.parameter(1))",
                [.value(.integer(position.number))]))
    }
}
