import RelataCore

extension Connection {
    /// Runs `body` within the open transaction so that, if it throws, what it did is undone and the rest stays. What it
    /// threw reaches the caller.
    ///
    /// After some errors, such as a full disk, SQLite has taken the whole transaction back: ``isInTransaction`` says so.
    package func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
        let mark = recorder?.mark()
        // One name for all: that of the innermost is meant.
        try execute(SQLStatement("SAVEPOINT relata_savepoint"))
        do {
            let result = try body()
            try execute(SQLStatement("RELEASE relata_savepoint"))
            return result
        } catch {
            if let mark { recorder?.rollBack(to: mark) }
            if isInTransaction {
                try execute(SQLStatement("ROLLBACK TO relata_savepoint"))
                try execute(SQLStatement("RELEASE relata_savepoint"))
            }
            throw error
        }
    }
}
