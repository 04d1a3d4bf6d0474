import Synchronization

/// What a task waits for a connection to do, and whoever holds the connection may do for it.
protocol SharedWork: Sendable {
    /// Does it within the open transaction; `false` where it must be done by itself. Then the transaction is as it was
    /// before, or over.
    func run(on connection: Connection) -> Bool
}

/// A write that may be done in one transaction with others.
final class SharedWrite<Result: Sendable>: SharedWork {
    private struct MustBeAlone: Error {}

    private let body: @Sendable (Connection) throws -> Result
    private let outcome = Mutex<Swift.Result<Result, any Error>>(.failure(MustBeAlone()))

    init(_ body: @escaping @Sendable (Connection) throws -> Result) { self.body = body }

    func run(on connection: Connection) -> Bool {
        let outcome = Swift.Result {
            try connection.savepoint {
                let result = try body(connection)
                // What waits to be checked would keep the others from being committed; and it may be the task that works
                // for this one that was cancelled, which the body may have taken for its own.
                if connection.hasDanglingReferences || Task.isCancelled { throw MustBeAlone() }
                return result
            }
        }
        if case .failure(let error) = outcome {
            guard connection.isInTransaction, !Task.isCancelled, !(error is MustBeAlone) else { return false }
        }
        self.outcome.withLock { $0 = outcome }
        return true
    }

    /// What became of it, once it was run.
    func result() throws -> Result { try outcome.withLock { $0 }.get() }
}
