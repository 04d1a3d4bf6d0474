import Foundation
import RelataCore

/// Reads values of one type from a column, and binds them to a parameter.
///
/// `@Model` calls `coding(of:)` for the type of each property. The result is known at compile time, so that reading a
/// row needs no look-up.
public protocol AttributeCoding: Sendable {
    /// The property's type.
    associatedtype Value
    /// The attribute's type, and how the column stores it.
    var type: AttributeType { get }
    /// Whether values may be unset.
    var isOptional: Bool { get }
    /// The possible values of columns, if the type can list them; otherwise `nil`.
    var allowedValues: [RelataCore.Value]? { get }
    /// Whether a stored value may be invalid for the type: the raw value of no case.
    var hasCases: Bool { get }
    /// Reads the current row's column.
    func read(_ column: ColumnValue) throws -> Value
    /// Binds a value to a parameter.
    func bind(_ value: Value, to parameter: StatementParameter) throws
    /// The value as the column stores it.
    func encode(_ value: Value) throws(RelataError) -> RelataCore.Value
    /// A stored value as the property's type.
    func decode(_ value: RelataCore.Value) throws(RelataError) -> Value
    /// The value that is read once this one was stored: a date in the precision of its column. The default is the
    /// value.
    func stored(_ value: Value) -> Value
    /// Whether ``stored(_:)`` is the value itself.
    func isExact(_ value: Value) -> Bool
}

/// A coding that a column can have: every one but ``RefusedCoding``.
@_documentation(visibility: internal)
public protocol StorableCoding: AttributeCoding {}

extension AttributeCoding {
    /// Values must be set, by default.
    @inlinable public var isOptional: Bool { false }

    /// The value itself.
    @inlinable public func stored(_ value: Value) -> Value { value }
    /// Values are stored unchanged, by default.
    @inlinable public func isExact(_ value: Value) -> Bool { true }
    /// The type can't list its values, by default.
    public var allowedValues: [RelataCore.Value]? { nil }
    /// Every value is valid, by default.
    public var hasCases: Bool { false }

    /// Reads the current row's column.
    public func read(_ column: ColumnValue) throws -> Value {
        do {
            return try decode(column.value())
        } catch {
            throw unreadable(column, "\(Value.self)")
        }
    }

    /// Binds the value in its stored form.
    public func bind(_ value: Value, to parameter: StatementParameter) throws {
        try parameter.bind(try encode(value))
    }

    /// The error of a stored value that isn't one of the property's type.
    func mismatch(_ value: RelataCore.Value) -> RelataError {
        .corruptStore("\"\(value)\" doesn't fit \(Value.self): fix the row, or declare a type that fits")
    }
}

/// A type that a column stores directly.
@frozen
public struct PlainCoding<Value: AttributeValue>: StorableCoding {
    @inlinable init() {}
    /// The attribute's type, and how the column stores it.
    public var type: AttributeType { Value.attributeType }
    /// Reads the current row's column.
    @inlinable
    public func read(_ column: ColumnValue) throws -> Value { try Value.read(column) }
    /// Binds the value to a parameter.
    @inlinable
    public func bind(_ value: Value, to parameter: StatementParameter) throws {
        try value.bind(to: parameter)
    }
    /// The value as the column stores it.
    public func encode(_ value: Value) throws(RelataError) -> RelataCore.Value { try value.databaseValue }
    /// A stored value as the property's type.
    public func decode(_ value: RelataCore.Value) throws(RelataError) -> Value {
        guard let result = Value(databaseValue: value) else { throw mismatch(value) }
        return result
    }
    /// The value that is read once this one was stored.
    @inlinable
    public func stored(_ value: Value) -> Value { value.asStored }
    /// Whether ``stored(_:)`` is the value itself.
    @inlinable
    public func isExact(_ value: Value) -> Bool { value.isStoredExactly }
}

/// An enum, or another type with a raw value, stored as that.
@frozen
public struct RawValueCoding<Value: RawRepresentable & Sendable>: StorableCoding where Value.RawValue: AttributeValue {
    @inlinable init() {}
    /// The attribute's type, and how the column stores it.
    public var type: AttributeType { Value.RawValue.attributeType }
    /// A raw value may be invalid.
    public var hasCases: Bool { true }
    /// The raw values of an enum that is `CaseIterable`.
    public var allowedValues: [RelataCore.Value]? {
        func values<Cases: CaseIterable>(of type: Cases.Type) -> [RelataCore.Value] {
            type.allCases.compactMap { ($0 as? Value).flatMap { try? $0.rawValue.databaseValue } }
        }
        return (Value.self as? any CaseIterable.Type).map { values(of: $0) }
    }
    /// Reads the current row's column.
    @inlinable
    public func read(_ column: ColumnValue) throws -> Value {
        guard let value = Value(rawValue: try Value.RawValue.read(column)) else {
            throw unreadable(column, "\(Value.self)")
        }
        return value
    }
    /// Binds the value to a parameter.
    @inlinable
    public func bind(_ value: Value, to parameter: StatementParameter) throws {
        try value.rawValue.bind(to: parameter)
    }
    /// The value as the column stores it.
    public func encode(_ value: Value) throws(RelataError) -> RelataCore.Value { try value.rawValue.databaseValue }
    /// A stored value as the property's type.
    public func decode(_ value: RelataCore.Value) throws(RelataError) -> Value {
        guard let raw = Value.RawValue(databaseValue: value), let result = Value(rawValue: raw) else {
            throw mismatch(value)
        }
        return result
    }
    /// The value that is read once this one was stored.
    @inlinable
    public func stored(_ value: Value) -> Value { Value(rawValue: value.rawValue.asStored) ?? value }
    /// Whether ``stored(_:)`` is the value itself.
    @inlinable
    public func isExact(_ value: Value) -> Bool { value.rawValue.isStoredExactly }
}

/// JSON as columns hold it.
package enum JSONText {
    /// A value as JSON text with sorted keys.
    package static func encode(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

/// Any `Codable` type, as JSON text with sorted keys, so that equal values are equal text.
@frozen
public struct JSONCoding<Value: Codable & Sendable>: StorableCoding {
    @inlinable init() {}
    /// The attribute's type, and how the column stores it.
    public var type: AttributeType { .json }
    /// Reads the current row's column.
    public func read(_ column: ColumnValue) throws -> Value {
        guard column.isText || column.isBlob else { throw unreadable(column, "\(Value.self) as JSON") }
        return try decode(.text(column.text))
    }
    /// The value as the column stores it.
    public func encode(_ value: Value) throws(RelataError) -> RelataCore.Value {
        do {
            return .text(try JSONText.encode(value))
        } catch {
            throw .validation([
                ValidationFailure(
                    entity: "\(Value.self)", property: nil, key: nil, message: "can't be written as JSON: \(error)")
            ])
        }
    }
    /// A stored value as the property's type.
    public func decode(_ value: RelataCore.Value) throws(RelataError) -> Value {
        guard case .text(let text) = value else { throw mismatch(value) }
        do {
            return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
        } catch {
            throw .corruptStore("\"\(text.prefix(60))\" isn't JSON of \(Value.self): \(error)")
        }
    }
}

/// A set, as a JSON array with its elements sorted by their text, because equal sets may have different orders.
@frozen
public struct JSONSetCoding<Element: Codable & Hashable & Sendable>: StorableCoding {
    @inlinable init() {}
    /// The attribute's type, and how the column stores it.
    public var type: AttributeType { .json }
    /// Reads the current row's column.
    public func read(_ column: ColumnValue) throws -> Set<Element> { try JSONCoding().read(column) }
    /// The value as the column stores it.
    public func encode(_ value: Set<Element>) throws(RelataError) -> RelataCore.Value {
        var elements: [String] = []
        for element in value {
            guard case .text(let text) = try JSONCoding().encode(element) else { continue }
            elements.append(text)
        }
        return .text("[" + elements.sorted().joined(separator: ",") + "]")
    }
    /// A stored value as the property's type.
    public func decode(_ value: RelataCore.Value) throws(RelataError) -> Set<Element> { try JSONCoding().decode(value) }
}

/// A dictionary, as JSON: an object for keys that are text or integers, otherwise an array of alternating keys and
/// values, sorted by the text of the keys, because equal dictionaries may have different orders.
@frozen
public struct JSONDictionaryCoding<Key: Codable & Hashable & Sendable, Element: Codable & Sendable>: StorableCoding {
    @inlinable init() {}
    /// The attribute's type, and how the column stores it.
    public var type: AttributeType { .json }
    /// Reads the current row's column.
    public func read(_ column: ColumnValue) throws -> [Key: Element] { try JSONCoding().read(column) }
    /// The value as the column stores it.
    public func encode(_ value: [Key: Element]) throws(RelataError) -> RelataCore.Value {
        if Key.self == String.self || Key.self == Int.self || Key.self is any CodingKeyRepresentable.Type {
            return try JSONCoding().encode(value)
        }
        var members: [(key: String, value: String)] = []
        for (key, element) in value {
            guard case .text(let key) = try JSONCoding().encode(key),
                case .text(let element) = try JSONCoding().encode(element)
            else { continue }
            members.append((key, element))
        }
        members.sort { $0.key < $1.key }
        return .text("[" + members.flatMap { [$0.key, $0.value] }.joined(separator: ",") + "]")
    }
    /// A stored value as the property's type.
    public func decode(_ value: RelataCore.Value) throws(RelataError) -> [Key: Element] {
        try JSONCoding().decode(value)
    }
}

/// A value that may be unset.
@frozen
public struct OptionalCoding<Base: AttributeCoding>: StorableCoding {
    @usableFromInline let base: Base
    /// The coding of optional values, made from the coding of the wrapped type.
    @inlinable public init(_ base: Base) { self.base = base }
    /// The attribute's type, and how the column stores it.
    public var type: AttributeType { base.type }
    /// Unset values are stored as `NULL`.
    @inlinable public var isOptional: Bool { true }
    /// The operations of the other coding.
    public var allowedValues: [RelataCore.Value]? { base.allowedValues }
    /// As the other coding.
    public var hasCases: Bool { base.hasCases }
    /// Reads the current row's column.
    @inlinable
    public func read(_ column: ColumnValue) throws -> Base.Value? {
        column.isNull ? nil : try base.read(column)
    }
    /// Binds the value to a parameter.
    @inlinable
    public func bind(_ value: Base.Value?, to parameter: StatementParameter) throws {
        guard let value else { return try parameter.bindNull() }
        try base.bind(value, to: parameter)
    }
    /// The value as the column stores it.
    public func encode(_ value: Base.Value?) throws(RelataError) -> RelataCore.Value {
        guard let value else { return .null }
        return try base.encode(value)
    }
    /// A stored value as the property's type.
    public func decode(_ value: RelataCore.Value) throws(RelataError) -> Base.Value? {
        value.isNull ? nil : try base.decode(value)
    }
    /// The value that is read once this one was stored.
    @inlinable
    public func stored(_ value: Base.Value?) -> Base.Value? { value.map(base.stored) }
    /// Whether ``stored(_:)`` is the value itself.
    @inlinable
    public func isExact(_ value: Base.Value?) -> Bool { value.map(base.isExact) ?? true }
}

/// A date in an encoding that the attribute names.
@frozen
public struct DateCoding: StorableCoding {
    @usableFromInline let encoding: DateEncoding
    @inlinable init(_ encoding: DateEncoding) { self.encoding = encoding }
    /// The attribute's type, and how the column stores it.
    public var type: AttributeType { .date(encoding) }
    /// The value as the column stores it.
    public func encode(_ value: Date) throws(RelataError) -> RelataCore.Value {
        switch encoding {
        case .microseconds: .integer(try value.microsecondsSince1970())
        case .iso8601: try iso8601(value)
        case .seconds: try value.timeIntervalSince1970.databaseValue
        }
    }
    private func iso8601(_ value: Date) throws(RelataError) -> RelataCore.Value {
        let microseconds = try value.microsecondsSince1970()
        guard let text = RelataCore.Value(microseconds: microseconds, encoding: .iso8601) else {
            throw .validation([
                ValidationFailure(
                    entity: "Date", property: nil, key: nil,
                    message: "\(value.timeIntervalSince1970) seconds since 1970 is outside the years 0 to 9999, "
                        + "which ISO 8601 text can express: store the date without .iso8601, or check its unit")
            ])
        }
        return text
    }
    /// A stored value as the property's type.
    public func decode(_ value: RelataCore.Value) throws(RelataError) -> Date {
        // Only in this encoding does an integer mean seconds: in others, the storage class identifies the encoding.
        if encoding == .seconds, case .integer(let seconds) = value {
            return Date(timeIntervalSince1970: Double(seconds))
        }
        guard let date = Date(databaseValue: value) else { throw mismatch(value) }
        return date
    }
    /// The date that is read once this one was stored.
    public func stored(_ value: Date) -> Date { (try? decode(encode(value))) ?? value }
    /// Whether ``stored(_:)`` is the date itself.
    public func isExact(_ value: Date) -> Bool {
        encoding == .seconds ? stored(value) == value : value.isStoredExactly
    }
}

/// A UUID as text.
@frozen
public struct UUIDTextCoding: StorableCoding {
    /// The coding itself.
    @inlinable public init() {}
    /// The attribute's type, and how the column stores it.
    public var type: AttributeType { .uuid(.text) }
    /// The value as the column stores it.
    public func encode(_ value: UUID) throws(RelataError) -> RelataCore.Value { .text(value.uuidString.lowercased()) }
    /// A stored value as the property's type.
    public func decode(_ value: RelataCore.Value) throws(RelataError) -> UUID {
        guard let uuid = UUID(databaseValue: value) else { throw mismatch(value) }
        return uuid
    }
}
