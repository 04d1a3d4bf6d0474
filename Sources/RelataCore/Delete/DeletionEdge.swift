/// What the deletion of an object means for the objects at the other end of one of its relationships.
public struct DeletionEdge: Hashable, Sendable {
    /// The entity of the object that is deleted, as a number in ``Schema/tables``.
    public let from: Int
    /// The entity at the other end.
    public let to: Int
    /// How the other end is found from the object that is deleted.
    public let link: Link
    /// What happens to it.
    public let rule: DeleteRule
    /// The relationship that declares the rule, as `Entity.property`.
    public let relationship: String

    /// Whether the object at the other end itself refers to the one that is deleted.
    var isReferring: Bool { if case .inverse = link { true } else { false } }
}

/// A to-many that declares a least number of members, some of which a deletion may take.
public struct CountedList: Hashable, Sendable {
    /// The entity whose objects have the list, as a number in ``Schema/tables``.
    public let owner: Int
    /// The entity of the members.
    public let member: Int
    /// How the members are found from their owner.
    public let link: Link
    /// The to-many.
    public let property: String
    /// The least number of members.
    public let minimum: Int
}

extension Schema {
    /// The lists with a least number of members.
    var countedLists: [CountedList] {
        tables.flatMap { table in
            table.entity.relationships.compactMap { relationship in
                guard let minimum = relationship.minimumCount, let link = table.links[relationship.name],
                    let member = index(of: relationship.target)
                else { return nil }
                return CountedList(
                    owner: table.index, member: member, link: link, property: relationship.name, minimum: minimum)
            }
        }
    }

    /// What the deletion of an object of an entity means for others, relationship by relationship. Where it means
    /// nothing there is no edge; join rows go in any case.
    public func deletionEdges(from entity: Int) -> [DeletionEdge] {
        var edges: [DeletionEdge] = []
        func add(_ link: Link, to: Int, _ rule: DeleteRule, _ declaring: Int, _ property: String) {
            let name = "\(tables[declaring].name).\(property)"
            edges.append(DeletionEdge(from: entity, to: to, link: link, rule: rule, relationship: name))
        }
        for reference in references {
            let (source, target) = (reference.source, reference.target)
            if target == entity && reference.onTargetDelete != .noAction {
                add(
                    .inverse(reference.index), to: source, reference.onTargetDelete,
                    reference.inverse == nil ? source : target, reference.inverse ?? reference.property)
            }
            if source == entity && (reference.onSourceDelete == .cascade || reference.onSourceDelete == .deny) {
                add(
                    .reference(reference.index), to: target, reference.onSourceDelete, source,
                    reference.property)
            }
        }
        for join in joins {
            if join.source == entity && (join.onSourceDelete == .cascade || join.onSourceDelete == .deny) {
                add(.join(join.index, isSource: true), to: join.target, join.onSourceDelete, join.source, join.property)
            }
            if join.target == entity && (join.onTargetDelete == .cascade || join.onTargetDelete == .deny) {
                add(
                    .join(join.index, isSource: false), to: join.source, join.onTargetDelete,
                    join.inverse == nil ? join.source : join.target, join.inverse ?? join.property)
            }
        }
        return edges
    }
}
