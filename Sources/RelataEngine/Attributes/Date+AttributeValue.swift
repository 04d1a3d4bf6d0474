import Foundation
import RelataCore

/// Dates have microseconds. By default they are stored as an integer of microseconds.
extension Date: AttributeValue {
    /// The type that a column stores it as.
    public static var attributeType: AttributeType { .date(.microseconds) }
    /// The value as its column stores it.
    public var databaseValue: Value {
        get throws(RelataError) { .integer(try microsecondsSince1970()) }
    }
    /// Reads a stored value; `nil` for an invalid one.
    public init?(databaseValue: Value) {
        switch databaseValue {
        case .integer(let value): self = DateText.date(microseconds: value)
        case .real(let value): self.init(timeIntervalSince1970: value)
        case .text(let value):
            guard let microseconds = DateText.microseconds(text: value) else { return nil }
            self = DateText.date(microseconds: microseconds)
        default: return nil
        }
    }

    @usableFromInline
    func microsecondsSince1970() throws(RelataError) -> Int64 {
        guard let value = DateText.microseconds(of: self) else {
            throw .validation([
                ValidationFailure(
                    entity: "Date", property: nil, key: nil,
                    message: "\(timeIntervalSince1970) seconds since 1970 is too far away: the range is ±290,000 years")
            ])
        }
        return value
    }

    /// Reads the current row's column.
    @inlinable
    public static func read(_ column: ColumnValue) throws(RelataError) -> Date {
        if column.isInteger {
            return DateText.date(microseconds: column.integer)
        }
        guard let date = Date(databaseValue: column.value()) else {
            throw unreadable(column, "Date")
        }
        return date
    }

    /// Binds the value to a parameter.
    @inlinable
    public func bind(to parameter: StatementParameter) throws(RelataError) {
        try parameter.bind(try microsecondsSince1970())
    }

    /// The date in microseconds.
    public var asStored: Date { DateText.microseconds(of: self).map { DateText.date(microseconds: $0) } ?? self }
    /// Whether the date has no fraction of a microsecond.
    public var isStoredExactly: Bool { asStored == self }
}
