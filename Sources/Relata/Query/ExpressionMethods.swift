import Foundation
import RelataCore

extension QueryExpression {
    /// Whether the value is one of these; any number of them is one bound parameter.
    public func `in`(_ values: some Sequence<QueryValue>) -> Condition {
        var stored: [Value] = []
        var hasNull = false
        for value in values {
            guard let constant = coding.stored(value) else { continue }
            if constant.isNull { hasNull = true } else { stored.append(constant) }
        }
        let list = ExpressionNode.valueIn(node, stored, [])
        return Condition(hasNull ? .or([list, .isNull(node)]) : list)
    }

    /// Whether the value lies in a range, both ends included.
    public func `in`(_ range: ClosedRange<QueryValue>) -> Condition where QueryValue: Comparable {
        between(range.lowerBound, range.upperBound)
    }

    /// The value is set and lies within the range, both ends included.
    public func `in`<Wrapped: Comparable>(_ range: ClosedRange<Wrapped>) -> Condition where QueryValue == Wrapped? {
        between(range.lowerBound, range.upperBound)
    }

    /// Whether the value lies in a range, its upper end excluded.
    public func `in`(_ range: Range<QueryValue>) -> Condition where QueryValue: Comparable {
        compare(.greaterOrEqual, range.lowerBound) && compare(.less, range.upperBound)
    }

    /// The value is set and lies within the range, the upper end excluded.
    public func `in`<Wrapped: Comparable>(_ range: Range<Wrapped>) -> Condition where QueryValue == Wrapped? {
        compare(.greaterOrEqual, range.lowerBound) && compare(.less, range.upperBound)
    }

    /// Whether the value is the range's lower end or more.
    public func `in`(_ range: PartialRangeFrom<QueryValue>) -> Condition where QueryValue: Comparable {
        compare(.greaterOrEqual, range.lowerBound)
    }

    /// The value is set, and the range's lower end or more.
    public func `in`<Wrapped: Comparable>(_ range: PartialRangeFrom<Wrapped>) -> Condition
    where QueryValue == Wrapped? { compare(.greaterOrEqual, range.lowerBound) }

    /// Whether the value is the range's upper end or less.
    public func `in`(_ range: PartialRangeThrough<QueryValue>) -> Condition where QueryValue: Comparable {
        compare(.lessOrEqual, range.upperBound)
    }

    /// The value is set, and the range's upper end or less.
    public func `in`<Wrapped: Comparable>(_ range: PartialRangeThrough<Wrapped>) -> Condition
    where QueryValue == Wrapped? { compare(.lessOrEqual, range.upperBound) }

    /// Whether the value is less than the range's upper end.
    public func `in`(_ range: PartialRangeUpTo<QueryValue>) -> Condition where QueryValue: Comparable {
        compare(.less, range.upperBound)
    }

    /// The value is set, and less than the range's upper end.
    public func `in`<Wrapped: Comparable>(_ range: PartialRangeUpTo<Wrapped>) -> Condition
    where QueryValue == Wrapped? { compare(.less, range.upperBound) }

    private func between(_ lowest: QueryValue, _ highest: QueryValue) -> Condition {
        Condition(.between(node, coding.constant(lowest), coding.constant(highest)))
    }

    /// The value, or a constant if it is unset.
    public func or<Wrapped>(_ replacement: Wrapped) -> TypedExpression<Wrapped> where QueryValue == Wrapped? {
        TypedExpression(.function(.coalesce, [node, coding.constant(replacement)]), coding.required())
    }

    /// The value, or a constant if it is unset because a to-one on the path to it is: `$0.genre.name.or("none")`.
    public func or(_ replacement: QueryValue) -> TypedExpression<QueryValue> {
        TypedExpression(.function(.coalesce, [node, coding.constant(replacement)]), coding)
    }

    /// The value as one that may be unset, for one behind a to-one that may be: `$0.genre.name.optional`.
    public var optional: TypedExpression<QueryValue?> { TypedExpression(node, coding.optional) }

    // MARK: Order

    /// Smallest first; unset values first of all.
    public var ascending: SortTerm { SortTerm(node) }
    /// Largest first; unset values last of all.
    public var descending: SortTerm { SortTerm(node, isAscending: false) }
    /// Smallest first; unset values before or after all others.
    public func nulls(_ position: SortTerm.NullsPosition) -> SortTerm { ascending.nulls(position) }

    // MARK: Figures of a group, or of all objects of a query

    /// The smallest value of a group; unset when nothing is set.
    public func minimum<Wrapped>() -> TypedExpression<QueryValue> where QueryValue == Wrapped? {
        TypedExpression(.groupAggregate(.minimum, of: node, isDistinct: false), coding)
    }
    /// The largest value of a group; unset when nothing is set.
    public func maximum<Wrapped>() -> TypedExpression<QueryValue> where QueryValue == Wrapped? {
        TypedExpression(.groupAggregate(.maximum, of: node, isDistinct: false), coding)
    }
    /// The smallest value of a group.
    @_disfavoredOverload
    public func minimum() -> TypedExpression<QueryValue?> { figure(.minimum) }
    /// The largest value of a group.
    @_disfavoredOverload
    public func maximum() -> TypedExpression<QueryValue?> { figure(.maximum) }
    /// The number of set values of a group, or of different ones.
    public func count(distinct: Bool = false) -> TypedExpression<Int> {
        TypedExpression(.groupAggregate(.count, of: node, isDistinct: distinct))
    }
    /// The average of a group; unset when nothing is set.
    public func average() -> TypedExpression<Double?> {
        .average(.groupAggregate(.average, of: node, isDistinct: false))
    }
    /// The sum of a group; 0 when nothing is set. The sum of integers of any width is an `Int`.
    public func sum() -> TypedExpression<Int> where QueryValue: FixedWidthInteger { TypedExpression(total) }
    /// The sum of a group; 0 when nothing is set. The sum of integers of any width is an `Int`.
    public func sum<Number: FixedWidthInteger>() -> TypedExpression<Int> where QueryValue == Number? {
        TypedExpression(total)
    }
    /// The sum of a group; 0 when nothing is set.
    @_disfavoredOverload
    public func sum() -> TypedExpression<QueryValue> where QueryValue: Numeric { TypedExpression(total, coding) }
    /// The sum of a group; 0 when nothing is set.
    @_disfavoredOverload
    public func sum<Number: Numeric>() -> TypedExpression<Number> where QueryValue == Number? {
        TypedExpression(total, coding.required())
    }

    private var total: ExpressionNode {
        .function(.coalesce, [.groupAggregate(.sum, of: node, isDistinct: false), .value(0)])
    }

    private func figure(_ function: AggregateFunction) -> TypedExpression<QueryValue?> {
        TypedExpression(.groupAggregate(function, of: node, isDistinct: false), coding.optional)
    }
}

extension TypedExpression<Double?> {
    /// An average: the database returns the average of decimals as a decimal.
    static func average(_ node: ExpressionNode) -> TypedExpression { TypedExpression(.function(.real, [node])) }
}

extension ModelFields {
    /// The number of objects of a group, or of a query.
    public var objectCount: TypedExpression<Int> {
        TypedExpression(.groupAggregate(.count, of: nil, isDistinct: false))
    }
}

extension SortTerm {
    /// The position of unset values in an order.
    public enum NullsPosition: Sendable {
        /// Before all others.
        case first
        /// After all others.
        case last
    }

    /// Unset values before or after all others: `$0.year.descending.nulls(.last)`.
    public func nulls(_ position: NullsPosition) -> SortTerm { with { $0.nullsFirst = position == .first } }
    /// Text without regard to case.
    public var caseInsensitive: SortTerm { with { $0.options.insert(.caseInsensitive) } }
    /// Text without regard to diacritics.
    public var diacriticInsensitive: SortTerm { with { $0.options.insert(.diacriticInsensitive) } }

    /// Text in the order of a language, by the identifier of a locale such as `de` or `sv_SE`, as Foundation compares
    /// text in that locale: `$0.name.descending.localized("de")`.
    ///
    /// No index serves it, and each comparison takes a few microseconds. An unknown identifier is an error when the
    /// query runs. Values that aren't text keep their order.
    public func localized(_ identifier: String) -> SortTerm { with { $0.locale = identifier } }

    private func with(_ change: (inout SortTerm) -> Void) -> SortTerm {
        var copy = self
        change(&copy)
        return copy
    }
}

// MARK: Text

/// A type with text methods: text, and optional text.
public protocol TextOperand {}
extension String: TextOperand {}
extension URL: TextOperand {}
extension Optional: TextOperand where Wrapped: TextOperand {}

extension QueryExpression where QueryValue: TextOperand {
    /// Whether the text contains another. Without options texts compare as bytes.
    public func contains(_ other: String, _ options: TextOptions = []) -> Condition { text(.contains, other, options) }
    /// Whether the text begins with another.
    public func hasPrefix(_ other: String, _ options: TextOptions = []) -> Condition {
        text(.beginsWith, other, options)
    }
    /// Whether the text ends with another.
    public func hasSuffix(_ other: String, _ options: TextOptions = []) -> Condition { text(.endsWith, other, options) }
    /// Whether the text is like a pattern in which `*` stands for any characters and `?` for one.
    public func like(_ pattern: String, _ options: TextOptions = []) -> Condition { text(.like, pattern, options) }
    /// Whether the whole text matches a regular expression.
    public func matches(_ pattern: String, _ options: TextOptions = []) -> Condition {
        text(.matches, pattern, options)
    }
    /// Whether the text equals another, with options.
    public func equals(_ other: String, _ options: TextOptions) -> Condition {
        Condition(.comparison(.equal, node, .value(.text(other)), options))
    }
    /// The text in the order of a language, smallest first; see ``SortTerm/localized(_:)``.
    public func localized(_ identifier: String) -> SortTerm { ascending.localized(identifier) }
    /// The text in lower case.
    public var lowercased: TypedExpression<QueryValue> { TypedExpression(.function(.lowercased, [node]), coding) }
    /// The text in upper case.
    public var uppercased: TypedExpression<QueryValue> { TypedExpression(.function(.uppercased, [node]), coding) }
    /// The text without white space at its ends.
    public var trimmed: TypedExpression<QueryValue> { TypedExpression(.function(.trimmed, [node]), coding) }
    /// The number of characters.
    public var length: TypedExpression<Int> { TypedExpression(.function(.length, [node])) }

    private func text(_ operation: TextOperator, _ other: String, _ options: TextOptions) -> Condition {
        Condition(.text(operation, node, .value(.text(other)), options))
    }
}

// MARK: Dates

/// A type with date methods: dates, and optional dates.
public protocol DateOperand {}
extension Date: DateOperand {}
extension Optional: DateOperand where Wrapped: DateOperand {}

extension QueryExpression where QueryValue: DateOperand {
    /// The year, in UTC.
    public var year: TypedExpression<Int> { part(.year) }
    /// The month from 1 to 12, in UTC.
    public var month: TypedExpression<Int> { part(.month) }
    /// The day of the month, in UTC.
    public var day: TypedExpression<Int> { part(.day) }
    /// The hour from 0 to 23, in UTC.
    public var hour: TypedExpression<Int> { part(.hour) }
    /// The minute.
    public var minute: TypedExpression<Int> { part(.minute) }
    /// The second, without its fraction.
    public var second: TypedExpression<Int> { part(.second) }
    /// The day of the week from 0, Sunday, to 6, in UTC.
    public var weekday: TypedExpression<Int> { part(.weekday) }

    private func part(_ part: DatePart) -> TypedExpression<Int> { TypedExpression(.function(.datePart(part), [node])) }
}
