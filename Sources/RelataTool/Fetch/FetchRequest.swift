import RelataCore
import RelataRecords
import RelataEngine

/// A query from the command line: a condition, an order and includes.
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
        let query = RecordQuery(table.name, where: condition, sort: sort, limit: limit).including(list: include)
        let found = try query.plan(in: database.classes)
        plan = found?.plan ?? QueryPlan(entity: table.name)
        inclusions = found?.includes ?? []
    }
}
