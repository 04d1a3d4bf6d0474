/// The type of an attribute, which determines how its column stores it.
public enum AttributeType: Hashable, Sendable, Codable {
    /// 0 or 1 in an `INTEGER` column.
    case boolean
    /// An integer of any width that fits 64 signed bits.
    case integer
    /// A floating-point number.
    case real
    /// A decimal number, kept as text without loss and compared by number.
    case decimal
    /// Text; also `URL`, and enums whose raw value is a `String`.
    case text
    /// A point in time.
    case date(DateEncoding)
    /// Bytes.
    case data
    /// A UUID.
    case uuid(UUIDEncoding)
    /// Any `Codable` value, as JSON text.
    case json

    /// The type written in `CREATE TABLE`, which also is the column's affinity on SQLite.
    package var storage: StorageType {
        switch self {
        case .boolean, .integer, .date(.microseconds): .integer
        case .real, .date(.seconds): .real
        case .decimal, .text, .json, .date(.iso8601), .uuid(.text): .text
        case .data, .uuid(.blob): .blob
        }
    }
}

/// The stored form of a date attribute. All three are read regardless of the attribute's encoding, as far as the
/// storage class identifies them: an integer is microseconds unless the attribute has `.seconds`.
public enum DateEncoding: String, Hashable, Sendable, Codable {
    /// An integer: microseconds since 1970-01-01 00:00:00 UTC. The default.
    case microseconds
    /// ISO 8601 text in UTC with microseconds: `2026-11-21T06:19:00.123456Z`.
    case iso8601
    /// Seconds since 1970 as a floating-point number.
    case seconds
}

/// The stored form of a UUID attribute. Both are read regardless of the attribute's encoding.
public enum UUIDEncoding: String, Hashable, Sendable, Codable {
    /// Sixteen bytes. The default.
    case blob
    /// Thirty-six lowercase characters.
    case text
}

/// The types of columns that Relata creates.
package enum StorageType: String, Hashable, Sendable, Codable {
    case integer = "INTEGER"
    case real = "REAL"
    case numeric = "NUMERIC"
    case text = "TEXT"
    case blob = "BLOB"
}
