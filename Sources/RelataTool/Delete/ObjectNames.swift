import RelataCore
import RelataRecords
import RelataEngine

/// The names of the objects in a deletion plan, read before they are deleted.
struct ObjectNames {
    private var names: [ObjectReference: String] = [:]

    /// Reads the names of the first objects of each part of a plan, up to a number.
    init(_ plan: DeletionReport, showing limit: Int, in database: ToolDatabase) throws(RelataError) {
        var keys: [String: Set<KeyValue>] = [:]
        for part in plan.deleted { keys[part.entity, default: []].formUnion(part.keys.prefix(limit)) }
        for part in plan.nullified { keys[part.entity, default: []].formUnion(part.keys.prefix(limit)) }
        for blocker in plan.blockers.prefix(limit) {
            keys[blocker.object.entity, default: []].insert(blocker.object.key)
            keys[blocker.blocked.entity, default: []].insert(blocker.blocked.key)
        }
        for list in plan.shortages.prefix(limit) {
            if let key = list.key { keys[list.entity, default: []].insert(key) }
        }
        let label = RecordLabel(database.schema)
        let fetcher = RecordFetcher(database.connection, schema: database.schema, access: .everything)
        for (entity, keys) in keys {
            // A key of another type than declared can't be looked up: it is shown itself.
            guard let table = database.schema[entity] else { continue }
            let types = table.keyColumns.map { table.columns[$0].type }
            let keys = keys.filter { zip($0.values, types).allSatisfy { $0.isStored(as: $1) } }
            let condition = ExpressionNode.keyIn(.property(scope: 0, path: []), Array(keys))
            for record in try fetcher.fetch(QueryPlan(entity: entity, condition: condition)) {
                let reference = ObjectReference(entity: entity, key: record.key(in: database.schema))
                names[reference] = label.name(of: record)
            }
        }
    }

    /// `7 "Nineteen Eighty-Four"`, or the key alone.
    func callAsFunction(_ object: ObjectReference) -> String {
        guard let name = names[object] else { return object.key.description }
        return "\(object.key) \"\(DisplayText.shortened(name, to: 32))\""
    }
}
