import RelataCore
import Synchronization

/// The preparation for fetching objects of one class with one selection: their shape, and the SQL of repeated queries.
/// Building either takes longer than fetching an object.
final class PreparedFetch: Sendable {
    /// Reads and writes the objects.
    let shape: ObjectShape
    private let parts: [SelectedPart]
    private let schema: Schema
    private let dialect: Dialect
    /// Whether keys are bound as they are.
    private let bindsKeys: Bool
    private let known = Mutex(Statements())

    private struct Statements {
        /// The query for one object by its key.
        var byKey: CompiledQuery?
        /// Queries without conditions.
        var lists: [QueryPlan: CompiledQuery] = [:]
    }

    /// Pages are separate queries: only the latest are cached, and fewer of them if they show more.
    private var maximumLists: Int { max(4, 64 / (1 + parts.count / 16)) }
    private static let maximumSorts = 8

    init(
        _ parseClass: ParseClass, _ selection: Selection, naming: ObjectShape.Naming, score: ExpressionNode? = nil,
        in classes: ClassSet
    ) {
        var builder = ObjectShapeBuilder(classes)
        shape = builder.shape(of: parseClass, selection, naming: naming, score: score)
        parts = builder.parts
        schema = classes.schema
        dialect = classes.dialect
        bindsKeys = parseClass.table.keyColumns.allSatisfy { parseClass.table.columns[$0].type == .text }
    }

    /// The statement of a query.
    ///
    /// - Parameter access: The objects that the request sees. All users of this fetch have the same conditions, with
    ///   different values.
    func statement(_ plan: QueryPlan, under access: Access) throws(RelataError) -> SQLStatement {
        if let key = Self.onlyKey(plan), bindsKeys {
            let parameters = key.values.map(Parameter.value)
            if let query = known.withLock({ $0.byKey }) { return query.statement(binding: parameters, under: access) }
            let query = try compiled(plan, access)
            if query.ownParameters == parameters { known.withLock { $0.byKey = query } }
            return query.statement
        }
        guard Self.isKept(plan) else { return try compiled(plan, access).statement }
        if let query = known.withLock({ $0.lists[plan] }) {
            return query.statement(binding: query.ownParameters, under: access)
        }
        let query = try compiled(plan, access)
        known.withLock { known in
            if known.lists.count >= maximumLists { known.lists = [:] }
            known.lists[plan] = query
        }
        return query.statement
    }

    /// The values in conditions are different each time, and so are searches, and the members of objects by which lists
    /// are sorted.
    private static func isKept(_ plan: QueryPlan) -> Bool {
        plan.condition == nil && plan.search == nil && plan.relatedTo == nil && plan.sort.count <= maximumSorts
            && plan.sort.allSatisfy { if case .property = $0.node { true } else { false } }
    }

    /// The number of lists with a kept statement.
    var keptLists: Int { known.withLock { $0.lists.count } }

    private func compiled(_ plan: QueryPlan, _ access: Access) throws(RelataError) -> CompiledQuery {
        var query = try QueryCompiler(schema: schema, access: access, dialect: dialect).select(
            plan, columns: .parts(parts))
        // The shape knows the columns.
        (query.columnTypes, query.partColumns) = ([], [])
        return query
    }

    /// The key of a query for one object, without its other parts.
    private static func onlyKey(_ plan: QueryPlan) -> KeyValue? {
        guard case .keyIn(.property(scope: 0, path: []), let keys)? = plan.condition, keys.count == 1,
            plan == QueryPlan(entity: plan.entity, condition: plan.condition),
            keys[0].values.allSatisfy({ if case .text = $0 { true } else { false } })
        else { return nil }
        return keys[0]
    }
}

/// The prepared fetches for the classes of a store at one moment.
final class PreparedFetches: Sendable {
    private struct Key: Hashable {
        let className: String
        let selection: Selection
        let naming: ObjectShape.Naming
        let access: Access.Shape
    }

    private let known = Mutex<[Key: PreparedFetch]>([:])
    /// Programs choose among a few selections; this only bounds one that doesn't.
    private static let maximum = 100
    /// The size of the largest selection that is kept.
    private static let maximumSize = 16 * 1024

    /// The prepared fetch of a class's objects, made now if there is none yet.
    func fetch(
        of parseClass: ParseClass, _ selection: Selection, naming: ObjectShape.Naming, in classes: ClassSet,
        under access: Access
    ) -> PreparedFetch {
        let key = Key(className: parseClass.name, selection: selection, naming: naming, access: access.shape)
        if let prepared = known.withLock({ $0[key] }) { return prepared }
        let prepared = PreparedFetch(parseClass, selection, naming: naming, in: classes)
        guard selection.size <= Self.maximumSize else { return prepared }
        known.withLock { known in
            if known.count >= Self.maximum { known = [:] }
            known[key] = prepared
        }
        return prepared
    }
}
