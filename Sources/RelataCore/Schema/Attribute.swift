import Foundation

/// A stored value of an entity: one column.
public struct Attribute: Hashable, Sendable, Codable {
    /// The property's name in Swift.
    package var name: String
    /// The column's name.
    package var column: String
    /// Its type, and how the column stores it.
    package var type: AttributeType
    /// Whether it may be unset (SQL `NULL`).
    package var isOptional: Bool
    /// The value of existing rows when the column is added, and of rows that tools write without it. `nil` for no
    /// default.
    package var defaultValue: Value?
    /// The property's names in older versions of the model, if it was renamed.
    package var originalName: OriginalNames?
    /// The values of an enum that can list its cases, as they are stored; `nil` for any other type. A file remembers
    /// them, so that values which the enum no longer has are found without the models.
    package var allowedValues: [Value]?
    /// The accepted values, checked before anything is written.
    package var limits: [Limit]
    /// Whether a column of numbers stores whole ones as integers, so that all 64 bits are kept: `NUMERIC` on both
    /// engines. A model's `Double` and `Float` have no such numbers.
    package var keepsIntegers: Bool {
        get { integers == true }
        set { integers = newValue ? true : nil }
    }
    /// Only written if it is set: earlier versions don't know it, and don't need it.
    private var integers: Bool?
    /// The Swift type of its values, if a model declares it: for generating values, such as sample data.
    package var valueType = ValueType(nil)

    /// The database's type of the column, if the attribute's type doesn't determine it. Read from a database.
    package var declaredType: String?
    /// Whether the database computes the values. Read from a database; models have no such attributes.
    package var isGenerated = false
    /// Whether the column may hold values of other types: SQLite prefers a type and takes any. Read from a database,
    /// for the keys of tables that another program made.
    package var holdsOtherTypes = false

    /// Whether its values are those of a Swift `Float`.
    var isSinglePrecision: Bool { type == .real && valueType.wrapped == Float.self }

    private enum CodingKeys: String, CodingKey {
        case name, column, type, isOptional, defaultValue, originalName, limits, allowedValues
        case integers = "keepsIntegers"
    }

    /// Describes an attribute. See the properties for the arguments.
    package init(
        _ name: String, column: String? = nil, type: AttributeType, isOptional: Bool = false,
        defaultValue: Value? = nil,
        originalName: OriginalNames? = nil, limits: [Limit] = [], allowedValues: [Value]? = nil,
        keepsIntegers: Bool = false,
        valueType: ValueType = ValueType(nil)
    ) {
        self.name = name
        self.column = column ?? name
        self.type = type
        self.isOptional = isOptional
        self.defaultValue = defaultValue
        self.originalName = originalName
        self.limits = limits
        integers = keepsIntegers ? true : nil
        self.allowedValues = allowedValues
        self.valueType = valueType
    }
}

/// The Swift type of an attribute's values. It isn't stored: equality ignores it, and it isn't encoded.
public struct ValueType: Hashable, Sendable {
    /// The type as the model declares it, an optional if it may be unset; `nil` if no model declares the attribute.
    package let type: Any.Type?
    /// Whether a stored value is a case of the enum; `nil` for types that accept any value of the right kind.
    let isCase: (@Sendable (Value) -> Bool)?

    /// A type.
    ///
    /// - Parameter isCase: Whether a stored value is one of an enum's.
    package init(_ type: Any.Type?, isCase: (@Sendable (Value) -> Bool)? = nil) {
        self.type = type
        self.isCase = isCase
    }

    /// The type of a value that is set.
    package var wrapped: Any.Type? { type.map { ($0 as? any OptionalType.Type)?.wrapped ?? $0 } }

    /// Always: see the type itself.
    public static func == (left: ValueType, right: ValueType) -> Bool { true }
    /// Nothing.
    public func hash(into hasher: inout Hasher) {}
}

/// An optional of any type.
private protocol OptionalType {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalType {
    static var wrapped: Any.Type { Wrapped.self }
}

/// A declared limit of an attribute. An unset optional value meets every limit.
public enum Limit: Hashable, Sendable, Codable {
    /// Text, bytes or a collection must not be empty; text of white space only counts as empty.
    case notEmpty
    /// A number must lie within the bounds, both included; a bound that is `nil` is open.
    case range(minimum: Double?, maximum: Double?)
    /// The limit with integers as bounds, because a `Double` can't represent all of them.
    case integerRange(minimum: Int64?, maximum: Int64?)
    /// Limits text by characters, data by bytes.
    case length(minimum: Int?, maximum: Int?)
    /// Text must match the regular expression as a whole.
    case pattern(String)
}

extension Value: Codable {
    private enum CodingKeys: String, CodingKey { case integer, real, text, blob, uuid }

    /// Reads `null` or an object with one member that names the case.
    public init(from decoder: any Decoder) throws {
        if let single = try? decoder.singleValueContainer(), single.decodeNil() {
            self = .null
            return
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let value = try container.decodeIfPresent(Int64.self, forKey: .integer) {
            self = .integer(value)
        } else if let value = try container.decodeIfPresent(Double.self, forKey: .real) {
            self = .real(value)
        } else if let value = try container.decodeIfPresent(String.self, forKey: .text) {
            self = .text(value)
        } else if let value = try container.decodeIfPresent(Data.self, forKey: .blob) {
            self = .blob(value)
        } else {
            self = .uuid(try container.decode(UUID.self, forKey: .uuid))
        }
    }

    /// Writes `null` or an object with one member that names the case.
    public func encode(to encoder: any Encoder) throws {
        if case .null = self {
            var container = encoder.singleValueContainer()
            try container.encodeNil()
            return
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .null: break
        case .integer(let value): try container.encode(value, forKey: .integer)
        case .real(let value): try container.encode(value, forKey: .real)
        case .text(let value): try container.encode(value, forKey: .text)
        case .blob(let value): try container.encode(value, forKey: .blob)
        case .uuid(let value): try container.encode(value, forKey: .uuid)
        }
    }
}
