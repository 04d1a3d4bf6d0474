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
            let columns = table.columns.filter { expected.column($0.name) == nil }.compactMap {
                UndeclaredColumn($0, in: source.dialect)
            }
            if !columns.isEmpty { found[table.name] = try fitting(columns, of: table.name, in: source, dialect) }
        }
        return found
    }

    /// The columns whose values can all be copied. In a file, other programs may write values of any type: a column that
    /// nobody declares is no reason to refuse the copy.
    private static func fitting(
        _ columns: [UndeclaredColumn], of table: String, in source: Connection, _ dialect: Dialect
    ) throws -> [UndeclaredColumn] {
        let sql = "SELECT \(source.dialect.list(columns.map(\.name))) FROM \(source.dialect.quote(table))"
        let cursor = try RowCursor(SQLStatement(sql), on: source, isStreamed: true)
        defer { cursor.close() }
        var fitting = Array(columns.indices)
        var count = 0
        while !fitting.isEmpty, let row = try cursor.next() {
            if count % 1000 == 0 { try Task.checkCancellation() }
            count += 1
            fitting.removeAll { place in
                let column = columns[place]
                let value = row.value(at: place, as: column.type)
                return CopiedTable.fitting(value, column.type, keepsIntegers: column.keepsIntegers, dialect) == nil
            }
        }
        return fitting.map { columns[$0] }
    }
}
