import Foundation
import Relata
import RelataCore
import RelataSQLite
import Synchronization

/// A store as Parse's clients see it: classes that may be made while it is in use, or those of an app's models.
public final class ParseStore: Sendable {
    /// Whether clients may make classes and fields by using them.
    public enum Mode: Sendable {
        /// What an object brings along and the class doesn't have is added to it.
        case development
        /// Classes are as they are; what they don't have is refused.
        case production
    }

    let pool: ConnectionPool
    /// The models, where the classes are those of an app.
    let models: ServedModels?
    /// Whether using a class or field that doesn't exist makes it.
    public let mode: Mode
    /// Where the file is; `nil` for a store in memory.
    public let path: String?
    private let objectIDs = ObjectIDGenerator()
    private let foundDiskFull = Atomic(false)
    /// The classes as they were last seen, and as they were shortly before: transactions that began then see them so.
    private let recent: Mutex<[ClassSet]>
    /// How many are kept.
    private static let recentCount = 4

    private init(
        pool: ConnectionPool, models: ServedModels?, mode: Mode, path: String?, classes: ClassSet
    ) {
        self.pool = pool
        self.models = models
        self.mode = mode
        self.path = path
        recent = Mutex([classes])
    }

    // MARK: Opening

    /// Opens a file and serves what it holds; makes it if it doesn't exist.
    ///
    /// The tables of another program are classes too, as `relata inspect` shows them. They are left as they are until a
    /// class is changed.
    ///
    /// - Parameters:
    ///   - path: The file, or `nil` for a store in memory.
    ///   - mode: Whether clients may make classes and fields by using them.
    ///   - isReadOnly: Whether the file stays as it is, to the last byte; it must exist.
    ///   - durability: What a power cut can cost.
    ///   - trace: Called after each SQL statement.
    /// - Throws: ``RelataError`` where the file can't be opened, is damaged, or is no database.
    public static func open(
        _ path: String?, mode: Mode = .development, isReadOnly: Bool = false, durability: Durability = .normal,
        trace: SQLTrace? = nil
    ) throws -> ParseStore {
        let pool = try ConnectionPool(path: path, isReadOnly: isReadOnly, durability: durability, trace: trace)
        do {
            let classes = try pool.withWriter { connection in
                // Read before anything is written: a file that is no database stays as it was.
                let found = try read(connection)
                if !isReadOnly {
                    if path != nil { try connection.execute("PRAGMA journal_mode = WAL") }
                    try ParseMetadata.create(on: connection)
                }
                return try ClassSet(
                    found.entities, options: found.options, version: try ParseMetadata.version(of: connection),
                    isRemembered: found.isRemembered)
            }
            try pool.copyLogInBackground()
            return ParseStore(pool: pool, models: nil, mode: mode, path: path, classes: classes)
        } catch {
            try? pool.close()
            throw error
        }
    }

    /// Serves the models of a store. Their classes are what the models declare; clients can't change them.
    ///
    /// - Parameter configure: Says what is done before and after objects are saved and deleted.
    public static func serving(
        _ store: Store, _ configure: (inout ModelHooks) throws -> Void = { _ in }
    ) throws -> ParseStore {
        var hooks = ModelHooks(store)
        try configure(&hooks)
        let version = try store.pool.read { connection in try ParseMetadata.version(of: connection) }
        try store.pool.withWriter { connection in try ParseMetadata.create(on: connection) }
        let classes = try ClassSet(
            store.schema.tables.map(\.entity), schema: store.schema, options: [:], version: version,
            isRemembered: true)
        try store.pool.copyLogInBackground()
        return ParseStore(
            pool: store.pool, models: ServedModels(store: store, bindings: hooks.bindings), mode: .production,
            path: store.path, classes: classes)
    }

    /// How many threads can be busy in the store at once; more requests wait without a thread.
    public var maximumThreads: Int { pool.maximumHolders }

    /// Closes the store. What runs goes on to its end.
    public func close() throws { try pool.close() }

    private static func read(
        _ connection: Connection
    ) throws -> (entities: [Entity], options: [String: ClassOptions], isRemembered: Bool) {
        let found = try Introspection.read(connection)
        return (found.entities, try ParseMetadata.options(on: connection), found.isDeclared)
    }

    // MARK: Transactions

    /// Runs `body` on one state of the store.
    func read<Result: Sendable>(_ body: @Sendable (ParseTransaction) throws -> Result) async throws -> Result {
        try await pool.read { connection in
            if self.path == nil { return try body(try self.transaction(on: connection)) }
            try connection.begin("BEGIN")
            defer { connection.endReading() }
            return try body(try self.transaction(on: connection))
        }
    }

    /// Runs `body` in a transaction: all of it is written, or, if it throws, nothing.
    ///
    /// - Parameter sharing: Whether it may be one transaction with others that wait, which are written all the same if
    ///   `body` throws. Then `body` may be run again, and must do nothing but write.
    func write<Result: Sendable>(
        sharing: Bool = false, _ body: @escaping @Sendable (ParseTransaction) throws -> Result
    ) async throws -> Result {
        try await noticingFullDisk {
            // What an app does before and after it saves isn't ours to repeat.
            if sharing && models == nil {
                return try await pool.writeShared { connection in try body(try self.transaction(on: connection)) }
            }
            return try await pool.write { connection in try body(try self.transaction(on: connection)) }
        }
    }

    /// Whether the disk was full when something was written last.
    var isDiskFull: Bool { foundDiskFull.load(ordering: .relaxed) }

    private func noticingFullDisk<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        do {
            let result = try await body()
            if isDiskFull { foundDiskFull.store(false, ordering: .relaxed) }
            return result
        } catch {
            if (error as? RelataError)?.isNoSpaceLeft == true { foundDiskFull.store(true, ordering: .relaxed) }
            throw error
        }
    }

    /// The transaction that a connection is in.
    private func transaction(on connection: Connection) throws -> ParseTransaction {
        ParseTransaction(connection, try classes(for: connection), models, objectIDs: objectIDs, mode: mode)
    }

    /// The classes as the transaction that the connection is in sees the tables: another process may have changed them,
    /// and so may this one between the two.
    func classes(for connection: Connection) throws -> ClassSet {
        let known = recent.withLock { $0 }
        let last = known[known.count - 1]
        if models != nil { return last }
        let version = try ParseMetadata.version(of: connection)
        if version == last.version { return last }
        if let before = known.last(where: { $0.version == version }) { return before }
        let found = try Self.read(connection)
        let classes = try ClassSet(
            found.entities, options: found.options, version: version, isRemembered: found.isRemembered)
        remember(classes)
        return classes
    }

    /// The classes as they were last seen.
    var currentClasses: ClassSet { recent.withLock { $0[$0.count - 1] } }

    private func remember(_ classes: ClassSet) {
        recent.withLock { recent in
            guard recent[recent.count - 1].version < classes.version else { return }
            recent.append(classes)
            if recent.count > Self.recentCount { recent.removeFirst() }
        }
    }

    // MARK: Changing classes

    /// Changes classes, in a transaction of its own.
    ///
    /// - Parameter change: Edits the draft, and may be called on another state than the caller last saw. What it finds in
    ///   the store stays so until the change is committed.
    /// - Returns: what `change` returns.
    /// - Throws: what `change` throws; ``RelataError/schemaMismatch(_:)`` where the tables can't follow.
    @discardableResult
    func alter<Result: Sendable>(
        _ change: @Sendable (inout SchemaDraft, Connection) throws -> Result
    ) async throws -> Result {
        try await alter(change) { result, _ in result }
    }

    /// The same with something that is done in the same transaction, with the classes as they are then.
    ///
    /// - Parameter finish: Gets what `change` returned.
    /// - Returns: what `finish` returns.
    func alter<Found: Sendable, Result: Sendable>(
        _ change: @Sendable (inout SchemaDraft, Connection) throws -> Found,
        finish: @Sendable (Found, ParseTransaction) throws -> Result
    ) async throws -> Result {
        guard models == nil else {
            throw ParseError(.operationForbidden, "the classes are those of the app's models and can't be changed here")
        }
        return try await noticingFullDisk {
            try await pool.alone { connection in
                let done = try SQLiteMigrator.transaction(on: connection) { () -> (result: Result, classes: ClassSet) in
                    let known = try self.classes(for: connection)
                    var draft = SchemaDraft(entities: known.entities, options: known.options)
                    let found = try change(&draft, connection)
                    let classes = try Self.apply(draft, since: known, on: connection)
                    return (
                        try finish(found, ParseTransaction(connection, classes, objectIDs: self.objectIDs)), classes
                    )
                } didCommit: {
                    self.remember($0.classes)
                }
                return done.result
            }
        }
    }

    /// Makes the tables what a draft says.
    ///
    /// - Returns: The classes as they are then.
    private static func apply(
        _ draft: SchemaDraft, since known: ClassSet, on connection: Connection
    ) throws -> ClassSet {
        let changed = draft.changedClasses(since: known.entities)
        if changed.isEmpty, draft.options == known.options { return known }
        try draft.checkNames(since: known.entities, on: connection)
        if let duplicate = try draft.duplicates(since: known.storedSchema, on: connection).first {
            throw ParseError(.duplicateValue, duplicate.message)
        }
        let schema = changed.isEmpty ? known.storedSchema : try Schema(draft.entities)
        let steps = [draft.migrationStep(from: known.entities)]
        if !known.isRemembered {
            try SQLiteMigrator.apply(schema, steps: steps, on: connection)
        } else if !changed.isEmpty {
            try SQLiteMigrator.apply(
                schema, since: known.storedSchema, changing: changed, steps: steps, on: connection)
        }
        try ParseMetadata.write(draft.options, since: known.options, on: connection)
        return try ClassSet(
            draft.entities, schema: schema, options: draft.options,
            version: try ParseMetadata.renew(known.version, on: connection), isRemembered: true)
    }
}

/// The models of an app that are served.
struct ServedModels: Sendable {
    let store: Store
    let bindings: [String: ModelBinding]
}
