extension DeletionConflict.Reason {
    /// Why rows that refer by a foreign key are a conflict, and the remedy.
    package func description(of key: SchemaForeignKey, in schema: Schema) -> String {
        let held = Self.names(key.columns, of: schema.tables[key.source])
        let pointed = Self.names(key.targetColumns, of: schema.tables[key.target])
        switch self {
        case .exceptions:
            return
                "SQLite compares \(held) with \(pointed) in one way and follows the foreign key in another, because their "
                + "types or collations differ: give both the same, or spell these values alike"
        case .converted(let column):
            return "SQLite turns \(Self.names([column.name], of: schema.tables[key.target])) into a "
                + "\(column.isNumber ? "number" : "text") when it looks for rows that refer to it, and may find other rows: "
                + "give all columns that refer to it its type"
        case .sharedColumn(let number):
            let other = schema.foreignKeys[number]
            return
                "another foreign key to \(schema.tables[other.target].name) has a column in common with this one, and "
                + "what is left depends on which of them the database follows first: unset the reference first"
        case .unsetTarget(let number):
            let other = schema.foreignKeys[number]
            return "\(pointed), to which it refers, is unset where \(schema.tables[other.target].name) goes: "
                + "unset the reference first"
        }
    }

    private static func names(_ columns: [String], of table: Table) -> String {
        "\(table.sqlName).\(columns.joined(separator: ", "))"
    }
}
