/// A relationship that is loaded with the objects of a query: the condition, the order and the number of the related
/// objects, and their own includes.
public struct IncludePlan: Hashable, Sendable {
    /// The relationship's name.
    package var relationship: String
    /// The condition on a related object; `nil` for all. Its scope is 0: the related object.
    package var condition: ExpressionNode?
    /// The order; empty for the relationship's own.
    package var sort: [SortTerm]
    /// The largest number of objects for each owner.
    package var limit: Int?
    /// Whether owners without a related object are left out of the query.
    package var isRequired: Bool
    /// Whether the relationship is followed repeatedly from its targets; `nil` for once.
    package var recursion: Recursion?
    /// The includes of the related objects.
    package var children: [IncludePlan]

    /// Loads a relationship.
    package init(
        _ relationship: String, condition: ExpressionNode? = nil, sort: [SortTerm] = [], limit: Int? = nil,
        isRequired: Bool = false, recursion: Recursion? = nil, children: [IncludePlan] = []
    ) {
        self.relationship = relationship
        self.condition = condition
        self.sort = sort
        self.limit = limit
        self.isRequired = isRequired
        self.recursion = recursion
        self.children = children
    }

    /// The number of times a relationship to the same entity is followed.
    package struct Recursion: Hashable, Sendable {
        /// The number of levels, at least 1; `nil` for all.
        package var depth: Int?

        /// A depth of that many levels, or of all.
        package init(depth: Int? = nil) { self.depth = depth }
    }

    /// The relationships on some paths, each once: `artist`, `tracks` and `tracks.genre` are two, one with another in
    /// it.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if one relationship is included twice with different filters.
    package static func merged(_ plans: [IncludePlan]) throws(RelataError) -> [IncludePlan] {
        var merged: [IncludePlan] = []
        for plan in plans {
            guard let index = merged.firstIndex(where: { $0.relationship == plan.relationship }) else {
                merged.append(plan)
                continue
            }
            var both = merged[index]
            if !plan.isPlain {
                guard both.isPlain || both.with(children: []) == plan.with(children: []) else {
                    throw .invalidUse(
                        "\(plan.relationship) is included twice with different filters: include it once, or use a shape"
                    )
                }
                both = plan.with(children: both.children)
            }
            both.children = try IncludePlan.merged(merged[index].children + plan.children)
            merged[index] = both
        }
        return merged
    }

    /// The condition on an owner that excludes owners without a required include; `nil` without required ones.
    package static func requirement(of plans: [IncludePlan]) -> ExpressionNode? {
        let required = plans.filter(\.isRequired).map { plan in
            let inner = [plan.condition, requirement(of: plan.children)].compactMap(\.self)
            // The related object is scope 0 in its own condition, which hides the owner's.
            return ExpressionNode.quantified(
                .any, RelatedSet(scope: 0, path: [plan.relationship], innerScope: 0), condition: .and(inner))
        }
        return required.isEmpty ? nil : .and(required)
    }

    /// The condition on a related object, including its own required includes.
    package var requiredCondition: ExpressionNode? {
        guard let required = Self.requirement(of: children) else { return condition }
        return condition.map { .and([$0, required]) } ?? required
    }

    private var isPlain: Bool {
        condition == nil && sort.isEmpty && limit == nil && !isRequired && recursion == nil
    }

    private func with(children: [IncludePlan]) -> IncludePlan {
        var copy = self
        copy.children = children
        return copy
    }
}
