/// One step along a relationship inside a `FROM` clause.
extension ExpressionWriter {
    /// The end of a step.
    struct Entered {
        /// The object at its end.
        let position: Int
        /// The columns of the step's first row that tie it to its origin, and the key there that they equal.
        let near: [String]
        let owner: [String]
        /// The columns by which the relationship is ordered, before the object's key.
        var order: [String] = []
        /// The key of the row in between, if one object can be reached several times (a through link).
        var between: [String] = []
        /// Whether no two owners reach the same object by this step.
        var isInjective = true
        /// Whether the columns equal the owner's key by the rules of either side, and not by their own alone.
        var ownerDecides = true
    }

    /// Adds the rows of a relationship to a frame: as its first table, tied to the owner's key, or as a join.
    mutating func enter(
        _ name: String, from owner: Int, frame: Int, isFirst: Bool
    ) throws(RelataError) -> Entered {
        let table = schema.tables[positions[owner].table]
        let link = try link(name, of: table)
        let key = if case .reference = link { key(heldBy: name, of: owner) } else { key(of: owner) }
        return enter(link, ownerKey: key, frame: frame, isFirst: isFirst)
    }

    /// As ``enter(_:from:frame:isFirst:)``, for an owner with a known key; for a reference, the key it holds.
    mutating func enter(_ link: Link, ownerKey: [String], frame: Int, isFirst: Bool) -> Entered {
        switch link {
        case .reference(let number):
            let reference = schema.references[number]
            let table = schema.tables[reference.target]
            // The target's column is on the left, and so determines the collation.
            let held = reference.comparison == .equal ? ownerKey : ownerKey.map(dialect.unaffiliated)
            let (alias, near) = add(
                source(table), table.keyColumnNames, held, frame: frame, isFirst: isFirst)
            let position = element(table.index, frame: frame, alias: alias, key: nil)
            return Entered(
                position: position, near: near, owner: held,
                isInjective: reference.isUnique && reference.comparison == .equal,
                ownerDecides: reference.comparison == .equal)
        case .inverse(let number):
            let reference = schema.references[number]
            let (rows, columns) = schema.rows(of: reference, dialect) { source($0) }
            let (alias, near) = add(rows, columns, ownerKey, frame: frame, isFirst: isFirst)
            let position = element(reference.source, frame: frame, alias: alias, key: nil)
            return Entered(
                position: position, near: near, owner: ownerKey,
                order: reference.orderColumn.map { [column(alias, $0)] } ?? [])
        case .join(let number, let isSource):
            let join = schema.joins[number]
            let (own, far) = join.columns(isSource: isSource)
            let (alias, near) = add(schema.rows(of: join, dialect), own, ownerKey, frame: frame, isFirst: isFirst)
            let order = isSource ? join.orderColumn : join.inverseOrderColumn
            let position = element(
                isSource ? join.target : join.source, frame: frame, alias: nil, key: columns(alias, far))
            if access.guards(schema.tables[positions[position].table]) { _ = self.alias(of: position) }
            return Entered(
                position: position, near: near, owner: ownerKey, order: order.map { [column(alias, $0)] } ?? [],
                isInjective: false)
        case .matched(let link):
            let (rows, columns, far) = schema.rows(of: link, dialect) { source($0) }
            let (alias, near) = add(rows, columns, ownerKey, frame: frame, isFirst: isFirst)
            let position = element(link.end, frame: frame, alias: nil, key: self.columns(alias, far))
            // An object refers by the key to one other.
            return Entered(position: position, near: near, owner: ownerKey, isInjective: !link.isForward)
        case .through(let inverse, let reference):
            let (view, onward) = (schema.references[inverse], schema.references[reference])
            let middle = schema.tables[view.source]
            let (alias, near) = add(
                source(middle), view.columns, ownerKey, frame: frame, isFirst: isFirst)
            let position = element(
                onward.target, frame: frame, alias: nil, key: columns(alias, onward.columns))
            // If a row in between may dangle, the target is joined, which excludes it.
            if onward.isOptional || !onward.isEnforced || access.guards(schema.tables[onward.target])
                || access.masks(onward.property, of: middle)
            {
                _ = self.alias(of: position)
            }
            return Entered(
                position: position, near: near, owner: ownerKey,
                order: view.orderColumn.map { [column(alias, $0)] } ?? [],
                between: columns(alias, middle.keyColumnNames), isInjective: false)
        }
    }

    private mutating func element(_ table: Int, frame: Int, alias: String?, key: [String]?) -> Int {
        positions.append(
            Position(
                table: table, frame: frame, alias: alias, key: key, isOuter: false, isOptional: false,
                isKeyOptional: false))
        return positions.count - 1
    }

    /// Adds rows to a frame, joined where their columns have the values.
    mutating func add(
        _ rows: String, _ columns: [String], _ values: [String], frame: Int, isFirst: Bool = false,
        isOuter: Bool = false
    ) -> (alias: String, near: [String]) {
        let alias = newAlias()
        let near = self.columns(alias, columns)
        if isFirst {
            frames[frame] = rows + " AS " + alias
        } else {
            join(rows, alias, isOuter: isOuter, frame: frame)
            frames[frame].append(pairwise(near, values))
        }
        return (alias, near)
    }
}
