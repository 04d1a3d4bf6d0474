/// The types of attributes that columns of PostgreSQL can hold.
extension AttributeType {
    /// The type of a column by its declaration.
    package init(postgresType declaredType: String) {
        self =
            switch declaredType.bareType {
            case "boolean": .boolean
            case "bigint", "integer", "smallint": .integer
            case "double precision", "real": .real
            case "numeric": .decimal
            case "timestamptz": .date(.microseconds)
            case "bytea": .data
            case "uuid": .uuid(.blob)
            case "jsonb", "json": .json
            default: .text
            }
    }
}

extension Dialect {
    /// Whether a column of a declared type holds the values of another column without changing them.
    func holds(_ column: Column, declaredType: String) -> Bool {
        holds(column.type, declaredType: declaredType)
            || self == .postgres && holds(column.boundType, declaredType: declaredType)
    }

    /// Whether a column of a declared type holds values of a type without changing them.
    func holds(_ type: AttributeType, declaredType: String) -> Bool {
        if self == .sqlite { return TypeChange.fits(type, declaredType: declaredType) }
        let declared = declaredType.bareType
        switch type {
        case .integer: return ["bigint", "integer", "smallint"].contains(declared)
        case .real, .date(.seconds): return ["double precision", "real"].contains(declared)
        case .text, .date(.iso8601), .uuid(.text): return ["text", "character varying"].contains(declared)
        default: return declared == type.postgresName
        }
    }
}

extension Table {
    /// The reason why a server's table can't be copied, exported or imported, with the fix; `nil` if it can. The tables
    /// of other programs may have no primary key, or types that no attribute has.
    package func obstacleToMoving(_ described: TableDescription) -> String? {
        if described.primaryKey.isEmpty {
            return
                "\(name) has no primary key to identify its rows: give it one by ALTER TABLE … ADD PRIMARY KEY"
        }
        for column in columns {
            guard let declared = described.column(column.name)?.type,
                !Dialect.postgres.holds(column, declaredType: declared)
            else { continue }
            let isAlike =
                switch column.type {
                case .text: ["character", "citext"].contains(declared.bareType)
                case .json: declared.bareType == "json"
                default: false
                }
            if isAlike { continue }
            return "\(name).\(column.property) has the type \(declared), and of other programs' columns only booleans, "
                + "numbers and text can be moved: change its type by ALTER TABLE … ALTER COLUMN, or move the data by "
                + "PostgreSQL's own tools"
        }
        return nil
    }
}

extension String {
    /// A declared type without its length and its collation.
    fileprivate var bareType: String {
        let end = firstRange(of: " COLLATE ")?.lowerBound ?? endIndex
        return String(self[..<end].prefix { $0 != "(" }).lowercased()
    }
}

/// The conversion of a column's values to another type, in PostgreSQL's SQL.
enum TypeConversion {
    /// Whether numbers lose their fraction.
    static func cutsFractions(from declaredType: String, to type: AttributeType) -> Bool {
        type == .integer && [.real, .decimal].contains(AttributeType(postgresType: declaredType))
    }

    /// The value of a column as one of another type. An invalid value is an error when the statement runs.
    static func sql(_ column: String, from declaredType: String, to type: AttributeType, _ name: String) -> String {
        let target = name.bareType
        switch (AttributeType(postgresType: declaredType), type) {
        case (.boolean, .integer), (.boolean, .real), (.boolean, .decimal): return "\(column)::integer::\(target)"
        case (.integer, .boolean), (.real, .boolean), (.decimal, .boolean): return "(\(column) <> 0)"
        case (.date(.microseconds), .integer):
            return "CAST(round(extract(epoch FROM \(column)) * 1000000) AS \(target))"
        case (.date(.microseconds), .real), (.date(.microseconds), .date(.seconds)):
            return "CAST(extract(epoch FROM \(column)) AS \(target))"
        case (.date(.microseconds), .date(.iso8601)), (.date(.microseconds), .text):
            return "to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
        case (.integer, .date(.microseconds)), (.real, .date(.microseconds)): return "relata.instant(\(column))"
        case (.text, .date(.microseconds)): return "coalesce(relata.instant(\(column)), \(column)::timestamptz)"
        case (.uuid(.blob), .data): return "uuid_send(\(column))"
        case (.data, .uuid(.blob)): return "encode(\(column), 'hex')::uuid"
        case (.text, .data): return "convert_to(\(column), 'UTF8')"
        case (.data, .text): return "convert_from(\(column), 'UTF8')"
        case (.integer, .real), (.integer, .decimal), (.real, .integer), (.real, .decimal), (.decimal, .integer),
            (.decimal, .real):
            return "\(column)::\(target)"
        default: return "\(column)::text::\(target)"
        }
    }
}
