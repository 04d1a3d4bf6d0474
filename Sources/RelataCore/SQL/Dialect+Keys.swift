/// Keys that the database assigns.
extension Dialect {
    /// What a new row gets in a column: of a key that is unset the next one. SQLite assigns it by itself.
    package func newValue(of table: Table, column: Int, _ value: String) -> String {
        guard self == .postgres, table.entity.isKeyAssigned, table.keyColumns == [column] else { return value }
        return "relata.key(\(SchemaDDL.literal(.text(quote(table.sqlName)))), "
            + "\(SchemaDDL.literal(.text(table.columns[column].name))), \(value)::bigint)"
    }

    /// Has an insertion tell the key that a row got, which the engine takes for itself. SQLite remembers it.
    package func tellingKey(of table: Table) -> String {
        guard self == .postgres, table.entity.isKeyAssigned, let key = table.keyColumns.first else { return "" }
        return " RETURNING \(quote(table.columns[key].name)) AS relata_assigned_key"
    }
}
