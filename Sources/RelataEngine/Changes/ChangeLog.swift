import Foundation
import RelataCore

/// The durable change log: see ``ChangeLogFormat``. The engine decides how it is stored.
@_documentation(visibility: internal)
package enum ChangeLog {
    /// Refuses a database whose log has a newer format than this version of Relata knows. Nothing is written.
    package static func check(_ connection: Connection) throws(RelataError) {
        let version = connection.driver.changeLog.version
        guard let known = try Metadata.changeLogVersion(connection), known > version else { return }
        throw .invalidUse(
            "the database's change log is in version \(known) of its format, and this version of Relata knows \(version): "
                + "open it with a newer one, or without Options.changeLog")
    }

    /// Creates the log's tables if they don't exist, and converts a log of an older format.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a log in a newer format.
    package static func create(on connection: Connection) throws {
        if try Metadata.changeLogVersion(connection) == connection.driver.changeLog.version { return }
        try connection.driver.changeLog.create(on: connection)
    }

    /// Adds a transaction's changes, within that transaction, and returns the end of the log, if there are changes.
    static func append(
        _ changes: [Change], by origin: ChangeOrigin?, schema: Schema, announcement: CommitAnnouncement,
        to connection: Connection
    ) throws(RelataError) -> ChangePosition? {
        var rows: [LogRow] = []
        rows.reserveCapacity(changes.count)
        for change in changes {
            let columns = keyColumns(of: change.entity, schema)
            let versions = try versions(of: change, schema, connection).map { ChangeLogFormat.json($0) }
            rows.append(
                LogRow(
                    entity: change.entity, kind: change.kind.rawValue,
                    ids: ChangeLogFormat.json(change.keys, of: columns),
                    properties: ChangeLogFormat.json(change.properties), versions: versions))
        }
        return try connection.driver.changeLog.append(rows, by: origin, announcement, to: connection)
    }

    /// The columns of an entity's key; none if the schema doesn't know it.
    private static func keyColumns(of entity: String, _ schema: Schema) -> [Column] {
        schema[entity].map { table in table.keyColumns.map { table.columns[$0] } } ?? []
    }

    /// The revisions of objects at the end of a transaction, in the order of their keys; `nil` for an entity without
    /// revisions.
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

    /// The end of the log: a reader that has read all objects continues from there.
    package static func end(on connection: Connection) throws(RelataError) -> ChangePosition {
        try connection.driver.changeLog.end(on: connection)
    }

    /// The changes after a position, in order, at most that many.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if changes after that position were removed from the log, or the
    ///   position belongs to another log.
    package static func changes(
        after position: ChangePosition, limit: Int, schema: Schema, on connection: Connection
    ) throws(RelataError) -> [LoggedChange] {
        try connection.driver.changeLog.changes(after: position, limit: limit, schema: schema, on: connection)
    }

    /// Removes the changes up to a position, and returns their number.
    package static func remove(
        through position: ChangePosition, on connection: Connection
    ) throws(RelataError) -> Int {
        try connection.driver.changeLog.remove(through: position, on: connection)
    }

    /// The columns that ``change(_:at:batch:schema:)`` reads, in that order.
    package static func contentColumns(_ dialect: Dialect) -> String {
        "time, entity, kind, ids, properties, origin, \(dialect.quote("originNumber")), versions"
    }

    /// Reads a row of the log, whose columns from `first` on are ``contentColumns(_:)``.
    package static func change(
        _ row: Row, from first: Int, at position: ChangePosition, batch: ChangePosition, schema: Schema
    ) throws(RelataError) -> LoggedChange {
        let entity = row.text(at: first + 1)
        let isNumbered = !row.isNull(at: first + 6)
        return LoggedChange(
            position: position, batch: batch,
            time: Date(timeIntervalSince1970: Double(row.integer(at: first)) / 1_000_000),
            change: Change(
                entity: entity, kind: Change.Kind(rawValue: row.text(at: first + 2)) ?? .unknown,
                keys: try ChangeLogFormat.keys(row.text(at: first + 3), of: keyColumns(of: entity, schema)),
                properties: try ChangeLogFormat.names(row.text(at: first + 4))),
            origin: row.isNull(at: first + 5)
                ? nil
                : ChangeOrigin(row.text(at: first + 5), number: isNumbered ? row.integer(at: first + 6) : nil),
            versions: row.isNull(at: first + 7) ? [] : try ChangeLogFormat.versions(row.text(at: first + 7)))
    }

    /// The error for a position before the first kept change.
    package static func isRemoved(
        _ position: ChangePosition, first: String, end: ChangePosition
    ) -> RelataError {
        .invalidUse(
            "the changes after position \(position) are no longer in the log, which begins \(first): read all objects again, then continue from position \(end)"
        )
    }
}

/// A row of the durable change log.
public struct LoggedChange: Hashable, Sendable {
    /// The row's position in the log, from which a reader continues.
    public let position: ChangePosition
    /// The shared number of a transaction's changes: the position of the first one.
    public let batch: ChangePosition
    /// The time when it was written, by the clock of the process that wrote it, or by the server's clock. Clocks may be
    /// set back: only ``position`` gives the order.
    public let time: Date
    /// The change to the row.
    public let change: Change
    /// The origin of the transaction, if it has one.
    public let origin: ChangeOrigin?
    /// The revision of each object after the transaction, in the order of the keys; `nil` for an object without one.
    /// Empty for deletions, for entities without a revision, for unknown objects, and for changes that an older version
    /// of Relata wrote.
    public let versions: [Int64?]
}
