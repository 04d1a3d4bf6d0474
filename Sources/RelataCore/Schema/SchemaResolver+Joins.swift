/// Many-to-manys, through links, and the storage of each relationship.
extension SchemaResolver {
    mutating func resolveJoins() {
        let inverses = inverseSides()
        for index in scope {
            let entity = entities[index]
            for relationship in relationships[index] {
                guard case .manyToMany(let names) = relationship.kind, let target = tableIndex[relationship.target]
                else { continue }
                let name = PropertyName(entity: index, property: relationship.name)
                guard joinNumbers[name] == nil else { continue }
                let other = inverses[name]
                let targetName =
                    target == index
                    ? Naming.singular(relationship.name) : Naming.lowerFirst(entities[target].shortName)
                let join = Join(
                    index: oldJoin(relationship.name, of: index) ?? joins.count,
                    table: names.table ?? "\(entity.table)_\(relationship.name)", source: index,
                    property: relationship.name,
                    sourceColumns: columnNames(
                        resolvedKeyParts(of: index), prefix: Naming.lowerFirst(entity.shortName),
                        given: names.sourceColumns, entity: index, property: relationship.name, target: index),
                    target: target, inverse: other?.name,
                    targetColumns: columnNames(
                        resolvedKeyParts(of: target), prefix: targetName, given: names.targetColumns, entity: index,
                        property: relationship.name, target: target),
                    orderColumn: orderColumn("position", relationship, entity: index),
                    inverseOrderColumn: other.flatMap { orderColumn("inversePosition", $0, entity: target) },
                    onSourceDelete: joinRule(of: relationship, entity: index),
                    onTargetDelete: other.map { joinRule(of: $0, entity: target) } ?? .nullify,
                    minimumCount: relationship.minimumCount, maximumCount: relationship.maximumCount,
                    inverseMinimumCount: other?.minimumCount, inverseMaximumCount: other?.maximumCount,
                    sourceComparison: relationship.sourceComparison, targetComparison: relationship.comparison,
                    joinedFrom: relationship.joinSource)
                joinNumbers[name] = join.index
                joins.put(join, at: join.index)
                checkColumnNames(of: join)
            }
        }
    }

    /// The second sides of the many-to-manys, by the property that declares the join.
    private mutating func inverseSides() -> [PropertyName: Relationship] {
        var sides: [PropertyName: Relationship] = [:]
        for index in scope {
            let entity = entities[index]
            for relationship in relationships[index] {
                // The other side in an entity that isn't resolved is as it was.
                if let old, let number = oldJoin(relationship.name, of: index), let inverse = old.joins[number].inverse,
                    isCopied(old.joins[number].target)
                {
                    sides[PropertyName(entity: index, property: relationship.name)] =
                        entities[old.joins[number].target].relationship(inverse)
                }
                guard case .manyToManyInverse(let inverse) = relationship.kind,
                    let target = tableIndex[relationship.target]
                else { continue }
                guard case .manyToMany? = entities[target].relationship(inverse)?.kind else {
                    report(
                        index, relationship.name,
                        "its inverse \(relationship.target).\(inverse) isn't a many-to-many without `inverse:`: "
                            + "declare `var \(inverse): ToMany<\(entity.name)>` there; give `inverse:` on one side only"
                    )
                    continue
                }
                if let back = entities[target].relationship(inverse)?.target, back != entity.name {
                    report(
                        index, relationship.name,
                        "its inverse \(relationship.target).\(inverse) points at \(back), not at \(entity.name): "
                            + "name a many-to-many of \(relationship.target) that points at \(entity.name)")
                    continue
                }
                let name = PropertyName(entity: target, property: inverse)
                if let other = sides[name] {
                    report(
                        index, relationship.name,
                        "\(relationship.target).\(inverse) already has the inverse \(other.name): keep one of the two")
                    continue
                }
                sides[name] = relationship
            }
        }
        return sides
    }

    /// The number that a many-to-many has in the old schema.
    private func oldJoin(_ property: String, of index: Int) -> Int? {
        guard let old, index < old.tables.count, case .join(let number, true)? = old.tables[index].links[property]
        else {
            return nil
        }
        return number
    }

    /// The number of a many-to-many.
    private func joinNumber(_ property: String, of index: Int) -> Int? {
        joinNumbers[PropertyName(entity: index, property: property)] ?? oldJoin(property, of: index)
    }

    private mutating func orderColumn(_ column: String, _ relationship: Relationship, entity: Int) -> String? {
        switch relationship.order {
        case nil: return nil
        case .stored: return column
        case .attribute(let attribute):
            report(
                entity, relationship.name,
                "a many-to-many has no attribute \(attribute) for an order: use `ordered: true`, or a join model")
            return nil
        }
    }

    private mutating func joinRule(of relationship: Relationship, entity: Int) -> DeleteRule {
        if relationship.deleteRule == .noAction {
            report(
                entity, relationship.name,
                "noAction would leave join rows that point nowhere: use nullify, which keeps the other objects")
        }
        return relationship.deleteRule ?? .nullify
    }

    /// The storage of a relationship; `nil` for a broken one, which is reported.
    mutating func link(_ relationship: Relationship, of index: Int) -> Link? {
        guard let target = tableIndex[relationship.target] else { return nil }
        switch relationship.kind {
        case .toOne:
            return draftNumber(relationship.name, of: index).map { .reference($0) }
        case .hasOne(let inverse), .toMany(let inverse):
            return draftNumber(inverse, of: target).map { .inverse($0) }
        case .manyToMany:
            return joinNumber(relationship.name, of: index).map { .join($0, isSource: true) }
        case .manyToManyInverse(let inverse):
            return joinNumber(inverse, of: target).map { .join($0, isSource: false) }
        case .through(let toMany, let toOne):
            return through(relationship, toMany: toMany, toOne: toOne, of: index)
        case .matched(let columns):
            return .matched(MatchedLink(columns, from: index, to: target, relationship.comparison))
        }
    }

    private mutating func through(_ relationship: Relationship, toMany: String, toOne: String, of index: Int) -> Link? {
        guard let first = entities[index].relationship(toMany), case .toMany(let inverse) = first.kind else {
            report(
                index, relationship.name,
                "it goes through \(toMany), which isn't a to-many with `inverse:` of \(entities[index].name): name one")
            return nil
        }
        guard let middle = tableIndex[first.target],
            let view = draftNumber(inverse, of: middle)
        else { return nil }
        guard let second = draftNumber(toOne, of: middle) else {
            report(
                index, relationship.name,
                "it goes through \(first.target).\(toOne), which isn't a to-one: name a to-one of \(first.target)")
            return nil
        }
        guard self.target(ofDraft: second) == relationship.target else {
            report(
                index, relationship.name,
                "it leads to \(self.target(ofDraft: second)) by \(toMany) and \(toOne), "
                    + "not to \(relationship.target): name another path, or change its type")
            return nil
        }
        return .through(inverse: view, reference: second)
    }
}
