import RelataCore

extension Connection {
    /// Runs `body`, which runs the only statement of the transaction, and no other if it changes a row: an engine may send
    /// it together with the commit.
    package func withOnlyStatement<Result>(_ body: () throws -> Result) rethrows -> Result {
        // An engine that does so updates its search indexes by itself.
        guard let earlyCommit, searchIndexes?.isEmpty != false else { return try body() }
        driver.commitWithNextStatement(earlyCommit)
        defer { driver.commitWithNextStatement(nil) }
        return try body()
    }
}
