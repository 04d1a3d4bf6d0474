import Foundation
import RelataCore
import RelataRecords
import RelataEngine
import RelataEngines
import RelataSQLite

/// A database and its contents, in one state: a file, or one of a server, of any program.
struct ToolDatabase {
    /// The file's name, or the URL without its password, for messages.
    let name: String
    let connection: Connection
    let classes: RecordClasses
    /// The transaction that keeps the state of a file, regardless of writers.
    private var snapshot: RecordSnapshot?

    /// Opens a database for reading, and reads its schema.
    ///
    /// - Parameters:
    ///   - entity: The command's entity. A name with one of the server's own schemas makes that schema readable, too.
    ///   - runsConditions: Whether conditions may call functions that a server doesn't have itself.
    ///   - followsAllKeys: Whether foreign keys that hold no primary key of their target are relationships, too, which
    ///     are only read.
    init(
        _ path: String, naming entity: String? = nil, runsConditions: Bool = false, followsAllKeys: Bool = false
    ) throws {
        let location = try DatabaseLocation(path)
        guard location.isServer else {
            let snapshot = try Self.store(path).snapshot()
            let (connection, known) = (snapshot.transaction.connection, snapshot.transaction.recordClasses)
            let hasOtherKeys = known.entities.contains { !$0.foreignKeys.isEmpty }
            self.init(
                location.name, connection,
                followsAllKeys && hasOtherKeys ? try RecordClasses.read(connection, followsAllKeys: true) : known)
            self.snapshot = snapshot
            return
        }
        let connection = try location.connect(
            isReadOnly: true, tableScope: ServerDatabase.scope(naming: entity, callsFunctions: runsConditions))
        try connection.begin()
        self.init(location.name, connection, try RecordClasses.read(connection, followsAllKeys: followsAllKeys))
    }

    /// The schema of a database in a transaction.
    init(_ name: String, _ connection: Connection, _ classes: RecordClasses) {
        self.name = name
        self.connection = connection
        self.classes = classes
    }

    var schema: Schema { classes.schema }
    /// Facts about the tables that no entity can describe.
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

    /// A database's name in messages: the name of a file, and a URL without its password.
    static func name(_ path: String) throws -> String { try DatabaseLocation(path).name }

    /// Opens a file. A file that isn't a database stays unchanged.
    static func store(_ path: String, isReadOnly: Bool = true) throws -> RecordStore {
        // A file of another program is refused before anything could be written to it.
        let store = try reading(path) { try open(path, isReadOnly: true) }
        if isReadOnly { return store }
        try store.close()
        return try open(path, isReadOnly: false)
    }

    /// Opens a file or a database of a server.
    ///
    /// - Parameter makes: Whether a missing file is created.
    static func store(at name: String, isReadOnly: Bool = true, makes: Bool = false) throws -> RecordStore {
        let location = try DatabaseLocation(name)
        let isMissing = !location.isServer && !FileManager.default.fileExists(atPath: name)
        return location.isServer || makes && isMissing
            ? try open(name, isReadOnly: isReadOnly) : try store(name, isReadOnly: isReadOnly)
    }

    /// Opens a file for reading. If the program that last wrote to it died during a transaction, the journal rolls that
    /// back first, as in every program that opens the file for writing.
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
                    "\(try DatabaseLocation(path).name) has a write-ahead log, so even reading needs a writable folder: copy it to one"
                )
            }
            try Connection(path: path).close()
            return try open()
        }
    }

    /// The file stays as its program left it, with its journal.
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

    /// The stored key of a text's object; if there is none, the key as the text is read.
    ///
    /// Tables of other programs may have texts in number columns, or case-insensitive keys.
    func key(_ text: String, of table: Table) throws(RelataError) -> KeyValue {
        // A server stores values of the declared type.
        if connection.dialect != .sqlite { return try KeyParser.key(text, of: table) }
        let found = try connection.storedKeys(among: KeyParser.otherKeys(text, of: table), of: table)
        var meant: Set<KeyValue> = []
        for key in found where try KeyParser.isSpelled(key, as: text, of: table) { meant.insert(key) }
        // The number 7 may be written 007, unless there is a text of exactly that.
        if meant.isEmpty { meant = found }
        guard meant.count < 2 else {
            throw .invalidUse(
                "\(text) is the key of \(meant.count) objects of \(table.name), of \(KeyParser.kinds(of: meant)): "
                    + "it is ambiguous")
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
