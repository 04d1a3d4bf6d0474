import Foundation
import GRDBSQLite

/// What can be done in a transaction that writes: everything that can be read, and saving and deleting.
///
/// Valid inside the closure it is given to. If that throws, nothing of it is written.
public final class WriteTransaction: ReadTransaction {
    // MARK: Saving

    /// Inserts an object, with the new objects it links to and its edits on links, and returns it as it is stored.
    ///
    /// - Throws: ``RelataError/alreadyExists(_:)`` if its key is there; ``RelataError/validation(_:)``,
    ///   ``RelataError/uniqueViolation(entity:properties:)``, ``RelataError/requiredReference(entity:property:hint:)``
    ///   and ``RelataError/invalidReference(entity:property:key:)``, with nothing written.
    @discardableResult
    public func insert<M: Model>(_ object: M) throws -> M { try insert([object])[0] }

    /// Inserts objects, in the order they need.
    @discardableResult
    public func insert<M: Model>(_ objects: [M]) throws -> [M] { try write(objects, as: .insert) }

    /// Writes all columns of an object that is stored, with its edits on links.
    ///
    /// - Throws: ``RelataError/notFound(_:)`` if it isn't there; ``RelataError/conflict(_:)`` if it has a revision and was
    ///   changed since it was read; and as ``insert(_:)-(M)``.
    @discardableResult
    public func update<M: Model>(_ object: M) throws -> M { try update([object])[0] }

    /// Writes all columns of objects that are stored.
    @discardableResult
    public func update<M: Model>(_ objects: [M]) throws -> [M] { try write(objects, as: .update) }

    /// Inserts or updates an object, whichever is right, with the new objects it links to and its edits on links.
    ///
    /// All columns are written, the last writer wins; ``update(_:id:_:)`` writes only what changed. An object that was
    /// deleted meanwhile is inserted again, unless the model has a revision: then that is a conflict.
    @discardableResult
    public func save<M: Model>(_ object: M) throws -> M { try save([object])[0] }

    /// Inserts or updates objects, in the order they need.
    @discardableResult
    public func save<M: Model>(_ objects: [M]) throws -> [M] { try write(objects, as: .save) }

    /// Inserts objects of several models, in the order they need.
    @discardableResult
    public func insert<each M: Model>(_ objects: repeat each M) throws -> (repeat each M) {
        try write(repeat each objects, as: .insert)
    }

    /// Updates objects of several models.
    @discardableResult
    public func update<each M: Model>(_ objects: repeat each M) throws -> (repeat each M) {
        try write(repeat each objects, as: .update)
    }

    /// Inserts or updates objects of several models, in the order they need.
    ///
    /// ```swift
    /// let (book, genre) = try tx.save(book, genre)
    /// ```
    @discardableResult
    public func save<each M: Model>(_ objects: repeat each M) throws -> (repeat each M) {
        try write(repeat each objects, as: .save)
    }

    /// Inserts or updates any mix of objects, in the order they need.
    @discardableResult
    @_disfavoredOverload
    public func save(_ objects: [any Model]) throws -> [any Model] {
        let session = SaveSession(connection: connection, catalog: catalog)
        let nodes = try objects.map { try session.add($0, as: .save) }
        try run(session)
        return nodes.map { session.finishedModel($0) }
    }

    /// Reads an object, lets `change` edit it, and writes only what changed.
    ///
    /// ```swift
    /// try tx.update(Book.self, id: book.id) { $0.title = "The Dispossessed: An Ambiguous Utopia" }
    /// ```
    ///
    /// - Throws: ``RelataError/notFound(_:)`` if there is none with that key, and as ``update(_:)-(M)``.
    @discardableResult
    public func update<M: Model>(_ model: M.Type, id: M.Key, _ change: (inout M) throws -> Void) throws -> M {
        guard let old = try fetch(model, id: id) else {
            throw RelataError.notFound(ObjectReference(entity: M.entityName, key: try M.keyValue(id)))
        }
        var new = old
        try change(&new)
        guard new.primaryKey == id else {
            throw RelataError.invalidUse("the key of \(old.reference()) can't change: insert a new \(M.entityName)")
        }
        let table = try catalog.table(model)
        let (before, after) = (try old.columnValues(table), try new.columnValues(table))
        let changed = after.indices.filter { before[$0] != after[$0] }
        let session = SaveSession(connection: connection, catalog: catalog)
        let node = try session.add(new, as: .updateColumns(changed))
        if changed.isEmpty, try !session.hasWork(besides: node) { return new }
        try run(session)
        return session.finished(node, as: model)
    }

    /// Reads an object by its `ID`, lets `change` edit it, and writes only what changed.
    @discardableResult
    public func update<M: Model>(_ id: ID<M>, _ change: (inout M) throws -> Void) throws -> M where M.Key == ID<M> {
        try update(M.self, id: id, change)
    }

    /// Inserts or updates each object by itself: the culprit of an error keeps it, the others are saved. What depends on
    /// a new object that failed fails too, with an error of its own.
    public func saveEach(_ objects: [any Model]) throws -> [Result<any Model, any Error>] {
        try IndependentSave(transaction: self).save(objects)
    }

    /// Inserts an object, or writes it over the one that has the same value of a unique property, whose key stays.
    ///
    /// ```swift
    /// let author = try tx.save(Author(name: "Ursula K. Le Guin"), matching: { $0.name })
    /// ```
    ///
    /// - Returns: The object as it is stored, with the key it had.
    /// - Throws: ``RelataError/invalidUse(_:)`` where the property isn't declared unique, or the object has edits on
    ///   links: make them afterwards, on the object that is returned.
    @discardableResult
    public func save<M: Model, Property: PropertyField>(
        _ object: M, matching property: (M.Fields) -> Property
    ) throws -> M {
        try Upsert(transaction: self, names: [Property.name(of: property(M.Fields(path: FieldPath())))]).save(object)
    }

    /// Inserts an object, or writes it over the one that has the same values of a unique set, whose key stays.
    ///
    /// ```swift
    /// try tx.save(Seat(row: 1, number: 7), matching: { ($0.row, $0.number) })
    /// ```
    @discardableResult
    public func save<M: Model, each Property: PropertyField>(
        _ object: M, matching properties: (M.Fields) -> (repeat each Property)
    ) throws -> M {
        let chosen = properties(M.Fields(path: FieldPath()))
        var names: [String] = []
        for property in repeat each chosen { names.append(type(of: property).name(of: property)) }
        return try Upsert(transaction: self, names: names).save(object)
    }

    // MARK: By query

    /// Sets properties of all objects of a query in one statement, and returns how many there were.
    ///
    /// ```swift
    /// try tx.update(Book.where { $0.year < 1900 }) { $0.price.set(to: $0.price * 2); $0.genre.set(to: classics) }
    /// ```
    ///
    /// - Throws: ``RelataError/validation(_:)`` where an object would break a limit or its `validate()`, with nothing
    ///   written.
    @discardableResult
    public func update<M: Model>(
        _ query: Query<M>, @AssignmentBuilder _ assignments: (M.Fields) -> [Assignment]
    ) throws -> Int {
        try QueryUpdate(transaction: self).update(query, assignments(M.Fields(path: FieldPath())))
    }

    // MARK: Deleting

    /// Deletes an object, and what the delete rules say goes with it.
    ///
    /// - Returns: What was done. An object that isn't stored any more is no error, and not in the report.
    /// - Throws: ``RelataError/deleteDenied(blockers:)``, with nothing deleted.
    @discardableResult
    public func delete<M: Model>(_ object: M) throws -> DeletionReport { try delete([object]) }

    /// Deletes objects, and what the delete rules say goes with them.
    @discardableResult
    public func delete<M: Model>(_ objects: [M]) throws -> DeletionReport {
        try delete(M.self, .keys(try objects.map { try $0.storedKey() }))
    }

    /// Deletes the object with that key.
    @discardableResult
    public func delete<M: Model>(_ model: M.Type, id: M.Key) throws -> DeletionReport {
        try delete(model, .keys([try M.keyValue(id)]))
    }

    /// Deletes all objects of a query, and what the delete rules say goes with them.
    @discardableResult
    public func delete<M: Model>(_ query: Query<M>) throws -> DeletionReport {
        try delete(M.self, .query(compiler.keys(try plan(query), isOrdered: false).statement))
    }

    private func delete<M: Model>(_ model: M.Type, _ roots: DeletionRoots) throws -> DeletionReport {
        let index = try catalog.table(model).index
        guard catalog.hasCounts else {
            let report = try connection.delete(entity: index, roots: roots, schema: catalog.schema)
            connection.recorder?.record(report)
            return report
        }
        // Lists that lose a member must keep their least number: whose they are is known only before.
        return try savepoint { _ in
            var counted = CountCheck()
            let plan = try connection.deletionPlan(of: index, roots: roots, schema: catalog.schema)
            try counted.noteOwners(losing: plan, connection: connection, schema: catalog.schema)
            let report = try connection.delete(entity: index, roots: roots, schema: catalog.schema)
            try counted.check(connection: connection, schema: catalog.schema)
            connection.recorder?.record(report)
            return report
        }
    }

    // MARK: SQL

    /// Runs SQL of your own that changes rows, each value bound, and returns how many rows it changed.
    ///
    /// It passes by validation, delete rules and revisions; foreign keys hold.
    @discardableResult
    public func execute(_ sql: SQL) throws -> Int {
        try connection.runningForeignSQL { try connection.run(try sql.statement) }
    }

    // MARK: Savepoints

    /// Runs `body` so that, if it throws, what it did is undone and the rest of the transaction stays.
    ///
    /// Throw ``Rollback`` to undo it on purpose; it reaches the caller, as any error does.
    @discardableResult
    public func savepoint<Result>(_ body: (WriteTransaction) throws -> Result) throws -> Result {
        let name = "relata_\(depth)"
        let mark = connection.recorder?.mark()
        depth += 1
        defer { depth -= 1 }
        try connection.execute(SQLStatement("SAVEPOINT \(name)"))
        do {
            let result = try body(self)
            try connection.execute(SQLStatement("RELEASE \(name)"))
            return result
        } catch {
            if let mark { connection.recorder?.rollBack(to: mark) }
            if connection.isInTransaction {
                try connection.execute(SQLStatement("ROLLBACK TO \(name)"))
                try connection.execute(SQLStatement("RELEASE \(name)"))
            }
            throw error
        }
    }

    private var depth = 0

    // MARK: Inside

    func run(_ session: SaveSession) throws {
        // A save that fails midway leaves nothing, even where the caller goes on with the transaction.
        try savepoint { _ in try session.run() }
    }

    private func write<M: Model>(_ objects: [M], as role: SaveRole) throws -> [M] {
        let table = try catalog.table(M.self)
        if catalog.links[table.index].isEmpty {
            return try savepoint { _ in
                try PlainSave<M>(connection: connection, catalog: catalog, table: table).write(objects, as: role)
            }
        }
        let session = SaveSession(connection: connection, catalog: catalog)
        let nodes = try session.add(objects, as: role)
        try run(session)
        return session.finished(objects, nodes)
    }

    private func write<each M: Model>(_ objects: repeat each M, as role: SaveRole) throws -> (repeat each M) {
        let session = SaveSession(connection: connection, catalog: catalog)
        var nodes: [Int] = []
        for object in repeat each objects { nodes.append(try session.add(object, as: role)) }
        try run(session)
        let results = Finished(session, nodes)
        return (repeat results.next(as: (each M).self))
    }
}

/// The saved objects of a parameter pack, one after the other. A class, because the compiler can't keep a variable of its
/// own across the elements of a pack.
private final class Finished {
    private let session: SaveSession
    private var nodes: ArraySlice<Int>

    init(_ session: SaveSession, _ nodes: [Int]) {
        self.session = session
        self.nodes = nodes[...]
    }

    func next<M: Model>(as model: M.Type) -> M { session.finished(nodes.removeFirst(), as: model) }
}

/// Throw it to undo a transaction or savepoint on purpose. It reaches the caller, who knows it for what it is.
public struct Rollback: Error {
    /// Undoes what was done.
    public init() {}
}
