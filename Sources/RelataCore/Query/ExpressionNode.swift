/// An expression over the objects of an entity: the common form of typed predicates and the predicate format, which one
/// compiler turns into SQL.
///
/// Comparison and negation are two-valued, as in Swift: an unset value differs from every set one, and is equal to
/// another unset one.
public indirect enum ExpressionNode: Hashable, Sendable {
    /// A constant. Bound, never spelled into the SQL.
    case value(Value)
    /// An attribute, or a to-one (its key), reached from a scope through to-ones: `genre.name` is `["genre", "name"]`.
    /// The empty path is the scope's object itself, that is, its primary key.
    case property(scope: Int, path: [String])
    /// `lhs op rhs`.
    case comparison(ComparisonOperator, ExpressionNode, ExpressionNode, TextOptions)
    /// A key or a to-one against constant keys: true when it is one of them. An empty list is false.
    case keyIn(ExpressionNode, [KeyValue])
    /// A value compared with constants, which are all bound as one parameter. An empty list is false.
    case valueIn(ExpressionNode, [Value], TextOptions)
    /// A value, a key or a to-one against the results of another query: a chosen expression of each of its objects, or
    /// their keys by default. The query is independent, with its own scopes.
    case inQuery(ExpressionNode, QueryPlan, selecting: ExpressionNode?)
    /// `lower ≤ value ≤ upper`.
    case between(ExpressionNode, ExpressionNode, ExpressionNode)
    /// Whether the value, or the to-one, is unset.
    case isNull(ExpressionNode)
    /// Text that contains, begins with, ends with, is like (`*` and `?` as in NSPredicate) or matches (a regular
    /// expression) another.
    case text(TextOperator, ExpressionNode, ExpressionNode, TextOptions)
    /// Whether a full-text search finds the object.
    case found(ObjectSearch)
    /// The object's relevance for the query's search, in ascending order.
    case relevance
    /// All must hold; true when empty.
    case and([ExpressionNode])
    /// One must hold; false when empty.
    case or([ExpressionNode])
    /// Must not hold.
    case not(ExpressionNode)
    /// `+ - * / %` over numbers; `+` over text joins it.
    case arithmetic(ArithmeticOperator, ExpressionNode, ExpressionNode)
    /// The number with its sign turned.
    case negated(ExpressionNode)
    /// A function of values.
    case function(Function, [ExpressionNode])
    /// Whether any, all or none of the related objects meet the condition. The condition's scope is one deeper than the
    /// deepest around it: the number is given.
    case quantified(Quantifier, RelatedSet, condition: ExpressionNode)
    /// Whether any element of a JSON array meets the condition; without an array, none does.
    case anyElement(JSONElements, condition: ExpressionNode)
    /// The element of a JSON array that a scope refers to, read as one kind of value; unset if it is another.
    case element(scope: Int, JSONKind)
    /// An aggregate of the related objects: their count, or the sum, minimum, maximum or average of an expression over
    /// them; the filter's and the expression's scope is the related set's.
    case aggregate(AggregateFunction, RelatedSet, of: ExpressionNode?, filter: ExpressionNode?)
    /// An aggregate of a whole group of rows (for `group by`, `having` and totals); `of` is `nil` for counting rows.
    case groupAggregate(AggregateFunction, of: ExpressionNode?, isDistinct: Bool)
    /// An invalid part, such as a value that no column can hold; compiling it throws this message.
    case invalid(String)
    /// SQL text with values in it, written by the developer. Property nodes inside are replaced by their columns.
    case sql([SQLPart])
}

/// A piece of SQL that a developer wrote.
public enum SQLPart: Hashable, Sendable {
    /// SQL text, inserted unchanged. Comes from source code only, never from data.
    case text(String)
    /// A value or an expression within it.
    case node(ExpressionNode)
}

/// The objects at the end of a to-many, reached from a scope through to-ones.
public struct RelatedSet: Hashable, Sendable {
    /// The scope the path starts in: 0 is the query's own object.
    package var scope: Int
    /// Names from there: to-ones and, last or in between, to-manys. Each path is a row of the set, so an object that is
    /// reached in several ways is in it several times.
    package var path: [String]
    /// Whether an object counts once in aggregates, regardless of the number of paths to it.
    package var isDistinct: Bool
    /// The number of the scope that refers to a related object in conditions on it. It hides an outer scope with the
    /// same number.
    package var innerScope: Int

    /// Names the objects at the end of a path.
    package init(scope: Int, path: [String], innerScope: Int, isDistinct: Bool = false) {
        self.scope = scope
        self.path = path
        self.isDistinct = isDistinct
        self.innerScope = innerScope
    }
}

/// A comparison of two values.
public enum ComparisonOperator: String, Hashable, Sendable {
    /// The values are equal.
    case equal = "=="
    /// The values differ.
    case notEqual = "!="
    /// The first value is less.
    case less = "<"
    /// The first value is less than or equal to the second.
    case lessOrEqual = "<="
    /// The first value is greater.
    case greater = ">"
    /// The first value is greater than or equal to the second.
    case greaterOrEqual = ">="
}

/// A comparison that searches one text for another, or for a pattern.
public enum TextOperator: String, Hashable, Sendable {
    /// The text occurs anywhere in the other, at its beginning, or at its end.
    case contains, beginsWith, endsWith
    /// Wildcards, which match the text as a whole.
    case like
    /// A regular expression, which matches the text as a whole.
    case matches
    /// A regular expression, which matches a part of the text. All searches of a statement together have a second.
    case search
    /// Any of some words, as a person writes them into a search box; see ``TextWords``.
    case words
}

/// Differences that a comparison of texts ignores. Without options, strings compare as bytes.
public struct TextOptions: OptionSet, Hashable, Sendable {
    /// The options as bits.
    public let rawValue: Int
    /// Options by their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// `A` equals `a`, in every script.
    public static let caseInsensitive = TextOptions(rawValue: 1)
    /// `é` equals `e`.
    public static let diacriticInsensitive = TextOptions(rawValue: 2)
}

/// Arithmetic on numbers. Division of integers yields an integer, as in Swift and SQL; division by zero an unset value.
public enum ArithmeticOperator: String, Hashable, Sendable {
    /// The sum.
    case add = "+"
    /// The difference.
    case subtract = "-"
    /// The product.
    case multiply = "*"
    /// The quotient.
    case divide = "/"
    /// The remainder of a division.
    case remainder = "%"
}

/// A function of values that every engine has.
public enum Function: Hashable, Sendable {
    /// Text in lower or upper case, in every script.
    case lowercased, uppercased
    /// The number of characters of a text.
    case length
    /// The number without its sign.
    case absolute
    /// The number as a floating-point one.
    case real
    /// The number as a decimal one.
    case decimal
    /// The first argument that is set.
    case coalesce
    /// A part of a date, in UTC.
    case datePart(DatePart)
    /// A text after another.
    case concatenate
    /// A date after a length of time.
    case addingTime(DateOffset)
    /// The seconds from the second date to the first, with their fraction.
    case secondsBetween
    /// The text without white space at its ends.
    case trimmed
    /// The number of times the words of a search, the second text, are found in the first; see ``TextWords``.
    case wordCount(TextOptions)
    /// The part of a JSON value at a path, read as one kind of value; unset if it is missing or of another kind.
    case json(JSONKind, [JSONStep])
    /// Whether a JSON value is an empty array or object; unset without JSON.
    case isEmptyJSON
    /// The number of elements of a JSON array; unset without an array.
    case elementCount
    /// The angle in radians between two places on a sphere: latitude, longitude, latitude and longitude in degrees.
    case distance
    /// Whether a place is in a polygon or on its edge: latitude, longitude and the JSON text of the corners, each an
    /// array of both. The geometry is planar: a polygon that crosses the 180th meridian is taken the other way around.
    case isInPolygon
}

/// A part of a date, in UTC. Weekdays count from 0, Sunday.
public enum DatePart: String, Hashable, Sendable { case year, month, day, hour, minute, second, weekday }

/// The part of a set that must meet a condition.
public enum Quantifier: String, Hashable, Sendable {
    /// One or more elements.
    case any = "ANY"
    /// All elements.
    case all = "ALL"
    /// No element.
    case none = "NONE"
}

/// An aggregate of a set of rows.
public enum AggregateFunction: String, Hashable, Sendable {
    /// The number of rows, and the sum of their values.
    case count, sum
    /// The smallest value.
    case minimum = "min"
    /// The largest value.
    case maximum = "max"
    /// The mean of the values.
    case average = "avg"
}

/// One key of an order.
public struct SortTerm: Hashable, Sendable {
    /// The expression to sort by.
    package var node: ExpressionNode
    /// Whether the smallest comes first.
    package var isAscending: Bool
    /// The position of unset values; `nil` for first in ascending and last in descending order, on every engine.
    package var nullsFirst: Bool?
    /// The differences that comparisons of text ignore.
    package var options: TextOptions
    /// The identifier of the locale whose order applies to text, such as `de_AT`; `nil` for the order of bytes.
    package var locale: String?

    /// One key of an order.
    package init(
        _ node: ExpressionNode, isAscending: Bool = true, nullsFirst: Bool? = nil, options: TextOptions = [],
        locale: String? = nil
    ) {
        self.node = node
        self.locale = locale
        self.isAscending = isAscending
        self.nullsFirst = nullsFirst
        self.options = options
    }
}

/// A query over the objects of one entity, as plain data: the result of typed queries, the predicate format and the
/// tool.
public struct QueryPlan: Hashable, Sendable {
    /// The entity's name.
    package var entity: String
    /// The condition on an object; `nil` for all.
    package var condition: ExpressionNode?
    /// The order; the primary key always comes last, so that an order is total. If empty, objects have the order of the
    /// queried relationship, if it has one, and otherwise the order of their keys; an unlimited query then has no
    /// order.
    package var sort: [SortTerm]
    /// The largest number of objects.
    package var limit: Int?
    /// The number of objects to skip.
    package var offset: Int?
    /// Whether equal rows are given once (of chosen columns; objects are distinct by themselves).
    package var isDistinct: Bool
    /// Limits the query to the objects of a relationship of one object: `store.related(…)`.
    package var relatedTo: RelatedOwner?
    /// In ``ExpressionNode/inQuery(_:_:selecting:)``: the array whose elements the objects represent. The selection is
    /// read from an element.
    package var elements: SelectedElements?
    /// The index by which the rows of the entity's table must be found; `nil` for the database's choice.
    package var index: ForcedIndex?
    /// A search in the entity's own attributes. The best matches come first, unless ``sort`` is set.
    package var search: ObjectSearch?

    /// A query over the objects of an entity.
    package init(
        entity: String, condition: ExpressionNode? = nil, sort: [SortTerm] = [], limit: Int? = nil, offset: Int? = nil,
        isDistinct: Bool = false, relatedTo: RelatedOwner? = nil
    ) {
        self.entity = entity
        self.condition = condition
        self.sort = sort
        self.limit = limit
        self.offset = offset
        self.isDistinct = isDistinct
        self.relatedTo = relatedTo
    }

    /// Whether it yields every object of its entity.
    package var isWhole: Bool {
        condition == nil && limit == nil && offset == nil && relatedTo == nil && search == nil
    }
}

/// The index or scan that the database must use for a query's rows.
package enum ForcedIndex: Hashable, Sendable {
    /// The index of that name.
    case named(String)
    /// No index but the number of a row.
    case rowNumber
}

/// The elements of an array that a query inside another yields, in place of its objects.
package struct SelectedElements: Hashable, Sendable {
    /// The array, as an expression of an object.
    package var set: JSONElements
    /// The condition on an element.
    package var condition: ExpressionNode

    /// Elements that meet a condition.
    package init(_ set: JSONElements, condition: ExpressionNode = .and([])) {
        self.set = set
        self.condition = condition
    }
}

/// The object whose related objects are queried. A query without its own order has the order of the relationship, if
/// that is ordered.
package struct RelatedOwner: Hashable, Sendable {
    /// The entity that declares the relationship.
    package var entity: String
    /// The relationship's name.
    package var relationship: String
    /// The owner's key.
    package var key: KeyValue
    /// Whether the relationship is followed repeatedly from its targets, as from a parent to all descendants. Each
    /// object is included once and the owner never, even if the links form a cycle.
    package var isRecursive: Bool

    /// Names the related objects of one object.
    package init(entity: String, relationship: String, key: KeyValue, isRecursive: Bool = false) {
        self.entity = entity
        self.relationship = relationship
        self.key = key
        self.isRecursive = isRecursive
    }
}
