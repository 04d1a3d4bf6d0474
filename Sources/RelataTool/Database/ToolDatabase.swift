import Foundation
import RelataCore
import RelataSQLite

/// A database file and what it holds.
struct ToolDatabase {
    /// The file's name, for messages.
    let name: String
    let connection: Connection
    let schema: Schema
    let names: NameResolver
    /// What the tables say that no entity can.
    let notes: [SchemaProblem]

    /// Opens a file, for reading unless asked otherwise, and reads what it holds.
    init(_ path: String, isReadOnly: Bool = true) throws {
        connection = try Self.connect(path, isReadOnly: isReadOnly)
        name = URL(fileURLWithPath: path).lastPathComponent
        // All that is read belongs to one state, whoever writes meanwhile.
        if isReadOnly { try connection.execute("BEGIN") }
        let reader = try Self.read(connection, name)
        schema = try Schema(reader.entities)
        notes = reader.notes
        names = NameResolver(schema)
    }

    /// Opens a file. Whatever isn't a database is left as it is.
    static func connect(_ path: String, isReadOnly: Bool) throws -> Connection {
        try check(path)
        // A file of another program is refused before anything could be written to it.
        if !isReadOnly { try Connection(path: path, isReadOnly: true).close() }
        return try Connection(path: path, isReadOnly: isReadOnly)
    }

    private static func read(_ connection: Connection, _ name: String) throws(RelataError) -> EntityReader {
        do throws(RelataError) {
            return try Introspection.read(connection)
        } catch .readOnly {
            throw .readOnly(
                "\(name) has a write-ahead log, which even reading needs a folder for that can be written: copy it to one"
            )
        }
    }

    private static func check(_ path: String) throws {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw RelataError.fileAccess(path: path, "there is no such file")
        }
        if isDirectory.boolValue { throw RelataError.fileAccess(path: path, "is a directory, not a database file") }
        let attributes = try? FileManager.default.attributesOfItem(
            atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
        guard attributes?[.type] as? FileAttributeType ?? .typeRegular == .typeRegular else {
            throw RelataError.fileAccess(path: path, "is no regular file, hence no database")
        }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw RelataError.fileAccess(path: path, "can't be read: change its permissions")
        }
    }

    /// The entity that a name on the command line means.
    func entity(_ given: String) throws(RelataError) -> Table {
        if let table = names.entity(given) { return table }
        throw .invalidUse(
            "\(name) has no entity \(given)" + NameSuggestion.hint(for: given, among: schema.tables.map(\.name)))
    }

    /// The properties that the words of a path mean: `artist.Name` is `artist`, `name`.
    func path(_ text: String, from table: Table) throws(RelataError) -> [String] {
        var path: [String] = []
        var current: Table? = table
        for word in text.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
            guard let table = current else {
                throw .invalidUse("\(text): \(path.last ?? text) is an attribute: no path leads on from it")
            }
            guard let property = names.property(word, of: table) else {
                throw .invalidUse(
                    "\(table.name) has no property \(word)"
                        + NameSuggestion.hint(for: word, among: table.entity.properties.map(\.name)))
            }
            path.append(property)
            current = table.entity.relationship(property).flatMap { schema[$0.target] }
        }
        return path
    }
}
