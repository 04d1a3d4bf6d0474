extension Schema {
    /// Whether an index finds the related object of a condition: by its key, an indexed attribute or a reference, equal
    /// to constants. Then the outer objects are found from it, instead of checking each of them.
    func pins(_ node: ExpressionNode, scope: Int, table: Table) -> Bool {
        switch node {
        case .and(let nodes): nodes.contains { pins($0, scope: scope, table: table) }
        case .or(let nodes): !nodes.isEmpty && nodes.allSatisfy { pins($0, scope: scope, table: table) }
        case .keyIn(.property(scope, let path), _), .inQuery(.property(scope, let path), _, _):
            isIndexed(path[...], of: table)
        case .valueIn(.property(scope, let path), let values, []):
            !values.contains(.null) && isIndexed(path[...], of: table)
        case .comparison(.equal, .property(scope, let path), .value(let value), []),
            .comparison(.equal, .value(let value), .property(scope, let path), []):
            !value.isNull && isIndexed(path[...], of: table)
        case .quantified(.any, let set, let condition) where set.scope == scope:
            target(of: set.path, from: table).map { pins(condition, scope: set.innerScope, table: $0) } ?? false
        default: false
        }
    }

    private func isIndexed(_ path: ArraySlice<String>, of table: Table) -> Bool {
        guard let name = path.first else { return true }
        if path.count == 1 {
            if case .reference? = table.links[name] { return true }
            return table.entity.key.first == name || table.entity.uniques.contains { $0.first == name }
                || table.entity.indexes.contains { $0.first == name }
        }
        guard let relationship = table.entity.relationship(name), !relationship.isToMany,
            let target = self[relationship.target]
        else { return false }
        return isIndexed(path.dropFirst(), of: target)
    }

    private func target(of path: [String], from table: Table) -> Table? {
        var table = table
        for name in path {
            guard let target = table.entity.relationship(name).flatMap({ self[$0.target] }) else { return nil }
            table = target
        }
        return table
    }
}

extension ExpressionNode {
    /// Whether anything in it belongs to a scope around the given one.
    func leaves(scope: Int) -> Bool {
        switch self {
        case .property(let own, _) where own < scope, .element(let own, _) where own < scope: true
        case .quantified(_, let set, _) where set.scope < scope, .aggregate(_, let set, _, _) where set.scope < scope:
            true
        default: parts.contains { $0.leaves(scope: scope) }
        }
    }
}
