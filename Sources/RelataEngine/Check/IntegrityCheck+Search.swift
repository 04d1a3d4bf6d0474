import RelataCore

/// Checks of search indexes against the rows whose words they contain.
extension IntegrityCheck {
    mutating func checkSearch(of table: Table) throws(RelataError) {
        guard let index = SearchIndex(table) else { return }
        let fix = "rebuild it with rebuildSearch()"
        let isThere = DataQuestion.hasSearch(index).query(dialect)
        guard try connection.value(SQLStatement(isThere)) != nil else {
            return add(
                .search, table.name, 1, "the index of its search is missing, or belongs to another search", fix: fix)
        }
        // On other engines, the database computes the words.
        guard dialect == .sqlite else { return }
        let others = try connection.value(SQLStatement(index.question)) != nil
        let (count, samples) = try list(index.missing, keyTypes(table)) { object($0, table) }
        if count > 0 {
            add(
                .search, table.name, count,
                "the search doesn't find, or finds by outdated words, \(count) \(count == 1 ? "object" : "objects") "
                    + "(\(sampled(samples, of: count)))",
                fix: others ? "another program wrote them: any save adds them to the index" : fix)
        }
        if case .integer(let excess)? = try connection.value(SQLStatement(index.excess)), excess > 0, !others {
            add(
                .search, table.name, Int(excess),
                "the search holds words of \(excess) \(excess == 1 ? "object" : "objects") that \(excess == 1 ? "is" : "are") "
                    + "gone", fix: fix)
        }
    }
}

extension Connection {
    /// Rebuilds the search indexes of a schema, with the words of all rows, within the open transaction.
    ///
    /// - Returns: The names of the entities.
    @discardableResult
    package func rebuildSearch(_ schema: Schema) throws(RelataError) -> [String] {
        var names: [String] = []
        for table in schema.tables {
            guard let index = SearchIndex(table) else { continue }
            for statement in index.removal(dialect) + index.creation(dialect) + index.filling(dialect) {
                try execute(statement)
            }
            names.append(table.name)
        }
        clearStatements()
        return names
    }
}
