import Foundation
import RelataCore

/// The durable change log of a file: see ``ChangeLogFormat``.
@_documentation(visibility: internal)
public enum ChangeLog {
    private static let table = ChangeLogFormat.table

    /// Makes the log's table, if it isn't there.
    public static func create(on connection: Connection) throws(RelataError) {
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS \(table) (
                position INTEGER PRIMARY KEY AUTOINCREMENT, batch INTEGER NOT NULL, time INTEGER NOT NULL,
                entity TEXT NOT NULL, kind TEXT NOT NULL, ids TEXT NOT NULL, properties TEXT NOT NULL)
            """)
    }

    /// Adds what a transaction did, within that, and returns where the log then stands.
    static func append(_ changes: [Change], to connection: Connection) throws(RelataError) -> Int64 {
        let time = Int64(Date().timeIntervalSince1970 * 1_000_000)
        var batch: Int64?
        for change in changes {
            try connection.run(
                SQLStatement(
                    """
                    INSERT INTO \(table) (batch, time, entity, kind, ids, properties) VALUES (
                        coalesce(
                            ?1, 1 + (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = '\(table)')),
                        ?2, ?3, ?4, ?5, ?6)
                    """,
                    [
                        .value(batch.map { .integer($0) } ?? .null), .value(.integer(time)),
                        .value(.text(change.entity)), .value(.text(change.kind.rawValue)),
                        .value(.text(ChangeLogFormat.json(change.keys))),
                        .value(.text(ChangeLogFormat.json(change.properties))),
                    ]))
            if batch == nil { batch = connection.lastInsertedRowID }
        }
        return changes.isEmpty ? try end(on: connection) : connection.lastInsertedRowID
    }

    /// Where the log stands: the position of its last row, be it there or removed; 0 if it never had one.
    public static func end(on connection: Connection) throws(RelataError) -> Int64 {
        let sql = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = '\(table)'"
        guard case .integer(let position)? = try connection.value(SQLStatement(sql)) else { return 0 }
        return position
    }

    /// The changes after a position, in order, no more than so many.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` where changes after that position were removed from the log.
    public static func changes(
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
        let sql = """
            SELECT position, batch, time, entity, kind, ids, properties FROM \(table)
            WHERE position > ?1 ORDER BY position LIMIT ?2
            """
        let statement = SQLStatement(sql, [.value(.integer(position)), .value(.integer(Int64(limit)))])
        try connection.rows(statement) { (row) throws(RelataError) in
            let entity = row.text(at: 3)
            let types = schema[entity].map { table in table.keyColumns.map { table.columns[$0].type } } ?? []
            changes.append(
                LoggedChange(
                    position: row.integer(at: 0), batch: row.integer(at: 1),
                    time: Date(timeIntervalSince1970: Double(row.integer(at: 2)) / 1_000_000),
                    change: Change(
                        entity: entity, kind: Change.Kind(rawValue: row.text(at: 4)) ?? .unknown,
                        keys: try ChangeLogFormat.keys(row.text(at: 5), types: types),
                        properties: try ChangeLogFormat.names(row.text(at: 6)))))
        }
        return changes
    }

    /// Removes the changes up to a position, and returns how many.
    public static func remove(through position: Int64, on connection: Connection) throws(RelataError) -> Int {
        try connection.run(SQLStatement("DELETE FROM \(table) WHERE position <= ?1", [.value(.integer(position))]))
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
}
