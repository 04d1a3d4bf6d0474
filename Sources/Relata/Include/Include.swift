import RelataCore

/// A relationship to load with the objects of a query, as ``Query/including(_:)`` collects it.
public struct Include<Target: Model>: Sendable {
    /// The to-ones that lead to the relationship.
    let path: [String]
    var plan: IncludePlan

    init(path: [String], plan: IncludePlan) {
        self.path = path
        self.plan = plan
    }

    private func with(_ change: (inout IncludePlan) -> Void) -> Include {
        var copy = self
        change(&copy.plan)
        return copy
    }

    private static var fields: Target.Fields { Target.Fields(path: FieldPath()) }

    /// Only the related objects that meet a condition.
    public func `where`<Check: QueryExpression<Bool>>(_ condition: (Target.Fields) -> Check) -> Include {
        let node = condition(Self.fields).node
        return with { $0.condition = $0.condition.map { .and([$0, node]) } ?? node }
    }

    /// In that order, instead of the relationship's own.
    public func sorted(@SortBuilder _ order: (Target.Fields) -> [SortTerm]) -> Include {
        with { $0.sort = order(Self.fields) + $0.sort }
    }

    /// At most that many for each owner.
    public func limit(_ count: Int) -> Include { with { $0.limit = count } }

    /// Adds relationships to load with the related objects.
    public func including(@IncludeBuilder _ links: (Target.Fields) -> [IncludePlan]) -> Include {
        with { $0.children += links(Self.fields) }
    }

    /// Leaves out of the query the objects that have no related one.
    public var required: Include { with { $0.isRequired = true } }

    /// Follows a relationship to the same model repeatedly: for that many levels, or, without a number, to the end. An
    /// object that is its own ancestor is included, without loading its own members again.
    public func recursive(depth: Int? = nil) -> Include { with { $0.recursion = IncludePlan.Recursion(depth: depth) } }
}

extension ToManyField {
    /// All related objects, in the type that includes and shapes take.
    public var include: Include<Target> {
        let all = path.names + names
        return Include(path: Array(all.dropLast()), plan: IncludePlan(all.last ?? ""))
    }

    /// In an include: only the related objects that meet a condition.
    public func `where`<Check: QueryExpression<Bool>>(_ condition: (Target.Fields) -> Check) -> Include<Target> {
        include.where(condition)
    }

    /// In an include: in that order, instead of the relationship's own.
    public func sorted(@SortBuilder _ order: (Target.Fields) -> [SortTerm]) -> Include<Target> { include.sorted(order) }

    /// In an include: at most that many for each owner.
    public func limit(_ count: Int) -> Include<Target> { include.limit(count) }

    /// In an include: what to load with the related objects.
    public func including(@IncludeBuilder _ links: (Target.Fields) -> [IncludePlan]) -> Include<Target> {
        include.including(links)
    }

    /// In an include: leaves out the objects that have no related one.
    public var required: Include<Target> { include.required }

    /// In an include: follows a relationship to the same model repeatedly.
    ///
    /// ```swift
    /// Folder.where { $0.parent == nil }.including { $0.children.recursive() }
    /// ```
    public func recursive(depth: Int? = nil) -> Include<Target> { include.recursive(depth: depth) }
}

extension ToOneField {
    private var include: Include<Target> { Include(path: path.names, plan: IncludePlan(name)) }

    /// In an include: only targets that meet a condition. For another target, the link is loaded without it:
    /// ``ToOne/loaded`` is `nil`, and ``ToOne/object`` throws ``RelataError/excluded(_:)``.
    public func `where`<Check: QueryExpression<Bool>>(_ condition: (Target.Fields) -> Check) -> Include<Target> {
        include.where(condition)
    }

    /// In an include: what to load with the target.
    public func including(@IncludeBuilder _ links: (Target.Fields) -> [IncludePlan]) -> Include<Target> {
        include.including(links)
    }

    /// In an include: leaves out the objects that have no target.
    public var required: Include<Target> { include.required }

    /// In an include: follows a relationship to the same model repeatedly, such as a parent.
    public func recursive(depth: Int? = nil) -> Include<Target> { include.recursive(depth: depth) }
}

extension Query {
    /// Loads relationships with the objects: one statement for each, for any number of objects.
    ///
    /// ```swift
    /// let books = try await store.fetch(
    ///     Book.all.including { $0.genre; $0.authors.sorted { $0.name }.limit(3); $0.publisher.country })
    /// try books[0].authors.objects
    /// ```
    public func including(@IncludeBuilder _ links: (Root.Fields) -> [IncludePlan]) -> Query {
        var copy = self
        copy.includes += links(Root.Fields(path: FieldPath()))
        return copy
    }
}

/// An argument of an include: a link, or an ``Include`` with more details.
public protocol Includable {
    /// The relationships to load, from the query's own objects.
    @_documentation(visibility: internal)
    var includePlan: IncludePlan { get }
}

extension Include: Includable {
    /// The relationships to load, from the query's own objects.
    @_documentation(visibility: internal)
    public var includePlan: IncludePlan {
        path.reversed().reduce(plan) { IncludePlan($1, children: [$0]) }
    }
}

extension ToManyField: Includable {
    /// The relationships to load, from the query's own objects.
    @_documentation(visibility: internal)
    public var includePlan: IncludePlan { include.includePlan }
}

extension ToOneField: Includable {
    /// The relationships to load, from the query's own objects.
    @_documentation(visibility: internal)
    public var includePlan: IncludePlan { include.includePlan }
}

/// Collects the relationships of an include.
@resultBuilder
public enum IncludeBuilder {
    /// One element of the list.
    public static func buildExpression(_ link: any Includable) -> [IncludePlan] { [link.includePlan] }
    /// The elements one after the other.
    public static func buildBlock(_ plans: [IncludePlan]...) -> [IncludePlan] { plans.flatMap { $0 } }
    /// The elements of an `if`.
    public static func buildOptional(_ plans: [IncludePlan]?) -> [IncludePlan] { plans ?? [] }
    /// The elements of one branch.
    public static func buildEither(first plans: [IncludePlan]) -> [IncludePlan] { plans }
    /// The elements of one branch.
    public static func buildEither(second plans: [IncludePlan]) -> [IncludePlan] { plans }
    /// The elements of a loop.
    public static func buildArray(_ plans: [[IncludePlan]]) -> [IncludePlan] { plans.flatMap { $0 } }
}
