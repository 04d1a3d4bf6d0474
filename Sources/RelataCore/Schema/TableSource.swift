/// A table that another program made on a server, in the form in which statements read and change its rows.
///
/// Its columns may have types that no attribute has: they are read as text then. Names may differ in their case alone,
/// and schemas may have tables of one name: entities and attributes refer to tables and columns by labels, which are
/// the names if possible. The texts are SQL with quoted names.
package struct TableSource: Hashable, Sendable {
    /// The kind of a relation.
    package enum Kind: String, Hashable, Sendable {
        case table
        case partitionedTable = "partitioned table"
        case view
        case materializedView = "materialized view"
        case foreignTable = "foreign table"

        /// Whether its rows are its own.
        package var isTable: Bool { self == .table || self == .partitionedTable }
    }

    /// The kind of the relation.
    package let kind: Kind
    /// Its name, without its schema.
    package let name: String
    /// Its name with its schema: `sales.orders`.
    package let fullName: String
    /// Its rows as they are read, with the labels of its columns: a query in parentheses.
    package let rows: String
    /// The table as a statement names it that changes rows.
    package let table: String
    /// The columns by their labels.
    package let columns: [String: String]
    /// Further columns of ``rows``, by the labels of columns that refer to others by special rules of equality, such as
    /// texts in any case: they hold the value that is referred to, in its form.
    package var referring: [String: String] = [:]

    /// Describes a table. See the properties for the arguments.
    package init(
        kind: Kind, name: String, fullName: String, rows: String, table: String, columns: [String: String]
    ) {
        self.kind = kind
        self.name = name
        self.fullName = fullName
        self.rows = rows
        self.table = table
        self.columns = columns
    }

    /// The columns of ``rows`` with a row's location: its table, and its place there. Views have none.
    package static let placeColumns = (table: "relata_table", row: "relata_place")

    /// The table in a statement that changes rows which ``rows`` has found.
    var changed: String { "\(table) AS relata_row" }

    /// Whether the row to be changed is one of ``rows``.
    func isChanged(_ alias: String) -> String {
        "relata_row.ctid = \(alias).\(Self.placeColumns.row) AND relata_row.tableoid = \(alias).\(Self.placeColumns.table)"
    }
}

extension Table {
    /// The rows as a statement reads them.
    package func rows(_ dialect: Dialect) -> String { entity.source?.rows ?? dialect.quote(sqlName) }

    /// The table itself, with the database's own columns.
    package func stored(_ dialect: Dialect) -> String { entity.source?.table ?? dialect.quote(sqlName) }

    /// A column as a statement sets it.
    func storedColumn(_ name: String, _ dialect: Dialect) -> String {
        entity.source?.columns[name] ?? dialect.quote(name)
    }

    /// The columns of its rows that are compared with those that a foreign key refers to.
    func referring(_ columns: [String]) -> [String] {
        guard let source = entity.source, !source.referring.isEmpty else { return columns }
        return columns.map { source.referring[$0] ?? $0 }
    }

    /// The location of a row on a server: its table, and its place there.
    func place(_ alias: String) -> (table: String, row: String) {
        entity.source == nil
            ? ("\(alias).tableoid", "\(alias).ctid")
            : ("\(alias).\(TableSource.placeColumns.table)", "\(alias).\(TableSource.placeColumns.row)")
    }
}

/// A foreign key as the server compares it, regardless of the form in which its columns are read.
package struct NativeKey: Hashable, Sendable {
    /// The table that holds it.
    package let holder: String
    /// The table that it refers to.
    package let target: String
    /// The columns that hold it.
    package let columns: [String]
    /// Whether a row `o` of the holder refers to a row `r` of the target.
    package let condition: String

    /// Describes a foreign key. See the properties for the arguments.
    package init(holder: String, target: String, columns: [String], condition: String) {
        self.holder = holder
        self.target = target
        self.columns = columns
        self.condition = condition
    }

    /// The rows `o` that refer to nothing, behind `FROM`.
    package var dangling: String {
        "\(holder) AS o WHERE \(columns.map { "o.\($0) IS NOT NULL" }.joined(separator: " AND ")) "
            + "AND NOT EXISTS (SELECT 1 FROM \(target) AS r WHERE \(condition))"
    }
}
