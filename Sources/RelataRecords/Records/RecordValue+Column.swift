import Foundation
import RelataCore

/// The conversion between values and columns.
extension RecordValue {
    /// The value of a column. A value of another type than the column's, which tables of other programs may have, is
    /// returned as it is stored.
    init(_ value: Value, as type: AttributeType) {
        switch (type, value) {
        case (_, .null): self = .null
        case (.boolean, .integer(0)), (.boolean, .integer(1)): self = .boolean(value == .integer(1))
        case (.date(.seconds), .integer(let seconds)): self = .date(Date(timeIntervalSince1970: Double(seconds)))
        case (.date, _):
            if case .integer(let microseconds)? = value.stored(as: .date(.microseconds)) {
                self = .date(DateText.date(microseconds: microseconds))
            } else {
                self = RecordValue(value)
            }
        case (.decimal, .text(let text)): self = DecimalText.parse(text).map { .decimal($0) } ?? .text(text)
        case (.decimal, .integer(let number)): self = .decimal(Decimal(number))
        case (.uuid, _):
            if case .uuid(let id)? = value.stored(as: .uuid(.blob)) {
                self = .uuid(id)
            } else {
                self = RecordValue(value)
            }
        case (.json, .text(let text)): self = .json(text)
        default: self = RecordValue(value)
        }
    }

    /// The stored value, regardless of its meaning.
    private init(_ value: Value) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(number)
        case .text(let text): self = .text(text)
        case .blob(let data): self = .data(data)
        case .uuid(let id): self = .uuid(id)
        }
    }

    /// The value as a column of that type stores it; `nil` for one of another type.
    func stored(as type: AttributeType, keepsIntegers: Bool = false) -> Value? {
        switch (type, self) {
        case (_, .null): .null
        case (.boolean, .boolean(let isTrue)): .integer(isTrue ? 1 : 0)
        case (.integer, .integer(let number)): .integer(number)
        case (.real, .integer(let number)): keepsIntegers ? .integer(number) : .real(Double(number))
        case (.real, .real(let number)) where keepsIntegers && Int64(exactly: number) != nil:
            // SQLite converts it too, and reports contain the stored value.
            Int64(exactly: number).map { .integer($0) }
        case (.real, .real(let number)): number.isNaN ? nil : .real(number)
        case (.decimal, .integer(let number)): Value.integer(number).stored(as: type)
        case (.decimal, .real(let number)): Value.real(number).stored(as: type)
        case (.decimal, .decimal(let number)): number.isNaN ? nil : Value.text("\(number)").stored(as: type)
        case (.text, .text(let text)): .text(text)
        case (.json, .json(let text)): .text(text)
        case (.data, .data(let data)): .blob(data)
        case (.date, .date(let date)): DateText.microseconds(of: date).flatMap { Value(microseconds: $0, of: type) }
        case (.uuid, .uuid(let id)): Value.uuid(id).stored(as: type)
        default: nil
        }
    }

    /// The type of a field that is created for the value; `nil` for links, and for no value.
    var attributeType: AttributeType? {
        switch self {
        case .null, .link, .links: nil
        case .text: .text
        case .integer: .integer
        case .real: .real
        case .boolean: .boolean
        case .date: .date(.microseconds)
        case .data: .data
        case .uuid: .uuid(.blob)
        case .decimal: .decimal
        case .json: .json
        }
    }

    /// The kind of the value, in a message.
    var kind: String {
        switch self {
        case .null: "nil"
        case .text: "a text"
        case .integer: "an integer"
        case .real: "a floating-point number"
        case .boolean: "true or false"
        case .date: "a date"
        case .data: "bytes"
        case .uuid: "a UUID"
        case .decimal: "a decimal number"
        case .json: "JSON"
        case .link: "a link"
        case .links: "a list of links"
        }
    }
}

extension Value {
    /// A point in time as a column of dates stores it.
    fileprivate init?(microseconds: Int64, of type: AttributeType) {
        guard case .date(let encoding) = type else { return nil }
        self.init(microseconds: microseconds, encoding: encoding)
    }
}

extension AttributeType {
    /// The values that a field of the type takes, in a message.
    var wanted: String {
        switch self {
        case .boolean: ".boolean"
        case .integer: ".integer"
        case .real: ".real or .integer"
        case .decimal: ".decimal"
        case .text: ".text"
        case .date: ".date"
        case .data: ".data"
        case .uuid: ".uuid"
        case .json: ".json"
        }
    }
}

extension KeyValue {
    /// A key as values that a record holds.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a number of parts that the class's key doesn't have, and for values
    ///   that it can't hold.
    init(_ parts: [RecordValue], of table: Table) throws(RelataError) {
        let columns = table.keyColumns.map { table.columns[$0] }
        guard parts.count == columns.count else {
            let names = columns.map(\.property).joined(separator: ", ")
            throw .invalidUse(
                "a key of \(table.name) has \(columns.count) part(s), and \(parts.count) were given: give \(names)")
        }
        var values: [Value] = []
        for (part, column) in zip(parts, columns) {
            guard let value = part.stored(as: column.type, keepsIntegers: column.keepsIntegers), !value.isNull else {
                throw .invalidUse(
                    "\(part) isn't a key of \(table.name): \(column.property) takes \(column.type.wanted)")
            }
            values.append(value)
        }
        self.init(values)
    }
}
