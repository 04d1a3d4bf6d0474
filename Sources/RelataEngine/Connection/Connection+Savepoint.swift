import RelataCore

extension Connection {
    /// Runs `body` within the open transaction. If it throws, its changes are undone and the rest stays. The error
    /// reaches the caller.
    ///
    /// After some errors, such as a full disk, SQLite has rolled back the whole transaction: see ``isInTransaction``.
    package func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
        let mark = recorder?.mark()
        // A name for each depth, so that no savepoint is confused with an outer one.
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

    /// Runs a statement that SQLite may interrupt before or after its work. Then it is repeated, which is harmless for
    /// releasing a savepoint; it is too short to be interrupted twice.
    private func complete(_ statement: String) throws(RelataError) {
        do {
            try execute(SQLStatement(statement))
        } catch {
            guard error.isInterruption else { throw error }
            try? execute(SQLStatement(statement))
        }
    }
}
