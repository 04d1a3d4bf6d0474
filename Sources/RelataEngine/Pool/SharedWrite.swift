import Synchronization

/// Work that a task waits to do on a connection, and that the holder of the connection may do for it.
protocol SharedWork: Sendable {
    /// Does it within the open transaction; `false` if it must be done separately. Then the transaction is as it was
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
                // Deferred checks would prevent the commit of the others. And if the task was cancelled, it may be
                // another call's task, on which this call runs and which its body may have mistaken for its own.
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

    /// The result, once it was run.
    func result() throws -> Result { try outcome.withLock { $0 }.get() }
}
