/// The statements about foreign keys that the schema doesn't know.
extension DeletionSQL {
    /// Checks whether a row that isn't doomed refers to a doomed one by a foreign key that the schema doesn't know.
    package func referrers(
        in referring: String, _ columns: [String], to entity: Int, _ targetColumns: [String]
    ) -> SQLStatement {
        var builder = builder()
        let isDoomed = isDoomed(entity, &builder)
        var condition = "\(dialect.matches(targetColumns, of: "x", columns, of: "o")) AND \(isDoomed)"
        if let source = schema.tables.first(where: { $0.sqlName.isSameName(as: referring) }), !isEmpty(source.index) {
            condition += " AND " + stays("o", of: source.index, &builder)
        }
        return SQLStatement(
            "SELECT 1 FROM \(dialect.quote(referring)) AS o JOIN \(table(entity)) AS x ON \(condition) LIMIT 1",
            builder.parameters)
    }

    /// The condition for a foreign key of a server's table, with the server's comparison.
    ///
    /// - Parameter referring: The entity of the rows with the key, if there is one.
    package func referrers(by key: NativeKey, of referring: Int?, to entity: Int) -> SQLStatement {
        var builder = builder()
        let isDoomed = isDoomed(entity, &builder)
        let place = schema.tables[entity].place("x")
        var condition = isDoomed
        if let referring, !isEmpty(referring) {
            let own = schema.tables[referring].place("s")
            let keys = dialect.tuple(self.key(of: referring), of: "s")
            condition +=
                " AND NOT EXISTS (SELECT 1 FROM \(table(referring)) AS s WHERE \(own.table) = o.tableoid "
                + "AND \(own.row) = o.ctid AND \(keys) IN \(doomed(referring, &builder)))"
        }
        return SQLStatement(
            "SELECT 1 FROM \(key.holder) AS o JOIN \(key.target) AS r ON \(key.condition) "
                + "JOIN \(table(entity)) AS x ON \(place.table) = r.tableoid AND \(place.row) = r.ctid "
                + "WHERE \(condition) LIMIT 1", builder.parameters)
    }
}
