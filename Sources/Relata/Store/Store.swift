import Foundation
import RelataCore
import RelataEngine
import RelataEngines

/// A database of models: opened once, used from anywhere.
///
/// ```swift
/// let store = try await Store.open("library.sqlite", for: Book.self)
/// let book = try await store.save(Book(title: "The Dispossessed"))
/// let books = try await store.fetch(Book.where { $0.title.hasPrefix("The") })
/// ```
///
/// Calls of one statement and whole transactions exist `async` and, for code without `async`, synchronously under the
/// same names. An async call suspends only to wait for a connection; then it runs on the current thread. Readers never
/// wait for the writer; writers queue.
public final class Store: StoreWriter, Sendable {
    /// The options for opening a store: ``DatabaseOptions``, and steps for changes of the schema.
    @dynamicMemberLookup
    public struct Options: Sendable {
        /// The options of its database. Their properties are also properties of the store's options:
        /// `options.isReadOnly = true`.
        public var database = DatabaseOptions()
        /// Steps for changes of the schema that would lose data, each run once, in this order.
        public var migrations: [MigrationStep] = []
        /// Called when opening has changed the tables, with the changes, such as columns that were converted.
        public var didMigrate: (@Sendable (MigrationPlan) -> Void)?

        /// The defaults.
        public init() {}

        /// A part of how the database is opened.
        public subscript<Value>(dynamicMember part: WritableKeyPath<DatabaseOptions, Value>) -> Value {
            get { database[keyPath: part] }
            set { database[keyPath: part] = newValue }
        }
    }

    package let pool: ConnectionPool
    let catalog: ModelCatalog
    let hub: ChangeHub
    let observations = ObservationRegistry()
    /// The visible objects.
    let access: Access
    /// The caller whose rights limit it; `nil` for its owner.
    let caller: (any StoreCaller)?
    /// Whether it is only lent to the program, by the store that opened its database.
    let isLent: Bool
    /// The path of the store's file; `nil` for a store in memory.
    public let path: String?

    /// The resolved schema of all models; ``Schema/diagram()`` draws it.
    public var schema: Schema { catalog.schema }

    init(
        pool: ConnectionPool, catalog: ModelCatalog, hub: ChangeHub, access: Access, path: String?,
        caller: (any StoreCaller)? = nil, isLent: Bool = false
    ) {
        self.pool = pool
        self.catalog = catalog
        self.hub = hub
        self.access = access
        self.path = path
        self.caller = caller
        self.isLent = isLent
    }

    // MARK: Opening

    /// Opens the file at a path, creates it if it doesn't exist, and migrates its schema to the models.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - models: One or more models; those they link to are found from them.
    ///   - options: The options for opening it.
    /// - Throws: ``RelataError/schemaMismatch(_:)`` if the models contradict themselves or the file;
    ///   ``RelataError/fileAccess(path:_:)``, ``RelataError/corruptStore(_:)``, ``RelataError/busy(_:)`` for the file;
    ///   ``RelataError/wrongKey(path:)`` and ``RelataError/notEncrypted(path:)`` for its key. After an error, the file
    ///   is unchanged.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public static func open(_ path: String, for models: any Model.Type..., options: Options = Options()) throws -> Store
    {
        try make(DatabaseLocation(path), models, options)
    }

    /// Opens the file at a path, as the call without `async`. While another process has it locked, the task waits
    /// without a thread.
    ///
    /// - Throws: The errors of the call without `async` for models one by one.
    public static func open(
        _ path: String, for models: any Model.Type..., options: Options = Options()
    ) async throws -> Store {
        try await makeWaiting(path, models, options)
    }

    /// Opens the file at a path for a list of models.
    ///
    /// - Throws: The errors of the call without `async` for models one by one.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public static func open(_ path: String, for models: [any Model.Type], options: Options = Options()) throws -> Store
    {
        try make(DatabaseLocation(path), models, options)
    }

    /// Opens the file at a path for a list of models.
    ///
    /// - Throws: The errors of the call without `async` for models one by one.
    public static func open(
        _ path: String, for models: [any Model.Type], options: Options = Options()
    ) async throws -> Store {
        try await makeWaiting(path, models, options)
    }

    /// Opens a store in memory, which ends when it is closed. It has one connection: reads and writes queue.
    ///
    /// - Throws: ``RelataError/schemaMismatch(_:)`` if the models contradict themselves.
    public static func inMemory(for models: any Model.Type..., options: Options = Options()) throws -> Store {
        try make(.memory, models, options)
    }

    /// Opens a store in memory for a list of models.
    ///
    /// - Throws: ``RelataError/schemaMismatch(_:)`` if the models contradict themselves.
    public static func inMemory(for models: [any Model.Type], options: Options = Options()) throws -> Store {
        try make(.memory, models, options)
    }

    /// The changes that opening the file would make in its schema, without making them.
    ///
    /// - Throws: ``RelataError`` as `open(_:for:options:)`.
    public static func pendingMigration(
        _ path: String, for models: any Model.Type..., options: Options = Options()
    ) throws -> MigrationPlan {
        let catalog = try ModelCatalog.of(models)
        let engine = try DatabaseLocation(path).engine(options.database, isLookedAtOnly: true)
        let connection = try engine.connect(engine.isShared ? .writing : .reading, waits: true)
        defer { try? connection.close() }
        return try Migrator.prepare(connection, schema: catalog.schema, steps: options.migrations)
    }

    /// Tries until the file isn't locked.
    private static func makeWaiting(
        _ path: String, _ models: [any Model.Type], _ options: Options
    ) async throws -> Store {
        let deadline = Date(timeIntervalSinceNow: options.busyTimeout)
        // If opening blocks, it runs on a separate thread.
        let location = try DatabaseLocation(path)
        let executor = try location.engine(options.database).makeExecutor()
        var pause = 1
        while true {
            do {
                guard let executor else { return try make(location, models, options, waits: false) }
                return try await withTaskExecutorPreference(executor) {
                    try make(location, models, options, waits: false)
                }
            } catch {
                guard case RelataError.busy = error, Date() < deadline else { throw error }
            }
            try await Task.sleep(for: .milliseconds(pause))
            pause = min(pause * 2, 50)
        }
    }

    /// - Parameter waits: Whether the thread waits while another process has the file locked.
    private static func make(
        _ location: DatabaseLocation, _ models: [any Model.Type], _ options: Options, waits: Bool = true
    ) throws -> Store {
        var catalog = try ModelCatalog.of(models)
        let hub = ChangeHub(
            ChangeEntities(catalog.schema), keepsLog: options.changeLog && !options.isReadOnly,
            interval: location.isMemory ? nil : options.externalChangeDelay)
        // The first call most likely reads, on a connection that has read the declarations of all tables. Then the
        // writing one needn't do the same before it writes.
        let pool = try location.pool(options.database, waitsToOpen: waits, readsFirst: !hub.keepsLog, changes: hub)
        do {
            if try !isReady(pool, catalog.schema, options, waits: waits) {
                try pool.withWriter { connection in
                    if hub.keepsLog { try ChangeLog.check(connection) }
                    catalog = try catalog.comparing(
                        Migrator.entities(migrating: connection, schema: catalog.schema, steps: options.migrations) {
                            options.didMigrate?($0)
                        })
                    if !options.isReadOnly {
                        try pool.engine.beginLogging(connection)
                        try hub.prepare(connection)
                    }
                }
            }
            try pool.beginWaiting()
        } catch {
            try? pool.close()
            throw error
        }
        return Store(
            pool: pool, catalog: catalog, hub: hub, access: .everything, path: pool.engine.path)
    }

    /// Whether a reading connection finds the database as the store needs it.
    private static func isReady(
        _ pool: ConnectionPool, _ schema: Schema, _ options: Options, waits: Bool
    ) throws -> Bool {
        guard pool.readsFirst else { return false }
        return try pool.openReader(waits: waits) { connection in
            try Migrator.isReady(connection, schema: schema, steps: options.migrations)
                && (options.isReadOnly || pool.engine.isLogging(connection))
        }
    }

    /// The store for a caller with less access: hidden objects are invisible, as if they weren't stored.
    ///
    /// The access replaces that of this store. Closing either store closes both. They don't share observations.
    package func acting(under access: Access) -> Store {
        Store(pool: pool, catalog: catalog, hub: hub, access: access, path: path)
    }

    /// Closes the store. Later calls fail with ``RelataError/closed(_:)``; running ones finish.
    ///
    /// - Throws: ``RelataError`` if the file can't be closed properly.
    public func close() throws {
        if isLent { throw RelataError.invalidUse("the store is its server's, and is closed with the server") }
        try pool.close()
    }

    /// The current use of the store's connections, and the results of its transactions so far.
    public var statistics: StoreStatistics { pool.statistics }

    /// The position of the server's log, and the lag of a replica; `nil` without a server.
    ///
    /// - Throws: ``RelataError`` if the server can't be reached.
    public func serverPosition() async throws -> ServerPosition? {
        try await pool.read { try self.pool.engine.serverPosition($0) }
    }

    // MARK: Transactions

    /// Runs `body` on one state of the database, regardless of concurrent writes.
    ///
    /// - Throws: The errors of `body`; ``RelataError`` if the database can't be read.
    public func read<Result: Sendable>(_ body: @Sendable (ReadTransaction) throws -> Result) async throws -> Result {
        try await pool.read { connection in try self.snapshot(connection, body) }
    }

    /// Runs `body` on one state of the database, regardless of concurrent writes.
    ///
    /// - Throws: The errors of `body`; ``RelataError`` if the database can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func read<Result>(_ body: (ReadTransaction) throws -> Result) throws -> Result {
        try pool.read { connection in try snapshot(connection, body) }
    }

    /// Runs `body` in a transaction: all of it is written, or, if it throws, nothing.
    ///
    /// ```swift
    /// try await store.write { tx in
    ///     let genre = try tx.save(Genre(name: "Fantasy"))
    ///     try tx.update(book.id) { $0.genre = ToOne(genre) }
    /// }
    /// ```
    ///
    /// - Throws: The errors of `body`; ``RelataError/busy(_:)`` if another process doesn't finish in time;
    ///   `CancellationError` if the task was cancelled, with nothing written.
    @discardableResult
    public func write<Result: Sendable>(_ body: @Sendable (WriteTransaction) throws -> Result) async throws -> Result {
        try await pool.write { connection in
            try body(try self.writing(connection))
        }
    }

    /// Runs `body` in a transaction: all of it is written, or, if it throws, nothing.
    ///
    /// - Throws: The errors of `body`; ``RelataError/busy(_:)`` if another process doesn't finish in time.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func write<Result>(_ body: (WriteTransaction) throws -> Result) throws -> Result {
        try pool.write { connection in try body(try writing(connection)) }
    }

    /// Runs a body of a single call in a separate transaction, which is rolled back if it fails.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    @discardableResult
    public func _writeOnce<Result>(_ body: (WriteTransaction) throws -> Result) throws -> Result {
        try pool.write { connection in
            try body(try writing(connection, isOneCall: true))
        }
    }

    /// As the call without `async`.
    func _writeOnce<Result: Sendable>(_ body: @Sendable (WriteTransaction) throws -> Result) async throws -> Result {
        try await pool.write { connection in
            try body(try self.writing(connection, isOneCall: true))
        }
    }

    /// Runs a body of a single statement, which sees one state of the database by itself.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func _readOnce<Result>(_ body: (ReadTransaction) throws -> Result) throws -> Result {
        // With a caller it isn't a single statement: the rights are read, too.
        if caller != nil { return try read(body) }
        return try pool.read { connection in try body(try reading(connection)) }
    }

    /// As the call without `async`.
    func _readOnce<Result: Sendable>(_ body: @Sendable (ReadTransaction) throws -> Result) async throws -> Result {
        if caller != nil { return try await read(body) }
        return try await pool.readOnce { connection in try body(try self.reading(connection)) }
    }

    func snapshot<Result>(_ connection: Connection, _ body: (ReadTransaction) throws -> Result) throws -> Result {
        // In memory, one connection does both: there are no writes during a read.
        if pool.isShared { return try body(try reading(connection)) }
        try connection.begin()
        defer { connection.endReading() }
        return try body(try reading(connection))
    }

    // MARK: Completion handlers

    /// Runs any async call of the store for code that works with completion handlers.
    ///
    /// ```swift
    /// store.perform { try await $0.fetch(Book.all) } completion: { result in … }
    /// ```
    ///
    /// - Returns: The task, which can be cancelled.
    @discardableResult
    public func perform<Success: Sendable>(
        _ call: @escaping @Sendable (Store) async throws -> Success,
        completion: @escaping @Sendable (Result<Success, any Error>) -> Void
    ) -> Task<Void, Never> {
        Task {
            do {
                completion(.success(try await call(self)))
            } catch {
                completion(.failure(error))
            }
        }
    }
}
