import RelataCore

extension Connection {
    /// The defaults of some columns that the database computes, for one new row; those of the others are left out.
    ///
    /// They are asked for before the row is written: whoever checks the row, or tells of it, sees the values that it gets.
    package func computedDefaults(of columns: some Sequence<Int>, in table: Table) throws(RelataError) -> [Int: Value] {
        let computed = columns.filter { table.columns[$0].defaultSQL != nil }
        guard !computed.isEmpty else { return [:] }
        // SQLite converts what is stored; a server computes a type of its own, and stores that of the column.
        let isSQLite = dialect == .sqlite
        let expressions = computed.compactMap { number -> String? in
            let column = table.columns[number]
            return column.defaultSQL.map { isSQLite ? "(\($0))" : "(\($0))::\(dialect.type(of: column.type))" }
        }
        let types = isSQLite ? [] : computed.map { table.columns[$0].type as AttributeType? }
        let row = try values(SQLStatement("SELECT " + expressions.joined(separator: ", ")), types: types).first ?? []
        return Dictionary(zip(computed, row)) { first, _ in first }
    }
}
