import Foundation
import RelataCore

extension Connection {
    /// What deleting objects would do, without doing it. Only reads, so that a read-only connection serves; call it
    /// within a read transaction where others write at the same time.
    ///
    /// - Parameters:
    ///   - entity: the objects' entity, as a number in ``Schema/tables``.
    ///   - roots: which of them; those that don't exist are left out of the report.
    package func deletionPlan(
        of entity: Int, roots: DeletionRoots, schema: Schema
    ) throws(RelataError) -> DeletionReport {
        var deletion = try Deletion(of: entity, roots: roots, schema: schema, on: self)
        return try deletion.plan()
    }

    /// Deletes objects and whatever the delete rules say goes with them, within the caller's transaction.
    ///
    /// - Parameters:
    ///   - entity: the objects' entity, as a number in ``Schema/tables``.
    ///   - roots: which of them; those that don't exist are passed over.
    ///   - now: the time that objects get whose reference is unset, if they declare when they were changed.
    ///   - isUndoneByCaller: whether the caller undoes what was done where this fails, which saves a savepoint.
    /// - Returns: what was done.
    /// - Throws: ``RelataError/deleteDenied(blockers:)`` where a rule refuses it, ``RelataError/validation(_:)`` where a
    ///   list would be left with fewer members than it must have. Whatever is thrown, the data are as
    ///   they were before.
    @discardableResult
    package func delete(
        entity: Int, roots: DeletionRoots, schema: Schema, now: Date = Date(), isUndoneByCaller: Bool = false
    ) throws(RelataError) -> DeletionReport {
        try delete(
            entity: entity, roots: roots, schema: schema, now: now, method: .setBased,
            isUndoneByCaller: isUndoneByCaller)
    }

    /// How doomed objects are found.
    enum DeletionMethod {
        /// By the statement that deletes them, wherever that is possible.
        case setBased
        /// All before the first one is deleted.
        case closureFirst
    }

    func delete(
        entity: Int, roots: DeletionRoots, schema: Schema, now: Date = Date(), method: DeletionMethod,
        isUndoneByCaller: Bool = false
    ) throws(RelataError) -> DeletionReport {
        var deletion = try Deletion(of: entity, roots: roots, schema: schema, on: self)
        return try deletion.run(method, now: now, isUndoneByCaller: isUndoneByCaller)
    }
}
