import Foundation
import RelataCore

// Dates after a length of time, and the time between them.

extension QueryExpression where QueryValue: DateOperand {
    /// The date after a duration: `$0.lent + .days(14)`. See ``DateOffset`` for the meaning of a day and a month.
    @_disfavoredOverload
    public static func + (left: Self, right: DateOffset) -> TypedExpression<QueryValue> { left.moved(right) }

    /// The date before, by a length of time: `$0.due - .hours(12)`.
    @_disfavoredOverload
    public static func - (left: Self, right: DateOffset) -> TypedExpression<QueryValue> { left.moved(-right) }

    private func moved(_ offset: DateOffset) -> TypedExpression<QueryValue> {
        TypedExpression(.function(.addingTime(offset), [node]), coding.calculatedDate)
    }

    /// The seconds from another date to this one, with their fraction; negative if the other is later, unset if one of
    /// them is.
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
    /// The coding of a computed date: microseconds since 1970, regardless of the attribute's encoding. Other values are
    /// read unchanged.
    var calculatedDate: ExpressionCoding {
        guard type?.isDate ?? false else { return self }
        return ExpressionCoding(
            type: .date(.microseconds), encode: encode,
            decode: { value in
                guard case .integer(let microseconds) = value else { return try decode(value) }
                // As seconds, every encoding reads it: an integer would be seconds if the attribute stores these.
                return try decode(.real(Double(microseconds) / 1_000_000))
            })
    }
}
