import RelataCore

extension Connection {
    /// Runs `body` within the open transaction so that, if it throws, what it did is undone and the rest stays. What it
    /// threw reaches the caller.
    ///
    /// After some errors, such as a full disk, SQLite has taken the whole transaction back: ``isInTransaction`` says so.
    package func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
        let mark = recorder?.mark()
        // A name for each depth, so that none is ever taken for the one around it.
        let name = "relata_savepoint_\(savepointDepth)"
        savepointDepth += 1
        defer { savepointDepth -= 1 }
        try execute(SQLStatement("SAVEPOINT " + name))
        do {
            let result = try body()
            try complete("RELEASE " + name)
            return result
        } catch {
            if let mark { recorder?.rollBack(to: mark) }
            if isInTransaction {
                try complete("ROLLBACK TO " + name)
                try complete("RELEASE " + name)
            }
            throw error
        }
    }

    /// Runs a statement that SQLite may interrupt before or after it has done its work. Then it is run again, of which a
    /// savepoint that is released already knows nothing; it is too short to be interrupted twice.
    private func complete(_ statement: String) throws(RelataError) {
        do {
            try execute(SQLStatement(statement))
        } catch {
            guard error.isInterruption else { throw error }
            try? execute(SQLStatement(statement))
        }
    }
}
