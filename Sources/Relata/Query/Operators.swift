import Foundation
import RelataCore

// Comparison and logic of expressions, with Swift's operators. Only `lhs op value` and `lhs op expression`: every
// overload makes every expression slower to type-check, even without a field.
//
// The operators are disfavoured: if one of Swift's fits, the solver skips ours. Two aren't, `==` and `!=` with a
// constant: for `let isFree = $0.owner == nil` Swift has an operator too, which would win.

extension QueryExpression {
    func compare(_ operation: ComparisonOperator, _ value: QueryValue) -> Condition {
        Condition(.comparison(operation, node, coding.constant(value), []))
    }

    func compare(_ operation: ComparisonOperator, _ other: some QueryExpression) -> Condition {
        Condition(.comparison(operation, node, other.node, []))
    }
}

/// A left side of `==` and `!=` in a query: a value, or a to-one.
///
/// Both are compared with constants by the same operator. With separate operators, the compiler would explain a mistake
/// with one of them by the other.
@_documentation(visibility: internal)
public protocol EqualityOperand {
    /// The compared value, or object.
    associatedtype EqualConstant
    /// The key that a to-one is compared with.
    associatedtype EqualKey
    /// Whether it equals a constant.
    func isEqual(to constant: EqualConstant) -> Condition
    /// Whether it differs from a constant.
    func isUnequal(to constant: EqualConstant) -> Condition
    /// Whether it links to the object with that key.
    func isEqual(toKey key: EqualKey) -> Condition
}

extension QueryExpression {
    /// Whether the value equals a constant.
    @_documentation(visibility: internal)
    public func isEqual(to constant: QueryValue) -> Condition { compare(.equal, constant) }

    /// Whether the value differs from a constant.
    @_documentation(visibility: internal)
    public func isUnequal(to constant: QueryValue) -> Condition { compare(.notEqual, constant) }

    /// Values have no keys.
    @_documentation(visibility: internal)
    public func isEqual(toKey key: Never) -> Condition {}
}

/// Whether a value equals a constant, or a to-one links to an object. An unset value equals only `nil`, and so does a
/// to-one without an object. An object without a key is an error when the query runs.
public func == <Left: EqualityOperand>(left: Left, right: Left.EqualConstant) -> Condition { left.isEqual(to: right) }
/// Whether a to-one links to the object with that key. A key that isn't assigned yet is an error when the query runs; a
/// literal `nil` means no link.
@_disfavoredOverload
public func == <Left: EqualityOperand>(left: Left, right: Left.EqualKey) -> Condition { left.isEqual(toKey: right) }
/// Whether two values are equal; two unset ones are.
@_disfavoredOverload
public func == <Left: QueryExpression, Right: QueryExpression>(left: Left, right: Right) -> Condition
where Left.QueryValue == Right.QueryValue { left.compare(.equal, right) }

/// Whether a value differs from a constant, or a to-one links to another object than that, or to none. An unset value
/// differs from every set one.
public func != <Left: EqualityOperand>(left: Left, right: Left.EqualConstant) -> Condition {
    left.isUnequal(to: right)
}
/// Whether a to-one links to another object than the one with that key, or to none.
@_disfavoredOverload
public func != <Left: EqualityOperand>(left: Left, right: Left.EqualKey) -> Condition {
    !left.isEqual(toKey: right)
}
/// Whether two values differ.
@_disfavoredOverload
public func != <Left: QueryExpression, Right: QueryExpression>(left: Left, right: Right) -> Condition
where Left.QueryValue == Right.QueryValue { left.compare(.notEqual, right) }

/// Whether a value is smaller than a constant. An unset value isn't.
@_disfavoredOverload
public func < <Left: QueryExpression>(left: Left, right: Left.QueryValue) -> Condition { left.compare(.less, right) }
/// Whether a value is smaller than another.
@_disfavoredOverload
public func < <Left: QueryExpression, Right: QueryExpression>(left: Left, right: Right) -> Condition
where Left.QueryValue == Right.QueryValue { left.compare(.less, right) }

/// Whether a value is at most a constant.
@_disfavoredOverload
public func <= <Left: QueryExpression>(left: Left, right: Left.QueryValue) -> Condition {
    left.compare(.lessOrEqual, right)
}
/// Whether a value is at most another.
@_disfavoredOverload
public func <= <Left: QueryExpression, Right: QueryExpression>(left: Left, right: Right) -> Condition
where Left.QueryValue == Right.QueryValue { left.compare(.lessOrEqual, right) }

/// Whether a value is larger than a constant. An unset value isn't.
@_disfavoredOverload
public func > <Left: QueryExpression>(left: Left, right: Left.QueryValue) -> Condition { left.compare(.greater, right) }
/// Whether a value is larger than another.
@_disfavoredOverload
public func > <Left: QueryExpression, Right: QueryExpression>(left: Left, right: Right) -> Condition
where Left.QueryValue == Right.QueryValue { left.compare(.greater, right) }

/// Whether a value is at least a constant.
@_disfavoredOverload
public func >= <Left: QueryExpression>(left: Left, right: Left.QueryValue) -> Condition {
    left.compare(.greaterOrEqual, right)
}
/// Whether a value is at least another.
@_disfavoredOverload
public func >= <Left: QueryExpression, Right: QueryExpression>(left: Left, right: Right) -> Condition
where Left.QueryValue == Right.QueryValue { left.compare(.greaterOrEqual, right) }

/// Whether both hold.
@_disfavoredOverload
public func && <Left: QueryExpression<Bool>, Right: QueryExpression<Bool>>(left: Left, right: Right) -> Condition {
    Condition(.and([left.node, right.node]))
}

/// Whether one of them holds.
@_disfavoredOverload
public func || <Left: QueryExpression<Bool>, Right: QueryExpression<Bool>>(left: Left, right: Right) -> Condition {
    Condition(.or([left.node, right.node]))
}

/// Whether it doesn't hold.
@_disfavoredOverload
public prefix func ! <Operand: QueryExpression<Bool>>(operand: Operand) -> Condition { Condition(.not(operand.node)) }

// MARK: Arithmetic

extension QueryExpression {
    func calculate(_ operation: ArithmeticOperator, _ other: ExpressionNode) -> TypedExpression<QueryValue> {
        TypedExpression(.arithmetic(operation, node, other), coding)
    }

    private func calculate(_ left: QueryValue, _ operation: ArithmeticOperator) -> TypedExpression<QueryValue> {
        TypedExpression(.arithmetic(operation, coding.constant(left), node), coding)
    }
}

/// An operand of `+` in a query: numbers, which it adds, and text, which it joins.
public protocol AdditionOperand {}
extension Int: AdditionOperand {}
extension Int8: AdditionOperand {}
extension Int16: AdditionOperand {}
extension Int32: AdditionOperand {}
extension Int64: AdditionOperand {}
extension UInt: AdditionOperand {}
extension UInt8: AdditionOperand {}
extension UInt16: AdditionOperand {}
extension UInt32: AdditionOperand {}
extension UInt64: AdditionOperand {}
extension Float: AdditionOperand {}
extension Double: AdditionOperand {}
extension Decimal: AdditionOperand {}
extension String: AdditionOperand {}

extension QueryExpression where QueryValue: AdditionOperand {
    /// The sum of two numbers, or a text after another.
    @_disfavoredOverload
    public static func + (left: Self, right: QueryValue) -> TypedExpression<QueryValue> {
        left.calculate(.add, left.coding.constant(right))
    }
    /// The sum of two numbers, or a text after another.
    @_disfavoredOverload
    public static func + <Other: QueryExpression<QueryValue>>(left: Self, right: Other) -> TypedExpression<QueryValue> {
        left.calculate(.add, right.node)
    }
    /// The sum of two numbers, or a text after another.
    @_disfavoredOverload
    public static func + (left: QueryValue, right: Self) -> TypedExpression<QueryValue> { right.calculate(left, .add) }
}

extension QueryExpression where QueryValue: Numeric {
    /// The difference of two values.
    @_disfavoredOverload
    public static func - (left: Self, right: QueryValue) -> TypedExpression<QueryValue> {
        left.calculate(.subtract, left.coding.constant(right))
    }
    /// The difference of two values.
    @_disfavoredOverload
    public static func - <Other: QueryExpression<QueryValue>>(left: Self, right: Other) -> TypedExpression<QueryValue> {
        left.calculate(.subtract, right.node)
    }
    /// The product of two values.
    @_disfavoredOverload
    public static func * (left: Self, right: QueryValue) -> TypedExpression<QueryValue> {
        left.calculate(.multiply, left.coding.constant(right))
    }
    /// The product of two values.
    @_disfavoredOverload
    public static func * <Other: QueryExpression<QueryValue>>(left: Self, right: Other) -> TypedExpression<QueryValue> {
        left.calculate(.multiply, right.node)
    }
    /// The quotient of two values: of integers an integer; unset when the divisor is zero.
    @_disfavoredOverload
    public static func / (left: Self, right: QueryValue) -> TypedExpression<QueryValue> {
        left.calculate(.divide, left.coding.constant(right))
    }
    /// The quotient of two values.
    @_disfavoredOverload
    public static func / <Other: QueryExpression<QueryValue>>(left: Self, right: Other) -> TypedExpression<QueryValue> {
        left.calculate(.divide, right.node)
    }

    // With the constant first.

    /// The difference of two values.
    @_disfavoredOverload
    public static func - (left: QueryValue, right: Self) -> TypedExpression<QueryValue> {
        right.calculate(left, .subtract)
    }
    /// The product of two values.
    @_disfavoredOverload
    public static func * (left: QueryValue, right: Self) -> TypedExpression<QueryValue> {
        right.calculate(left, .multiply)
    }
    /// The quotient of two values: of integers an integer; unset when the divisor is zero.
    @_disfavoredOverload
    public static func / (left: QueryValue, right: Self) -> TypedExpression<QueryValue> {
        right.calculate(left, .divide)
    }
    /// The value with its sign turned.
    @_disfavoredOverload
    public static prefix func - (operand: Self) -> TypedExpression<QueryValue> {
        TypedExpression(.negated(operand.node), operand.coding)
    }
    /// The value without its sign.
    public var absolute: TypedExpression<QueryValue> { TypedExpression(.function(.absolute, [node]), coding) }
}

extension QueryExpression where QueryValue: BinaryInteger {
    /// The remainder of a division.
    @_disfavoredOverload
    public static func % (left: Self, right: QueryValue) -> TypedExpression<QueryValue> {
        left.calculate(.remainder, left.coding.constant(right))
    }
    /// The remainder of a division.
    @_disfavoredOverload
    public static func % (left: QueryValue, right: Self) -> TypedExpression<QueryValue> {
        right.calculate(left, .remainder)
    }
}
