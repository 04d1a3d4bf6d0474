import Foundation
import RelataCore
import RelataRecords
import RelataEngine
import RelataEngines
import RelataSQLite

/// A database file and what it holds, in one state.
struct ToolDatabase {
    /// The file's name, for messages.
    let name: String
    private let transaction: RecordTransaction
    /// What keeps the state, whoever writes meanwhile.
    private let snapshot: RecordSnapshot?

    /// Opens a file for reading, and reads what it holds.
    init(_ path: String) throws {
        let snapshot = try Self.store(path).snapshot()
        self.snapshot = snapshot
        transaction = snapshot.transaction
        name = Self.name(path)
    }

    /// What a file holds in a transaction.
    init(_ path: String, in transaction: RecordTransaction) {
        self.transaction = transaction
        snapshot = nil
        name = Self.name(path)
    }

    var connection: Connection { transaction.connection }
    var classes: RecordClasses { transaction.recordClasses }
    var schema: Schema { classes.schema }
    /// What the tables say that no entity can.
    var notes: [SchemaProblem] { classes.notes }

    // MARK: Opening

    private static func name(_ path: String) -> String { URL(fileURLWithPath: path).lastPathComponent }

    /// Opens a file. Whatever isn't a database is left as it is.
    static func store(_ path: String, isReadOnly: Bool = true) throws -> RecordStore {
        try check(path)
        // A file of another program is refused before anything could be written to it.
        let store = try reading(path)
        if isReadOnly { return store }
        try store.close()
        return try open(path, isReadOnly: false)
    }

    /// Opens a file for reading. If the program that last wrote to it died in the middle of a transaction, the journal
    /// takes that back first, as every program that opens the file for writing has it do.
    private static func reading(_ path: String) throws -> RecordStore {
        do {
            return try open(path, isReadOnly: true)
        } catch let error as RelataError {
            guard case .readOnly = error else { throw error }
            guard FileManager.default.fileExists(atPath: path + "-journal") else {
                throw RelataError.readOnly(
                    "\(name(path)) has a write-ahead log, which even reading needs a folder for that can be written: copy it to one"
                )
            }
            try Connection(path: path).close()
            return try open(path, isReadOnly: true)
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
        let columns = Dialect.sqlite.list(table.keyColumnNames)
        let condition = table.keyColumnNames.enumerated().map {
            Dialect.sqlite.quote($0.element) + " = " + Dialect.sqlite.parameter($0.offset + 1)
        }.joined(separator: " AND ")
        let sql = "SELECT \(columns) FROM \(Dialect.sqlite.quote(table.sqlName)) WHERE \(condition) LIMIT 2"
        let types = table.keyColumns.map { table.columns[$0].type }
        var found: Set<KeyValue> = []
        for key in try KeyParser.otherKeys(text, of: table) {
            let statement = SQLStatement(sql, key.values.map { .value($0) })
            for stored in try connection.values(statement, types: types) { found.insert(KeyValue(stored)) }
        }
        guard found.count < 2 else {
            throw .invalidUse(
                "\(text) is the key of \(found.count) objects of \(table.name), of numbers and of texts: nothing on the "
                    + "command line tells them apart")
        }
        if let key = found.first { return key }
        return try KeyParser.key(text, of: table)
    }

    /// The entity that a name on the command line means.
    func entity(_ given: String) throws(RelataError) -> Table {
        if let table = classes.names.entity(given) { return table }
        throw .invalidUse(
            "\(name) has no entity \(given)" + NameSuggestion.hint(for: given, among: schema.tables.map(\.name)))
    }
}
