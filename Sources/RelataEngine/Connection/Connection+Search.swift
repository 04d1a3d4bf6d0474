import RelataCore

/// Search indexes that the engine doesn't keep current by itself.
extension Connection {
    /// Brings the search indexes up to date with the rows that were written, by whichever program, within the open
    /// transaction. Where nothing is searched, nothing is done.
    package func updateSearch() throws(RelataError) {
        for index in try knownSearchIndexes() {
            try unlogged { () throws(RelataError) in
                guard try value(SQLStatement(index.question)) != nil else { return }
                for statement in index.update { try execute(SQLStatement(statement)) }
            }
        }
    }

    /// Brings the search indexes up to date within a transaction that writes, so that a query finds what that wrote.
    package func updateSearchIfWriting() throws(RelataError) {
        if needsTransaction { try updateSearch() }
    }

    /// The search indexes that there are. The database is asked once, and again after its tables were changed.
    @discardableResult
    func knownSearchIndexes() throws(RelataError) -> [SearchIndex] {
        if let searchIndexes { return searchIndexes }
        let indexes = try unlogged { () throws(RelataError) in try driver.searchIndexes(self) }
        searchIndexes = indexes
        return indexes
    }

    /// Nobody asks what is written to an index: who reads it reads the table.
    private func unlogged<Result>(_ body: () throws(RelataError) -> Result) throws(RelataError) -> Result {
        let outer = accesses
        accesses = nil
        defer { accesses = outer }
        return try body()
    }
}
