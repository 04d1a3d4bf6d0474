import RelataCore

/// The columns that a copy keeps, although no property declares them.
enum UndeclaredColumns {
    /// Finds those whose values a database of another dialect can hold, by the names of their tables.
    static func find(
        in source: Connection, _ schema: Schema, for dialect: Dialect
    ) throws -> [String: [UndeclaredColumn]] {
        let declared = Dictionary(
            SchemaDDL.tables(of: schema, dialect: source.dialect).map { ($0.name, $0) }
        ) { first, _ in first }
        var found: [String: [UndeclaredColumn]] = [:]
        for table in try Introspection.tables(of: source, hidesReserved: false) {
            guard let expected = declared[table.name] else { continue }
            for description in table.columns where expected.column(description.name) == nil {
                guard let column = UndeclaredColumn(description, in: source.dialect),
                    try fits(column, of: table.name, in: source, dialect)
                else { continue }
                found[table.name, default: []].append(column)
            }
        }
        return found
    }

    /// Whether all of its values can be copied. In a file, other programs may write values of any type: a column that
    /// nobody declares is no reason to refuse the copy.
    private static func fits(
        _ column: UndeclaredColumn, of table: String, in source: Connection, _ dialect: Dialect
    ) throws -> Bool {
        let sql = "SELECT \(source.dialect.quote(column.name)) FROM \(source.dialect.quote(table))"
        let cursor = try RowCursor(SQLStatement(sql), on: source, isStreamed: true)
        defer { cursor.close() }
        var count = 0
        while let row = try cursor.next() {
            if count % 1000 == 0 { try Task.checkCancellation() }
            count += 1
            let value = row.value(at: 0, as: column.type)
            guard CopiedTable.fitting(value, column.type, keepsIntegers: column.keepsIntegers, dialect) != nil else {
                return false
            }
        }
        return true
    }
}
