import RelataCore

extension Connection {
    /// The defaults of some columns that the database computes, for one new row, without those of other columns.
    ///
    /// They are computed before the row is written, so that checks and reports of the row see its values.
    package func computedDefaults(of columns: some Sequence<Int>, in table: Table) throws(RelataError) -> [Int: Value] {
        let computed = columns.filter { table.columns[$0].defaultSQL != nil }
        guard !computed.isEmpty else { return [:] }
        // SQLite converts values when it stores them; a server's computed value has a type, and is stored with the type
        // of the column.
        let isSQLite = dialect == .sqlite
        let expressions = computed.compactMap { number -> String? in
            let column = table.columns[number]
            return column.defaultSQL.map { isSQLite ? "(\($0))" : "(\($0))::\(dialect.type(of: column))" }
        }
        let types = isSQLite ? [] : computed.map { table.columns[$0].type as AttributeType? }
        let row = try values(SQLStatement("SELECT " + expressions.joined(separator: ", ")), types: types).first ?? []
        return Dictionary(zip(computed, row)) { first, _ in first }
    }
}
