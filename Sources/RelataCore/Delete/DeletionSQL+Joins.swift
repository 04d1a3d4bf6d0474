/// The statements about join tables.
extension DeletionSQL {
    /// Selects the join rows of one side's doomed objects: the source's key, then the target's. Rows of doomed sources
    /// are deleted first; those of doomed targets are then the rest.
    package func joinRows(_ join: Join, atSource: Bool) -> SQLStatement {
        var builder = builder()
        let doomed = doomed(join.entity(isSource: atSource), &builder)
        let others = atSource || isEmpty(join.source) ? nil : self.doomed(join.source, &builder)
        if join.comparesAsDeclared {
            let rest = others.map { " AND (\(dialect.tuple(join.sourceColumns)) IN \($0)) IS NOT TRUE" } ?? ""
            return SQLStatement(
                "SELECT \(list(join.sourceColumns + join.targetColumns)) FROM \(schema.rows(of: join, dialect)) AS j "
                    + "WHERE \(dialect.tuple(join.columns(isSource: atSource).own)) IN \(doomed)\(rest)",
                builder.parameters)
        }
        // A row with a dangling source belongs to its target alone.
        let source = Self.row(schema.keys(of: join, isSource: true, dialect))
        let rest = others.map { " AND (\(source) IN \($0)) IS NOT TRUE" } ?? ""
        let keys = Self.row(schema.keys(of: join, isSource: atSource, dialect))
        return SQLStatement(
            schema.keysInRows(of: join, dialect) + " WHERE \(keys) IN \(doomed)\(rest)", builder.parameters)
    }

    /// Values in a comparison: a single one directly, several as a row.
    private static func row(_ values: [String]) -> String {
        values.count == 1 ? values[0] : "(\(values.joined(separator: ", ")))"
    }

    /// Deletes these rows. The statement returns their keys if the table stores them as the objects do.
    package func removal(of join: Join, atSource: Bool) -> SQLStatement {
        var builder = builder()
        let doomed = doomed(join.entity(isSource: atSource), &builder)
        let table = dialect.quote(join.table)
        if join.comparesAsDeclared {
            if let source = join.joinedFrom {
                let isDoomed = "\(dialect.tuple(join.columns(isSource: atSource).own, of: "j")) IN \(doomed)"
                return SQLStatement(
                    "DELETE FROM \(source.changed) USING \(source.rows) AS j WHERE \(source.isChanged("j")) AND \(isDoomed) "
                        + "RETURNING \(list(join.sourceColumns + join.targetColumns, "j"))", builder.parameters)
            }
            let condition = "\(dialect.tuple(join.columns(isSource: atSource).own)) IN \(doomed)"
            return SQLStatement(
                "DELETE FROM \(table) WHERE \(condition) RETURNING \(list(join.sourceColumns + join.targetColumns))",
                builder.parameters)
        }
        return SQLStatement(
            "DELETE FROM \(table) AS j WHERE \(isDoomed(join, atSource: atSource, doomed))", builder.parameters)
    }

    private func isDoomed(_ join: Join, atSource: Bool, _ doomed: String) -> String {
        let keys = Self.row(schema.keys(of: join, isSource: atSource, dialect))
        if join.comparison(isSource: atSource) == .equal { return "\(keys) IN \(doomed)" }
        return "EXISTS (SELECT 1 FROM \(schema.target(of: join, isSource: atSource, dialect)) "
            + "WHERE \(schema.refers(join, isSource: atSource, "j", dialect)) AND \(keys) IN \(doomed))"
    }

    /// Checks whether SQLite's own actions would delete join rows that refer to no doomed object, because its columns
    /// and the key have types that SQLite converts.
    package func strays(_ join: Join, atSource: Bool) -> SQLStatement {
        var builder = builder()
        let entity = join.entity(isSource: atSource)
        let isDoomed = isDoomed(entity, &builder)
        let (columns, keys) = (join.columns(isSource: atSource).own, key(of: entity))
        let isFound = zip(keys, columns).map {
            let (own, held) = ("x.\(dialect.quote($0))", "o.\(dialect.quote($1))")
            let forms = [own, "+" + own, "CAST(\(own) AS NUMERIC)", "CAST(\(own) AS TEXT)"]
            return "(" + forms.flatMap { ["\($0) = \(held)", "\($0) = +\(held)"] }.joined(separator: " OR ") + ")"
        }.joined(separator: " AND ")
        return SQLStatement(
            "SELECT 1 FROM \(table(entity)) AS x CROSS JOIN \(dialect.quote(join.table)) AS o "
                + "WHERE \(isDoomed) AND \(isFound) AND NOT (\(dialect.matches(keys, of: "x", columns, of: "o"))) LIMIT 1",
            builder.parameters)
    }
}
