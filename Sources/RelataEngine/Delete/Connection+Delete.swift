import Foundation
import RelataCore

extension Connection {
    /// The plan of a deletion, without deleting. Only reads, so a read-only connection is enough; call it within a read
    /// transaction if others write at the same time.
    ///
    /// - Parameters:
    ///   - entity: the objects' entity, as a number in ``Schema/tables``.
    ///   - roots: the objects; missing or hidden ones are left out of the report.
    ///   - access: the caller's access. Delete rules also apply to hidden objects; the report counts these without
    ///     names.
    package func deletionPlan(
        of entity: Int, roots: DeletionRoots, schema: Schema, access: Access
    ) throws(RelataError) -> DeletionReport {
        let roots = try roots.seen(of: entity, in: schema, under: access, dialect)
        var deletion = try Deletion(of: entity, roots: roots, schema: schema, on: self)
        return try SeenReport(connection: self, schema: schema, access: access).report(try deletion.plan())
    }

    /// Deletes objects, and others by the delete rules, within the caller's transaction. The recorder records all of
    /// it.
    ///
    /// - Parameters:
    ///   - entity: the objects' entity, as a number in ``Schema/tables``.
    ///   - roots: the objects; missing or hidden ones are skipped.
    ///   - access: the caller's access. Delete rules also apply to hidden objects; the report counts these without
    ///     names.
    ///   - now: the time of change for objects whose reference is unset, if they have one.
    ///   - isUndoneByCaller: whether the caller rolls back a failed deletion, which saves a savepoint.
    /// - Returns: the effects of the deletion.
    /// - Throws: ``RelataError/deleteDenied(blockers:)`` if a rule denies it, ``RelataError/validation(_:)`` if a list
    ///   would have fewer members than its minimum. After an error, the data are unchanged.
    @discardableResult
    package func delete(
        entity: Int, roots: DeletionRoots, schema: Schema, access: Access, now: Date = Date(),
        isUndoneByCaller: Bool = false
    ) throws(RelataError) -> DeletionReport {
        guard access.isLimited else {
            let report = try delete(
                entity: entity, roots: roots, schema: schema, now: now, method: .setBased,
                isUndoneByCaller: isUndoneByCaller)
            recorder?.record(report, in: schema)
            return report
        }
        // Hidden objects are determined before anything is written: afterwards a row may be changed or deleted.
        let seen = try deletionPlan(of: entity, roots: roots, schema: schema, access: access)
        if !seen.blockers.isEmpty || seen.hiddenBlockerCount > 0 { throw .deleteDenied(blockers: seen.blockers) }
        if !seen.shortages.isEmpty { throw .validation(seen.shortages) }
        let all = try delete(
            entity: entity, roots: try roots.seen(of: entity, in: schema, under: access, dialect), schema: schema,
            now: now,
            method: .setBased, isUndoneByCaller: isUndoneByCaller)
        recorder?.record(all, in: schema)
        return seen
    }

    /// A way of finding the objects that a deletion deletes.
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
