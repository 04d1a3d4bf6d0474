import Foundation
import RelataCore

// Integers with numbers that have a fraction. Only the operators for invoices and averages exist, because every
// overload makes every expression slower to type-check; in other cases, convert the integer.

/// Numbers with a fraction, which a query multiplies with integers.
public protocol FractionOperand: Numeric {}
extension Float: FractionOperand {}
extension Double: FractionOperand {}
extension Decimal: FractionOperand {}

extension QueryExpression where QueryValue: FractionOperand {
    /// The product of a number and an integer: `$0.price * $0.quantity`.
    @_disfavoredOverload
    public static func * <Other: QueryExpression>(left: Self, right: Other) -> TypedExpression<QueryValue>
    where Other.QueryValue: FixedWidthInteger { left.calculate(.multiply, right.node) }

    /// The product of an integer and a number: `$0.quantity * $0.price`.
    @_disfavoredOverload
    public static func * <Other: QueryExpression>(left: Other, right: Self) -> TypedExpression<QueryValue>
    where Other.QueryValue: FixedWidthInteger {
        TypedExpression(.arithmetic(.multiply, left.node, right.node), right.coding)
    }

    /// The quotient of a number and an integer; unset when the divisor is zero.
    @_disfavoredOverload
    public static func / <Other: QueryExpression>(left: Self, right: Other) -> TypedExpression<QueryValue>
    where Other.QueryValue: FixedWidthInteger { left.calculate(.divide, right.node) }
}

extension QueryExpression where QueryValue: FixedWidthInteger {
    /// The integer as a floating-point number: `$0.likes.double / $0.views`.
    public var double: TypedExpression<Double> { TypedExpression(.function(.real, [node])) }

    /// The integer as a decimal number: `$0.price + $0.fee.decimal`.
    public var decimal: TypedExpression<Decimal> { TypedExpression(.function(.decimal, [node])) }
}
