// Groups of a query's objects. One function for each number of columns: a parameter pack may be empty, and then a
// closure that returns nothing would be treated as one that groups by nothing.

import RelataCore

extension Query {
    /// One row for each different value, for aggregates of the objects that have it.
    ///
    /// ```swift
    /// Book.all.grouped { $0.genre.name }.having { $0.objectCount > 3 }.select { ($0.genre.name, $0.price.average()) }
    /// ```
    ///
    /// For several values, up to six, return a tuple: `grouped { ($0.genre.name, $0.year) }`. A to-one groups by its
    /// target, whose attributes can then be selected, as in `grouped { $0.series }.select { ($0.series.title,
    /// $0.objectCount) }`.
    ///
    /// Calls before it apply to the objects, and calls after it to the groups: `limit(100).grouped { … }` makes groups
    /// of a hundred objects, and `grouped { … }.limit(100)` returns a hundred groups.
    public func grouped<Column: GroupColumn>(by column: (Root.Fields) -> Column) -> Groups<Root> {
        Groups(query: source, groups: [Column.groupNode(of: column(Self.fields))])
    }

    /// One row for each different set of two values; see the function for one.
    public func grouped<First: GroupColumn, Second: GroupColumn>(
        by columns: (Root.Fields) -> (First, Second)
    ) -> Groups<Root> {
        let chosen = columns(Self.fields)
        return Groups(query: source, groups: [First.groupNode(of: chosen.0), Second.groupNode(of: chosen.1)])
    }

    /// One row for each different set of three values; see the function for one.
    public func grouped<First: GroupColumn, Second: GroupColumn, Third: GroupColumn>(
        by columns: (Root.Fields) -> (First, Second, Third)
    ) -> Groups<Root> {
        let chosen = columns(Self.fields)
        return Groups(
            query: source,
            groups: [First.groupNode(of: chosen.0), Second.groupNode(of: chosen.1), Third.groupNode(of: chosen.2)])
    }

    /// One row for each different set of four values; see the function for one.
    public func grouped<First: GroupColumn, Second: GroupColumn, Third: GroupColumn, Fourth: GroupColumn>(
        by columns: (Root.Fields) -> (First, Second, Third, Fourth)
    ) -> Groups<Root> {
        let chosen = columns(Self.fields)
        return Groups(
            query: source,
            groups: [
                First.groupNode(of: chosen.0), Second.groupNode(of: chosen.1), Third.groupNode(of: chosen.2),
                Fourth.groupNode(of: chosen.3),
            ])
    }

    /// One row for each different set of five values; see the function for one.
    public func grouped<
        First: GroupColumn, Second: GroupColumn, Third: GroupColumn, Fourth: GroupColumn, Fifth: GroupColumn
    >(
        by columns: (Root.Fields) -> (First, Second, Third, Fourth, Fifth)
    ) -> Groups<Root> {
        let chosen = columns(Self.fields)
        return Groups(
            query: source,
            groups: [
                First.groupNode(of: chosen.0), Second.groupNode(of: chosen.1), Third.groupNode(of: chosen.2),
                Fourth.groupNode(of: chosen.3), Fifth.groupNode(of: chosen.4),
            ])
    }

    /// One row for each different set of six values; see the function for one.
    public func grouped<
        First: GroupColumn, Second: GroupColumn, Third: GroupColumn, Fourth: GroupColumn, Fifth: GroupColumn,
        Sixth: GroupColumn
    >(
        by columns: (Root.Fields) -> (First, Second, Third, Fourth, Fifth, Sixth)
    ) -> Groups<Root> {
        let chosen = columns(Self.fields)
        return Groups(
            query: source,
            groups: [
                First.groupNode(of: chosen.0), Second.groupNode(of: chosen.1), Third.groupNode(of: chosen.2),
                Fourth.groupNode(of: chosen.3), Fifth.groupNode(of: chosen.4), Sixth.groupNode(of: chosen.5),
            ])
    }

    /// Not possible: groups need a value.
    @available(
        *, unavailable,
        message: "give an attribute, a to-one or a computed value; several as a tuple: 'grouped { ($0.a, $0.b) }'"
    )
    public func grouped(by columns: (Root.Fields) -> Void) -> Groups<Root> { Groups(query: self, groups: []) }
}

extension Query {
    /// The query as a source of groups: its limit is part of its condition, so that a later limit applies to the
    /// groups.
    private var source: Query {
        guard plan.limit != nil || plan.offset != nil else { return self }
        var query = self
        query.plan = QueryPlan(entity: Root.entityName)
        query.pending = [.combined([QueryPart(plan: plan, pending: pending)], isAnd: true)]
        return query
    }
}

/// An argument of `Query.grouped(by:)`: an attribute, a computed value, or a to-one.
public protocol GroupColumn: Sendable {
    /// The grouped value. Static, because names of an instance are those of a to-one's properties.
    @_documentation(visibility: internal)
    static func groupNode(of column: Self) -> ExpressionNode
}

extension QueryExpression {
    /// The expression itself.
    @_documentation(visibility: internal)
    public static func groupNode(of column: Self) -> ExpressionNode { column.node }
}

extension ToOneField: GroupColumn {
    /// The key of the object that it links to.
    @_documentation(visibility: internal)
    public static func groupNode(of column: ToOneField) -> ExpressionNode { column.node }
}

/// Groups of a query's objects; see `Query.grouped(by:)`.
public struct Groups<Root: Model>: Sendable {
    var query: Query<Root>
    let groups: [ExpressionNode]
    var having: ExpressionNode?

    /// Only the groups that meet a condition on their aggregates.
    public func having<Check: QueryExpression<Bool>>(_ condition: (Root.Fields) -> Check) -> Groups {
        var copy = self
        let node = condition(Root.Fields(path: FieldPath())).node
        copy.having = having.map { .and([$0, node]) } ?? node
        return copy
    }

    /// The groups in an order: of their values, or of their aggregates. Groups that are equal in it are sorted by their
    /// values.
    ///
    /// ```swift
    /// Film.all.grouped { $0.director.country }.sorted { $0.objectCount.descending }.limit(3)
    /// ```
    public func sorted(@SortBuilder _ order: (Root.Fields) -> [SortTerm]) -> Groups {
        var copy = self
        copy.query = query.sorted(order)
        return copy
    }

    /// Limits the number of groups. A negative number is an error when the query runs.
    public func limit(_ count: Int, offset: Int = 0) -> Groups {
        var copy = self
        copy.query = query.limit(count, offset: offset)
        return copy
    }

    /// The values to return for each group.
    public func select<each Column: QueryExpression>(
        _ columns: (Root.Fields) -> (repeat each Column)
    ) -> Selection<Root, (repeat (each Column).QueryValue)> {
        let chosen = columns(Root.Fields(path: FieldPath()))
        return query.selection(repeat each chosen, groups: groups, having: having)
    }
}
