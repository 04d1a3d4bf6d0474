public import Foundation
import RelataCore

/// The value of a field of a ``Record``. Most are written as literals:
///
/// ```swift
/// var album = Record("Album", ["title": "Kind of Blue", "year": 1959, "isLive": false])
/// album["released"] = .date(Date())
/// album["artist"] = .link(miles)
/// album["label"] = nil
/// ```
public enum RecordValue: Hashable, Sendable {
    /// No value.
    case null
    /// Text.
    case text(String)
    /// An integer.
    case integer(Int64)
    /// A floating-point number.
    case real(Double)
    /// True or false.
    case boolean(Bool)
    /// A point in time; microseconds of it are stored.
    case date(Date)
    /// Bytes.
    case data(Data)
    /// A UUID.
    case uuid(UUID)
    /// A decimal number, stored without loss.
    case decimal(Decimal)
    /// A value that is stored as JSON, as its text.
    case json(String)
    /// The target of a to-one.
    indirect case link(RecordLink)
    /// The objects of a to-many, in its order.
    case links([RecordLink])

    /// An integer.
    public static func integer(_ value: Int) -> RecordValue { .integer(Int64(value)) }

    /// A link to an object. One that isn't stored yet is saved with the object that links to it.
    public static func link(_ record: Record) -> RecordValue { .link(RecordLink(record)) }

    /// Links to objects. New ones are saved with the object that links to them.
    public static func links(_ records: [Record]) -> RecordValue { .links(records.map { RecordLink($0) }) }
}

extension RecordValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    /// The value of a literal.
    public init(stringLiteral value: String) { self = .text(value) }
    /// The value of a literal.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// The value of a literal.
    public init(floatLiteral value: Double) { self = .real(value) }
    /// The value of a literal.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// The value of a literal.
    public init(nilLiteral: ()) { self = .null }
}

extension RecordValue {
    /// Whether there is no value.
    public var isNull: Bool { if case .null = self { true } else { false } }
    /// The text, if it is one.
    public var text: String? { if case .text(let value) = self { value } else { nil } }
    /// The integer, if it is one.
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    /// The number, if it is one.
    public var real: Double? {
        switch self {
        case .real(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }
    /// Whether it is true, if it is true or false.
    public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    /// The point in time, if it is one.
    public var date: Date? { if case .date(let value) = self { value } else { nil } }
    /// The bytes, if these are some.
    public var data: Data? { if case .data(let value) = self { value } else { nil } }
    /// The UUID, if it is one.
    public var uuid: UUID? { if case .uuid(let value) = self { value } else { nil } }
    /// The decimal number, if it is a number that is known without loss.
    public var decimal: Decimal? {
        switch self {
        case .decimal(let value): value
        case .integer(let value): Decimal(value)
        default: nil
        }
    }
    /// The JSON of a JSON value.
    public var json: String? { if case .json(let value) = self { value } else { nil } }
    /// The link of a to-one that is set.
    public var link: RecordLink? { if case .link(let value) = self { value } else { nil } }
    /// The links of a to-many that was loaded or set.
    public var links: [RecordLink]? { if case .links(let values) = self { values } else { nil } }
    /// The target of a to-one, if it was loaded.
    public var record: Record? { link?.record }
    /// The objects of a to-many that were loaded.
    public var records: [Record] { (links ?? []).compactMap(\.record) }

    /// A field of a to-one's target, if it was loaded: `album["artist"]["name"]`.
    public subscript(field: String) -> RecordValue { record?[field] ?? .null }
}

extension RecordValue: CustomStringConvertible {
    /// The value for people; a link as its target.
    public var description: String {
        switch self {
        case .null: "nil"
        case .text(let value), .json(let value): value
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .boolean(let value): "\(value)"
        case .date(let value): DateText.microseconds(of: value).map { DateText.text(microseconds: $0) } ?? "\(value)"
        case .data(let value): Value.blob(value).description
        case .uuid(let value): value.uuidString.lowercased()
        case .decimal(let value): "\(value)"
        case .link(let value): value.description
        case .links(let values): values.description
        }
    }
}

/// A link to an object of a known class.
public struct RecordLink: Hashable, Sendable, CustomStringConvertible {
    /// The class of the object.
    public let className: String
    /// The object's key; `nil` for one that isn't stored yet.
    public let key: KeyValue?
    /// The object, if it was loaded or set; `nil` if only its key is known.
    public let record: Record?

    /// A link to an object.
    public init(_ record: Record) {
        className = record.className
        key = record.key
        self.record = record
    }

    /// A link to the object of a class that has a key.
    public init(_ className: String, key: KeyValue) {
        self.className = className
        self.key = key
        record = nil
    }

    /// Whether both lead to the same object. Loaded values don't matter, unless it isn't stored yet.
    public static func == (left: RecordLink, right: RecordLink) -> Bool {
        left.className == right.className && left.key == right.key && (left.key != nil || left.record == right.record)
    }

    /// Hashes the target.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(className)
        hasher.combine(key)
    }

    /// `Artist 7`, or the object itself if it isn't stored yet.
    public var description: String {
        key.map { ObjectReference(entity: className, key: $0).description } ?? record?.description ?? className
    }
}
