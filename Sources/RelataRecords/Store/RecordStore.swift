import RelataCore
import RelataEngine
public import RelataEngines
import Foundation
import Synchronization

/// A database with classes known at run time: opened once, used from anywhere.
///
/// ```swift
/// let store = try RecordStore.open("music.sqlite")
/// let miles = try await store.save(Record("Artist", ["name": "Miles Davis"]))
/// try await store.save(Record("Album", ["title": "Kind of Blue", "year": 1959, "artist": .link(miles)]))
/// let albums = try await store.fetch(RecordQuery("Album", where: "artist.name == 'Miles Davis'"))
/// ```
///
/// It opens any SQLite file and any database of PostgreSQL: its own, one of models, and one of another program, whose
/// tables become classes as in `relata inspect`.
public final class RecordStore: Sendable {
    /// Whether use creates classes and fields.
    public enum Mode: Sendable {
        /// Missing classes and fields of an object are created.
        case development
        /// Classes don't change; missing ones are refused.
        case production
    }

    /// The options for opening a store.
    public typealias Options = DatabaseOptions

    package let pool: ConnectionPool
    /// The hub that reports commits.
    let hub: ChangeHub
    let observations = ObservationRegistry()
    /// Whether use creates a missing class or field.
    public let mode: Mode
    /// The database: a file, or a URL without its password; `nil` for a store in memory.
    public let path: String?
    /// Whether the classes are those of an app's models, and never change.
    let isFixed: Bool
    /// The objects that are visible; no operation sees others.
    package let access: Access
    /// The parts that it shares with stores of other accesses.
    private let shared: Shared

    /// Facts about a file, regardless of the reader.
    private final class Shared: Sendable {
        let objectIDs = ObjectIDGenerator()
        let foundDiskFull = Atomic(false)
        /// The classes as they were last seen, and as they were shortly before: transactions that began then see them
        /// so.
        let recent: Mutex<[RecordClasses]>
        /// The maximum number of kept ones.
        static let recentCount = 4

        init(_ classes: RecordClasses) { recent = Mutex([classes]) }
    }

    private init(
        pool: ConnectionPool, hub: ChangeHub, mode: Mode, path: String?, isFixed: Bool, access: Access, shared: Shared
    ) {
        self.pool = pool
        self.hub = hub
        self.mode = mode
        self.path = path
        self.isFixed = isFixed
        self.access = access
        self.shared = shared
    }

    /// The store for a caller with less access.
    ///
    /// The access replaces that of this store. Closing either store closes both. They don't share observations.
    package func acting(under access: Access) -> RecordStore {
        RecordStore(
            pool: pool, hub: hub, mode: mode, path: path, isFixed: isFixed, access: access, shared: shared)
    }

    // MARK: Opening

    /// Opens the file at a path, and creates it if it doesn't exist; or the database of a server, by its URL.
    ///
    /// The tables of another program are classes too. They stay unchanged until a class is changed.
    ///
    /// - Parameters:
    ///   - path: The file, or a URL such as `postgres://user@host/database`.
    ///   - mode: Whether use creates classes and fields.
    ///   - options: The options for opening it.
    /// - Throws: ``RelataError/fileAccess(path:_:)``, ``RelataError/corruptStore(_:)``, ``RelataError/busy(_:)`` for
    ///   the file; ``RelataError/wrongKey(path:)`` and ``RelataError/notEncrypted(path:)`` for its key.
    public static func open(
        _ path: String, mode: Mode = .development, options: Options = Options()
    ) throws -> RecordStore {
        try make(DatabaseLocation(path), mode, options)
    }

    /// Opens a store in memory, which ends when it is closed. It has one connection: reads and writes queue.
    ///
    /// - Parameters:
    ///   - mode: Whether use makes classes and fields, as by default.
    ///   - options: The options for opening it.
    /// - Throws: ``RelataError`` if the database can't be created.
    public static func inMemory(mode: Mode = .development, options: Options = Options()) throws -> RecordStore {
        try make(.memory, mode, options)
    }

    /// Opens a database, wherever it is.
    ///
    /// - Parameters:
    ///   - usesLog: Whether the file gets a write-ahead log, so that readers don't wait for writers.
    ///   - copiesLog: Whether the log is copied into the file in the background, so that commits don't do it.
    ///   - prepare: Creates the tables of a higher layer, if the file may be written.
    package static func make(
        _ location: DatabaseLocation, _ mode: Mode, _ options: Options, usesLog: Bool = true, copiesLog: Bool = false,
        prepare: (Connection) throws -> Void = { _ in }
    ) throws -> RecordStore {
        let hub = ChangeHub(
            ChangeEntities(try Schema([])), keepsLog: options.changeLog && !options.isReadOnly,
            interval: location.isMemory ? nil : options.externalChangeDelay)
        let pool = try location.pool(options, changes: hub)
        do {
            let classes = try pool.withWriter { connection in
                // Read before anything is written: a file that isn't a database stays as it was.
                let found = try read(connection)
                if options.isReadOnly { return found }
                if hub.keepsLog { try ChangeLog.check(connection) }
                try connection.driver.makeReady(connection)
                if usesLog { try pool.engine.beginLogging(connection) }
                try connection.driver.makingOwnTables(connection) { try prepare(connection) }
                try hub.prepare(connection)
                return try RecordClasses.version(of: connection) == found.version ? found : read(connection)
            }
            hub.follow(classes.changes)
            if copiesLog { try pool.copyLogInBackground() }
            let store = RecordStore(
                pool: pool, hub: hub, mode: mode, path: pool.engine.path, isFixed: false, access: .everything,
                shared: Shared(classes))
            // Others may have created classes that this store hasn't seen yet.
            hub.readEntities { [weak store] connection in
                try store?.classes(for: connection).changes ?? classes.changes
            }
            return store
        } catch {
            try? pool.close()
            throw error
        }
    }

    /// The classes of one state of the store.
    private static func read(_ connection: Connection) throws -> RecordClasses {
        try connection.begin()
        defer { connection.endReading() }
        return try RecordClasses.read(connection)
    }

    /// The classes of an app's models, in the pool of its store. They never change.
    package static func serving(_ pool: ConnectionPool, schema: Schema, path: String?) throws -> RecordStore {
        let (version, dialect) = try pool.read { connection in
            (try RecordClasses.version(of: connection), connection.dialect)
        }
        let classes = try RecordClasses(
            schema.tables.map(\.entity), schema: schema, version: version, isRemembered: true, dialect: dialect)
        let hub = pool.changes ?? ChangeHub(classes.changes, keepsLog: false, interval: nil)
        return RecordStore(
            pool: pool, hub: hub, mode: .production, path: path, isFixed: true, access: .everything,
            shared: Shared(classes))
    }

    /// Closes the store. Later calls fail with ``RelataError/closed(_:)``; running ones finish.
    ///
    /// - Throws: ``RelataError`` if the file can't be closed properly.
    public func close() throws { try pool.close() }

    // MARK: Transactions

    /// Runs `body` on one state of the store, regardless of concurrent writes.
    ///
    /// - Throws: The errors of `body`; ``RelataError`` if the database can't be read.
    public func read<Result: Sendable>(_ body: @Sendable (RecordTransaction) throws -> Result) async throws -> Result {
        try await pool.read { connection in try self.snapshot(connection, body) }
    }

    func snapshot<Result>(_ connection: Connection, _ body: (RecordTransaction) throws -> Result) throws -> Result {
        // In memory, one connection does both: there are no writes during a read.
        if path == nil { return try body(try transaction(connection)) }
        try connection.begin()
        defer { connection.endReading() }
        return try body(try transaction(connection))
    }

    /// Runs `body` on one state of the store, regardless of concurrent writes.
    ///
    /// - Throws: The errors of `body`; ``RelataError`` if the database can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func read<Result>(_ body: (RecordTransaction) throws -> Result) throws -> Result {
        try pool.read { connection in try snapshot(connection, body) }
    }

    /// One state of a file, kept for reading during the lifetime of the result.
    package func snapshot() throws -> RecordSnapshot {
        let kept = try pool.snapshot()
        return RecordSnapshot(kept, transaction: try transaction(kept.connection))
    }

    private func transaction(_ connection: Connection) throws -> RecordTransaction {
        RecordTransaction(connection, try classes(for: connection), mode: mode, access: access)
    }

    /// Runs `body` in a transaction: all of it is written, or, if it throws, nothing.
    ///
    /// ```swift
    /// try await store.write { tx in
    ///     let genre = try tx.save(Record("Genre", ["name": "Jazz"]))
    ///     try tx.save(Record("Album", ["title": "Kind of Blue", "genre": .link(genre)]))
    /// }
    /// ```
    ///
    /// - Throws: The errors of `body`; ``RelataError/busy(_:)`` if another process doesn't finish in time;
    ///   `CancellationError` if the task was cancelled, with nothing written.
    @discardableResult
    public func write<Result: Sendable>(
        _ body: @Sendable (RecordWriteTransaction) throws -> Result
    ) async throws -> Result {
        try await noticingFullDisk {
            let (result, classes) = try await pool.write { connection in
                let transaction = try self.writeTransaction(connection)
                return (try body(transaction), transaction.recordClasses)
            }
            remember(classes)
            return result
        }
    }

    /// Runs `body` in a transaction: all of it is written, or, if it throws, nothing.
    ///
    /// - Throws: The errors of `body`; ``RelataError/busy(_:)`` if another process doesn't finish in time.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func write<Result>(_ body: (RecordWriteTransaction) throws -> Result) throws -> Result {
        do {
            let (result, classes) = try pool.write { connection in
                let transaction = try writeTransaction(connection)
                return (try body(transaction), transaction.recordClasses)
            }
            noteFullDisk(nil)
            remember(classes)
            return result
        } catch {
            noteFullDisk(error)
            throw error
        }
    }

    /// Runs `body`, possibly in one transaction with other waiting writes, which are written even if `body` throws.
    /// Then `body` may run again, and must only write objects of existing classes.
    package func writeShared<Result: Sendable>(
        _ body: @escaping @Sendable (RecordWriteTransaction) throws -> Result
    ) async throws -> Result {
        try await noticingFullDisk {
            try await pool.writeShared { connection in try body(try self.writeTransaction(connection)) }
        }
    }

    private func writeTransaction(_ connection: Connection) throws -> RecordWriteTransaction {
        let classes = try classes(for: connection)
        connection.recorder?.follow(classes.changes)
        return RecordWriteTransaction(
            connection, classes, mode: mode, access: access, objectIDs: shared.objectIDs)
    }

    // MARK: A full disk

    /// Whether the disk was full when something was written last.
    package var isDiskFull: Bool { shared.foundDiskFull.load(ordering: .relaxed) }

    func noticingFullDisk<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        do {
            let result = try await body()
            noteFullDisk(nil)
            return result
        } catch {
            noteFullDisk(error)
            throw error
        }
    }

    /// Records whether a write failed for lack of space.
    private func noteFullDisk(_ error: (any Error)?) {
        let isFull = (error as? RelataError)?.isNoSpaceLeft == true
        if error == nil || isFull, isDiskFull != isFull { shared.foundDiskFull.store(isFull, ordering: .relaxed) }
    }

    // MARK: Classes

    /// The classes, as the connection's transaction sees the tables: another process may have changed them in the
    /// meantime, and so may this one.
    package func classes(for connection: Connection) throws -> RecordClasses {
        let known = shared.recent.withLock { $0 }
        let last = known[known.count - 1]
        if isFixed { return last }
        let version = try RecordClasses.version(of: connection)
        if version == last.version { return last }
        if let before = known.last(where: { $0.version == version }) { return before }
        let classes = try RecordClasses.read(connection)
        remember(classes)
        return classes
    }

    /// The classes as they were last seen.
    package var currentClasses: RecordClasses { shared.recent.withLock { $0[$0.count - 1] } }

    func remember(_ classes: RecordClasses) {
        let isNew = shared.recent.withLock { recent in
            guard recent[recent.count - 1].version < classes.version else { return false }
            recent.append(classes)
            if recent.count > Shared.recentCount { recent.removeFirst() }
            return true
        }
        if isNew { hub.follow(classes.changes) }
    }
}

/// One state of a file that is kept for reading.
package final class RecordSnapshot {
    private let kept: Snapshot
    /// Reads it.
    package let transaction: RecordTransaction

    fileprivate init(_ kept: Snapshot, transaction: RecordTransaction) {
        self.kept = kept
        self.transaction = transaction
    }
}
