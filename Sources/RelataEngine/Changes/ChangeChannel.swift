import RelataCore

/// Notifies other processes of commits, and receives their notifications, for engines with writers in many processes
/// and machines.
package protocol ChangeChannel: AnyObject, Sendable {
    /// Starts or stops receiving the commits of others, depending on the current interest. Never call it while holding
    /// a lock.
    ///
    /// - Parameters:
    ///   - moment: Commits before it are known; `nil` if that can't be determined, so that everything counts as
    ///     changed.
    ///   - interest: The changes that observers need.
    func update(from moment: TransactionSnapshot?, _ interest: () -> ChangeInterest)
    /// Notifies others of a commit. Returns at once.
    func didCommit()
    /// Ends for good. Returns at once.
    func close()
}

/// A store's callbacks for commits of others.
package struct ChangeInterest: Equatable, Sendable {
    /// Whether it needs commits.
    package let isListening: Bool
    /// Whether it reads them in the change log, too.
    package let followsLog: Bool

    package init(isListening: Bool, followsLog: Bool) {
        self.isListening = isListening
        self.followsLog = followsLog
    }
}

/// The transactions whose changes a state of a database includes, on a server that numbers them as they begin to write.
package struct TransactionSnapshot: Hashable, Sendable {
    /// The oldest transaction that ran then: all before it had ended.
    package let oldest: Int64
    /// The first number that no transaction had yet.
    package let next: Int64
    /// The transactions between the two that were still running.
    package let running: Set<Int64>

    package init(oldest: Int64, next: Int64, running: Set<Int64>) {
        self.oldest = oldest
        self.next = next
        self.running = running
    }

    /// Whether a transaction had ended at that moment.
    package func sees(_ transaction: Int64) -> Bool {
        transaction < oldest || transaction < next && !running.contains(transaction)
    }
}

/// A transaction of another store.
package struct ExternalCommit: Hashable, Sendable {
    /// Its number.
    package let transaction: Int64
    /// The tables that it wrote; empty if they aren't known.
    package let tables: [String]
    /// Whether the change log holds it.
    package let isLogged: Bool

    package init(transaction: Int64, tables: [String], isLogged: Bool) {
        self.transaction = transaction
        self.tables = tables
        self.isLogged = isLogged
    }

    /// The tables and columns that it wrote.
    var writes: TableRegion {
        guard !tables.isEmpty else { return .everything }
        var region = TableRegion()
        for table in tables { region.add(rowsOf: table) }
        return region
    }
}
