/// What the deletion of an object means for the objects at the other end of one of its relationships.
public struct DeletionEdge: Hashable, Sendable {
    /// How the other end is found.
    public enum Path: Hashable, Sendable {
        /// From the target of a reference to the objects that refer to it.
        case sources(reference: Int)
        /// From the object that holds a reference to its target.
        case target(reference: Int)
        /// From the source of a join to the targets.
        case joinTargets(Int)
        /// From the target of a join to the sources.
        case joinSources(Int)
    }

    /// The entity of the object that is deleted, as a number in ``Schema/tables``.
    public let from: Int
    /// The entity at the other end.
    public let to: Int
    /// How the other end is found.
    public let path: Path
    /// What happens to it.
    public let rule: DeleteRule
    /// The relationship that declares the rule, as `Entity.property`.
    public let relationship: String
}

extension Schema {
    /// What the deletion of an object of an entity means for others, relationship by relationship. Where it means
    /// nothing there is no edge; join rows go in any case.
    public func deletionEdges(from entity: Int) -> [DeletionEdge] {
        var edges: [DeletionEdge] = []
        func add(_ path: DeletionEdge.Path, to: Int, _ rule: DeleteRule, _ declaring: Int, _ property: String) {
            let name = "\(tables[declaring].name).\(property)"
            edges.append(DeletionEdge(from: entity, to: to, path: path, rule: rule, relationship: name))
        }
        for reference in references {
            let (source, target) = (reference.source, reference.target)
            if target == entity && reference.onTargetDelete != .noAction {
                add(
                    .sources(reference: reference.index), to: source, reference.onTargetDelete,
                    reference.inverse == nil ? source : target, reference.inverse ?? reference.property)
            }
            if source == entity && (reference.onSourceDelete == .cascade || reference.onSourceDelete == .deny) {
                add(
                    .target(reference: reference.index), to: target, reference.onSourceDelete, source,
                    reference.property)
            }
        }
        for join in joins {
            if join.source == entity && (join.onSourceDelete == .cascade || join.onSourceDelete == .deny) {
                add(.joinTargets(join.index), to: join.target, join.onSourceDelete, join.source, join.property)
            }
            if join.target == entity && (join.onTargetDelete == .cascade || join.onTargetDelete == .deny) {
                add(
                    .joinSources(join.index), to: join.source, join.onTargetDelete,
                    join.inverse == nil ? join.source : join.target, join.inverse ?? join.property)
            }
        }
        return edges
    }
}
