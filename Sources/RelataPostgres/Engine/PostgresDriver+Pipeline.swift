#if PostgreSQL
import RelataCore
import RelataEngine

/// Statements that are sent together, before the result of the first is read.
extension PostgresDriver {
    /// The first statement of a transaction also begins it, and may be prepared again if its table was altered.
    package var canSendTogether: Bool { session.transactionStatus == .open && !session.isBrief }

    package func send(_ statements: [RunningStatement]) throws(RelataError) {
        try run { (session) throws(PostgresFailure) in
            do throws(PostgresFailure) {
                for statement in statements {
                    try (statement.remoteStatement as? PostgresStatement)?.queue(on: session)
                }
                try session.sendQueued()
            } catch {
                // Those that were queued before have to be read.
                _ = try? session.sync()
                throw error
            }
        }
    }

    package func endSending() { session.endQueue() }
}
#endif
