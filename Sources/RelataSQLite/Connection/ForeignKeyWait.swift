import RelataCSQLite
import RelataCore

/// A time in which foreign keys aren't checked statement by statement.
package struct ForeignKeyWait {
    private let connection: Connection
    /// Whether they were waiting before, for the end of the transaction: then they go on doing so.
    private let isNested: Bool

    package init(on connection: Connection) throws(RelataError) {
        self.connection = connection
        // The pragma itself would be cached, and answer what held when it was compiled; as a table it is asked each time.
        isNested =
            try connection.value(SQLStatement("SELECT defer_foreign_keys FROM temp.pragma_defer_foreign_keys"))
            == .integer(1)
        if !isNested { try connection.execute("PRAGMA defer_foreign_keys = ON") }
    }

    /// Whether a reference dangles that must not when this time ends.
    package var hasDangling: Bool { !isNested && connection.hasDanglingReferences }

    /// Has them checked at once again, after a look at those that waited.
    func end() throws(RelataError) {
        if hasDangling {
            throw .database(
                code: 787, message: "a reference to a deleted object would dangle", sql: nil)
        }
        if !isNested { try connection.execute("PRAGMA defer_foreign_keys = OFF") }
    }

    /// Has them checked at once again. SQLite forgets those that waited: nothing dangles, or all is rolled back.
    package func cancel() {
        if !isNested { try? connection.execute("PRAGMA defer_foreign_keys = OFF") }
    }
}

extension Connection {
    /// Whether a reference dangles that is checked at the end of the transaction, which then can't be committed.
    var hasDanglingReferences: Bool {
        var count: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &count, &highest, 0)
        return count != 0
    }
}
