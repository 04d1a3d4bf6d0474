import Foundation
import RelataCore
import RelataRecords
import RelataEngine
import RelataEngines
import RelataSQLite

/// A database and what it holds, in one state: a file, or one of a server, whoever made it.
struct ToolDatabase {
    /// The file's name, or the URL without its password, for messages.
    let name: String
    let connection: Connection
    let classes: RecordClasses
    /// What keeps the state of a file, whoever writes meanwhile.
    private var snapshot: RecordSnapshot?

    /// Opens a database for reading, and reads what it holds.
    ///
    /// - Parameters:
    ///   - entity: What the command asks for. A name with one of the server's own schemas has that looked at, too.
    ///   - runsConditions: Whether conditions may call functions that a server doesn't have by itself.
    init(_ path: String, naming entity: String? = nil, runsConditions: Bool = false) throws {
        let location = try DatabaseLocation(path)
        guard location.isServer else {
            let snapshot = try Self.store(path).snapshot()
            self.init(location.name, snapshot.transaction.connection, snapshot.transaction.recordClasses)
            self.snapshot = snapshot
            return
        }
        let connection = try location.connect(
            isReadOnly: true, tableScope: ServerDatabase.scope(naming: entity, callsFunctions: runsConditions))
        try connection.begin()
        self.init(location.name, connection, try RecordClasses.read(connection))
    }

    /// What a database holds in a transaction.
    init(_ name: String, _ connection: Connection, _ classes: RecordClasses) {
        self.name = name
        self.connection = connection
        self.classes = classes
    }

    var schema: Schema { classes.schema }
    /// What the tables say that no entity can.
    var notes: [SchemaProblem] { classes.notes }

    // MARK: Writing

    /// Runs `body` in a transaction, and commits it unless `body` throws.
    static func write<Result>(
        _ path: String, naming entity: String? = nil, _ body: (ToolDatabase) throws -> Result
    ) throws -> Result {
        let location = try DatabaseLocation(path)
        if location.isServer { return try ServerDatabase.write(location, naming: entity, body) }
        let store = try store(path, isReadOnly: false)
        let result = try store.write { transaction in
            try body(ToolDatabase(location.name, transaction.connection, transaction.recordClasses))
        }
        try store.close()
        return result
    }

    // MARK: Opening

    /// What messages call a database: the name of a file, and a URL without its password.
    static func name(_ path: String) throws -> String { try DatabaseLocation(path).name }

    /// Opens a file. Whatever isn't a database is left as it is.
    static func store(_ path: String, isReadOnly: Bool = true) throws -> RecordStore {
        // A file of another program is refused before anything could be written to it.
        let store = try reading(path) { try open(path, isReadOnly: true) }
        if isReadOnly { return store }
        try store.close()
        return try open(path, isReadOnly: false)
    }

    /// Opens a file or a database of a server.
    ///
    /// - Parameter makes: Whether a file that isn't there is made.
    static func store(at name: String, isReadOnly: Bool = true, makes: Bool = false) throws -> RecordStore {
        let location = try DatabaseLocation(name)
        let isMissing = !location.isServer && !FileManager.default.fileExists(atPath: name)
        return location.isServer || makes && isMissing
            ? try open(name, isReadOnly: isReadOnly) : try store(name, isReadOnly: isReadOnly)
    }

    /// Opens a file for reading. If the program that last wrote to it died in the middle of a transaction, the journal
    /// takes that back first, as every program that opens the file for writing has it do.
    ///
    /// - Parameter open: Opens the file, and writes nothing.
    static func reading<Opened>(_ path: String, _ open: () throws -> Opened) throws -> Opened {
        try check(path)
        do {
            return try open()
        } catch let error as RelataError {
            guard case .readOnly = error else { throw error }
            guard FileManager.default.fileExists(atPath: path + "-journal") else {
                throw RelataError.readOnly(
                    "\(try DatabaseLocation(path).name) has a write-ahead log, which even reading needs a folder for that can be written: copy it to one"
                )
            }
            try Connection(path: path).close()
            return try open()
        }
    }

    /// The file stays as its program made it, with the journal that it has.
    private static func open(_ path: String, isReadOnly: Bool) throws -> RecordStore {
        var options = RecordStore.Options()
        options.isReadOnly = isReadOnly
        options.durability = .full
        return try RecordStore.make(DatabaseLocation(path), .production, options, usesLog: false)
    }

    private static func check(_ path: String) throws {
        try RegularFile.require(path)
        try RegularFile.check(path, for: "a database")
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw RelataError.fileAccess(path: path, "can't be read: change its permissions")
        }
    }

    /// The key of the object that a text means, as it is stored; if there is none, as the text reads.
    ///
    /// Tables of other programs may hold texts where numbers are declared, or fold the case of their keys.
    func key(_ text: String, of table: Table) throws(RelataError) -> KeyValue {
        // A server stores what it declares.
        if connection.dialect != .sqlite { return try KeyParser.key(text, of: table) }
        let found = try connection.storedKeys(among: KeyParser.otherKeys(text, of: table), of: table)
        var meant: Set<KeyValue> = []
        for key in found where try KeyParser.isSpelled(key, as: text, of: table) { meant.insert(key) }
        // The number 7 may be written 007, unless there is a text that is just that.
        if meant.isEmpty { meant = found }
        guard meant.count < 2 else {
            throw .invalidUse(
                "\(text) is the key of \(meant.count) objects of \(table.name), of \(KeyParser.kinds(of: meant)): "
                    + "nothing in it tells which one is meant")
        }
        if let key = meant.first { return key }
        return try KeyParser.key(text, of: table)
    }

    /// The entity that a name on the command line means.
    func entity(_ given: String) throws(RelataError) -> Table {
        if let table = classes.names.entity(given) { return table }
        throw .invalidUse(
            "\(name) has no entity \(given)" + NameSuggestion.hint(for: given, among: schema.tables.map(\.name)))
    }
}
