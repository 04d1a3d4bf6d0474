import Foundation
import Relata
import RelataCore
import RelataEngine
import RelataEngines
import RelataRecords
import Synchronization

/// A store as Parse's clients see it: with classes that can be created while it is in use, or those of an app's models.
public final class ParseStore: Sendable {
    /// Whether clients may make classes and fields by using them.
    public typealias Mode = RecordStore.Mode

    /// The underlying store, which other code of the program may use at the same time. Its writes are observed like
    /// those of clients, but hooks aren't called for them.
    public let records: RecordStore
    /// The models, if the classes are those of an app.
    let models: ServedModels?
    private let objectIDs: ObjectIDGenerator
    /// The classes as they were last seen.
    private let last: Mutex<ClassSet>
    /// The classes of models that callers used, by the models' schema.
    private let usedModels = Mutex<[ObjectIdentifier: ModelClasses]>([:])
    /// Hashes passwords and tokens; `nil` for a store without users.
    let secrets: (any SecretHashing)?
    /// The jobs that run on it in this process.
    let runningJobs: RunningJobs

    private init(
        _ records: RecordStore, models: ServedModels?, classes: ClassSet,
        objectIDs: ObjectIDGenerator = ObjectIDGenerator(), secrets: (any SecretHashing)? = nil,
        runningJobs: RunningJobs = RunningJobs()
    ) {
        self.runningJobs = runningJobs
        self.secrets = secrets
        self.objectIDs = objectIDs
        self.records = records
        self.models = models
        last = Mutex(classes)
    }

    /// The store for requests with less access.
    ///
    /// The access replaces that of this store. Closing either store closes both.
    package func acting(under access: Access) -> ParseStore {
        ParseStore(
            records.acting(under: access), models: models?.acting(under: access), classes: last.withLock { $0 },
            objectIDs: objectIDs, secrets: secrets, runningJobs: runningJobs)
    }

    /// The store with users; their classes are created when they are first needed. A store of an app's models has none.
    func withUsers(_ secrets: any SecretHashing) -> ParseStore {
        guard models == nil else { return self }
        return ParseStore(
            records, models: nil, classes: last.withLock { $0 }, objectIDs: objectIDs, secrets: secrets,
            runningJobs: runningJobs)
    }

    /// Whether use creates a missing class or field.
    public var mode: Mode { records.mode }
    /// The database: a file, or a URL without its password; `nil` for a store in memory.
    public var path: String? { records.path }
    var pool: ConnectionPool { records.pool }
    /// Whether some objects are hidden from every caller.
    var isLimited: Bool { records.access.isLimited }

    // MARK: Opening

    /// Opens a file or a server's database and serves its contents; creates the file if it doesn't exist.
    ///
    /// The tables of another program are classes too, as `relata inspect` shows them. They stay unchanged until a class
    /// is changed.
    ///
    /// - Parameters:
    ///   - path: The file, a URL such as `postgres://user@host/database`, or `nil` for a store in memory.
    ///   - mode: Whether clients may make classes and fields by using them.
    ///   - isReadOnly: Whether no byte of the file is changed; it must exist.
    ///   - durability: The guarantee for committed transactions if the power fails.
    ///   - trace: Called after each SQL statement.
    /// - Throws: `RelataError` if the file can't be opened, is damaged, or isn't a database.
    public static func open(
        _ path: String?, mode: Mode = .development, isReadOnly: Bool = false, durability: Durability = .normal,
        trace: SQLTrace? = nil
    ) throws -> ParseStore {
        var options = RecordStore.Options()
        options.isReadOnly = isReadOnly
        options.durability = durability
        options.trace = trace
        return try open(path, mode: mode, options: options)
    }

    /// Opens a file or a server's database with all options.
    ///
    /// - Parameters:
    ///   - path: The file, a URL such as `postgres://user@host/database`, or `nil` for a store in memory.
    ///   - mode: Whether clients may make classes and fields by using them.
    ///   - options: The options for opening it.
    /// - Throws: `RelataError` if it can't be opened, is damaged, or isn't a database.
    public static func open(
        _ path: String?, mode: Mode = .development, options: RecordStore.Options
    ) throws -> ParseStore {
        let records = try RecordStore.make(DatabaseLocation(path), mode, options, copiesLog: true) { connection in
            try ParseMetadata.create(on: connection)
        }
        do {
            let classes = try records.pool.withWriter { connection in
                try Self.classes(try records.classes(for: connection), connection)
            }
            return ParseStore(records, models: nil, classes: classes)
        } catch {
            try? records.close()
            throw error
        }
    }

    /// Serves the models of a store. The classes are those of the models; clients can't change them.
    ///
    /// - Parameter configure: Sets the hooks before and after objects are saved and deleted.
    /// - Throws: The errors of `configure`; `RelataError` if the database can't be read or written.
    public static func serving(
        _ store: Store, _ configure: (inout ModelHooks) throws -> Void = { _ in }
    ) throws -> ParseStore {
        try store.requireOwn(for: "serving models")
        var hooks = ModelHooks(store)
        try configure(&hooks)
        let records = try RecordStore.serving(store.pool, schema: store.schema, path: store.path)
        try store.pool.withWriter { connection in
            try connection.driver.makingOwnTables(connection) { try ParseMetadata.create(on: connection) }
        }
        try store.pool.copyLogInBackground()
        let classes = try records.currentClasses.view { try ClassSet(records.currentClasses, options: [:]) }
        return ParseStore(records, models: ServedModels(store: store, bindings: hooks.bindings), classes: classes)
    }

    /// The id by which clients know an object.
    package func objectID(_ key: KeyValue, of className: String) -> String {
        currentClasses[className]?.objectID.text(key) ?? key.description
    }

    /// The number of threads that can be busy in the store at once; more requests wait without a thread.
    public var maximumThreads: Int { pool.maximumHolders }

    /// Closes the store. Calls that run are finished.
    ///
    /// - Throws: `RelataError` if a connection can't be closed.
    public func close() throws { try records.close() }

    // MARK: Transactions

    /// Runs `body` on one state of the store, for a caller.
    ///
    /// - Throws: what `body` throws; ``ParseError`` 209 for a session that doesn't exist.
    func read<Result: Sendable>(
        as caller: Caller, _ body: @Sendable (ParseTransaction) throws -> Result
    ) async throws -> Result {
        try await records.read { try body(try self.transaction($0, caller)) }
    }

    /// Runs `body` in a transaction, for a caller: all of it is written, or, if it throws, nothing.
    ///
    /// - Parameter sharing: Whether the transaction may include other waiting requests, which are written even if
    ///   `body` throws. Then `body` may run more than once, and must only write to the transaction.
    func write<Result: Sendable>(
        as caller: Caller, sharing: Bool = false, _ body: @escaping @Sendable (ParseTransaction) throws -> Result
    ) async throws -> Result {
        // No earlier request gets here: this is for later ones.
        if caller.isReadOnly { throw ParseError.readOnlyMasterKey("a change") }
        // The app's hooks must not run twice.
        if sharing && models == nil {
            return try await records.writeShared { try body(try self.transaction($0, caller)) }
        }
        return try await records.write { try body(try self.transaction($0, caller)) }
    }

    /// Whether the disk was full when something was written last.
    var isDiskFull: Bool { records.isDiskFull }

    /// A transaction with the classes that the caller knows.
    private func transaction(_ transaction: RecordTransaction, _ caller: Caller) throws -> ParseTransaction {
        let connection = transaction.connection
        return try self.transaction(on: connection, caller, try classes(transaction.recordClasses, connection))
    }

    /// The transaction that a connection is in, with the classes that the caller knows.
    func transaction(on connection: Connection, _ caller: Caller) throws -> ParseTransaction {
        try transaction(on: connection, caller, try classes(for: connection))
    }

    private func transaction(
        on connection: Connection, _ caller: Caller, _ classes: ClassSet
    ) throws -> ParseTransaction {
        let now = Date()
        var known = try CallerLookup(connection: connection, classes: classes, now: now, secrets: secrets)
            .known(caller)
        // The store itself may have less access.
        if isLimited {
            let access = records.access
            known = KnownCaller(isMaster: true, read: access, write: access, delete: access)
        }
        known.unprovenFiles = caller.unprovenFiles
        known.isMaintenance = caller.isMaintenance
        known.keepsUpdatedAt = caller.isImport
        return ParseTransaction(
            connection, classes, models, caller: known, secrets: secrets, objectIDs: objectIDs, mode: mode,
            now: now)
    }

    /// The classes as the transaction that the connection is in sees the tables.
    func classes(for connection: Connection) throws -> ClassSet {
        try classes(try records.classes(for: connection), connection)
    }

    private func classes(_ stored: RecordClasses, _ connection: Connection) throws -> ClassSet {
        let classes = try Self.classes(stored, connection)
        remember(classes)
        return classes
    }

    private static func classes(_ stored: RecordClasses, _ connection: Connection) throws -> ClassSet {
        try stored.view { try ClassSet(stored, options: try ParseMetadata.options(on: connection)) }
    }

    /// The classes as they were last seen.
    var currentClasses: ClassSet { last.withLock { $0 } }

    /// The classes of models. All callers share them, because comparing models with the tables takes longer than
    /// reading objects.
    func classes(ofModels schema: Schema) -> ModelClasses {
        usedModels.withLock { known in
            let classes = known[ObjectIdentifier(schema)] ?? ModelClasses(schema, areServed: models != nil)
            known[ObjectIdentifier(schema)] = classes
            return classes
        }
    }

    private func remember(_ classes: ClassSet) {
        last.withLock { if $0.version < classes.version { $0 = classes } }
    }

    // MARK: Changing classes

    /// Changes classes, in a separate transaction.
    ///
    /// - Parameter change: Edits the draft. It may be called on a newer state than the caller last saw. The store
    ///   doesn't change between this call and the commit.
    /// - Returns: what `change` returns.
    /// - Throws: what `change` throws; `RelataError.schemaMismatch` if the tables can't follow.
    @discardableResult
    func alter<Result: Sendable>(
        _ change: @Sendable (inout SchemaDraft, Connection) throws -> Result
    ) async throws -> Result {
        try await alter(change) { result, _ in result }
    }

    /// Changes classes, and runs `finish` in the same transaction, with the changed classes.
    ///
    /// - Parameter finish: Gets the result of `change`.
    /// - Returns: what `finish` returns.
    func alter<Found: Sendable, Result: Sendable>(
        _ change: @Sendable (inout SchemaDraft, Connection) throws -> Found,
        finish: @Sendable (Found, ParseTransaction) throws -> Result
    ) async throws -> Result {
        guard models == nil else { throw ParseError.classesAreFixed }
        let (result, classes) = try await records.altering { alteration in
            let known = try Self.classes(alteration.classes, alteration.connection)
            var draft = SchemaDraft(
                entities: known.entities, options: known.options, hasUsers: self.secrets != nil,
                resolved: known.storedSchema)
            let found = try change(&draft, alteration.connection)
            let classes = try Self.apply(draft, since: known, in: alteration)
            let transaction = ParseTransaction(
                alteration.connection, classes, caller: .master, secrets: self.secrets, objectIDs: self.objectIDs)
            return (try finish(found, transaction), classes)
        }
        remember(classes)
        return result
    }

    /// Changes the tables to those of a draft.
    ///
    /// - Returns: The classes as they are then.
    private static func apply(
        _ draft: SchemaDraft, since known: ClassSet, in alteration: Alteration
    ) throws -> ClassSet {
        let changes = draft.entities.changes
        let options = draft.options.changed
        if changes.isEmpty, options.isEmpty { return known }
        try SchemaDraft.checkNames(changes, on: alteration.connection)
        let duplicates = try SchemaDraft.duplicates(changes, in: known.storedSchema, on: alteration.connection)
        if let duplicate = duplicates.first { throw ParseError(.duplicateValue, duplicate.message) }
        try alteration.apply(draft.entities.all, changes) { connection in
            try ParseMetadata.write(draft.options, on: connection)
        }
        let change = changes.places.map { ClassSet.Change(before: known, places: $0, options: options) }
        return try alteration.classes.view {
            try ClassSet(alteration.classes, options: draft.options.all, since: change)
        }
    }
}

/// The models of an app that are served.
struct ServedModels: Sendable {
    let store: Store
    let bindings: [String: ModelBinding]

    func acting(under access: Access) -> ServedModels {
        ServedModels(store: store.acting(under: access), bindings: bindings)
    }
}

extension ParseError {
    /// The error of a change of classes that are an app's models.
    static let classesAreFixed = ParseError(
        .operationForbidden, "the classes are those of the app's models and can't be changed here")
}
