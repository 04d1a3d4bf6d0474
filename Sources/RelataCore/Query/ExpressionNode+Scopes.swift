extension ExpressionNode {
    /// The same expression one scope deeper: what was said of a query's own object is said of a related one.
    func shifted() -> ExpressionNode {
        switch self {
        case .value, .invalid: self
        case .property(let scope, let path): .property(scope: scope + 1, path: path)
        case .comparison(let operation, let left, let right, let options):
            .comparison(operation, left.shifted(), right.shifted(), options)
        case .keyIn(let node, let keys): .keyIn(node.shifted(), keys)
        case .valueIn(let node, let values, let options): .valueIn(node.shifted(), values, options)
        case .between(let value, let lower, let upper): .between(value.shifted(), lower.shifted(), upper.shifted())
        case .isNull(let node): .isNull(node.shifted())
        case .text(let operation, let left, let right, let options):
            .text(operation, left.shifted(), right.shifted(), options)
        case .and(let nodes): .and(nodes.map { $0.shifted() })
        case .or(let nodes): .or(nodes.map { $0.shifted() })
        case .not(let node): .not(node.shifted())
        case .arithmetic(let operation, let left, let right): .arithmetic(operation, left.shifted(), right.shifted())
        case .negated(let node): .negated(node.shifted())
        case .function(let function, let nodes): .function(function, nodes.map { $0.shifted() })
        case .quantified(let quantifier, let set, let condition):
            .quantified(quantifier, set.shifted(), condition: condition.shifted())
        case .aggregate(let function, let set, let value, let filter):
            .aggregate(function, set.shifted(), of: value?.shifted(), filter: filter?.shifted())
        case .groupAggregate(let function, let value, let isDistinct):
            .groupAggregate(function, of: value?.shifted(), isDistinct: isDistinct)
        case .sql(let parts):
            .sql(parts.map { if case .node(let node) = $0 { .node(node.shifted()) } else { $0 } })
        }
    }
}

extension RelatedSet {
    fileprivate func shifted() -> RelatedSet {
        RelatedSet(scope: scope + 1, path: path, innerScope: innerScope + 1)
    }
}
