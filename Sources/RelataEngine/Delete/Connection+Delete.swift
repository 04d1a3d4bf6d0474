import Foundation
import RelataCore

extension Connection {
    /// What deleting objects would do, without doing it. Only reads, so that a read-only connection serves; call it
    /// within a read transaction where others write at the same time.
    ///
    /// - Parameters:
    ///   - entity: the objects' entity, as a number in ``Schema/tables``.
    ///   - roots: which of them; those that don't exist, or are hidden, are left out of the report.
    ///   - access: what the caller sees. Delete rules don't stop at what is hidden; the report counts it without names.
    package func deletionPlan(
        of entity: Int, roots: DeletionRoots, schema: Schema, access: Access
    ) throws(RelataError) -> DeletionReport {
        let roots = try roots.seen(of: entity, in: schema, under: access, dialect)
        var deletion = try Deletion(of: entity, roots: roots, schema: schema, on: self)
        return try SeenReport(connection: self, schema: schema, access: access).report(try deletion.plan())
    }

    /// Deletes objects and whatever the delete rules say goes with them, within the caller's transaction. The recorder is
    /// told of all of it.
    ///
    /// - Parameters:
    ///   - entity: the objects' entity, as a number in ``Schema/tables``.
    ///   - roots: which of them; those that don't exist, or are hidden, are passed over.
    ///   - access: what the caller sees. Delete rules don't stop at what is hidden; the report counts it without names.
    ///   - now: the time that objects get whose reference is unset, if they declare when they were changed.
    ///   - isUndoneByCaller: whether the caller undoes what was done where this fails, which saves a savepoint.
    /// - Returns: what was done.
    /// - Throws: ``RelataError/deleteDenied(blockers:)`` where a rule refuses it, ``RelataError/validation(_:)`` where a
    ///   list would be left with fewer members than it must have. Whatever is thrown, the data are as
    ///   they were before.
    @discardableResult
    package func delete(
        entity: Int, roots: DeletionRoots, schema: Schema, access: Access, now: Date = Date(),
        isUndoneByCaller: Bool = false
    ) throws(RelataError) -> DeletionReport {
        guard access.isLimited else {
            let report = try delete(
                entity: entity, roots: roots, schema: schema, now: now, method: .setBased,
                isUndoneByCaller: isUndoneByCaller)
            recorder?.record(report)
            return report
        }
        // What is hidden is found out before anything is written: a row may change, or be gone, afterwards.
        let seen = try deletionPlan(of: entity, roots: roots, schema: schema, access: access)
        if !seen.blockers.isEmpty || seen.hiddenBlockerCount > 0 { throw .deleteDenied(blockers: seen.blockers) }
        if !seen.shortages.isEmpty { throw .validation(seen.shortages) }
        let all = try delete(
            entity: entity, roots: try roots.seen(of: entity, in: schema, under: access, dialect), schema: schema,
            now: now,
            method: .setBased, isUndoneByCaller: isUndoneByCaller)
        recorder?.record(all)
        return seen
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
