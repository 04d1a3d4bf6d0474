/// The effect of an object's deletion on the objects at the other end of one of its relationships, or of a foreign key
/// without a relationship.
package struct DeletionEdge: Hashable, Sendable {
    /// The entity of the object that is deleted, as a number in ``Schema/tables``.
    package let from: Int
    /// The entity at the other end.
    package let to: Int
    /// The path to the other end from the deleted object.
    let path: Path
    /// The effect on the row.
    package let rule: DeleteRule
    /// The relationship that declares the rule, as `Entity.property`.
    package let relationship: String

    /// Whether a foreign key of the database spreads the deletion, too.
    package var isEnforcedByDatabase: Bool { isReferring }

    /// Whether the object at the other end itself refers to the one that is deleted.
    var isReferring: Bool { if case .referring = path { true } else { false } }

    /// The path from one end to the other. The numbers are those of ``Schema/foreignKeys`` and ``Schema/joins``.
    enum Path: Hashable, Sendable {
        /// The other end holds the foreign key.
        case referring(Int)
        /// The object that is deleted holds the foreign key.
        case referred(Int)
        /// By a join table; `isSource` is whether the deleted object is in the join's source columns.
        case join(Int, isSource: Bool)
    }
}

/// A to-many with a minimum number of members, some of which a deletion may delete.
package struct CountedList: Hashable, Sendable {
    /// The entity whose objects have the list, as a number in ``Schema/tables``.
    package let owner: Int
    /// The entity of the members.
    package let member: Int
    /// The link from the owner to the members.
    package let link: Link
    /// The to-many.
    package let property: String
    /// The least number of members.
    package let minimum: Int
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

    /// The effects of the deletion of an entity's object on others, relationship by relationship. Without an effect
    /// there is no edge; join rows are always deleted.
    package func deletionEdges(from entity: Int) -> [DeletionEdge] {
        var edges: [DeletionEdge] = []
        func add(_ path: DeletionEdge.Path, to: Int, _ rule: DeleteRule, _ name: String) {
            edges.append(DeletionEdge(from: entity, to: to, path: path, rule: rule, relationship: name))
        }
        func name(_ declaring: Int, _ property: String) -> String { "\(tables[declaring].name).\(property)" }
        for key in foreignKeys {
            if key.target == entity && key.isEnforced {
                add(.referring(key.index), to: key.source, key.rule, self.name(of: key))
            }
            guard let number = key.reference, key.source == entity else { continue }
            let rule = references[number].onSourceDelete
            if rule == .cascade || rule == .deny {
                add(.referred(number), to: key.target, rule, name(entity, key.property))
            }
        }
        for join in joins {
            if join.source == entity && (join.onSourceDelete == .cascade || join.onSourceDelete == .deny) {
                add(
                    .join(join.index, isSource: true), to: join.target, join.onSourceDelete,
                    name(join.source, join.property))
            }
            if join.target == entity && (join.onTargetDelete == .cascade || join.onTargetDelete == .deny) {
                add(
                    .join(join.index, isSource: false), to: join.source, join.onTargetDelete,
                    name(join.inverse == nil ? join.source : join.target, join.inverse ?? join.property))
            }
        }
        return edges
    }

    /// The name of a foreign key's rule in reports: the inverse that declares it, otherwise the property with the key.
    func name(of key: SchemaForeignKey) -> String {
        if let number = key.reference, let inverse = references[number].inverse {
            return "\(tables[key.target].name).\(inverse)"
        }
        return "\(tables[key.source].name).\(key.property)"
    }
}
