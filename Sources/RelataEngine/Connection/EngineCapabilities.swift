/// What engines do differently where that isn't a matter of their SQL. The defaults are those of an engine that runs within
/// the process: SQLite.
package struct EngineCapabilities: Sendable {
    // MARK: Writing

    /// How many rows one statement takes as lists, a list for each column; 1 where each row is stepped by itself.
    package var rowsTogether = 1
    /// From how many new rows on they are copied into their table.
    package var rowsCopied = Int.max
    /// Whether the keys that the database assigns to the rows of one statement follow one another.
    package var assignsConsecutiveKeys = true
    /// Whether a deletion returns the keys of what it deletes faster than a query finds them before.
    package var returnsDeletedKeys = false
    /// Whether a cascade of its own takes less time than to delete the rows that refer first, and then to have it look for
    /// some that are left.
    package var cascadesFaster = false
    /// Whether it counts the rows that triggers and foreign keys change.
    package var countsActions = true
    /// Whether it says that the disk is full where a table has no key left to assign.
    package var takesUsedUpKeysForFullDisk = true

    // MARK: Transactions

    /// Whether a transaction goes on, and answers queries, after one of its statements failed.
    package var survivesErrors = true
    /// Whether a commit that is interrupted may have been done.
    package var commitsDespiteInterruption = true
    /// Whether an index can be made for the time of a deletion without keeping others from its table.
    package var makesTemporaryIndexes = true
    /// Whether it forgets references that waited to be checked, instead of checking them when they are to wait no longer.
    package var forgetsWaitingReferences = true

    /// The capabilities of an engine within the process.
    package init() {}
}
