// Rows as plain dictionaries: for tables, exports and other code that doesn't know the models.

extension ReadTransaction {
    /// The rows of a query by the names of their columns, each value as it is stored.
    ///
    /// ```swift
    /// for row in try tx.dictionaries(Note.where { $0.title.hasPrefix("A") }) { print(row["title"] ?? .null) }
    /// ```
    ///
    /// Every column is in each dictionary; one that is unset holds ``Value/null``.
    public func dictionaries<M: Model>(_ query: Query<M>) throws -> [[String: Value]] {
        let compiled = try compiler.select(try plan(query))
        let names = try catalog.table(M.self).columns.map(\.name)
        return try connection.values(compiled.statement, types: compiled.columnTypes).map { values in
            Dictionary(zip(names, values), uniquingKeysWith: { first, _ in first })
        }
    }
}

extension Store {
    /// The rows of a query by the names of their columns, each value as it is stored.
    public func dictionaries<M: Model>(_ query: Query<M>) async throws -> [[String: Value]] {
        try await pool.read { try ReadTransaction($0, self.catalog).dictionaries(query) }
    }

    /// The rows of a query by the names of their columns, each value as it is stored.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func dictionaries<M: Model>(_ query: Query<M>) throws -> [[String: Value]] {
        try pool.read { try ReadTransaction($0, catalog).dictionaries(query) }
    }
}
