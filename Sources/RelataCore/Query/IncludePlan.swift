/// A relationship that is loaded with the objects of a query: which of the related objects, in which order, how many for
/// each, and what is loaded with them in turn.
public struct IncludePlan: Hashable, Sendable {
    /// The relationship's name.
    public var relationship: String
    /// What a related object must meet; `nil` for all. Its scope is 0: the related object.
    public var condition: ExpressionNode?
    /// The order; the relationship's own where it is empty.
    public var sort: [SortTerm]
    /// The largest number of objects for each owner.
    public var limit: Int?
    /// Whether owners without a related object are left out of the query.
    public var isRequired: Bool
    /// How many levels of a relationship to the same entity are followed: 1 for the related objects alone, `nil` for all
    /// there are.
    public var depth: Int?
    /// What is loaded with the related objects.
    public var children: [IncludePlan]

    /// Loads a relationship.
    public init(
        _ relationship: String, condition: ExpressionNode? = nil, sort: [SortTerm] = [], limit: Int? = nil,
        isRequired: Bool = false, depth: Int? = 1, children: [IncludePlan] = []
    ) {
        self.relationship = relationship
        self.condition = condition
        self.sort = sort
        self.limit = limit
        self.isRequired = isRequired
        self.depth = depth
        self.children = children
    }

    /// The relationships on some paths, each once: `artist`, `tracks` and `tracks.genre` are two, one with another in it.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` where one relationship is asked for twice with different filters.
    public static func merged(_ plans: [IncludePlan]) throws(RelataError) -> [IncludePlan] {
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
                        "\(plan.relationship) is included twice with different filters: include it once, or use a shape")
                }
                both = plan.with(children: both.children)
            }
            both.children = try IncludePlan.merged(merged[index].children + plan.children)
            merged[index] = both
        }
        return merged
    }

    private var isPlain: Bool {
        condition == nil && sort.isEmpty && limit == nil && depth == 1 && !isRequired
    }

    private func with(children: [IncludePlan]) -> IncludePlan {
        var copy = self
        copy.children = children
        return copy
    }
}
