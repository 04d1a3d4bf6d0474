/// Rows that refer to each other in a cycle.
extension DeletionSQL {
    /// Finds a doomed row that refers to another doomed one by a foreign key.
    package func circle(_ foreignKey: SchemaForeignKey) -> SQLStatement {
        var builder = builder()
        var condition = isDoomed(foreignKey.target, &builder)
        let keys = key(of: foreignKey.source)
        condition += " AND \(dialect.tuple(keys, of: "o")) IN \(doomed(foreignKey.source, &builder))"
        if foreignKey.source == foreignKey.target {
            condition += " AND NOT (\(dialect.areSame(keys, of: "o", keys, of: "x")))"
        }
        return SQLStatement(
            "SELECT 1 FROM \(table(foreignKey.target)) AS x JOIN \(table(foreignKey.source)) AS o "
                + "ON \(refers("o", to: "x", foreignKey)) WHERE \(condition) LIMIT 1", builder.parameters)
    }
}

extension Schema {
    /// Whether a foreign key of doomed rows can be unset, or, if it is required and leads to the same entity, pointed
    /// at the rows themselves. The primary key can't be changed, because it identifies the rows. SQLite also doesn't
    /// accept a row as its own target if the columns' types differ.
    func isLoose(_ foreignKey: SchemaForeignKey) -> Bool {
        let keys = tables[foreignKey.source].keyColumnNames
        let canBeTurned = foreignKey.source == foreignKey.target && foreignKey.comparison == .equal
        return (!foreignKey.optionalColumns.isEmpty || canBeTurned)
            && !foreignKey.columns.contains { column in keys.contains { $0.isSameName(as: column) } }
    }
}
