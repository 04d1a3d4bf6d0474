import RelataCore

extension Connection {
    /// The keys among some under which objects are stored, just as they are stored.
    ///
    /// SQLite compares a key by the affinity and the collation of its column: the text `'7'` finds the number 7 in a
    /// column of numbers, and `'ABC'` finds `'abc'` in one that folds the case.
    package func storedKeys(among keys: [KeyValue], of table: Table) throws(RelataError) -> Set<KeyValue> {
        let (dialect, names) = (rowSQL.dialect, table.keyColumnNames)
        let condition = names.enumerated().map {
            "\(dialect.quote($0.element)) = \(dialect.parameter($0.offset + 1, as: table.keyTypes[$0.offset]))"
        }.joined(separator: " AND ")
        let sql = "SELECT \(dialect.list(names)) FROM \(table.rows(dialect)) WHERE \(condition) LIMIT 2"
        var found: Set<KeyValue> = []
        for key in keys {
            let statement = SQLStatement(sql, key.values.map { .value($0) })
            for stored in try values(statement, types: table.keyTypes) {
                // In a text column, the number 7 is the text '7': the input 007 means neither.
                if zip(stored, key.values).contains(where: { $0.isText && $1.isNumber }) { continue }
                found.insert(KeyValue(stored))
            }
        }
        return found
    }
}

extension Value {
    fileprivate var isText: Bool { if case .text = self { true } else { false } }

    fileprivate var isNumber: Bool {
        switch self {
        case .integer, .real: true
        case .null, .text, .blob, .uuid: false
        }
    }
}
