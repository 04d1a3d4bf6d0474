import RelataCore

/// A time in which foreign keys aren't checked statement by statement.
package struct ForeignKeyWait {
    private let connection: Connection
    /// Whether they were deferred before, to the end of the transaction: then they stay so.
    private let isNested: Bool

    package init(on connection: Connection) throws(RelataError) {
        self.connection = connection
        isNested = try connection.driver.referencesWait()
        if !isNested { try connection.driver.setReferencesWait(true) }
    }

    /// Whether a reference dangles that must not when this time ends.
    package var hasDangling: Bool { !isNested && connection.hasDanglingReferences }

    /// Whether a reference dangles that must not when the deferral ends. An engine that doesn't know checks all, which
    /// is the only way to ask a server: if none dangles, the deferral ends.
    package func findDangling() throws -> Bool {
        guard hasDangling, !connection.driver.capabilities.forgetsWaitingReferences else { return hasDangling }
        do {
            try connection.savepoint { try connection.driver.setReferencesWait(false) }
            return false
        } catch RelataError.database(ConstraintCode.foreignKey, _, _) {
            return true
        }
    }

    /// Ends the deferral, after a check of the deferred references.
    package func end() throws(RelataError) {
        // Other engines run the checks when the deferral ends.
        if connection.driver.capabilities.forgetsWaitingReferences, hasDangling {
            throw .database(
                code: 787, message: "a reference to a deleted object would dangle", sql: nil)
        }
        if !isNested { try connection.driver.setReferencesWait(false) }
    }

    /// Ends the deferral. SQLite drops deferred checks: no reference dangles, or the transaction is rolled back.
    package func cancel() {
        if !isNested { try? connection.driver.setReferencesWait(false) }
    }
}

extension Connection {
    /// Whether a reference dangles that is checked at the end of the transaction, which then can't be committed.
    var hasDanglingReferences: Bool { driver.hasDanglingReferences }

    /// Whether the database has a table of that name.
    package func hasTable(_ name: String) throws(RelataError) -> Bool { try driver.hasTable(name, self) }
}
