public import RelataCore
import Foundation
import RelataEngine

/// A transaction that writes: with all reading calls, and saving and deleting.
///
/// Valid inside its closure. If that throws, nothing is written, including classes and fields created by use.
public final class RecordWriteTransaction: RecordTransaction {
    /// The time of the transaction: all of its writes have it.
    let now = Date()
    /// Makes the ids of objects of classes with generated text keys.
    let objectIDs: ObjectIDGenerator

    init(
        _ connection: Connection, _ classes: RecordClasses, mode: RecordStore.Mode, access: Access,
        objectIDs: ObjectIDGenerator
    ) {
        self.objectIDs = objectIDs
        super.init(connection, classes, mode: mode, access: access)
    }

    /// The origin of the transaction: the feed and the durable change log report it with the changes. None by default.
    public var origin: ChangeOrigin? {
        didSet { connection.recorder?.origin = origin }
    }

    // MARK: Saving

    /// Saves an object: inserts a new one, and writes the fields of a stored one that were set since it was read.
    ///
    /// - A new object whose key is taken updates the existing object: the set fields, and no others. The key is read
    ///   from its fields; if they aren't set, the object gets one.
    /// - Objects that it links to and that aren't stored yet are saved before it.
    /// - A list that was set replaces the whole list: other members are unlinked.
    /// - If the class counts revisions, an object that was changed since it was read is refused.
    ///
    /// - Returns: The stored object.
    /// - Throws: ``RelataError``: `invalidUse` for missing classes and fields that use doesn't create, `validation` for
    ///   values of another type than their field's or beyond its limits, and for lists with too few or too many
    ///   objects, `requiredReference`, `invalidReference`, `uniqueViolation`, `notFound` for an object that was deleted
    ///   in the meantime, and `conflict`.
    @discardableResult
    public func save(_ record: Record) throws -> Record { try save([record])[0] }

    /// Saves objects, in order; all or none. See ``save(_:)-(Record)`` for the details.
    ///
    /// - Throws: The errors of the call for one record.
    @discardableResult
    public func save(_ records: [Record]) throws -> [Record] {
        try atomically { try RecordSave.save(records, in: self, mayExist: true) }
    }

    /// Inserts a new object.
    ///
    /// - Throws: ``RelataError/alreadyExists(_:)`` if its key is taken; otherwise as ``save(_:)-(Record)``.
    @discardableResult
    public func insert(_ record: Record) throws -> Record {
        guard !record.isStored else {
            throw RelataError.invalidUse(
                "\(record.className) \(record.key.map { "\($0)" } ?? "") is stored already: save it")
        }
        return try atomically { try RecordSave.save([record], in: self, mayExist: false)[0] }
    }

    // MARK: Deleting

    /// Deletes an object, and others by the delete rules.
    ///
    /// - Returns: The report. An object that no longer exists isn't an error, and not in the report.
    /// - Throws: ``RelataError/deleteDenied(blockers:)``, or ``RelataError/validation(_:)`` if a list would have fewer
    ///   objects than its minimum; nothing is deleted then.
    @discardableResult
    public func delete(_ record: Record) throws -> DeletionReport { try delete([record]) }

    /// Deletes objects of one class, and others by the delete rules.
    ///
    /// - Throws: The errors of the call for one record.
    @discardableResult
    public func delete(_ records: [Record]) throws -> DeletionReport {
        guard let (table, keys) = try keys(of: records) else { return DeletionReport(entity: "") }
        return try delete(.keys(keys), of: table)
    }

    /// Deletes the objects of a query, and others by the delete rules.
    ///
    /// - Throws: The errors of the call for one record.
    @discardableResult
    public func delete(_ query: RecordQuery) throws -> DeletionReport {
        guard let (table, roots) = try roots(of: query) else { return DeletionReport(entity: query.className) }
        return try delete(roots, of: table)
    }

    package func delete(_ roots: DeletionRoots, of table: Table) throws -> DeletionReport {
        try connection.delete(entity: table.index, roots: roots, schema: schema, access: access, now: now)
    }

    // MARK: Savepoints

    /// Runs `body`. If it throws, its changes are undone and the rest of the transaction stays. The error reaches the
    /// caller.
    ///
    /// - Throws: The errors of `body`.
    @discardableResult
    public func savepoint<Result>(_ body: (RecordWriteTransaction) throws -> Result) throws -> Result {
        try undoingClasses { try connection.savepoint { try body(self) } }
    }

    private func atomically<Result>(_ body: () throws -> Result) throws -> Result {
        try undoingClasses { try connection.savepoint(body) }
    }

    /// If `body` throws, the classes are restored.
    private func undoingClasses<Result>(_ body: () throws -> Result) throws -> Result {
        let before = recordClasses
        do {
            return try body()
        } catch {
            if recordClasses !== before { follow(before) }
            throw error
        }
    }

    // MARK: Classes by use

    /// Creates classes and fields, within this transaction.
    ///
    /// - Throws: ``RelataError/schemaMismatch(_:)`` for impossible ones.
    func define(_ change: (inout EntityList) throws(RelataError) -> Void) throws {
        var list = EntityList(recordClasses.entities, resolved: schema)
        try change(&list)
        let (entities, changes) = (list.all, list.changes)
        if changes.isEmpty { return }
        if let (entity, owner) = try changes.nameTaken(on: connection) {
            throw RelataError.invalidUse("there can't be a class \(entity.name): \(owner) of that name: choose another")
        }
        let new = try Schema(entities, since: schema, changedAt: changes.places)
        let isDone = try Migrator.add(
            new, since: recordClasses.isRemembered ? schema : nil, changing: changes.names, steps: [changes.step],
            on: connection)
        guard isDone else {
            throw RelataError.invalidUse(
                "\(changes.names.sorted().joined(separator: ", ")) can't be changed implicitly, because tables must be rebuilt: call alter on the store"
            )
        }
        follow(
            try RecordClasses(
                entities, schema: new, version: try RecordClasses.version(of: connection), isRemembered: true,
                dialect: connection.dialect))
    }

    private func follow(_ classes: RecordClasses) {
        recordClasses = classes
        connection.recorder?.follow(classes.changes)
        // Existing statements would be recompiled, one by one.
        connection.clearStatements()
    }
}
