#if PostgreSQL
import RelataCore

/// The form in which a column's values are read: unchanged if an attribute has such values, otherwise as text.
struct ColumnReading: Hashable {
    /// The type of the read values.
    let type: AttributeType
    /// The SQL before and after the column.
    private let prefix: String
    private let suffix: String
    /// Types whose values are equal exactly if their read forms are; `nil` if equal values may have different read
    /// forms, such as texts that ignore case.
    let family: String?
    /// Whether the type's name adds nothing to the attribute's.
    let isPlain: Bool

    private init(
        _ type: AttributeType, _ prefix: String = "", _ suffix: String = "", family: String?, isPlain: Bool = false
    ) {
        self.type = type
        self.prefix = prefix
        self.suffix = suffix
        self.family = family
        self.isPlain = isPlain
    }

    /// The way of reading a column of a type.
    ///
    /// - Parameters:
    ///   - base: The name of the type, without domains, among the types that every server has.
    ///   - isEnum: Whether it is an enum.
    ///   - isDeterministic: Whether texts are equal only if their bytes are.
    init(base: String?, isEnum: Bool, isDeterministic: Bool) {
        switch base {
        case "bool": self.init(.boolean, family: "bool", isPlain: true)
        case "int2", "int4", "int8": self.init(.integer, family: "integer", isPlain: true)
        case "oid": self.init(.integer, "", "::bigint", family: "oid")
        case "float8": self.init(.real, family: nil, isPlain: true)
        // The conversion through text reads 0.1 as 0.1.
        case "float4": self.init(.real, "(", "::text)::double precision", family: nil)
        case "numeric": self.init(.decimal, family: "numeric", isPlain: true)
        case "bytea": self.init(.data, family: "bytea", isPlain: true)
        case "jsonb": self.init(.json, family: nil, isPlain: true)
        case "uuid": self.init(.uuid(.blob), family: "uuid", isPlain: true)
        case "timestamptz": self.init(.date(.microseconds), family: "timestamptz", isPlain: true)
        case "text", "varchar", "bpchar", "name":
            self.init(text: isDeterministic ? "text" : nil, isPlain: base == "text")
        case "date", "timestamp", "time": self.init(text: base)
        default: self.init(text: isEnum ? "enum" : nil)
        }
    }

    /// As text.
    private init(text family: String?, isPlain: Bool = false) {
        self.init(.text, "(", "::text COLLATE \"C\")", family: family, isPlain: isPlain)
    }

    /// The location of a row in its table, as its key if it has no other.
    static let place = ColumnReading(text: nil)

    /// A column in the form in which it is read.
    func sql(_ column: String) -> String { prefix + column + suffix }

    /// A column that refers to another and has another form of equality: read like the other column, if that is
    /// possible.
    func sql(_ column: String, as other: ColumnReading) -> String {
        switch (type, other.type) {
        case (let own, let wanted) where own == wanted: sql(column)
        case (.integer, .decimal): "\(column)::numeric"
        case (.integer, .real), (.decimal, .real): "\(column)::double precision"
        case (.real, .decimal): "\(sql(column))::numeric"
        default: "NULL"
        }
    }
}
#endif
