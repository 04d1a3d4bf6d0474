import RelataCore
import RelataRecords
import RelataEngine

/// Objects to be deleted, and the plan.
struct DeletionRequest {
    let table: Table
    let keys: [KeyValue]
    /// The file's name, for messages.
    private let name: String

    /// - Throws: ``RelataError/invalidUse(_:)`` for an entity or a key that can't be.
    init(_ database: ToolDatabase, entity: String, keys texts: [String]) throws(RelataError) {
        name = database.name
        table = try database.entity(entity)
        var seen: Set<KeyValue> = []
        var keys: [KeyValue] = []
        for text in texts {
            let key = try database.key(text, of: table)
            if seen.insert(key).inserted { keys.append(key) }
        }
        self.keys = keys
    }

    /// The plan, objects in order.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if a named object doesn't exist.
    func plan(in database: ToolDatabase) throws(RelataError) -> DeletionReport {
        let plan = try database.connection.deletionPlan(
            of: table.index, roots: .keys(keys), schema: database.schema, access: .everything
        ).sorted()
        let found = Set(plan.deletedKeys(of: table.name))
        if let missing = keys.first(where: { !found.contains($0) }) {
            throw .invalidUse("\(name) has no \(table.name) with the key \(missing): nothing is deleted")
        }
        return plan
    }

    /// Deletes them, if the result still equals `plan`.
    ///
    /// - Throws: ``RelataError/busy(_:)`` for another result: then roll the transaction back.
    func run(in database: ToolDatabase, expecting plan: DeletionReport) throws {
        let report = try database.connection.delete(
            entity: table.index, roots: .keys(keys), schema: database.schema, access: .everything)
        guard Self.isSame(report.sorted(), plan) else {
            throw RelataError.busy("\(name) was changed since the plan was shown: look at it again")
        }
    }

    /// Whether two reports are about the same objects. The order of entities doesn't matter.
    private static func isSame(_ left: DeletionReport, _ right: DeletionReport) -> Bool {
        Set(left.deleted) == Set(right.deleted) && Set(left.nullified) == Set(right.nullified)
            && Set(left.removedJoinRows) == Set(right.removedJoinRows)
    }
}
