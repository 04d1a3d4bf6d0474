import RelataCore

/// Rows that refer to each other in a circle, and rows that the schema doesn't know.
extension Deletion {
    /// Unsets references between doomed rows on a cycle, or turns them on the row itself, where they can be.
    func untie() throws(RelataError) {
        for number in graph.knots where !sql.isEmpty(schema.references[number].source) {
            if let statement = sql.untie(schema.references[number]) { try connection.execute(statement) }
        }
    }

    /// The error to throw for one of SQLite's: where a foreign key refuses what all rules allow, it stands in a table or
    /// column that the models don't declare, and is named.
    func explained(_ error: RelataError) -> RelataError {
        // SQLITE_CONSTRAINT_FOREIGNKEY, and SQLITE_CONSTRAINT_TRIGGER, which RESTRICT gives.
        guard case .database(let code, _, let sql) = error, code == 787 || code == 1811,
            let keys = try? connection.values(
                SQLStatement(
                    """
                    SELECT m.name, f."from", f."table" FROM sqlite_master AS m JOIN temp.pragma_foreign_key_list(m.name) AS f
                    WHERE m.type = 'table' AND f.on_delete IN ('NO ACTION', 'RESTRICT')
                    """))
        else { return error }
        var known: Set<[String]> = []
        for reference in schema.references {
            for column in reference.columns { known.insert(lowered(schema.tables[reference.source].sqlName, column)) }
        }
        for join in schema.joins {
            for column in join.sourceColumns + join.targetColumns { known.insert(lowered(join.table, column)) }
        }
        let losing = Dictionary(graph.order.map { (schema.tables[$0].sqlName.lowercased(), $0) }) { first, _ in first }
        let strangers = keys.compactMap { key -> String? in
            let (table, column, target) = (key[0].description, key[1].description, key[2].description)
            guard let entity = losing[target.lowercased()], !known.contains(lowered(table, column)) else { return nil }
            return "\(table).\(column) refers to \(schema.tables[entity].name)"
        }
        if strangers.isEmpty { return error }
        return .database(
            code: code,
            message: "\(report.entity) can't be deleted: \(strangers.joined(separator: ", ")), which the models don't "
                + "declare: delete these rows first, or declare the relationship", sql: sql)
    }

    private func lowered(_ table: String, _ column: String) -> [String] { [table.lowercased(), column.lowercased()] }
}
