extension DeletionConflict.Reason {
    /// The reason why rows that refer by a foreign key are a conflict, and the remedy.
    package func description(of key: SchemaForeignKey, in schema: Schema) -> String {
        let held = schema.tables[key.source].naming(key.columns)
        let pointed = schema.tables[key.target].naming(key.targetColumns)
        switch self {
        case .exceptions:
            return
                "SQLite compares \(held) with \(pointed) in one way and follows the foreign key in another, because their "
                + "types or collations differ: give both the same, or write these values in the same way"
        case .converted(let column):
            return "SQLite turns \(schema.tables[key.target].naming([column.name])) into a "
                + "\(column.isNumber ? "number" : "text") when it looks for rows that refer to it, and may find other rows: "
                + "give all columns that refer to it its type"
        case .sharedColumn(let number):
            let other = schema.foreignKeys[number]
            return
                "another foreign key to \(schema.tables[other.target].name) shares a column with this one, and "
                + "the result depends on which of them the database follows first: unset the reference first"
        case .unsetTarget(let number):
            let other = schema.foreignKeys[number]
            return "\(pointed), to which it refers, is unset where \(schema.tables[other.target].name) is "
                + "deleted: unset the reference first"
        }
    }
}

extension DeletionEdge {
    /// The reason why the edge denies, and the remedy, if it isn't a delete rule but the database's own action on the
    /// referring rows; `nil` for a rule.
    package func reason(in schema: Schema) -> String? {
        guard rule == .deny, case .referring(let number) = path else { return nil }
        let key = schema.foreignKeys[number]
        let source = schema.tables[key.source]
        switch key.unsupportedAction {
        case nil: return nil
        case .setsDefault:
            return "the database would give \(source.naming(key.unsetColumns)) its default (SET DEFAULT), which "
                + "isn't a delete rule: change the reference first"
        case .unsetsRequired:
            return
                "the database would unset \(source.naming(key.unsetColumns)) (SET NULL), which is required or a part "
                + "of the key: change the reference first"
        }
    }
}

extension Table {
    /// Columns of the table in a message.
    fileprivate func naming(_ columns: [String]) -> String { "\(sqlName).\(columns.joined(separator: ", "))" }
}
