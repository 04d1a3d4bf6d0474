#if PostgreSQL
import RelataCore

/// How long a session waits, as the server is to watch over it. What is `nil` stays as the server has it; zero is for ever.
package struct SessionSettings: Hashable, Sendable {
    /// For a statement to end.
    package var statementTimeout: Duration?
    /// For a lock.
    package var lockTimeout: Duration?
    /// For the next statement of a transaction, after which the server closes the connection.
    package var idleInTransactionTimeout: Duration?

    /// Describes how long a session waits.
    package init(
        statementTimeout: Duration? = nil, lockTimeout: Duration? = nil, idleInTransactionTimeout: Duration? = nil
    ) {
        self.statementTimeout = statementTimeout
        self.lockTimeout = lockTimeout
        self.idleInTransactionTimeout = idleInTransactionTimeout
    }
}

extension Session {
    /// Applies settings, until they are changed or the connection is made anew.
    package func apply(_ settings: SessionSettings) throws(PostgresFailure) {
        let times = [
            ("statement_timeout", settings.statementTimeout), ("lock_timeout", settings.lockTimeout),
            ("idle_in_transaction_session_timeout", settings.idleInTransactionTimeout),
        ]
        for case (let name, let time?) in times {
            _ = try execute(
                SQLStatement(
                    "SELECT pg_catalog.set_config($1, $2, false)",
                    [.value(.text(name)), .value(.text(String(Self.milliseconds(time))))]))
        }
    }

    /// Rounded up: a moment isn't for ever.
    private static func milliseconds(_ time: Duration) -> Int64 {
        let (seconds, rest) = time.components
        let milliseconds = min(max(seconds, 0), 2_000_000) * 1000
        return milliseconds + (rest + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
#endif
