#if PostgreSQL
import RelataCore
import RelataEngine

/// The server's plans of queries.
extension PostgresDriver {
    package func plan(of statement: SQLStatement, _ connection: Connection) throws(RelataError) -> [PlanStep] {
        let rows = try connection.values(SQLStatement("EXPLAIN " + statement.sql, statement.parameters))
        return Self.steps(rows.compactMap { $0.first?.description })
    }

    /// The steps that the lines of a plan describe. Each step except the first begins with an arrow; deeper steps are
    /// its parts, and lines without an arrow add details.
    static func steps(_ lines: [String]) -> [PlanStep] {
        var steps: [(depth: Int, step: PlanStep)] = []
        for line in lines {
            let depth = line.prefix { $0 == " " }.count
            var text = line.dropFirst(depth)
            let beginsStep = text.hasPrefix("->  ") || steps.isEmpty
            if text.hasPrefix("->") { text = text.dropFirst(2).drop { $0 == " " } }
            if beginsStep {
                let parent = steps.last { $0.depth < depth }?.step.id ?? 0
                steps.append((depth, PlanStep(id: Int64(steps.count + 1), parent: parent, detail: String(text))))
            } else if let (lastDepth, last) = steps.popLast() {
                steps.append((lastDepth, PlanStep(id: last.id, parent: last.parent, detail: "\(last.detail), \(text)")))
            }
        }
        return steps.map(\.step)
    }
}
#endif
