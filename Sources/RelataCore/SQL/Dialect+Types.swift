/// The types of columns and bound values.
extension Dialect {
    /// The type that `CREATE TABLE` gives a column.
    package func type(of column: Column) -> String {
        self == .sqlite ? column.storage.rawValue : type(of: column.boundType)
    }

    /// The type that `CREATE TABLE` gives a column of values of that type.
    package func type(of type: AttributeType) -> String {
        if self == .sqlite { return type.storage.rawValue }
        let name = type.postgresName
        // Text is compared by its bytes, regardless of the database's collation.
        return name == "text" ? "text COLLATE \"C\"" : name
    }

    /// The type of a position in a list.
    package var positionType: String { self == .sqlite ? "INTEGER" : "bigint" }

    /// A parameter by its number, which counts from 1, with its type if the engine needs it.
    ///
    /// - Parameter type: The type of the other operand, or of the column; `nil` if only the value determines it.
    package func parameter(_ number: Int, holding value: Value, as type: AttributeType?) -> String {
        self == .sqlite
            ? parameter(number) : "$\(number)::" + AttributeType.of([value], like: type).postgresName
    }

    /// A parameter of a statement that is prepared for any value of a type.
    package func parameter(_ number: Int, as type: AttributeType) -> String {
        self == .sqlite ? parameter(number) : "$\(number)::" + type.postgresName
    }

    // MARK: Lists

    /// The rows of a list that is bound as one parameter, as a subquery with the columns `c0`, `c1`, ….
    ///
    /// On PostgreSQL a list of single values is an array, and one of keys of several columns a JSON array of arrays.
    ///
    /// - Parameters:
    ///   - types: The type of each column.
    ///   - isNumbered: Whether a further column `rowid` numbers the rows from 1.
    package func rows(ofParameter number: Int, types: [AttributeType], isNumbered: Bool = false) -> String {
        guard self == .postgres else {
            return isNumbered
                ? tableFunction("relata_values", parameter(number)) : rows(ofParameter: number, columns: types.count)
        }
        let ordinal = isNumbered ? ", rowid" : ""
        let ordinality = isNumbered ? "WITH ORDINALITY " : ""
        if types.count == 1 {
            let name = types[0].postgresName
            // Text of a list has the collation of the compared columns, even if it becomes a column.
            let value = name == "text" ? "c0 COLLATE \"C\" AS c0" : "c0"
            return "(SELECT \(value)\(ordinal) FROM unnest($\(number)::\(name)[]) "
                + "\(ordinality)AS relata_values(c0\(ordinal)))"
        }
        let columns = types.enumerated().map { "\($1.value(at: $0, of: "relata_key")) AS c\($0)" }
        return "(SELECT \(columns.joined(separator: ", "))\(ordinal) FROM jsonb_array_elements($\(number)::jsonb) "
            + "\(ordinality)AS relata_values(relata_key\(ordinal)))"
    }

    /// A list of values of one type that is bound as one parameter, on PostgreSQL.
    package func list(ofParameter number: Int, as type: AttributeType) -> String {
        "$\(number)::\(type.postgresName)[]"
    }

    /// The rows of several lists of equal length, a list for each column, on PostgreSQL.
    ///
    /// - Parameter isNumbered: Whether a further column numbers the rows from 1.
    package func rows(ofLists lists: [(parameter: Int, type: AttributeType)], isNumbered: Bool) -> String {
        let arrays = lists.map { list(ofParameter: $0.parameter, as: $0.type) }
        return "unnest(\(arrays.joined(separator: ", ")))" + (isNumbered ? " WITH ORDINALITY" : "")
    }

    /// The rows of a list, as on SQLite, whose lists contain values with types.
    package func rows(ofParameter number: Int, columns: Int = 1) -> String {
        let names = (0..<columns).map { "c\($0)" }.joined(separator: ", ")
        return "(SELECT \(names) FROM \(tableFunction("relata_values", parameter(number))))"
    }

    /// An unset value of a type, as a column of it holds one.
    func null(_ type: AttributeType) -> String { self == .sqlite ? "NULL" : "NULL::" + self.type(of: type) }

    /// A UUID that isn't text as 32 hexadecimal digits.
    func hexadecimal(uuid: String) -> String {
        self == .sqlite ? "lower(hex(\(uuid)))" : "replace(CAST(\(uuid) AS text), '-', '')"
    }

    /// A value in a column of that type, if the text alone doesn't determine its comparison.
    func collated(_ text: String) -> String { self == .sqlite ? text : "(\(text) COLLATE \"C\")" }
}

extension AttributeType {
    /// The type of values that are bound together: the type of the other operand, unless only one of the values' own
    /// types can hold them.
    package static func of(_ values: some Sequence<Value>, like type: AttributeType?) -> AttributeType {
        var found = type
        for value in values {
            guard let own = value.type else { continue }
            if found == nil || found == .integer && own == .real { found = own }
        }
        return found ?? .text
    }

    /// PostgreSQL's name.
    var postgresName: String {
        switch self {
        case .boolean: "boolean"
        case .integer: "bigint"
        case .real, .date(.seconds): "double precision"
        case .decimal: "numeric"
        case .text, .date(.iso8601), .uuid(.text): "text"
        case .date(.microseconds): "timestamptz"
        case .data: "bytea"
        case .uuid(.blob): "uuid"
        case .json: "jsonb"
        }
    }

    /// The value of this type at a place of a JSON array, in PostgreSQL's SQL.
    fileprivate func value(at index: Int, of array: String) -> String {
        let text = "(\(array) ->> \(index))"
        switch self {
        case .text, .date(.iso8601), .uuid(.text): return "(\(array) ->> \(index)) COLLATE \"C\""
        case .boolean: return "\(text)::integer::boolean"
        case .date(.microseconds): return "relata.instant(\(text)::bigint)"
        case .data: return "decode(\(text), 'hex')"
        default: return "\(text)::\(postgresName)"
        }
    }
}
