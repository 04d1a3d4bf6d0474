import Foundation

/// One value of a database: bound to a statement and read from a row when the type is known only at run time.
///
/// The typed API never goes through `Value` on its hot paths; plans, reports, predicates and the command-line tool do.
public enum Value: Hashable, Sendable {
    /// SQL `NULL`.
    case null
    /// A 64-bit signed integer. Booleans are 0 and 1, dates microseconds since 1970 unless their encoding is another.
    case integer(Int64)
    /// A 64-bit floating-point number.
    case real(Double)
    /// Text. May contain any character, U+0000 included.
    case text(String)
    /// Bytes.
    case blob(Data)
    /// Sixteen bytes of a column that is declared to hold UUIDs as blobs. Stored as a blob; a separate case because
    /// keys are read by the hundred thousand and an inline value needs no allocation.
    case uuid(UUID)

    /// Whether the value is SQL `NULL`.
    public var isNull: Bool { if case .null = self { true } else { false } }

    /// Whether both are equal to a database: text by its bytes, whereas Swift treats different compositions of an é as
    /// equal.
    public static func == (left: Value, right: Value) -> Bool {
        // Values with equal bytes are equal to Swift too, so the hashes agree.
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        case (.text(var left), .text(var right)): left.withUTF8 { left in right.withUTF8 { areSame(left, $0) } }
        case (.blob(let left), .blob(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        default: false
        }
    }

    private static func areSame(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        guard let first = left.baseAddress, let other = right.baseAddress else { return true }
        return memcmp(first, other, left.count) == 0
    }
}

extension Value: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    /// The value of a literal.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// The value of a literal.
    public init(floatLiteral value: Double) { self = .real(value) }
    /// The value of a literal.
    public init(stringLiteral value: String) { self = .text(value) }
    /// The value of a literal.
    public init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
    /// The value of a literal.
    public init(nilLiteral: ()) { self = .null }
}

extension Value: CustomStringConvertible {
    /// The value as a person reads it in a message or a table; text without quotes, bytes as `x'…'`.
    public var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let value): value
        case .blob(let value): value.count <= 32 ? "x'\(value.hexadecimal)'" : "\(value.count) bytes"
        case .uuid(let value): value.uuidString.lowercased()
        }
    }
}

extension Data {
    /// The bytes as lowercase hexadecimal digits, two a byte.
    package var hexadecimal: String {
        var text = ""
        text.reserveCapacity(count * 2)
        for byte in self {
            if byte < 16 { text.append("0") }
            text.append(String(byte, radix: 16))
        }
        return text
    }
}

/// The primary key of an object whose type is known only at run time: one value for each column of the key, in the
/// order of `Entity.keyColumns`.
public struct KeyValue: Hashable, Sendable, CustomStringConvertible {
    /// The values, one a key column.
    public let values: [Value]

    /// The largest number of columns of a key: the limit for a list of keys that is bound as one parameter.
    package static let maximumParts = 32

    /// Creates a key of several columns.
    public init(_ values: [Value]) { self.values = values }
    /// Creates a key of one column.
    public init(_ value: Value) { self.values = [value] }

    /// The key as a person reads it: `7`, or `(7, "a")` for several columns.
    public var description: String {
        values.count == 1 ? values[0].description : "(" + values.map(\.description).joined(separator: ", ") + ")"
    }
}

/// An object by its entity and key, in reports, blockers and errors.
public struct ObjectReference: Hashable, Sendable, CustomStringConvertible {
    /// The entity's name, such as `Book`.
    public let entity: String
    /// The object's primary key.
    public let key: KeyValue

    /// Names the object with `key` in `entity`.
    public init(entity: String, key: KeyValue) {
        self.entity = entity
        self.key = key
    }

    /// `Book 7`.
    public var description: String { "\(entity) \(key)" }
}

extension Int64 {
    /// Whether a floating-point number can only be near it.
    package var isRoundedByDouble: Bool { Int64(exactly: Double(self)) != self }
}
