/// A relationship that is loaded with the objects of a query: which of the related objects, in which order, how many for
/// each, and what is loaded with them in turn.
public struct IncludePlan: Hashable, Sendable {
    /// The relationship's name.
    package var relationship: String
    /// What a related object must meet; `nil` for all. Its scope is 0: the related object.
    package var condition: ExpressionNode?
    /// The order; the relationship's own where it is empty.
    package var sort: [SortTerm]
    /// The largest number of objects for each owner.
    package var limit: Int?
    /// Whether owners without a related object are left out of the query.
    package var isRequired: Bool
    /// Whether the relationship is followed again and again from what it leads to; `nil` for once.
    package var recursion: Recursion?
    /// What is loaded with the related objects.
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

    /// How often a relationship to the same entity is followed.
    package struct Recursion: Hashable, Sendable {
        /// The number of levels, at least 1; `nil` for all there are.
        package var depth: Int?

        /// So many levels, or all there are.
        package init(depth: Int? = nil) { self.depth = depth }
    }

    /// The relationships on some paths, each once: `artist`, `tracks` and `tracks.genre` are two, one with another in it.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` where one relationship is asked for twice with different filters.
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

    /// What an owner must meet so that nothing it includes as required is missing; `nil` where nothing is required.
    package static func requirement(of plans: [IncludePlan]) -> ExpressionNode? {
        let required = plans.filter(\.isRequired).map { plan in
            let inner = [plan.condition, requirement(of: plan.children)].compactMap(\.self)
            // The related object is scope 0 in its own condition, which hides the owner's.
            return ExpressionNode.quantified(
                .any, RelatedSet(scope: 0, path: [plan.relationship], innerScope: 0), condition: .and(inner))
        }
        return required.isEmpty ? nil : .and(required)
    }

    /// What a related object must meet, what it requires in turn included.
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
