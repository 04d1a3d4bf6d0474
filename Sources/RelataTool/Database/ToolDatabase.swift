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
        let connection = try reading(path)
        if isReadOnly { return connection }
        try connection.close()
        return try Connection(path: path, isReadOnly: false)
    }

    /// Opens a file for reading. If the program that last wrote to it died in the middle of a transaction, the journal
    /// takes that back first, as every program that opens the file for writing has it do.
    private static func reading(_ path: String) throws -> Connection {
        do {
            return try open(path, isReadOnly: true)
        } catch let error as RelataError {
            guard case .readOnly = error, FileManager.default.fileExists(atPath: path + "-journal") else { throw error }
            try open(path, isReadOnly: false).close()
            return try open(path, isReadOnly: true)
        }
    }

    /// Opens a file and reads its head, which takes back what a journal says where the file may be written.
    private static func open(_ path: String, isReadOnly: Bool) throws -> Connection {
        let connection = try Connection(path: path, isReadOnly: isReadOnly)
        _ = try connection.value(SQLStatement("SELECT 1 FROM sqlite_master LIMIT 1"))
        return connection
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
        guard FileManager.default.fileExists(atPath: path) else {
            throw RelataError.fileAccess(path: path, "there is no such file")
        }
        try RegularFile.check(path, for: "a database")
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw RelataError.fileAccess(path: path, "can't be read: change its permissions")
        }
    }

    /// The key of the object that a text means, as it is stored; if there is none, as the text reads.
    ///
    /// Tables of other programs may hold texts where numbers are declared, or fold the case of their keys.
    func key(_ text: String, of table: Table) throws(RelataError) -> KeyValue {
        let columns = Dialect.sqlite.list(table.keyColumnNames)
        let condition = table.keyColumnNames.enumerated().map {
            Dialect.sqlite.quote($0.element) + " = " + Dialect.sqlite.parameter($0.offset + 1)
        }.joined(separator: " AND ")
        let sql = "SELECT \(columns) FROM \(Dialect.sqlite.quote(table.sqlName)) WHERE \(condition) LIMIT 1"
        let types = table.keyColumns.map { table.columns[$0].type }
        for key in try KeyParser.otherKeys(text, of: table) {
            let statement = SQLStatement(sql, key.values.map { .value($0) })
            if let stored = try connection.values(statement, types: types).first { return KeyValue(stored) }
        }
        return try KeyParser.key(text, of: table)
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
