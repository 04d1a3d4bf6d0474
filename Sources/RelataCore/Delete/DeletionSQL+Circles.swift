/// Rows that refer to each other in a circle.
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
    /// Whether doomed rows can be made to refer to nothing by a foreign key, or where it is required and leads to the same
    /// entity, to themselves. The key itself can't be turned: by it the rows are known. Nor does SQLite take a row for its
    /// own target where the columns' types differ.
    func isLoose(_ foreignKey: SchemaForeignKey) -> Bool {
        let keys = tables[foreignKey.source].keyColumnNames
        let canBeTurned = foreignKey.source == foreignKey.target && foreignKey.comparison == .equal
        return (!foreignKey.optionalColumns.isEmpty || canBeTurned)
            && !foreignKey.columns.contains { column in keys.contains { $0.isSameName(as: column) } }
    }
}
