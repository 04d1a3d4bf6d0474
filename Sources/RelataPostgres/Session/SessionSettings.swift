#if PostgreSQL
import RelataCore

/// Timeouts of a session that the server enforces. `nil` keeps the server's setting; zero means no limit.
package struct SessionSettings: Hashable, Sendable {
    /// For a statement to end.
    package var statementTimeout: Duration?
    /// For a lock.
    package var lockTimeout: Duration?
    /// For the next statement of a transaction, after which the server closes the connection.
    package var idleInTransactionTimeout: Duration?

    /// Describes the waiting times of a session.
    package init(
        statementTimeout: Duration? = nil, lockTimeout: Duration? = nil, idleInTransactionTimeout: Duration? = nil
    ) {
        self.statementTimeout = statementTimeout
        self.lockTimeout = lockTimeout
        self.idleInTransactionTimeout = idleInTransactionTimeout
    }
}

extension SessionSettings {
    /// The names of the server's settings, with milliseconds.
    private var times: [(name: String, milliseconds: Int64)] {
        let times = [
            ("statement_timeout", statementTimeout), ("lock_timeout", lockTimeout),
            ("idle_in_transaction_session_timeout", idleInTransactionTimeout),
        ]
        return times.compactMap { name, time in time.map { (name, Self.milliseconds($0)) } }
    }

    /// Statements that apply the settings: to the session, or to the transaction that is open.
    func statements(isLocal: Bool) -> [String] {
        times.map { "SET \(isLocal ? "LOCAL " : "")\($0.name) = \($0.milliseconds)" }
    }

    /// Rounded up, because zero means no limit.
    private static func milliseconds(_ time: Duration) -> Int64 {
        let (seconds, rest) = time.components
        let milliseconds = min(max(seconds, 0), 2_000_000) * 1000
        return milliseconds + (rest + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}

extension Session {
    /// Applies settings, until they are changed or the connection is replaced. A session through a pooler has none: its
    /// transactions carry them.
    package func apply(_ settings: SessionSettings) throws(PostgresFailure) {
        let statements = settings.statements(isLocal: false)
        if !isPooled, !statements.isEmpty { try run(statements.joined(separator: "; ")) }
    }
}
#endif
