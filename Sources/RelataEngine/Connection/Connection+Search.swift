import RelataCore

/// Search indexes that the engine doesn't update by itself.
extension Connection {
    /// Updates the search indexes with the rows written by any program, within the open transaction. Does nothing
    /// without a search.
    package func updateSearch() throws(RelataError) {
        for index in try knownSearchIndexes() {
            try unlogged { () throws(RelataError) in
                guard try value(SQLStatement(index.question)) != nil else { return }
                for statement in index.update { try execute(SQLStatement(statement)) }
            }
        }
    }

    /// Updates the search indexes within a transaction that writes, so that a query finds its rows.
    package func updateSearchIfWriting() throws(RelataError) {
        if needsTransaction { try updateSearch() }
    }

    /// The existing search indexes. The database is queried once, and again after its tables were changed.
    @discardableResult
    func knownSearchIndexes() throws(RelataError) -> [SearchIndex] {
        if let searchIndexes { return searchIndexes }
        let indexes = try unlogged { () throws(RelataError) in try driver.searchIndexes(self) }
        searchIndexes = indexes
        return indexes
    }

    /// Writes to an index needn't be recorded: its readers also read the table.
    private func unlogged<Result>(_ body: () throws(RelataError) -> Result) throws(RelataError) -> Result {
        let outer = accesses
        accesses = nil
        defer { accesses = outer }
        return try body()
    }
}
