import Foundation
import RelataCore

/// A type whose values a column stores directly.
///
/// Bool, all integers, Float, Double, Decimal, String, Date, Data, UUID, URL and `ID` conform. A type of your own
/// conforms by saying how it becomes a ``Value`` and back; enums with raw values and `Codable` types need no
/// conformance.
///
/// ```swift
/// struct Color: AttributeValue {
///     var rgb: Int64
///     static var attributeType: AttributeType { .integer }
///     var databaseValue: Value { .integer(rgb) }
///     init?(databaseValue: Value) {
///         guard case .integer(let rgb) = databaseValue else { return nil }
///         self.rgb = rgb
///     }
/// }
/// ```
public protocol AttributeValue: PredicateArgumentConvertible {
    /// The attribute's type, and how the column stores it.
    static var attributeType: AttributeType { get }
    /// The value as the column stores it.
    ///
    /// - Throws: ``RelataError/validation(_:)`` for a value that no column can hold, such as a `UInt64` over
    ///   `Int64.max`.
    var databaseValue: Value { get throws(RelataError) }
    /// Reads a stored value; `nil` when it isn't one of this type.
    init?(databaseValue: Value)

    /// Reads the current row's column. The default goes through ``init(databaseValue:)``.
    ///
    /// - Throws: ``RelataError/corruptStore(_:)`` for a value that doesn't fit the type.
    static func read(_ column: ColumnValue) throws(RelataError) -> Self
    /// Binds the value to a parameter. The default goes through ``databaseValue``.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a value that can't be stored.
    func bind(to parameter: StatementParameter) throws(RelataError)

    /// The value after storing and reading it; by default the value itself. A type that loses something in the column,
    /// as dates lose their nanoseconds, returns the rest here: a save returns this value.
    var asStored: Self { get }
    /// Whether ``asStored`` is the value itself; true by default.
    var isStoredExactly: Bool { get }
}

extension AttributeValue {
    /// Reads the current row's column.
    ///
    /// - Throws: ``RelataError/corruptStore(_:)`` for a value that doesn't fit the type.
    public static func read(_ column: ColumnValue) throws(RelataError) -> Self {
        let value = column.value(as: attributeType)
        guard let result = Self(databaseValue: value) else { throw unreadable(column, "\(Self.self)") }
        return result
    }

    /// Binds the value to a parameter.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a value that can't be stored.
    public func bind(to parameter: StatementParameter) throws(RelataError) {
        try parameter.bind(try databaseValue)
    }

    /// The value itself.
    @inlinable public var asStored: Self { self }
    /// Values are stored unchanged, by default.
    @inlinable public var isStoredExactly: Bool { true }
}

/// The error of a column with a value that the model doesn't allow.
@usableFromInline
func unreadable(_ column: ColumnValue, _ type: String) -> RelataError {
    let found =
        switch column.kind {
        case .null: "NULL"
        case .integer: "the integer \(column.integer)"
        case .real: "the number \(column.real)"
        case .text: "the text \"\(column.text.prefix(40))\""
        case .blob, .uuid: "\(column.byteCount) bytes"
        }
    return .corruptStore(
        "column \(column.name) holds \(found), which doesn't fit \(type): fix the row, or declare a type that fits"
    )
}

// MARK: Integers

extension AttributeValue where Self: FixedWidthInteger {
    /// The type that a column stores it as.
    public static var attributeType: AttributeType { .integer }

    /// The value as its column stores it.
    public var databaseValue: Value {
        get throws(RelataError) {
            guard let value = Int64(exactly: self) else { throw tooLarge(self) }
            return .integer(value)
        }
    }

    /// Reads a stored value; `nil` for an invalid one.
    public init?(databaseValue: Value) {
        guard case .integer(let value) = databaseValue else { return nil }
        self.init(exactly: value)
    }

    /// Reads the current row's column.
    @inlinable
    public static func read(_ column: ColumnValue) throws(RelataError) -> Self {
        guard column.isInteger,
            let value = Self(exactly: column.integer)
        else { throw unreadable(column, "\(Self.self)") }
        return value
    }

    /// Binds the value to a parameter.
    @inlinable
    public func bind(to parameter: StatementParameter) throws(RelataError) {
        guard let value = Int64(exactly: self) else { throw tooLarge(self) }
        try parameter.bind(value)
    }
}

@usableFromInline
func tooLarge(_ value: some FixedWidthInteger) -> RelataError {
    .validation([
        ValidationFailure(
            entity: "\(type(of: value))", property: nil, key: nil,
            message:
                "\(value) is larger than \(Int64.max), the largest integer a database holds: store it as text or data")
    ])
}

extension Int: AttributeValue {}
extension Int8: AttributeValue {}
extension Int16: AttributeValue {}
extension Int32: AttributeValue {}
extension Int64: AttributeValue {}
extension UInt: AttributeValue {}
extension UInt8: AttributeValue {}
extension UInt16: AttributeValue {}
extension UInt32: AttributeValue {}
extension UInt64: AttributeValue {}

extension Bool: AttributeValue {
    /// The type that a column stores it as.
    public static var attributeType: AttributeType { .boolean }
    /// The value as its column stores it.
    public var databaseValue: Value { .integer(self ? 1 : 0) }
    /// Reads a stored value; `nil` for an invalid one.
    public init?(databaseValue: Value) {
        guard case .integer(let value) = databaseValue else { return nil }
        self = value != 0
    }

    /// Reads the current row's column.
    @inlinable
    public static func read(_ column: ColumnValue) throws(RelataError) -> Bool {
        guard column.isInteger else {
            throw unreadable(column, "Bool")
        }
        return column.integer != 0
    }

    /// Binds the value to a parameter.
    @inlinable
    public func bind(to parameter: StatementParameter) throws(RelataError) {
        try parameter.bind(self ? 1 : 0 as Int64)
    }
}

// MARK: Numbers

extension Double: AttributeValue {
    /// The type that a column stores it as.
    public static var attributeType: AttributeType { .real }
    /// The value as its column stores it.
    public var databaseValue: Value {
        get throws(RelataError) {
            guard !isNaN else { throw notANumber() }
            return .real(self)
        }
    }
    /// Reads a stored value; `nil` for an invalid one.
    public init?(databaseValue: Value) {
        switch databaseValue {
        case .real(let value): self = value
        case .integer(let value): self = Double(value)
        default: return nil
        }
    }

    /// Reads the current row's column.
    @inlinable
    public static func read(_ column: ColumnValue) throws(RelataError) -> Double {
        guard column.isReal || column.isInteger else { return try readDecimal(column) }
        return column.real
    }

    /// Reads a number that a server keeps as `numeric`, as it does the numbers of records.
    @usableFromInline
    static func readDecimal(_ column: ColumnValue) throws(RelataError) -> Double {
        guard column.isOfServer, column.isText, let number = Double(column.text) else {
            throw unreadable(column, "Double")
        }
        return number
    }

    /// Binds the value to a parameter.
    @inlinable
    public func bind(to parameter: StatementParameter) throws(RelataError) {
        guard !isNaN else { throw notANumber() }  // SQLite would store NULL
        try parameter.bind(self)
    }
}

@usableFromInline
func notANumber() -> RelataError {
    .validation([
        ValidationFailure(
            entity: "Double", property: nil, key: nil,
            message: "not a number (NaN) can't be stored: make the property optional and leave it unset")
    ])
}

extension Float: AttributeValue {
    /// The type that a column stores it as.
    public static var attributeType: AttributeType { .real }
    /// The value as its column stores it.
    public var databaseValue: Value {
        get throws(RelataError) { try Double(self).databaseValue }
    }
    /// Reads a stored value; `nil` for an invalid one.
    public init?(databaseValue: Value) {
        guard let value = Double(databaseValue: databaseValue) else { return nil }
        self.init(value)
    }

    /// Reads the current row's column.
    @inlinable
    public static func read(_ column: ColumnValue) throws(RelataError) -> Float {
        Float(try Double.read(column))
    }

    /// Binds the value to a parameter.
    @inlinable
    public func bind(to parameter: StatementParameter) throws(RelataError) {
        try Double(self).bind(to: parameter)
    }
}

/// Decimals are kept as text, without loss, and compared by number.
extension Decimal: AttributeValue {
    /// The type that a column stores it as.
    public static var attributeType: AttributeType { .decimal }
    /// The value as its column stores it.
    public var databaseValue: Value {
        get throws(RelataError) {
            guard !isNaN else { throw notANumber() }
            return .text(description)
        }
    }
    /// Reads a stored value; `nil` for an invalid one.
    public init?(databaseValue: Value) {
        switch databaseValue {
        case .text(let value):
            guard let number = Decimal(string: value, locale: Locale(identifier: "en_US_POSIX")) else { return nil }
            self = number
        case .integer(let value): self.init(value)
        case .real(let value): self.init(value)
        default: return nil
        }
    }
}

// MARK: Text, bytes, time

extension String: AttributeValue {
    /// The type that a column stores it as.
    public static var attributeType: AttributeType { .text }
    /// The value as its column stores it.
    public var databaseValue: Value { .text(self) }
    /// Reads a stored value; `nil` for an invalid one.
    public init?(databaseValue: Value) {
        guard case .text(let value) = databaseValue else { return nil }
        self = value
    }

    /// Reads the current row's column.
    @inlinable
    public static func read(_ column: ColumnValue) throws(RelataError) -> String {
        guard column.isText else {
            throw unreadable(column, "String")
        }
        return column.text
    }

    /// Binds the value to a parameter.
    @inlinable
    public func bind(to parameter: StatementParameter) throws(RelataError) { try parameter.bind(self) }
}

extension URL: AttributeValue {
    /// The type that a column stores it as.
    public static var attributeType: AttributeType { .text }
    /// The value as its column stores it.
    public var databaseValue: Value { .text(absoluteString) }
    /// Reads a stored value; `nil` for an invalid one.
    public init?(databaseValue: Value) {
        guard case .text(let value) = databaseValue else { return nil }
        self.init(string: value)
    }
}

extension Data: AttributeValue {
    /// The type that a column stores it as.
    public static var attributeType: AttributeType { .data }
    /// The value as its column stores it.
    public var databaseValue: Value { .blob(self) }
    /// Reads a stored value; `nil` for an invalid one.
    public init?(databaseValue: Value) {
        switch databaseValue {
        case .blob(let value): self = value
        case .text(let value): self = Data(value.utf8)
        default: return nil
        }
    }
}

extension UUID: AttributeValue {
    /// The type that a column stores it as.
    public static var attributeType: AttributeType { .uuid(.blob) }
    /// The value as its column stores it.
    public var databaseValue: Value { .uuid(self) }
    /// Reads a stored value; `nil` for an invalid one.
    public init?(databaseValue: Value) {
        switch databaseValue {
        case .uuid(let value): self = value
        case .blob(let value) where value.count == 16:
            self.init(uuid: value.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
        case .text(let value): self.init(uuidString: value)
        default: return nil
        }
    }

    /// Reads the current row's column.
    @inlinable
    public static func read(_ column: ColumnValue) throws(RelataError) -> UUID {
        if column.isBlob, let uuid = column.uuid {
            return uuid
        }
        guard column.isText,
            let uuid = UUID(uuidString: column.text)
        else { throw unreadable(column, "UUID") }
        return uuid
    }

    /// Binds the value to a parameter.
    @inlinable
    public func bind(to parameter: StatementParameter) throws(RelataError) {
        try parameter.bind(self)
    }
}
