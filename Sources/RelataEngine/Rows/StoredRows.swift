import RelataCore

extension Connection {
    /// The values of a stored object, in the order of ``Table/columns``; `nil` if it isn't stored, or hidden from the
    /// compiler's caller.
    package func row(_ key: KeyValue, of table: Table, _ compiler: QueryCompiler) throws(RelataError) -> [Value]? {
        if compiler.access.guards(table) { return try seenRows([key], of: table, compiler)[key] }
        let statement = SQLStatement(rowSQL.fetch(table), key.values.map(Parameter.value))
        return try values(statement, types: table.columns.map(\.type)).first
    }

    /// The values of stored objects, one for each key; `nil` for missing ones and those that are hidden from the
    /// compiler's caller.
    package func rows(
        _ keys: [KeyValue], of table: Table, _ compiler: QueryCompiler
    ) throws(RelataError) -> [[Value]?] {
        if compiler.access.guards(table) {
            let seen = try seenRows(keys, of: table, compiler)
            return keys.map { seen[$0] }
        }
        if keys.count < 2 || table.keyColumns.count >= KeyValue.maximumParts {
            return try keys.map { (key) throws(RelataError) in try row(key, of: table, compiler) }
        }
        let dialect = rowSQL.dialect
        let columns = table.columns.map { "t.\(dialect.quote($0.name))" }.joined(separator: ", ")
        let isSame = table.keyColumnNames.enumerated().map { "t.\(dialect.quote($1)) = v.c\($0 + 1)" }
        let sql =
            "SELECT v.c0, \(columns) FROM \(dialect.rows(ofParameter: 1, types: [.integer] + table.keyTypes)) AS v "
            + "CROSS JOIN \(dialect.quote(table.sqlName)) AS t WHERE \(isSame.joined(separator: " AND "))"
        let wanted = keys.enumerated().map { KeyValue([.integer(Int64($0))] + $1.values) }
        var found: [[Value]?] = Array(repeating: nil, count: keys.count)
        for row in try values(SQLStatement(sql, [.keys(wanted)]), types: [.integer] + table.columns.map(\.type)) {
            if case .integer(let place) = row[0] { found[Int(place)] = Array(row[1...]) }
        }
        return found
    }

    /// Whether an object is stored and the compiler's caller sees it.
    package func isSeen(_ key: KeyValue, of table: Table, _ compiler: QueryCompiler) throws(RelataError) -> Bool {
        guard compiler.access.guards(table) else { return try isStored(key, in: table) }
        return try value(compiler.keys(of: table.name, among: [key]).statement) != nil
    }

    /// The first of the keys whose object exists and is hidden from the compiler's caller.
    package func firstHidden(
        of keys: [KeyValue], in table: Table, _ compiler: QueryCompiler
    ) throws(RelataError) -> KeyValue? {
        guard compiler.access.guards(table) else { return nil }
        let query = try compiler.keys(of: table.name, among: keys)
        let seen = Set(try values(query.statement, types: query.columnTypes).map { KeyValue($0) })
        for key in keys where !seen.contains(key) {
            if try isStored(key, in: table) { return key }
        }
        return nil
    }

    private func seenRows(
        _ keys: [KeyValue], of table: Table, _ compiler: QueryCompiler
    ) throws(RelataError) -> [KeyValue: [Value]] {
        let condition = ExpressionNode.keyIn(.property(scope: 0, path: []), keys)
        let query = try compiler.select(QueryPlan(entity: table.name, condition: condition))
        var found: [KeyValue: [Value]] = [:]
        for row in try values(query.statement, types: query.columnTypes) {
            found[KeyValue(table.keyColumns.map { row[$0] })] = row
        }
        return found
    }
}
