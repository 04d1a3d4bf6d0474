import RelataCore
import RelataEngine

/// A description of objects to fetch, and their order. It does nothing by itself.
///
/// ```swift
/// let query = Book.where { $0.year >= 1970 }.sorted { $0.year.descending; $0.title }.limit(20)
/// let books = try await store.fetch(query)
/// ```
public struct Query<Root: Model>: Sendable {
    /// The query as plain data.
    package var plan: QueryPlan
    /// Conditions with text in them, which need the schema to be understood.
    var pending: [PendingCondition] = []
    /// The includes of the objects.
    var includes: [IncludePlan] = []
    /// Called with objects that can't be read; `nil` if they are errors.
    var undecodable: (@Sendable (UndecodableObject) -> Void)?

    /// The report of one fetch.
    var undecodableReport: UndecodableReport? { undecodable.map { UndecodableReport($0) } }

    /// All objects.
    public init() { plan = QueryPlan(entity: Root.entityName) }

    private func with(_ change: (inout Query) -> Void) -> Query {
        var copy = self
        change(&copy)
        return copy
    }

    static var fields: Root.Fields { Root.Fields(path: FieldPath()) }

    /// The objects that also meet a condition.
    public func `where`<Check: QueryExpression<Bool>>(_ condition: (Root.Fields) -> Check) -> Query {
        let node = condition(Self.fields).node
        return with { $0.plan.condition = $0.plan.condition.map { .and([$0, node]) } ?? node }
    }

    /// The objects that meet a condition given as text: see <doc:Queries> for the format.
    ///
    /// ```swift
    /// Book.matching("genre.name == %@ AND ANY authors.name BEGINSWITH %@", "Fantasy", "Ursula")
    /// ```
    ///
    /// An argument is a value, an enum with a raw value, an object, a link, a key, a `Codable` value, or an array or
    /// set of these; see `PredicateArgument.init(of:)`. The text and the arguments are checked against the schema
    /// when the query runs; an error points at its column.
    public func matching(_ format: String, _ arguments: (any Sendable)?...) -> Query {
        matching(format, arguments: arguments)
    }

    func matching(_ format: String, arguments: [(any Sendable)?]) -> Query {
        with { $0.pending.append(.text(PredicateText(format: format, arguments: arguments))) }
    }

    /// In that order, before any earlier order.
    public func sorted(@SortBuilder _ order: (Root.Fields) -> [SortTerm]) -> Query {
        with { $0.plan.sort = order(Self.fields) + $0.plan.sort }
    }

    /// At most that many objects. A negative number is an error when the query runs.
    public func limit(_ count: Int, offset: Int = 0) -> Query {
        with {
            $0.plan.limit = count
            $0.plan.offset = offset == 0 ? nil : offset
        }
    }

    /// Chosen values instead of whole objects, as tuples.
    ///
    /// ```swift
    /// for (title, genre) in try await store.fetch(Book.all.select { ($0.title, $0.genre.name) }) { … }
    /// ```
    public func select<each Column: QueryExpression>(
        _ columns: (Root.Fields) -> (repeat each Column)
    ) -> Selection<Root, (repeat (each Column).QueryValue)> {
        let chosen = columns(Self.fields)
        return selection(repeat each chosen, groups: nil, having: nil)
    }
}

extension Model {
    /// All objects of the model.
    public static var all: Query<Self> { Query() }

    /// The objects that meet a condition.
    public static func `where`<Check: QueryExpression<Bool>>(_ condition: (Fields) -> Check) -> Query<Self> {
        Query().where(condition)
    }

    /// All objects in an order.
    public static func sorted(@SortBuilder _ order: (Fields) -> [SortTerm]) -> Query<Self> { Query().sorted(order) }

    /// The objects that meet a condition given as text, as ``Query/matching(_:_:)`` reads it.
    public static func matching(
        _ format: String, _ arguments: (any Sendable)?...
    ) -> Query<Self> {
        Query().matching(format, arguments: arguments)
    }
}

/// Chosen values of a query's objects or groups, as tuples.
public struct Selection<Root: Model, Row>: Sendable {
    var query: Query<Root>
    let nodes: [ExpressionNode]
    let groups: [ExpressionNode]?
    let having: ExpressionNode?
    /// One row's values as a tuple.
    let decode: @Sendable ([RelataCore.Value]) throws -> Row

    /// Each different row once.
    public var distinct: Selection {
        var copy = self
        copy.query.plan.isDistinct = true
        return copy
    }
}

extension Query {
    func selection<each Column: QueryExpression>(
        _ columns: repeat each Column, groups: [ExpressionNode]?, having: ExpressionNode?
    ) -> Selection<Root, (repeat (each Column).QueryValue)> {
        Selection(query: self, nodes: Self.nodes(repeat each columns), groups: groups, having: having) { values in
            let reader = TupleReader(values)
            return (repeat try reader.next(each columns))
        }
    }
}

extension Query {
    private static func nodes<each Column: QueryExpression>(_ columns: repeat each Column) -> [ExpressionNode] {
        var nodes: [ExpressionNode] = []
        for column in repeat each columns { nodes.append(column.node) }
        // A closure of several lines, or of a to-one, compiles as one that returns nothing.
        return nodes.isEmpty
            ? [
                .invalid(
                    "select has no columns: give attributes or computed values, several as a tuple, and of a to-one its "
                        + "attributes: select { ($0.title, $0.genre.name) }")
            ] : nodes
    }
}

/// Reads a row's values one after the other. A class, because the compiler can't keep a variable across the elements of
/// a parameter pack.
private final class TupleReader {
    private let values: [Value]
    private var index = 0

    init(_ values: [Value]) { self.values = values }

    func next<Column: QueryExpression>(_ column: Column) throws -> Column.QueryValue {
        defer { index += 1 }
        let value = values[index]
        do {
            return try column.coding.decode(value)
        } catch  where value.isNull {
            throw RelataError.invalidUse(
                "column \(index + 1) of the selection is unset in a row, because a to-one on the path to it is unset, or a divisor is zero: select it with .optional, or with .or(…)"
            )
        } catch RelataError.corruptStore where column.node.calculates {
            throw RelataError.unfitting(value, in: "\(Column.QueryValue.self)")
        }
    }
}

/// Collects the terms of an order: an expression alone is ascending.
@resultBuilder
public enum SortBuilder {
    /// One element of the list.
    public static func buildExpression(_ term: SortTerm) -> [SortTerm] { [term] }
    /// One element of the list.
    public static func buildExpression(_ expression: some QueryExpression) -> [SortTerm] { [expression.ascending] }
    /// The elements one after the other.
    public static func buildBlock(_ terms: [SortTerm]...) -> [SortTerm] { terms.flatMap { $0 } }
    /// The elements of an `if`.
    public static func buildOptional(_ terms: [SortTerm]?) -> [SortTerm] { terms ?? [] }
    /// The elements of one branch.
    public static func buildEither(first terms: [SortTerm]) -> [SortTerm] { terms }
    /// The elements of one branch.
    public static func buildEither(second terms: [SortTerm]) -> [SortTerm] { terms }
    /// The elements of a loop.
    public static func buildArray(_ terms: [[SortTerm]]) -> [SortTerm] { terms.flatMap { $0 } }
}

/// A condition given as text, parsed when the query runs: only then is the schema known.
struct PredicateText: Sendable {
    let format: String
    let arguments: [(any Sendable)?]

    func parse(entity: String, schema: Schema) throws -> ExpressionNode {
        try PredicateFormat.parse(
            format, arguments: arguments.map { try $0.map { try PredicateArgument(of: $0) } ?? .value(.null) },
            entity: entity, schema: schema)
    }
}
