import RelataCore

/// Finds the stored rows with unique values that the rows of a batch need, with one statement.
struct UniqueHolders {
    /// A row of the batch that gets the values of a unique set.
    struct Claim {
        let row: Int
        /// The identity of the row: its key, or the values of an upsert; unset for a new one.
        let identity: [Value]
        /// Whether an existing row stays unchanged.
        let yields: Bool
        let values: [Value]
    }

    /// The claims on one unique set.
    struct Claims {
        let set: UniqueSet
        /// The columns of ``Claim/identity``.
        let identity: [Int]
        var claims: [Claim] = []
    }

    let table: Table

    /// The rows of the batch that need another row's values, with the set's number and the holder's key.
    func find(
        _ claims: [Claims], on connection: Connection
    ) throws(RelataError) -> [(set: Int, row: Int, holder: KeyValue)] {
        var parts: [String] = []
        var parameters: [Parameter] = []
        for (number, claims) in claims.enumerated() where !claims.claims.isEmpty {
            let width = 2 + claims.identity.count + claims.set.columns.count
            guard width <= KeyValue.maximumParts else { continue }
            parameters.append(
                .keys(
                    claims.claims.map {
                        KeyValue([.integer(Int64($0.row)), .integer($0.yields ? 1 : 0)] + $0.identity + $0.values)
                    }))
            parts.append(sql(claims, number, parameter: parameters.count, connection.dialect))
        }
        if parts.isEmpty { return [] }
        let statement = SQLStatement(parts.joined(separator: " UNION ALL "), parameters)
        let types = [.integer, .integer] + table.keyColumns.map { table.columns[$0].type as AttributeType? }
        return try connection.values(statement, types: types).compactMap { values in
            guard case .integer(let set) = values[0], case .integer(let row) = values[1] else { return nil }
            return (Int(set), Int(row), KeyValue(Array(values[2...])))
        }
    }

    private func sql(_ claims: Claims, _ number: Int, parameter: Int, _ dialect: Dialect) -> String {
        func name(_ column: Int) -> String { dialect.quote(table.columns[column].name) }
        let own = claims.identity.enumerated().map { (name($1), "v.c\(2 + $0)") }
        let wanted = claims.set.columns.enumerated().map { "t.\(name($1)) = v.c\(2 + own.count + $0)" }
        let isOwn = own.map { "t.\($0)\(dialect.isSame)\($1)" }.joined(separator: " AND ")
        let isStored = own.map { "s.\($0) = \($1)" }.joined(separator: " AND ")
        let keys = table.keyColumnNames.map { "t.\(dialect.quote($0))" }.joined(separator: ", ")
        let types = [.integer, .integer] + (claims.identity + claims.set.columns).map { table.columns[$0].boundType }
        // The values come first, and each finds its holder by the set's index.
        return "SELECT \(number), v.c0, \(keys) FROM \(dialect.rows(ofParameter: parameter, types: types)) AS v "
            + "CROSS JOIN \(dialect.quote(table.sqlName)) AS t "
            + "WHERE \(wanted.joined(separator: " AND ")) AND NOT (\(isOwn)) AND (v.c1 = 0 OR NOT EXISTS ("
            + "SELECT 1 FROM \(dialect.quote(table.sqlName)) AS s WHERE \(isStored)))"
    }
}
