/// The differences between the SQL of the engines. Everything else is written equally for all.
///
/// Functions that SQL itself lacks are named alike on every engine, and each engine provides them; see
/// ``function(_:)``.
package enum Dialect: Sendable {
    case sqlite
    /// PostgreSQL, version 15 or newer, with tables created by ``SchemaDDL``.
    case postgres

    /// A name as an identifier: in double quotes, those inside doubled.
    @inlinable
    package func quote(_ name: String) -> String {
        var sql = ""
        append(quoted: name, to: &sql)
        return sql
    }

    /// A name within a schema as an identifier: `"sales"."orders"`.
    package func quote(_ name: String, in schema: String) -> String { quote(schema) + "." + quote(name) }

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

    /// The condition that is always true. SQLite reads `TRUE` as a column of that name, if there is one.
    var always: String { self == .sqlite ? "1" : "TRUE" }
    /// The condition that never holds.
    var never: String { self == .sqlite ? "0" : "FALSE" }

    /// Whether tables are changed by altering them. SQLite rebuilds the table for most changes.
    package var altersTables: Bool { self == .postgres }

    /// The number of bytes a name may have; `nil` for no limit.
    var nameLimit: Int? { self == .postgres ? 63 : nil }

    /// Whether conditions have a boolean type, rather than being numbers.
    var hasBooleans: Bool { self == .postgres }

    /// Whether the columns of grouped rows must be written exactly as their grouping, and distinct rows are ordered
    /// only by their columns. SQLite takes the values of any row of a group.
    var isStrict: Bool { self == .postgres }

    /// Whether a step of a recursive query may name the rows found so far several times.
    var repeatsRecursion: Bool { self == .sqlite }

    /// Columns in a comparison: a single one directly, several as a row.
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

    /// Whether the columns of a foreign key refer to those of a row, by the collation and the affinity of the row's
    /// columns.
    ///
    /// The left side decides about the collation.
    package func matches(_ target: [String], of qualifier: String, _ source: [String], of other: String) -> String {
        zip(target, source).map { "\(qualifier).\(quote($0)) = \(unaffiliated("\(other).\(quote($1))"))" }
            .joined(separator: " AND ")
    }

    /// A column that is compared like a constant, which SQLite converts to the stored type of the other side. The sign
    /// removes its affinity.
    func unaffiliated(_ column: String) -> String { self == .sqlite ? "+" + column : column }

    /// A parameter by its number, which counts from 1.
    @inlinable
    package func parameter(_ number: Int) -> String { self == .sqlite ? "?\(number)" : "$\(number)" }

    /// The name of a function of Relata's. On PostgreSQL they live in a schema of that name.
    func function(_ name: String) -> String { (self == .sqlite ? "relata_" : "relata.") + name }

    /// The name of a table-valued function of SQLite's.
    ///
    /// SQLite looks for a table of that name before a function, and a file may have one. The schema `temp` has none:
    /// Relata creates no temporary tables.
    package func functionName(_ name: String) -> String { "temp.\(name)" }

    /// The rows of a table-valued function of SQLite's.
    package func tableFunction(_ name: String, _ arguments: String...) -> String {
        "\(functionName(name))(\(arguments.joined(separator: ", ")))"
    }

    /// The operator that holds for equal values and for two unset ones.
    @inlinable
    package var isSame: String { self == .sqlite ? " IS " : " IS NOT DISTINCT FROM " }

    /// The operator that holds for different values, an unset and a set one included.
    @inlinable
    package var isDifferent: String { self == .sqlite ? " IS NOT " : " IS DISTINCT FROM " }

    /// Whether `NULL` precedes every value by default in `ORDER BY`.
    @inlinable
    package var sortsNullsFirst: Bool { self == .sqlite }

    /// The hint after a table whose rows must be found in one way. PostgreSQL has none.
    func using(_ index: ForcedIndex) -> String {
        if self == .postgres { return "" }
        return switch index {
        case .named(let name): " INDEXED BY \(quote(name))"
        case .rowNumber: " NOT INDEXED"
        }
    }

    /// `LIMIT` for a query that has an offset only.
    var unlimited: String { self == .sqlite ? "-1" : "ALL" }

    /// The position of a text in another, counted from 1; 0 if it doesn't occur.
    func position(of part: String, in text: String) -> String {
        self == .sqlite ? "instr(\(text), \(part))" : "strpos(\(text), \(part))"
    }

    /// The collation that gives text the order of a locale.
    func collation(_ locale: TextLocale) -> String {
        quote(self == .sqlite ? locale.collation : locale.internationalCollation)
    }
}
