#if PostgreSQL
/// The binary format of a PostgreSQL type's values.
@frozen @usableFromInline
package enum TypeKind: UInt8, Sendable {
    /// One byte, 0 or 1.
    case boolean
    /// Two bytes.
    case int2
    /// Four bytes.
    case int4
    /// Eight bytes.
    case int8
    /// Four bytes without a sign.
    case oid
    /// Four bytes.
    case float4
    /// Eight bytes.
    case float8
    /// Digits in groups of four.
    case numeric
    /// Days since 2000, four bytes.
    case date
    /// Microseconds since 2000, eight bytes; with or without a time zone.
    case timestamp
    /// Sixteen bytes.
    case uuid
    /// Bytes.
    case bytea
    /// A version byte and JSON text.
    case jsonb
    /// UTF-8: text, names, JSON, enums.
    case text
    /// Several values of one type.
    case array
    /// Any other type: its values travel in text form.
    case other
}

/// A PostgreSQL type: its number, and how its values travel.
@frozen @usableFromInline
package struct TypeCode: Hashable, Sendable {
    /// The type's number in `pg_type`.
    @usableFromInline package let oid: UInt32
    /// The form in which its values are sent. A domain has the form of its base type.
    @usableFromInline package let kind: TypeKind
    /// The binary format of an array's elements.
    @usableFromInline package let elementKind: TypeKind
    /// The type of an array's elements.
    @usableFromInline package let elementOID: UInt32

    package init(oid: UInt32, kind: TypeKind) {
        self.oid = oid
        self.kind = kind
        elementKind = .other
        elementOID = 0
    }

    /// An array.
    package init(oid: UInt32, of element: TypeCode) {
        self.oid = oid
        kind = .array
        elementKind = element.kind
        elementOID = element.oid
    }

    /// The type of an array's elements.
    package var element: TypeCode { TypeCode(oid: elementOID, kind: elementKind) }

    /// Whether the cells of a result can be read in binary form.
    var isReadInBinary: Bool { kind != .array && kind != .other }

    /// Whether `COPY` can take values of the type in binary form.
    package var isWrittenInBinary: Bool { kind == .array ? elementKind != .other : kind != .other }
}

extension TypeCode {
    /// A type that every server has, by its number.
    package init?(builtIn oid: UInt32) {
        if let type = Self.scalars[oid] {
            self.init(oid: oid, kind: type.kind)
        } else if let element = Self.elements[oid] {
            self.init(oid: oid, of: element)
        } else {
            return nil
        }
    }

    /// The name of the type in an error message.
    var name: String {
        if let type = Self.scalars[oid] { return type.name }
        if kind == .array { return "\(element.name)[]" }
        return "type \(oid)"
    }

    private static let scalars: [UInt32: (name: String, kind: TypeKind, array: UInt32)] = [
        16: ("boolean", .boolean, 1000), 17: ("bytea", .bytea, 1001), 18: ("\"char\"", .other, 1002),
        19: ("name", .text, 1003), 20: ("bigint", .int8, 1016), 21: ("smallint", .int2, 1005),
        23: ("integer", .int4, 1007), 25: ("text", .text, 1009), 26: ("oid", .oid, 1028), 114: ("json", .text, 199),
        142: ("xml", .text, 143), 600: ("point", .other, 1017), 650: ("cidr", .other, 651),
        700: ("real", .float4, 1021), 701: ("double precision", .float8, 1022), 705: ("unknown", .text, 0),
        774: ("macaddr8", .other, 775), 790: ("money", .other, 791), 829: ("macaddr", .other, 1040),
        869: ("inet", .other, 1041), 1042: ("character", .text, 1014), 1043: ("character varying", .text, 1015),
        1082: ("date", .date, 1182), 1083: ("time", .other, 1183), 1114: ("timestamp", .timestamp, 1115),
        1184: ("timestamp with time zone", .timestamp, 1185), 1186: ("interval", .other, 1187),
        1266: ("time with time zone", .other, 1270), 1560: ("bit", .other, 1561), 1562: ("bit varying", .other, 1563),
        1700: ("numeric", .numeric, 1231), 2206: ("regtype", .other, 2211), 2205: ("regclass", .other, 2210),
        2278: ("void", .text, 0), 2950: ("uuid", .uuid, 2951), 3614: ("tsvector", .other, 3643),
        3615: ("tsquery", .other, 3645), 3802: ("jsonb", .jsonb, 3807),
    ]

    private static let elements: [UInt32: TypeCode] = Dictionary(
        uniqueKeysWithValues: scalars.compactMap { oid, type in
            type.array == 0 ? nil : (type.array, TypeCode(oid: oid, kind: type.kind))
        })

    package static let boolean = TypeCode(oid: 16, kind: .boolean)
    package static let bytea = TypeCode(oid: 17, kind: .bytea)
    package static let int8 = TypeCode(oid: 20, kind: .int8)
    package static let int2 = TypeCode(oid: 21, kind: .int2)
    package static let int4 = TypeCode(oid: 23, kind: .int4)
    package static let text = TypeCode(oid: 25, kind: .text)
    package static let float4 = TypeCode(oid: 700, kind: .float4)
    package static let float8 = TypeCode(oid: 701, kind: .float8)
    package static let timestamptz = TypeCode(oid: 1184, kind: .timestamp)
    package static let numeric = TypeCode(oid: 1700, kind: .numeric)
    package static let uuid = TypeCode(oid: 2950, kind: .uuid)
    package static let jsonb = TypeCode(oid: 3802, kind: .jsonb)
}
#endif
