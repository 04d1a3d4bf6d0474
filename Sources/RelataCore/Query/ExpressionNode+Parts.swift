extension ExpressionNode {
    /// Whether it contains arithmetic, so that a result may be out of the range of the attributes' type.
    package var calculates: Bool {
        switch self {
        case .arithmetic, .negated, .function(.absolute, _): true
        case .function(.length, _), .function(.datePart, _), .function(.elementCount, _): false
        case .groupAggregate(.sum, _, _), .aggregate(.sum, _, _, _): true
        default: parts.contains(where: \.calculates)
        }
    }

    /// The parts of this expression.
    public var parts: [ExpressionNode] {
        switch self {
        case .value, .property, .element, .invalid, .found, .relevance: []
        case .comparison(_, let left, let right, _), .arithmetic(_, let left, let right),
            .text(_, let left, let right, _):
            [left, right]
        case .keyIn(let node, _), .valueIn(let node, _, _), .isNull(let node), .not(let node), .negated(let node),
            .quantified(_, _, let node), .inQuery(let node, _, _):
            [node]
        case .anyElement(let elements, let condition): [elements.json, condition]
        case .between(let value, let lower, let upper): [value, lower, upper]
        case .and(let nodes), .or(let nodes), .function(_, let nodes): nodes
        case .aggregate(_, _, let value, let filter): [value, filter].compactMap(\.self)
        case .groupAggregate(_, let value, _): value.map { [$0] } ?? []
        case .sql(let parts): parts.compactMap { if case .node(let node) = $0 { node } else { nil } }
        }
    }
}
