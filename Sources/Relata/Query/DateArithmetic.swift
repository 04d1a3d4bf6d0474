import Foundation
import RelataCore

// Dates after a length of time, and the time between them.

extension QueryExpression where QueryValue: DateOperand {
    /// The date after a length of time: `$0.lent + .days(14)`. See ``DateOffset`` for what a day and a month are.
    @_disfavoredOverload
    public static func + (left: Self, right: DateOffset) -> TypedExpression<QueryValue> { left.moved(right) }

    /// The date before, by a length of time: `$0.due - .hours(12)`.
    @_disfavoredOverload
    public static func - (left: Self, right: DateOffset) -> TypedExpression<QueryValue> { left.moved(-right) }

    private func moved(_ offset: DateOffset) -> TypedExpression<QueryValue> {
        TypedExpression(.function(.addingTime(offset), [node]), coding.calculatedDate)
    }

    /// The seconds from another date to this one, with their fraction; negative where the other is later, unset where one
    /// of them is.
    ///
    /// ```swift
    /// Trip.where { $0.arrival.timeIntervalSince($0.departure) > 3600 }
    /// ```
    public func timeIntervalSince(_ other: some QueryExpression<some DateOperand>) -> TypedExpression<Double?> {
        TypedExpression(.function(.secondsBetween, [node, other.node]))
    }

    /// The seconds from a date to this one, with their fraction.
    public func timeIntervalSince(_ date: Date) -> TypedExpression<Double?> {
        let coding = ExpressionCoding(RelataEngine.coding(of: Date.self))
        return TypedExpression(.function(.secondsBetween, [node, coding.constant(date)]))
    }
}

extension ExpressionCoding {
    /// How a date is read that was calculated: in microseconds since 1970, whatever the attribute stores. Other values
    /// are read as they are.
    var calculatedDate: ExpressionCoding {
        guard type?.isDate ?? false else { return self }
        return ExpressionCoding(
            type: .date(.microseconds), encode: encode,
            decode: { value in
                guard case .integer(let microseconds) = value else { return try decode(value) }
                // As seconds every encoding reads it: an integer would be seconds where the attribute stores these.
                return try decode(.real(Double(microseconds) / 1_000_000))
            })
    }
}
