import Foundation
import RelataCore
import RelataEngine

/// A transaction that writes: with all reading calls, and saving and deleting.
///
/// Valid inside the closure it is given to. If that throws, nothing of it is written.
public final class WriteTransaction: ReadTransaction, StoreWriter {
    /// Runs `body` within the transaction.
    ///
    /// - Throws: The errors of `body`.
    @discardableResult
    public func write<Result>(_ body: (WriteTransaction) throws -> Result) throws -> Result { try body(self) }

    /// Runs `body` within the transaction.
    @discardableResult
    public func _writeOnce<Result>(_ body: (WriteTransaction) throws -> Result) throws -> Result { try body(self) }

    /// The origin of the transaction: the feed and the durable change log report it with the changes. None by default.
    public var origin: ChangeOrigin? {
        didSet { connection.recorder?.origin = origin }
    }

    // MARK: Savepoints

    /// Runs `body`. If it throws, its changes are undone, and the rest of the transaction stays.
    ///
    /// Throw ``Rollback`` to undo it on purpose; it reaches the caller, like any error.
    ///
    /// - Throws: The errors of `body`.
    @discardableResult
    public func savepoint<Result>(_ body: (WriteTransaction) throws -> Result) throws -> Result {
        try connection.savepoint { try body(self) }
    }

    /// Whether the transaction is a single call of the store: if it fails, all is rolled back anyway.
    private let isOneCall: Bool

    /// The timestamp of all writes; `nil` for the time of each call.
    private let now: Date?

    /// The timestamp of the next write.
    var stamp: Date { now ?? Date() }

    init(
        _ connection: Connection, _ catalog: ModelCatalog, access: Access, rights: (any CallerRights)? = nil,
        isOneCall: Bool = false, now: Date? = nil
    ) {
        self.isOneCall = isOneCall
        self.now = now
        super.init(connection, catalog, access: access, rights: rights)
    }

    // MARK: Inside

    func makeSession() -> SaveSession {
        let session = SaveSession(connection: connection, catalog: catalog, now: stamp)
        session.rights = rights.map { SaveGuard($0, self) }
        return session
    }

    /// Reads an object, has it changed, and writes the columns that differ.
    func edit<M: Model>(
        _ model: M.Type, id: M.Key, including links: [IncludePlan] = [], _ change: (inout M) throws -> Void
    ) throws -> M {
        let found =
            links.isEmpty
            ? try object(model, id: id) : try objects(model, keys: [try M.keyValue(id)], including: links)[0]
        guard let old = found else {
            throw RelataError.notFound(ObjectReference(entity: M.entityName, key: try M.keyValue(id)))
        }
        var new = old
        try change(&new)
        guard let key = new.primaryKey, try M.keyValue(key) == M.keyValue(id) else {
            throw RelataError.invalidUse("the key of \(old.reference()) can't change: insert a new \(M.entityName)")
        }
        let table = try catalog.table(model)
        let (before, after) = (try old.columnValues(table), try new.columnValues(table))
        let changed = after.indices.filter { before[$0] != after[$0] }
        let session = makeSession()
        let node = try session.add(new, as: .updateColumns(changed))
        if changed.isEmpty, try !session.hasWork(besides: node) { return session.rounded(new) }
        try run(session, returning: [node])
        return session.finished(node, as: model)
    }

    func delete<M: Model>(_ model: M.Type, _ roots: DeletionRoots) throws -> DeletionReport {
        var report = try connection.delete(
            entity: try catalog.table(model).index, roots: try deletable(model, roots), schema: catalog.schema,
            access: access, now: stamp, isUndoneByCaller: isOneCall)
        if rights?.hidesProperties == true { (report.nullified, report.removedJoinRows) = ([], []) }
        return report
    }

    /// Refuses to write over an object that is hidden.
    ///
    /// - Throws: ``RelataError/notFound(_:)``, as for an object that isn't stored.
    func refuseHidden<M: Model>(_ objects: [M]) throws {
        let table = try catalog.table(M.self)
        guard access.guards(table) else { return }
        let keys = try objects.compactMap { try $0.primaryKey.map { try M.keyValue($0) } }
        if let key = try connection.firstHidden(of: keys, in: table, compiler) {
            throw RelataError.notFound(ObjectReference(entity: table.name, key: key))
        }
    }

    func refuseHidden<M: Model>(_ object: M) throws { try refuseHidden([object]) }

    /// Runs one call. If it fails midway, none of its changes stay, even if the caller continues the transaction. A
    /// savepoint makes SQLite copy each page that a statement changes, which can cost a large save as much as the save
    /// itself: a call that is a whole transaction needs none.
    func atomically<Result>(_ body: () throws -> Result) throws -> Result {
        isOneCall ? try body() : try connection.savepoint(body)
    }

    /// Runs a save, and makes the returned values.
    func run(_ session: SaveSession, returning nodes: [Int]) throws {
        try atomically {
            try session.save()
            try session.finish(nodes)
        }
    }

    func write<M: Model>(_ objects: [M], as role: SaveRole) throws -> [M] {
        let table = try catalog.table(M.self)
        if role != .insert { try refuseHidden(objects) }
        if catalog.links[table.index].isEmpty, rights == nil {
            return try atomically {
                try PlainSave<M>(session: makeSession(), table: table, isOneCall: isOneCall).write(objects, as: role)
            }
        }
        let session = makeSession()
        let nodes = try session.add(objects, as: role)
        try run(session, returning: nodes)
        return session.finished(objects, nodes)
    }

    func write(_ objects: [any Model], as role: SaveRole) throws -> [any Model] {
        if role != .insert { for object in objects { try refuseHidden(object) } }
        let session = makeSession()
        let nodes = try objects.map { try session.add($0, as: role) }
        try run(session, returning: nodes)
        return nodes.map { session.finishedModel($0) }
    }

    func write<each M: Model>(_ objects: repeat each M, as role: SaveRole) throws -> (repeat each M) {
        let session = makeSession()
        var nodes: [Int] = []
        for object in repeat each objects {
            if role != .insert { try refuseHidden(object) }
            nodes.append(try session.add(object, as: role))
        }
        try run(session, returning: nodes)
        let results = Finished(session, nodes)
        return (repeat results.next(as: (each M).self))
    }
}

/// The saved objects of a parameter pack, one after the other. A class, because the compiler can't keep a variable
/// across the elements of a pack.
private final class Finished {
    private let session: SaveSession
    private var nodes: ArraySlice<Int>

    init(_ session: SaveSession, _ nodes: [Int]) {
        self.session = session
        self.nodes = nodes[...]
    }

    func next<M: Model>(as model: M.Type) -> M { session.finished(nodes.removeFirst(), as: model) }
}

/// Throw it to undo a transaction or savepoint on purpose. It reaches the caller, who can recognise it.
public struct Rollback: Error {
    /// Undoes what was done.
    public init() {}
}
