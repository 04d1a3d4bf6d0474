import RelataCore
import RelataSQLite

/// A query as it is typed: a condition, an order and what to load with the objects.
struct FetchRequest {
    let table: Table
    let plan: QueryPlan
    let inclusions: [IncludePlan]

    /// - Parameters:
    ///   - condition: in the predicate format.
    ///   - sort: paths separated by commas, each after a `-` for descending.
    ///   - include: paths of relationships separated by commas.
    init(
        _ database: ToolDatabase, entity: String, condition: String? = nil, sort: String? = nil, limit: Int? = nil,
        include: String? = nil
    ) throws(RelataError) {
        table = try database.entity(entity)
        var plan = QueryPlan(entity: table.name, limit: limit)
        if let condition {
            plan.condition = try PredicateFormat.parse(
                condition, entity: table.name, schema: database.schema, resolveName: database.names.property)
        }
        for term in Self.list(sort) { plan.sort.append(try Self.sortTerm(term, database, table)) }
        self.plan = plan
        var inclusions: [IncludePlan] = []
        for path in Self.list(include) { inclusions += Self.inclusion(try database.path(path, from: table)) }
        self.inclusions = try IncludePlan.merged(inclusions)
    }

    /// The relationships on a path, each within the one before.
    private static func inclusion(_ path: [String]) -> [IncludePlan] {
        path.reversed().reduce([]) { [IncludePlan($1, children: $0)] }
    }

    private static func list(_ text: String?) -> [String] {
        (text ?? "").split(separator: ",").map {
            String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }

    private static func sortTerm(
        _ text: String, _ database: ToolDatabase, _ table: Table
    ) throws(RelataError) -> SortTerm {
        let isDescending = text.hasPrefix("-")
        let path = String(text.drop { $0 == "-" || $0 == "+" })
        if path.contains("@") {
            let figure = try PredicateFormat.value(
                path, entity: table, schema: database.schema, resolveName: database.names.property)
            return SortTerm(figure, isAscending: !isDescending)
        }
        return SortTerm(.property(scope: 0, path: try database.path(path, from: table)), isAscending: !isDescending)
    }
}
