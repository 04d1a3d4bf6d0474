/// Keys that the database assigns.
extension Dialect {
    /// The value of a new row's column: for an unset key the next one. SQLite assigns it automatically.
    package func newValue(of table: Table, column: Int, _ value: String) -> String {
        guard self == .postgres, table.entity.isKeyAssigned, table.keyColumns == [column] else { return value }
        return "relata.key(\(SchemaDDL.literal(.text(quote(table.sqlName)))), "
            + "\(SchemaDDL.literal(.text(table.columns[column].name))), \(value)::bigint)"
    }

    /// Makes an insertion return the assigned key, for the engine itself. SQLite remembers it.
    package func tellingKey(of table: Table) -> String {
        guard self == .postgres, table.entity.isKeyAssigned, let key = table.keyColumns.first else { return "" }
        return " RETURNING \(quote(table.columns[key].name)) AS relata_assigned_key"
    }
}
