import RelataCore

extension Connection {
    // SQLite regularly checks whether the task was cancelled, so it may do so within these statements too, before or
    // after they have done their work.

    /// Begins a transaction; no transaction is open if it throws.
    package func begin(_ statement: String? = nil) throws(RelataError) {
        let isInside = isInTransaction
        let statement = statement ?? dialect.beginReading
        if !isInside, !isClosed, driver.beginLater(statement) { return }
        do {
            try execute(SQLStatement(statement))
        } catch {
            if !isInside { endReading() }
            throw error
        }
    }

    /// Ends a transaction that only read, for certain.
    package func endReading() {
        guard isInTransaction else { return }
        try? driver.endCancellation()
        try? execute(SQLStatement("COMMIT"))
        if isInTransaction { try? execute(SQLStatement("ROLLBACK")) }
    }

    /// Commits. An interruption after everything is written isn't an error.
    package func commit() throws(RelataError) {
        try updateSearch()
        try driver.checkBeforeCommit()
        do {
            try execute(SQLStatement("COMMIT"))
        } catch {
            // Otherwise an interrupted statement is rolled back.
            guard driver.capabilities.commitsDespiteInterruption, error.isInterruption, !isInTransaction else {
                throw error
            }
        }
    }

    /// Runs `body` in a separate transaction.
    package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try begin(dialect.beginWriting)
        do {
            let result = try body()
            try commit()
            return result
        } catch {
            // Throws if SQLite has rolled back by itself, for example on a full disk.
            try? execute(SQLStatement("ROLLBACK"))
            throw error
        }
    }
}
