import Foundation
import RelataCore

/// The durable change log of a file: see ``ChangeLogFormat``.
@_documentation(visibility: internal)
package enum ChangeLog {
    private static let table = ChangeLogFormat.table

    /// The columns that the format has had since version 2, and whether they are integers.
    private static let newerColumns = [("origin", false), ("originNumber", true), ("versions", false)]

    /// Refuses a file whose log is in a newer format than this version of Relata knows. Nothing is written.
    package static func check(_ connection: Connection) throws(RelataError) {
        guard let known = try Metadata.changeLogVersion(connection), known > ChangeLogFormat.version else { return }
        throw .invalidUse(
            "the file's change log is in version \(known) of its format, and this version of Relata knows "
                + "\(ChangeLogFormat.version): open it with a newer one, or without Options.changeLog")
    }

    /// Makes the log's table if it isn't there, and brings one of an older format up to date.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a log in a newer format.
    package static func create(on connection: Connection) throws {
        if try Metadata.changeLogVersion(connection) == ChangeLogFormat.version { return }
        // Waits for others that write. Another process may have done it meanwhile.
        try connection.transaction {
            try check(connection)
            let (integer, key) = (connection.dialect.integerType, connection.dialect.assignedKey)
            try connection.execute(
                """
                CREATE TABLE IF NOT EXISTS \(table) (
                    position \(key), batch \(integer) NOT NULL, time \(integer) NOT NULL, entity TEXT NOT NULL,
                    kind TEXT NOT NULL, ids TEXT NOT NULL, properties TEXT NOT NULL)
                """)
            let columns = try connection.driver.columnNames(of: table, connection)
            for (column, isInteger) in newerColumns where !columns.contains(column) {
                let type = isInteger ? integer : "TEXT"
                try connection.execute("ALTER TABLE \(table) ADD COLUMN \(connection.dialect.quote(column)) \(type)")
            }
            try Metadata.writeChangeLogVersion(ChangeLogFormat.version, connection)
        }
    }

    /// Adds what a transaction did, within that, and returns where the log then stands.
    static func append(
        _ changes: [Change], by origin: ChangeOrigin?, schema: Schema, to connection: Connection
    ) throws(RelataError) -> Int64 {
        let time = Int64(Date().timeIntervalSince1970 * 1_000_000)
        guard !changes.isEmpty else { return try end(on: connection) }
        let dialect = connection.dialect
        let batch = try end(on: connection) + 1
        let places = (1...9).map(dialect.parameter).joined(separator: ", ")
        var position: Int64 = 0
        for change in changes {
            let columns = schema[change.entity].map { table in table.keyColumns.map { table.columns[$0] } } ?? []
            let versions = try versions(of: change, schema, connection).map { ChangeLogFormat.json($0) }
            let values: [Value] = [
                .integer(batch), .integer(time), .text(change.entity), .text(change.kind.rawValue),
                .text(ChangeLogFormat.json(change.keys, of: columns)), .text(ChangeLogFormat.json(change.properties)),
                origin.map { .text($0.name) } ?? .null, origin?.number.map { .integer($0) } ?? .null,
                versions.map { .text($0) } ?? .null,
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
        return position
    }

    /// The revisions that objects have at the end of a transaction, in the order of their keys; `nil` where their entity
    /// has none.
    private static func versions(
        of change: Change, _ schema: Schema, _ connection: Connection
    ) throws(RelataError) -> [Int64?]? {
        guard change.kind == .insert || change.kind == .update, let entity = schema[change.entity],
            let revision = entity.entity.revision, let column = entity.columnIndexes(of: revision).first
        else { return nil }
        let dialect = connection.dialect
        let names = entity.keyColumnNames
        let sql = """
            SELECT \(dialect.list(names + [entity.columns[column].name])) FROM \(dialect.quote(entity.sqlName))
            WHERE \(dialect.tuple(names)) IN \(dialect.rows(ofParameter: 1, types: entity.keyTypes))
            """
        let types = entity.keyColumns.map { entity.columns[$0].type }
        var found: [KeyValue: Int64] = [:]
        for row in try connection.values(SQLStatement(sql, [.keys(Array(change.keys))]), types: types) {
            if case .integer(let version)? = row.last { found[KeyValue(Array(row.dropLast()))] = version }
        }
        return change.keys.map { found[$0] }
    }

    /// Where the log stands: the position of its last row, be it there or removed; 0 if it never had one.
    package static func end(on connection: Connection) throws(RelataError) -> Int64 {
        try connection.driver.lastAssignedKey(of: table, connection)
    }

    /// The changes after a position, in order, no more than so many.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` where changes after that position were removed from the log.
    package static func changes(
        after position: Int64, limit: Int, schema: Schema, on connection: Connection
    ) throws(RelataError) -> [LoggedChange] {
        let first = try connection.value(SQLStatement("SELECT min(position) FROM \(table)"))
        let end = try end(on: connection)
        var kept = end + 1
        if case .integer(let first)? = first { kept = first }
        if position < kept - 1 {
            throw .invalidUse(
                "the changes after position \(position) are no longer in the log, which begins at \(kept): read all objects anew, then go on from position \(end)"
            )
        }
        var changes: [LoggedChange] = []
        let dialect = connection.dialect
        let sql = """
            SELECT position, batch, time, entity, kind, ids, properties, origin, \(dialect.quote("originNumber")), versions
            FROM \(table)
            WHERE position > \(dialect.parameter(1)) ORDER BY position LIMIT \(dialect.parameter(2))
            """
        let statement = SQLStatement(sql, [.value(.integer(position)), .value(.integer(Int64(limit)))])
        try connection.rows(statement) { (row) throws(RelataError) in
            let entity = row.text(at: 3)
            let columns = schema[entity].map { table in table.keyColumns.map { table.columns[$0] } } ?? []
            changes.append(
                LoggedChange(
                    position: row.integer(at: 0), batch: row.integer(at: 1),
                    time: Date(timeIntervalSince1970: Double(row.integer(at: 2)) / 1_000_000),
                    change: Change(
                        entity: entity, kind: Change.Kind(rawValue: row.text(at: 4)) ?? .unknown,
                        keys: try ChangeLogFormat.keys(row.text(at: 5), of: columns),
                        properties: try ChangeLogFormat.names(row.text(at: 6))),
                    origin: row.isNull(at: 7)
                        ? nil : ChangeOrigin(row.text(at: 7), number: row.isNull(at: 8) ? nil : row.integer(at: 8)),
                    versions: row.isNull(at: 9) ? [] : try ChangeLogFormat.versions(row.text(at: 9))))
        }
        return changes
    }

    /// Removes the changes up to a position, and returns how many.
    package static func remove(through position: Int64, on connection: Connection) throws(RelataError) -> Int {
        try connection.run(
            SQLStatement(
                "DELETE FROM \(table) WHERE position <= \(connection.dialect.parameter(1))",
                [.value(.integer(position))]))
    }
}

/// A row of the durable change log.
public struct LoggedChange: Hashable, Sendable {
    /// The row's place in the log: where to go on reading.
    public let position: Int64
    /// What the changes of one transaction have in common.
    public let batch: Int64
    /// When it was written.
    public let time: Date
    /// What was done.
    public let change: Change
    /// Who made the transaction, if it said so.
    public let origin: ChangeOrigin?
    /// The revision of each object as the transaction left it, in the order of the keys; `nil` for an object that it left
    /// without one. Empty for deletions, for entities without a revision, where the objects aren't known, and for changes
    /// that an older version of Relata wrote.
    public let versions: [Int64?]
}
