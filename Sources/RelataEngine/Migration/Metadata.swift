import Foundation
import RelataCore

/// Relata's metadata about a file, in the table `relata_metadata`.
///
/// All entities are one row. Entities that change one by one, like the classes of a server, are written to separate
/// rows, which take precedence over the common row. So the cost of writing one of them doesn't depend on their number.
package struct Metadata {
    /// The entities that the file was last opened with, or `nil` if Relata never opened it.
    package var entities: [Entity]?
    /// Whether another program made the file, and no step has adopted it.
    package var isForeign = false
    /// The names of the migration steps that are done.
    package var steps: [String] = []
    /// The former names of tables and columns.
    package var renames = RenameHistory()

    private static let table = "\"relata_metadata\""
    /// The prefix of the names of rows that hold one entity each.
    private static let entityPrefix = "entity "
    /// Whether a row holds an entity.
    private static var isEntity: String { "substr(name, 1, \(entityPrefix.count)) = '\(entityPrefix)'" }
    /// The row that a file of another program has.
    private static let foreignName = "made by another program"

    /// The state in which the file was left last.
    package enum State {
        /// By other entities or steps, or after a change of its tables.
        case changed
        /// By the same ones.
        case unchanged(ComparesKeys)
    }

    /// Whether tables of other programs compare foreign keys by other rules.
    package enum ComparesKeys: String {
        case asDeclared = " declared"
        case otherwise = " otherwise"
    }

    /// Whether the file was last used with the same entities and steps, and its tables are unchanged since: one
    /// look-up.
    package static func state(_ connection: Connection, fingerprint: String) -> State {
        // A look-up that fails would end the transaction on another engine than SQLite.
        if connection.dialect != .sqlite, (try? connection.hasTable("relata_metadata")) != true { return .changed }
        // A file without the table is one that Relata doesn't know.
        guard let (left, version) = (try? left(connection)) ?? nil else { return .changed }
        let beginning = "\(fingerprint) \(version)"
        guard left.hasPrefix(beginning), let compares = ComparesKeys(rawValue: String(left.dropFirst(beginning.count)))
        else { return .changed }
        return .unchanged(compares)
    }

    /// The state in which the file was last left, and the version of its tables; `nil` if that isn't stored.
    private static func left(_ connection: Connection) throws(RelataError) -> (text: String, version: Value)? {
        var columns = ["value"]
        var version: Value?
        if connection.dialect == .sqlite {
            // The version is read before the query: within it, it would cost twice as much as the query. If the version
            // is older than the row's, the only effect is that all tables are looked at.
            version = .integer(try connection.driver.tableVersion(connection))
        } else {
            columns.append(connection.dialect.schemaVersion)
        }
        let query = "SELECT \(columns.joined(separator: ", ")) FROM \(table) WHERE name = 'fingerprint'"
        guard let row = try connection.values(SQLStatement(query)).first, case .text(let text)? = row.first,
            let version = version ?? row.last
        else { return nil }
        return (text, version)
    }

    /// Whether it is unchanged: see ``state(_:fingerprint:)``.
    package static func isUnchanged(_ connection: Connection, fingerprint: String) -> Bool {
        if case .unchanged = state(connection, fingerprint: fingerprint) { true } else { false }
    }

    /// Reads the metadata. Relata didn't make a file without the table.
    package static func read(_ connection: Connection) throws(RelataError) -> Metadata {
        var metadata = Metadata()
        guard try connection.hasTable("relata_metadata") else { return metadata }
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        func unknown(_ what: String) -> RelataError {
            .invalidUse(
                "the file remembers \(what) in a form that this version of Relata doesn't know: open it with the newer "
                    + "version that wrote it")
        }
        var entities: [Entity] = []
        var changes: [(name: String, entity: Entity?)] = []
        var isWritten = false
        // A change log alone implies no entities.
        var hasEntities = false
        try connection.rows(
            SQLStatement("SELECT name, value FROM \(table) ORDER BY \(connection.dialect.insertionOrder)")
        ) {
            (row) throws(RelataError) in
            let name = row.text(at: 0)
            let data = Data(row.text(at: 1).utf8)
            switch name {
            case "entities":
                hasEntities = true
                do { entities = try decoder.decode([Entity].self, from: data) } catch { throw unknown("entities") }
            case "steps": metadata.steps = (try? decoder.decode([String].self, from: data)) ?? []
            case "renames":
                guard let renames = try? decoder.decode(RenameHistory.self, from: data) else {
                    throw unknown("renamed tables and columns")
                }
                metadata.renames = renames
            case "fingerprint": isWritten = true
            case foreignName: metadata.isForeign = true
            default:
                guard name.hasPrefix(entityPrefix) else { return }
                hasEntities = true
                let entityName = String(name.dropFirst(entityPrefix.count))
                do {
                    changes.append((entityName, try decoder.decode(Entity?.self, from: data)))
                } catch { throw unknown(entityName) }
            }
        }
        // An older version, without separate rows, may have written all entities since.
        if !isWritten { entities.apply(changes) }
        metadata.entities = hasEntities ? entities : nil
        return metadata
    }

    /// Stores entities and steps, within the migration's transaction.
    package func write(
        _ connection: Connection, fingerprint: String, _ compares: ComparesKeys = .asDeclared
    ) throws(RelataError) {
        try Self.create(connection)
        try connection.execute("DELETE FROM \(Self.table) WHERE \(Self.isEntity)")
        try Self.put("entities", entities ?? [], connection)
        try Self.put("steps", steps, connection)
        try Self.put("renames", renames, connection)
        if isForeign {
            try Self.put(Self.foreignName, true, connection)
        } else {
            try connection.execute("DELETE FROM \(Self.table) WHERE name = '\(Self.foreignName)'")
        }
        try Self.write(fingerprint: fingerprint, compares, connection)
    }

    /// Remembers how the database was left.
    package static func write(
        fingerprint: String, _ compares: ComparesKeys, _ connection: Connection
    ) throws(RelataError) {
        let version =
            try connection.value(SQLStatement("SELECT \(connection.dialect.schemaVersion)")) ?? .null
        try put("fingerprint", text: "\(fingerprint) \(version)\(compares.rawValue)", connection)
    }

    /// Stores new and changed entities, and removes others, in a database that already stores the rest.
    package static func write(
        _ entities: [Entity], removing removed: [String], _ connection: Connection
    ) throws(RelataError) {
        // An older version, without separate rows, wrote all entities since: the separate rows are outdated.
        try connection.execute(
            "DELETE FROM \(table) WHERE \(isEntity) "
                + "AND EXISTS (SELECT 1 FROM \(table) WHERE name = 'fingerprint')")
        for entity in entities { try put(entityPrefix + entity.name, entity, connection) }
        for name in removed { try put(entityPrefix + name, Entity?.none, connection) }
        // Changing entities one by one adopts the file.
        try connection.execute("DELETE FROM \(table) WHERE name IN ('fingerprint', '\(foreignName)')")
    }

    // MARK: The tables' version

    /// The row with the number of schema changes, on an engine that doesn't count them itself.
    package static let tableVersionName = "table version"

    package static func writeTableVersion(_ version: Int64, _ connection: Connection) throws(RelataError) {
        try create(connection)
        try put(tableVersionName, text: "\(version)", connection)
    }

    // MARK: The change log

    private static let changeLogName = "change log"

    /// The format version of the file's change log; `nil` for a file without one, or the first version.
    package static func changeLogVersion(_ connection: Connection) throws(RelataError) -> Int? {
        guard try connection.hasTable("relata_metadata") else { return nil }
        let query = "SELECT CAST(value AS INTEGER) FROM \(table) WHERE name = '\(changeLogName)'"
        guard case .integer(let version)? = try connection.value(SQLStatement(query)) else { return nil }
        return Int(version)
    }

    package static func writeChangeLogVersion(_ version: Int, _ connection: Connection) throws(RelataError) {
        try create(connection)
        try put(changeLogName, text: "\(version)", connection)
    }

    /// A text by a name that no other part of Relata uses; `nil` if there is none.
    package static func text(_ name: String, _ connection: Connection) throws(RelataError) -> String? {
        let query = "SELECT value FROM \(table) WHERE name = \(connection.dialect.parameter(1))"
        guard case .text(let text)? = try connection.value(SQLStatement(query, [.value(.text(name))])) else {
            return nil
        }
        return text
    }

    private static func create(_ connection: Connection) throws(RelataError) {
        // A role that may only write rows can't even check this.
        if try connection.hasTable("relata_metadata") { return }
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS \(table) (name TEXT PRIMARY KEY, value TEXT"
                + connection.dialect.insertionOrderColumn + ")")
    }

    private static func put(_ name: String, _ value: some Encodable, _ connection: Connection) throws(RelataError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let data: Data
        do {
            data = try encoder.encode(value)
        } catch {
            throw .invalidUse("the models can't be described as JSON: \(error)")
        }
        try put(name, text: String(decoding: data, as: UTF8.self), connection)
    }

    /// Remembers a text by a name.
    package static func put(_ name: String, text: String, _ connection: Connection) throws(RelataError) {
        try connection.execute(
            SQLStatement(
                "INSERT INTO \(table) (name, value) VALUES (\(connection.dialect.parameter(1)), \(connection.dialect.parameter(2))) "
                    + "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                [.value(.text(name)), .value(.text(text))]))
    }
}

extension [Entity] {
    /// Replaces entities in their places, appends new ones, and removes those that are `nil`.
    fileprivate mutating func apply(_ changes: [(name: String, entity: Entity?)]) {
        var places = Dictionary(enumerated().map { ($1.name, $0) }) { first, _ in first }
        var gone: Set<String> = []
        for (name, entity) in changes {
            guard let entity else {
                gone.insert(name)
                continue
            }
            if let place = places[name] {
                self[place] = entity
            } else {
                places[name] = count
                append(entity)
            }
        }
        if !gone.isEmpty { removeAll { gone.contains($0.name) } }
    }
}
