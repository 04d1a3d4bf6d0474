import Foundation
import RelataCore
import RelataEngine

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
    /// How a store is opened.
    public struct Options: Sendable {
        /// Whether writing is refused. The file must exist, and have what the models need.
        public var isReadOnly = false
        /// What a power cut can cost.
        public var durability = Durability.normal
        /// The largest number of reads at the same time.
        public var maximumReaders = 5
        /// How many transactions may write at once, on a database that lets several: SQLite lets one.
        public var maximumWriters = 5
        /// How many seconds a write waits for another process that writes.
        public var busyTimeout = 5.0
        /// How many seconds a call waits for a connection to a server while all are in use. Files have no such limit.
        public var connectionTimeout = 30.0
        /// How many seconds a server may take for one statement; `nil` for what the server says, 0 for as long as it takes.
        public var statementTimeout: Double?
        /// How many seconds a transaction may do nothing on a server before it is taken back and its connection closed;
        /// `nil` for what the server says, 0 for as long as it takes.
        public var idleInTransactionTimeout: Double?
        /// The URL of replicas of the server, which all reads outside of transactions that write go to; `nil` to read from
        /// the server itself. A read waits until its replica has what this store has written before, for
        /// ``busyTimeout`` seconds at most.
        public var replicaURL: String?
        /// Whether a pooler between the store and the server gives each transaction another of the server's connections, as
        /// pgbouncer does with `pool_mode = transaction`; `nil` to take any pooler for one.
        public var poolsTransactions: Bool?
        /// Called after each SQL statement, with its text and how long it ran.
        public var trace: SQLTrace?
        /// Whether what transactions do is also written down in the file, for readers that must not miss one: see
        /// ``Store/changes(after:limit:)-(ChangePosition,_)``.
        public var changeLog = false
        /// How many seconds may pass until observers notice what another process wrote, or another store that is open
        /// on the same file; `nil` for never. Nothing is asked while nobody observes.
        public var externalChangeDelay: Double? = 0.25
        #if SQLCipher
        /// What the file is encrypted with, or is to be if it is new; `nil` for a plain file. A store in memory has no file,
        /// and no use for it.
        public var encryptionKey: EncryptionKey?
        #endif
        /// Steps for changes of the schema that would lose data, each run once, in this order.
        public var migrations: [MigrationStep] = []

        /// The defaults.
        public init() {}
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
        try make(path, models, options)
    }

    /// Opens the file at a path, as the call without `async`. While another process has it locked, the task waits without
    /// a thread.
    public static func open(
        _ path: String, for models: any Model.Type..., options: Options = Options()
    ) async throws -> Store {
        try await makeWaiting(path, models, options)
    }

    /// Opens the file at a path for models that are known as a list.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public static func open(_ path: String, for models: [any Model.Type], options: Options = Options()) throws -> Store
    {
        try make(path, models, options)
    }

    /// Opens the file at a path for models that are known as a list.
    public static func open(
        _ path: String, for models: [any Model.Type], options: Options = Options()
    ) async throws -> Store {
        try await makeWaiting(path, models, options)
    }

    /// Opens a store in memory, which is gone when it is closed. It has one connection: reads and writes queue.
    public static func inMemory(for models: any Model.Type..., options: Options = Options()) throws -> Store {
        try make(nil, models, options)
    }

    /// Opens a store in memory for models that are known as a list.
    public static func inMemory(for models: [any Model.Type], options: Options = Options()) throws -> Store {
        try make(nil, models, options)
    }

    /// What opening the file would change in its schema, without changing anything.
    public static func pendingMigration(
        _ path: String, for models: any Model.Type..., options: Options = Options()
    ) throws -> MigrationPlan {
        let catalog = try ModelCatalog.of(models)
        let engine = try options.engine(for: path, isLookedAtOnly: true)
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
        let executor = try options.engine(for: path).makeExecutor()
        var pause = 1
        while true {
            do {
                guard let executor else { return try make(path, models, options, waits: false) }
                return try await withTaskExecutorPreference(executor) {
                    try make(path, models, options, waits: false)
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
        _ path: String?, _ models: [any Model.Type], _ options: Options, waits: Bool = true
    ) throws -> Store {
        var catalog = try ModelCatalog.of(models)
        let hub = ChangeHub(
            ChangeEntities(catalog.schema), keepsLog: options.changeLog && !options.isReadOnly,
            interval: path == nil ? nil : options.externalChangeDelay)
        let engine = try options.engine(for: path)
        let pool = try ConnectionPool(
            engine, isReadOnly: options.isReadOnly, readers: options.maximumReaders, busyTimeout: options.busyTimeout,
            waitsToOpen: waits, changes: hub)
        do {
            try pool.withWriter { connection in
                if hub.keepsLog { try ChangeLog.check(connection) }
                catalog = try catalog.comparing(
                    Migrator.entities(migrating: connection, schema: catalog.schema, steps: options.migrations))
                if !options.isReadOnly {
                    try engine.beginLogging(connection)
                    try hub.prepare(connection)
                }
                pool.beginWaiting(connection)
            }
        } catch {
            try? pool.close()
            throw error
        }
        return Store(
            pool: pool, catalog: catalog, hub: hub, access: .everything, path: engine.path)
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
    public func serverPosition() async throws -> ServerPosition? {
        try await pool.read { try self.pool.engine.serverPosition($0) }
    }

    /// Copies the store to a file while it is in use; the copy is of one moment.
    ///
    /// - Throws: ``RelataError/corruptStore(_:)`` where the file is there and no database; it stays as it is.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func backup(to path: String) throws {
        try check(copyTo: path)
        try pool.read { try pool.engine.backup($0, to: path) }
    }

    /// Copies the store to a file while it is in use, as the call without `async`.
    public func backup(to path: String) async throws {
        try check(copyTo: path)
        try await pool.read { try self.pool.engine.backup($0, to: path) }
    }

    private func check(copyTo path: String) throws {
        try access.requireEverything(for: "a copy")
        let files = [path, self.path ?? ""].map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
        guard files[0] != files[1] else {
            throw RelataError.invalidUse("\(path) is the store's own file: copy it to another")
        }
    }

    // MARK: Transactions

    /// Runs `body` on one state of the database, whatever is written meanwhile.
    public func read<Result: Sendable>(_ body: @Sendable (ReadTransaction) throws -> Result) async throws -> Result {
        try await pool.read { connection in try self.snapshot(connection, body) }
    }

    /// Runs `body` on one state of the database, whatever is written meanwhile.
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
