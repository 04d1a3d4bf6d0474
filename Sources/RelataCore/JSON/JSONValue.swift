/// A JSON value: in requests and replies, and in columns of objects and arrays.
///
/// Numbers are those of JavaScript. A whole number is an integer whether it was written `1`, `1.0` or `1e0`, so that
/// equal numbers are equal values. Texts with equal bytes are equal.
public enum JSONValue: Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number that fits 64 bits.
    case integer(Int64)
    /// Any other number. Always finite.
    case double(Double)
    /// A text.
    case string(String)
    /// Elements, in order.
    case array([JSONValue])
    /// Members by name, in their order.
    case object(JSONObject)

    /// The member of that name; `nil` for a missing one, or a value that isn't an object.
    public subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The text of a string.
    public var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The members of an object.
    public var object: JSONObject? { if case .object(let members) = self { members } else { nil } }

    /// The elements of an array.
    public var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    /// The truth value.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The number, as JavaScript has it.
    public var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// The whole number.
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }

    /// Whether it is `null`.
    public var isNull: Bool { if case .null = self { true } else { false } }

    /// Whether it is neither an array nor an object.
    package var isPlain: Bool {
        switch self {
        case .array, .object: false
        case .null, .bool, .integer, .double, .string: true
        }
    }

    /// The number as JSON writes it: without a fraction if it is whole.
    public init(number: Double) {
        self = Int64(exactly: number).map { .integer($0) } ?? .double(number)
    }
}

extension JSONValue: Hashable {
    /// Whether both are the same value.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// Feeds a hasher with the value.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value)
        case .string(let value): value.hashBytes(into: &hasher)
        case .array(let elements): hasher.combine(elements)
        case .object(let members): hasher.combine(members)
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// The value of a literal.
    public init(stringLiteral value: String) { self = .string(value) }
    /// The value of a literal.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// The value of a literal.
    public init(floatLiteral value: Double) { self.init(number: value) }
    /// The value of a literal.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// The value of a literal.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// The value of a literal.
    public init(dictionaryLiteral members: (String, JSONValue)...) {
        self = .object(JSONObject(members))
    }
}
