#if PostgreSQL
import RelataCore
import RelataEngine

/// Transactions that begin and end together with their statements, which saves round trips.
extension PostgresDriver {
    /// The statements that begin the transaction, for a caller that sends them with another statement; empty if the
    /// transaction has begun on the server.
    func takeBeginning() -> [String] {
        guard let first = beginning.first else { return [] }
        defer { beginning = [] }
        trace?(first, .zero)
        return beginning
    }

    /// The statements to send before and after another. Through a pooler, a transaction carries the settings that the
    /// session can't keep, so a statement outside of a transaction gets one.
    func surroundings() -> (before: [String], after: [String]) {
        let before = takeBeginning()
        guard session.isPooled, before.isEmpty, session.transactionStatus == .idle else { return (before, []) }
        return (opening("BEGIN"), ["COMMIT"])
    }

    /// Begins the transaction on the server, before a command that can't be sent together with its beginning.
    func tellBeginning() throws(RelataError) {
        let beginning = takeBeginning()
        if beginning.isEmpty { return }
        _ = try run { (session) throws(PostgresFailure) in try session.run(beginning.joined(separator: "; ")) }
    }

    /// Whether a statement ends a transaction that hasn't begun on the server, so that nothing needs to be done.
    func endsUntold(_ sql: String) -> Bool {
        guard !beginning.isEmpty, ["COMMIT", "ROLLBACK"].contains(sql) else { return false }
        beginning = []
        return true
    }

    // MARK: A whole transaction

    package func commitWithNextStatement(_ willCommit: (() throws -> Void)?) { earlyCommit = willCommit }

    /// Prepares the commit, if the next statement is sent together with it and with the beginning.
    ///
    /// - Returns: The statements to send before it and after it; `nil` if it is sent as usual.
    func prepareEarlyCommit() throws(RelataError) -> (before: [String], last: OwnStatement?)? {
        guard let willCommit = earlyCommit, !beginning.isEmpty else { return nil }
        earlyCommit = nil
        // Statements that the commit adds must not begin the transaction.
        let opening = beginning
        beginning = []
        do {
            try willCommit()
        } catch {
            beginning = opening
            throw error as? RelataError ?? .database(code: 0, message: "\(error)", sql: nil)
        }
        isCommitting = true
        if let first = opening.first { trace?(first, .zero) }
        defer { lastStatement = nil }
        return (opening, lastStatement)
    }

    /// Begins the transaction again, because the server has done nothing.
    func beginAgain(_ opening: [String]) { (beginning, isCommitting) = (opening, false) }

    /// Records that the transaction was committed together with its statement. If that has changed no row, another one
    /// begins.
    func didCommitEarly(_ opening: [String], changedRows: Bool) {
        trace?("COMMIT", .zero)
        didCommit()
        (isCommitting, hasCommittedEarly) = (false, changedRows)
        if !changedRows { beginning = opening }
    }
}
#endif
