// Queries of one model combined by their conditions.

import RelataCore

extension Query {
    /// The objects that either query finds.
    ///
    /// ```swift
    /// let old = Film.where { $0.year < 1970 }
    /// let french = Film.where { $0.director.country == "France" }
    /// let films = try await store.fetch((old || french).sorted { $0.year })
    /// ```
    ///
    /// A limit, an offset, or a related object applies to its own side only; set it on the result for the whole. The
    /// order is that of the left query, then that of the right one. The includes of both are loaded for all. Each
    /// object is found once.
    @_disfavoredOverload
    public static func || (left: Query, right: Query) -> Query { combined(left, right, isAnd: false) }

    /// The objects that both queries find. For limits, orders and includes see `||`.
    @_disfavoredOverload
    public static func && (left: Query, right: Query) -> Query { combined(left, right, isAnd: true) }

    private static func combined(_ left: Query, _ right: Query, isAnd: Bool) -> Query {
        var query = Query()
        let parts = [left, right].map { QueryPart(plan: $0.plan, pending: $0.pending) }
        let combination = PendingCondition.combined(parts, isAnd: isAnd)
        if let node = combination.known { query.plan.condition = node } else { query.pending = [combination] }
        query.plan.sort = left.plan.sort + right.plan.sort
        query.includes = left.includes + right.includes
        return query
    }
}

/// A condition that is complete only with the schema.
enum PendingCondition: Sendable {
    /// A condition given as text.
    case text(PredicateText)
    /// The conditions of combined queries.
    case combined([QueryPart], isAnd: Bool)

    /// The condition, if no part of it is text.
    var known: ExpressionNode? {
        guard case .combined(let parts, let isAnd) = self, parts.allSatisfy(\.pending.isEmpty) else { return nil }
        let nodes = parts.map { $0.condition($0.plan.condition) }
        return isAnd ? .and(nodes) : .or(nodes)
    }

    /// The condition, with the text in it understood.
    func condition(entity: String, schema: Schema) throws -> ExpressionNode {
        switch self {
        case .text(let text): return try text.parse(entity: entity, schema: schema)
        case .combined(let parts, let isAnd):
            let nodes = try parts.map { part in
                part.condition(try part.pending.condition(besides: part.plan.condition, entity: entity, schema: schema))
            }
            return isAnd ? .and(nodes) : .or(nodes)
        }
    }
}

/// One of the queries that are combined.
struct QueryPart: Sendable {
    let plan: QueryPlan
    let pending: [PendingCondition]

    /// Whether an object belongs to the query: its condition, or, if that isn't all, membership in the query's results.
    func condition(_ condition: ExpressionNode?) -> ExpressionNode {
        if plan.limit == nil, plan.offset == nil, plan.relatedTo == nil, plan.search == nil {
            return condition ?? .and([])
        }
        var plan = plan
        plan.condition = condition
        return .inQuery(.property(scope: 0, path: []), plan, selecting: nil)
    }
}

extension [PendingCondition] {
    /// A condition and all of these.
    func condition(besides known: ExpressionNode?, entity: String, schema: Schema) throws -> ExpressionNode? {
        var condition = known
        for pending in self {
            let node = try pending.condition(entity: entity, schema: schema)
            condition = condition.map { .and([$0, node]) } ?? node
        }
        return condition
    }
}
