import RelataCore

/// An option of an attribute or a rule for its values, as in `@Attribute(…)`.
///
/// ```swift
/// @Attribute(.unique, .length(1...80)) var name: String
/// @Attribute(.range(1...5)) var stars: Int
/// @Attribute(.iso8601) var printed: Date?
/// ```
public enum AttributeOption: Hashable, Sendable {
    /// The values are unique.
    case unique
    /// The attribute is the primary key, or one part of it if several attributes have this option.
    case primaryKey
    /// A date the store sets when the object is inserted.
    case createdAt
    /// A date the store sets whenever the object is written.
    case updatedAt
    /// An integer the store counts up whenever the object is written; saving a stale value is refused.
    case revision
    /// Text, data or a collection must not be empty; text of white space only counts as empty.
    case notEmpty
    /// A number must lie within the bounds, both included; a bound that is `nil` is open. Written
    /// ``range(_:)-(ClosedRange<Double>)``.
    case range(minimum: Double?, maximum: Double?)
    /// The range with integers as bounds, which are compared exactly. Written ``range(_:)-(ClosedRange<Int>)``.
    case integerRange(minimum: Int64?, maximum: Int64?)
    /// Limits text by characters, data by bytes. Written ``length(_:)-(ClosedRange<Int>)``.
    case length(minimum: Int?, maximum: Int?)
    /// Text must match the regular expression as a whole.
    case pattern(String)
    /// A date is stored as ISO 8601 text in UTC instead of as an integer of microseconds: in the years 0 to 9999.
    case iso8601
    /// A date is stored as seconds since 1970 instead of as an integer of microseconds.
    case seconds
    /// A UUID, or an ``ID`` and references to it, is stored as text instead of as sixteen bytes.
    case text
}

extension AttributeOption {
    /// The number must lie within the range: `.range(1...5)`.
    public static func range(_ bounds: ClosedRange<Int>) -> AttributeOption {
        .integerRange(minimum: Int64(bounds.lowerBound), maximum: Int64(bounds.upperBound))
    }

    /// The number must lie within the range: `.range(0.5...1)`.
    public static func range(_ bounds: ClosedRange<Double>) -> AttributeOption {
        .range(minimum: bounds.lowerBound, maximum: bounds.upperBound)
    }

    /// The number must not be less than the bound: `.range(1...)`.
    public static func range(_ bounds: PartialRangeFrom<Int>) -> AttributeOption {
        .integerRange(minimum: Int64(bounds.lowerBound), maximum: nil)
    }

    /// The number must not be less than the bound: `.range(0.5...)`.
    public static func range(_ bounds: PartialRangeFrom<Double>) -> AttributeOption {
        .range(minimum: bounds.lowerBound, maximum: nil)
    }

    /// The number must not be greater than the bound: `.range(...5)`.
    public static func range(_ bounds: PartialRangeThrough<Int>) -> AttributeOption {
        .integerRange(minimum: nil, maximum: Int64(bounds.upperBound))
    }

    /// The number must not be greater than the bound: `.range(...0.5)`.
    public static func range(_ bounds: PartialRangeThrough<Double>) -> AttributeOption {
        .range(minimum: nil, maximum: bounds.upperBound)
    }

    /// Limits text by characters, data by bytes: `.length(1...80)`.
    public static func length(_ bounds: ClosedRange<Int>) -> AttributeOption {
        .length(minimum: bounds.lowerBound, maximum: bounds.upperBound)
    }

    /// Sets the minimum length of text in characters, or of data in bytes: `.length(8...)`.
    public static func length(_ bounds: PartialRangeFrom<Int>) -> AttributeOption {
        .length(minimum: bounds.lowerBound, maximum: nil)
    }

    /// Sets the maximum length of text in characters, or of data in bytes: `.length(...80)`.
    public static func length(_ bounds: PartialRangeThrough<Int>) -> AttributeOption {
        .length(minimum: nil, maximum: bounds.upperBound)
    }
}

extension AttributeOption {
    /// The limit of the option, if it has one.
    var limit: Limit? {
        switch self {
        case .notEmpty: .notEmpty
        case .range(let minimum, let maximum): .range(minimum: minimum, maximum: maximum)
        case .integerRange(let minimum, let maximum): .integerRange(minimum: minimum, maximum: maximum)
        case .length(let minimum, let maximum): .length(minimum: minimum, maximum: maximum)
        case .pattern(let pattern): .pattern(pattern)
        default: nil
        }
    }
}
