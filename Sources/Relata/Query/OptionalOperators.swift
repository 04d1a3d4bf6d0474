// Values that may be unset: another in their place, and comparison with values that are always set.
//
// `??` isn't disfavoured like the other operators: Swift's own `??` takes any left side as a non-optional, and would
// win.

import RelataCore

extension QueryExpression {
    /// The value, or a constant if it is unset: `$0.minutes ?? 0`. Binds as in Swift.
    public static func ?? <Wrapped>(left: Self, right: Wrapped) -> TypedExpression<Wrapped>
    where QueryValue == Wrapped? {
        TypedExpression(.function(.coalesce, [left.node, left.coding.constant(right)]), left.coding.required())
    }

    /// The value, or another if it is unset: `$0.nickname ?? $0.name`.
    public static func ?? <Wrapped, Other: QueryExpression<Wrapped>>(left: Self, right: Other) -> TypedExpression<
        Wrapped
    >
    where QueryValue == Wrapped? {
        TypedExpression(.function(.coalesce, [left.node, right.node]), right.coding.common(with: left.coding.type))
    }

    /// The value, or a constant if it is unset because a to-one on the path to it is: `$0.genre.name ?? "none"`.
    @_disfavoredOverload
    public static func ?? (left: Self, right: QueryValue) -> TypedExpression<QueryValue> {
        TypedExpression(.function(.coalesce, [left.node, left.coding.constant(right)]), left.coding)
    }

    /// The value, or another of the same type if it is unset.
    public static func ?? <Other: QueryExpression<QueryValue>>(left: Self, right: Other) -> TypedExpression<QueryValue>
    {
        TypedExpression(.function(.coalesce, [left.node, right.node]), right.coding.common(with: left.coding.type))
    }
}

extension ExpressionCoding {
    /// The coding of values that come from this expression or from one of another type: dates with different encodings
    /// get the same one.
    func common(with other: AttributeType?) -> ExpressionCoding { type == other ? self : calculatedDate }
}

/// Whether a value equals one that may be unset.
@_disfavoredOverload
public func == <Left: QueryExpression, Right: QueryExpression>(left: Left, right: Right) -> Condition
where Right.QueryValue == Left.QueryValue? { left.compare(.equal, right) }
/// Whether a value that may be unset equals another.
@_disfavoredOverload
public func == <Left: QueryExpression, Right: QueryExpression>(left: Left, right: Right) -> Condition
where Left.QueryValue == Right.QueryValue? { left.compare(.equal, right) }

/// Whether a value differs from one that may be unset; an unset value differs from every set one.
@_disfavoredOverload
public func != <Left: QueryExpression, Right: QueryExpression>(left: Left, right: Right) -> Condition
where Right.QueryValue == Left.QueryValue? { left.compare(.notEqual, right) }
/// Whether a value that may be unset differs from another.
@_disfavoredOverload
public func != <Left: QueryExpression, Right: QueryExpression>(left: Left, right: Right) -> Condition
where Left.QueryValue == Right.QueryValue? { left.compare(.notEqual, right) }

/// Whether a value is smaller than an optional one; false for an unset one.
@_disfavoredOverload
public func < <Left: QueryExpression, Right: QueryExpression>(left: Left, right: Right) -> Condition
where Right.QueryValue == Left.QueryValue? { left.compare(.less, right) }
/// Whether a value that may be unset is smaller than another.
@_disfavoredOverload
public func < <Left: QueryExpression, Right: QueryExpression>(left: Left, right: Right) -> Condition
where Left.QueryValue == Right.QueryValue? { left.compare(.less, right) }

/// Whether a value is at most an optional one; false for an unset one.
@_disfavoredOverload
public func <= <Left: QueryExpression, Right: QueryExpression>(left: Left, right: Right) -> Condition
where Right.QueryValue == Left.QueryValue? { left.compare(.lessOrEqual, right) }
/// Whether a value that may be unset is at most another.
@_disfavoredOverload
public func <= <Left: QueryExpression, Right: QueryExpression>(left: Left, right: Right) -> Condition
where Left.QueryValue == Right.QueryValue? { left.compare(.lessOrEqual, right) }

/// Whether a value is larger than an optional one; false for an unset one.
@_disfavoredOverload
public func > <Left: QueryExpression, Right: QueryExpression>(left: Left, right: Right) -> Condition
where Right.QueryValue == Left.QueryValue? { left.compare(.greater, right) }
/// Whether a value that may be unset is larger than another.
@_disfavoredOverload
public func > <Left: QueryExpression, Right: QueryExpression>(left: Left, right: Right) -> Condition
where Left.QueryValue == Right.QueryValue? { left.compare(.greater, right) }

/// Whether a value is at least an optional one; false for an unset one.
@_disfavoredOverload
public func >= <Left: QueryExpression, Right: QueryExpression>(left: Left, right: Right) -> Condition
where Right.QueryValue == Left.QueryValue? { left.compare(.greaterOrEqual, right) }
/// Whether a value that may be unset is at least another.
@_disfavoredOverload
public func >= <Left: QueryExpression, Right: QueryExpression>(left: Left, right: Right) -> Condition
where Left.QueryValue == Right.QueryValue? { left.compare(.greaterOrEqual, right) }
