/// Differences between engines besides their SQL. The defaults are those of an engine within the process: SQLite.
package struct EngineCapabilities: Sendable {
    // MARK: Writing

    /// The number of rows one statement takes as lists, a list for each column; 1 if each row is stepped separately.
    package var rowsTogether = 1
    /// The number of new rows from which on they are copied into their table.
    package var rowsCopied = Int.max
    /// Whether the keys that the database assigns to the rows of one statement follow one another.
    package var assignsConsecutiveKeys = true
    /// Whether returning the keys of deleted rows is faster than querying them first.
    package var returnsDeletedKeys = false
    /// Whether a native cascade is faster than deleting the referring rows first.
    package var cascadesFaster = false
    /// Whether it counts the rows that triggers and foreign keys change.
    package var countsActions = true
    /// Whether a table without free keys reports a full disk.
    package var takesUsedUpKeysForFullDisk = true

    // MARK: Reading

    /// Whether sending several statements at once saves time: each waits for a server.
    package var sendsTogether = false

    // MARK: Transactions

    /// Whether a transaction continues, and answers queries, after a failed statement.
    package var survivesErrors = true
    /// Whether a commit that is interrupted may have been done.
    package var commitsDespiteInterruption = true
    /// Whether a temporary index for a deletion can be created without locking others out.
    package var makesTemporaryIndexes = true
    /// Whether ending the deferral of reference checks drops the waiting checks instead of running them.
    package var forgetsWaitingReferences = true

    /// The capabilities of an engine within the process.
    package init() {}
}
