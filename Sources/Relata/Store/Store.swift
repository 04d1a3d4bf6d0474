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
/// same names. An async call suspends only to wait for a connection; then it runs on the thread it is on. Readers
/// never wait for the writer; writers queue.
public final class Store: StoreWriter, Sendable {
    /// How a store is opened: what ``DatabaseOptions`` say, and steps for changes of the schema.
    @dynamicMemberLookup
    public struct Options: Sendable {
        /// How its database is opened. The parts of it are those of the options, too: `options.isReadOnly = true`.
        public var database = DatabaseOptions()
        /// Steps for changes of the schema that would lose data, each run once, in this order.
        public var migrations: [MigrationStep] = []

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
    /// Which objects are seen.
    let access: Access
    /// Where the store's file is; `nil` for a store in memory.
    public let path: String?

    /// The resolved schema of all models, of which ``Schema/diagram()`` makes a picture.
    public var schema: Schema { catalog.schema }

    private init(
        pool: ConnectionPool, catalog: ModelCatalog, hub: ChangeHub, access: Access, path: String?
    ) {
        self.pool = pool
        self.catalog = catalog
        self.hub = hub
        self.access = access
        self.path = path
    }

    // MARK: Opening

    /// Opens the file at a path, makes it if it doesn't exist, and brings its schema up to the models.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - models: One or more models; those they link to are found from them.
    ///   - options: How to open it.
    /// - Throws: ``RelataError/schemaMismatch(_:)`` if the models contradict themselves, or the file them;
    ///   ``RelataError/fileAccess(path:_:)``, ``RelataError/corruptStore(_:)``, ``RelataError/busy(_:)`` for the file;
    ///   ``RelataError/wrongKey(path:)`` and ``RelataError/notEncrypted(path:)`` for its key.
    ///   Whatever is thrown, the file is as it was.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public static func open(_ path: String, for models: any Model.Type..., options: Options = Options()) throws -> Store
    {
        try make(DatabaseLocation(path), models, options)
    }

    /// Opens the file at a path, as the call without `async`. While another process has it locked, the task waits without
    /// a thread.
    ///
    /// - Throws: As the call without `async` for models one by one.
    public static func open(
        _ path: String, for models: any Model.Type..., options: Options = Options()
    ) async throws -> Store {
        try await makeWaiting(path, models, options)
    }

    /// Opens the file at a path for models that are known as a list.
    ///
    /// - Throws: As the call without `async` for models one by one.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public static func open(_ path: String, for models: [any Model.Type], options: Options = Options()) throws -> Store
    {
        try make(DatabaseLocation(path), models, options)
    }

    /// Opens the file at a path for models that are known as a list.
    ///
    /// - Throws: As the call without `async` for models one by one.
    public static func open(
        _ path: String, for models: [any Model.Type], options: Options = Options()
    ) async throws -> Store {
        try await makeWaiting(path, models, options)
    }

    /// Opens a store in memory, which is gone when it is closed. It has one connection: reads and writes queue.
    ///
    /// - Throws: ``RelataError/schemaMismatch(_:)`` if the models contradict themselves.
    public static func inMemory(for models: any Model.Type..., options: Options = Options()) throws -> Store {
        try make(.memory, models, options)
    }

    /// Opens a store in memory for models that are known as a list.
    ///
    /// - Throws: ``RelataError/schemaMismatch(_:)`` if the models contradict themselves.
    public static func inMemory(for models: [any Model.Type], options: Options = Options()) throws -> Store {
        try make(.memory, models, options)
    }

    /// What opening the file would change in its schema, without changing anything.
    ///
    /// - Throws: ``RelataError`` as ``open(_:for:options:)``.
    public static func pendingMigration(
        _ path: String, for models: any Model.Type..., options: Options = Options()
    ) throws -> MigrationPlan {
        let catalog = try ModelCatalog.of(models)
        let engine = try DatabaseLocation(path).engine(options.database, isLookedAtOnly: true)
        let connection = try engine.connect(engine.isShared ? .writing : .reading, waits: true)
        defer { try? connection.close() }
        return try Migrator.prepare(connection, schema: catalog.schema, steps: options.migrations)
    }

    /// Tries until nobody has the file locked.
    private static func makeWaiting(
        _ path: String, _ models: [any Model.Type], _ options: Options
    ) async throws -> Store {
        let deadline = Date(timeIntervalSinceNow: options.busyTimeout)
        // Where opening blocks, it has a thread of its own to block.
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
        let pool = try location.pool(options.database, waitsToOpen: waits, changes: hub)
        do {
            try pool.withWriter { connection in
                if hub.keepsLog { try ChangeLog.check(connection) }
                catalog = try catalog.comparing(
                    Migrator.entities(migrating: connection, schema: catalog.schema, steps: options.migrations))
                if !options.isReadOnly {
                    try pool.engine.beginLogging(connection)
                    try hub.prepare(connection)
                }
                pool.beginWaiting(connection)
            }
        } catch {
            try? pool.close()
            throw error
        }
        return Store(
            pool: pool, catalog: catalog, hub: hub, access: .everything, path: pool.engine.path)
    }

    /// The same store for a caller that sees less: hidden objects are nowhere, as if they weren't stored.
    ///
    /// The access replaces that of this store. Closing either closes both. Observations are not shared between the two.
    package func acting(under access: Access) -> Store {
        Store(pool: pool, catalog: catalog, hub: hub, access: access, path: path)
    }

    /// Closes the store. Calls after it fail with ``RelataError/closed(_:)``; what runs goes on to its end.
    public func close() throws { try pool.close() }

    /// How the store uses its connections now, and what became of its transactions so far.
    public var statistics: StoreStatistics { pool.statistics }

    /// How far the server of the store has written its database, and how far behind a replica is; `nil` where there is no
    /// server.
    ///
    /// - Throws: ``RelataError`` where the server can't be asked.
    public func serverPosition() async throws -> ServerPosition? {
        try await pool.read { try self.pool.engine.serverPosition($0) }
    }

    // MARK: Transactions

    /// Runs `body` on one state of the database, whatever is written meanwhile.
    ///
    /// - Throws: What `body` throws; ``RelataError`` where the database can't be read.
    public func read<Result: Sendable>(_ body: @Sendable (ReadTransaction) throws -> Result) async throws -> Result {
        try await pool.read { connection in try self.snapshot(connection, body) }
    }

    /// Runs `body` on one state of the database, whatever is written meanwhile.
    ///
    /// - Throws: What `body` throws; ``RelataError`` where the database can't be read.
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
    /// - Throws: What `body` throws; ``RelataError/busy(_:)`` if another process doesn't finish in time;
    ///   `CancellationError` if the task was cancelled, with nothing written.
    @discardableResult
    public func write<Result: Sendable>(_ body: @Sendable (WriteTransaction) throws -> Result) async throws -> Result {
        try await pool.write { connection in
            try body(WriteTransaction(connection, self.catalog, access: self.access))
        }
    }

    /// Runs `body` in a transaction: all of it is written, or, if it throws, nothing.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func write<Result>(_ body: (WriteTransaction) throws -> Result) throws -> Result {
        try pool.write { connection in try body(WriteTransaction(connection, catalog, access: access)) }
    }

    /// Runs a body of a single call in a transaction of its own: what fails is rolled back with it.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    @discardableResult
    public func _writeOnce<Result>(_ body: (WriteTransaction) throws -> Result) throws -> Result {
        try pool.write { connection in
            try body(WriteTransaction(connection, catalog, access: access, isOneCall: true))
        }
    }

    /// As the call without `async`.
    func _writeOnce<Result: Sendable>(_ body: @Sendable (WriteTransaction) throws -> Result) async throws -> Result {
        try await pool.write { connection in
            try body(WriteTransaction(connection, self.catalog, access: self.access, isOneCall: true))
        }
    }

    /// Runs a body of a single statement, which sees one state of the database by itself.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func _readOnce<Result>(_ body: (ReadTransaction) throws -> Result) throws -> Result {
        try pool.read { connection in try body(ReadTransaction(connection, catalog, access: access)) }
    }

    /// As the call without `async`.
    func _readOnce<Result: Sendable>(_ body: @Sendable (ReadTransaction) throws -> Result) async throws -> Result {
        try await pool.readOnce { connection in
            try body(ReadTransaction(connection, self.catalog, access: self.access))
        }
    }

    func snapshot<Result>(_ connection: Connection, _ body: (ReadTransaction) throws -> Result) throws -> Result {
        // In memory one connection does both: nobody writes while it reads.
        if pool.isShared { return try body(ReadTransaction(connection, catalog, access: access)) }
        try connection.begin()
        defer { connection.endReading() }
        return try body(ReadTransaction(connection, catalog, access: access))
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
