/// What differs between the SQL of one engine and another's. Everything else is written the same for all.
///
/// Functions that SQL itself lacks have the same name on every engine, `relata_…`, and each engine provides them.
package enum Dialect: Sendable {
    case sqlite

    /// A name as an identifier: in double quotes, those inside doubled.
    @inlinable
    package func quote(_ name: String) -> String {
        var sql = ""
        append(quoted: name, to: &sql)
        return sql
    }

    /// Appends a name as an identifier.
    @inlinable
    package func append(quoted name: String, to sql: inout String) {
        sql.append("\"")
        if name.utf8.contains(UInt8(ascii: "\"")) {
            for character in name.unicodeScalars {
                if character == "\"" { sql.append("\"") }
                sql.unicodeScalars.append(character)
            }
        } else {
            sql.append(name)
        }
        sql.append("\"")
    }

    /// Names as identifiers, separated by commas, each after a qualifier such as an alias.
    package func list(_ names: [String], of qualifier: String? = nil) -> String {
        var sql = ""
        for name in names {
            if !sql.isEmpty { sql.append(", ") }
            if let qualifier {
                sql.append(qualifier)
                sql.append(".")
            }
            append(quoted: name, to: &sql)
        }
        return sql
    }

    /// The condition that always holds. SQLite takes the word `TRUE` for a column of that name, where there is one.
    var always: String { "1" }
    /// The condition that never holds.
    var never: String { "0" }

    /// Columns as they are compared: one as it is, several as a row.
    package func tuple(_ names: [String], of qualifier: String? = nil) -> String {
        names.count == 1 ? list(names, of: qualifier) : "(\(list(names, of: qualifier)))"
    }

    /// Whether all columns are set.
    package func areSet(_ names: [String], of qualifier: String? = nil) -> String {
        names.map { list([$0], of: qualifier) + " IS NOT NULL" }.joined(separator: " AND ")
    }

    /// Whether columns equal others, each its own.
    package func areSame(_ left: [String], of qualifier: String, _ right: [String], of other: String) -> String {
        zip(left, right).map { "\(qualifier).\(quote($0)) = \(other).\(quote($1))" }.joined(separator: " AND ")
    }

    /// Whether the columns of a foreign key refer to those of a row, by the collation and the affinity of the latter.
    ///
    /// The sign strips a column of its affinity, and the left side decides about the collation.
    package func matches(_ target: [String], of qualifier: String, _ source: [String], of other: String) -> String {
        zip(target, source).map { "\(qualifier).\(quote($0)) = +\(other).\(quote($1))" }.joined(separator: " AND ")
    }

    /// A parameter by its number, which counts from 1.
    @inlinable
    package func parameter(_ number: Int) -> String { "?\(number)" }

    /// The rows of a list that is bound as one parameter, as a subquery with so many columns.
    package func rows(ofParameter number: Int, columns: Int = 1) -> String {
        let names = (0..<columns).map { "c\($0)" }.joined(separator: ", ")
        return "(SELECT \(names) FROM \(tableFunction("relata_values", parameter(number))))"
    }

    /// The name of a table-valued function.
    ///
    /// SQLite looks for a table of that name before it looks for a function, and a file may have one. In the schema `temp`
    /// there is none: Relata makes no temporary tables.
    package func functionName(_ name: String) -> String { "temp.\(name)" }

    /// The rows of a table-valued function.
    package func tableFunction(_ name: String, _ arguments: String...) -> String {
        "\(functionName(name))(\(arguments.joined(separator: ", ")))"
    }

    /// A value that is another once anybody changed a table.
    package var schemaVersion: String { "(SELECT schema_version FROM temp.pragma_schema_version)" }

    /// What rows of Relata's own tables are sorted by to come as they were inserted.
    package var insertionOrder: String { "rowid" }

    /// The type of an integer column.
    package var integerType: String { "INTEGER" }

    /// A key that the database assigns, and never again.
    package var assignedKey: String { "INTEGER PRIMARY KEY AUTOINCREMENT" }

    /// How a transaction begins that writes.
    package var beginWriting: String { "BEGIN IMMEDIATE" }

    /// The operator that holds for equal values and for two unset ones.
    @inlinable
    package var isSame: String { " IS " }

    /// The operator that holds for different values, an unset and a set one included.
    @inlinable
    package var isDifferent: String { " IS NOT " }

    /// Whether `NULL` comes before every value where `ORDER BY` doesn't say.
    @inlinable
    package var sortsNullsFirst: Bool { true }

    /// `LIMIT` for a query that has an offset only.
    var unlimited: String { "-1" }

    /// A decimal number kept as text, made comparable by number.
    func decimal(_ text: String) -> String { "\(text) COLLATE relata_decimal" }

    /// Where a text begins in another, counted from 1; 0 if it isn't there.
    func position(of part: String, in text: String) -> String { "instr(\(text), \(part))" }

    /// Microseconds since 1970 of a date column in any encoding, so that dates of two encodings can be compared.
    func microseconds(_ column: String, _ encoding: DateEncoding) -> String {
        switch encoding {
        case .microseconds: column
        case .seconds: "CAST(round(\(column) * 1000000.0) AS INTEGER)"
        case .iso8601:
            "(strftime('%s', substr(\(column), 1, 19)) * 1000000"
                + " + CAST(round(('0.' || substr(\(column), 21)) * 1000000) AS INTEGER))"
        }
    }

    /// A date, in microseconds since 1970, after so many calendar months.
    func adding(months: String, to microseconds: String) -> String { "relata_add_months(\(microseconds), \(months))" }

    /// A part of a date column in UTC, as an integer.
    func part(_ part: DatePart, of column: String, _ encoding: DateEncoding) -> String {
        // Whole seconds, rounded down: a date function given a fraction would round to the nearest millisecond, and
        // integer division rounds towards 1970.
        let date =
            switch encoding {
            case .microseconds: "\(column) / 1000000 - (\(column) % 1000000 < 0), 'unixepoch'"
            case .seconds: "CAST(\(column) AS INTEGER) - (\(column) < CAST(\(column) AS INTEGER)), 'unixepoch'"
            case .iso8601: "substr(\(column), 1, 19)"
            }
        return "CAST(strftime('\(part.format)', \(date)) AS INTEGER)"
    }
}

extension DatePart {
    /// SQLite's letter.
    fileprivate var format: String {
        switch self {
        case .year: "%Y"
        case .month: "%m"
        case .day: "%d"
        case .hour: "%H"
        case .minute: "%M"
        case .second: "%S"
        case .weekday: "%w"
        }
    }
}
