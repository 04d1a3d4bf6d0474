import RelataCore

/// A ``Snapshot`` on a connection whose statements block: all that is done with it is done on the thread of that
/// connection, also its end, for which nobody waits.
@_documentation(visibility: internal)
package final class RemoteSnapshot: @unchecked Sendable {
    // Safe to send: what isn't Sendable is used on the connection's thread only, which does one thing after the other.
    private let pool: ConnectionPool
    private let readers: Leases
    private let leased: LeasedConnection
    private let executor: any TaskExecutor
    private var snapshot: Snapshot?
    private var isEnded = false
    /// Ends what was begun on the connection, such as a query.
    private var cleanUp: (() -> Void)?

    init(_ pool: ConnectionPool, _ readers: Leases, _ leased: LeasedConnection, _ executor: any TaskExecutor) {
        self.pool = pool
        self.readers = readers
        self.leased = leased
        self.executor = executor
    }

    /// Runs `body` on the connection's thread, inside the transaction. A task that is cancelled meanwhile stops the
    /// statement that runs. What throws ends the snapshot.
    ///
    /// - Parameter body: Gets the connection, and what it must have called when the snapshot ends, before it ends.
    package func perform<Result: Sendable>(
        _ body: @Sendable (Connection, _ atEnd: (@escaping () -> Void) -> Void) throws -> Result
    ) async throws -> Result {
        let canceller = leased.connection.driver.canceller
        return try await withTaskExecutorPreference(executor) {
            let result = await withTaskCancellationHandler {
                Swift.Result { try self.run(body) }
            } onCancel: {
                canceller?()
            }
            // Nobody can cancel any more.
            try? self.leased.connection.driver.endCancellation()
            if case .failure = result { self.endHere() }
            return try result.get()
        }
    }

    private func run<Result>(
        _ body: (Connection, (@escaping () -> Void) -> Void) throws -> Result
    ) throws -> Result {
        try pool.translatingInterrupts {
            guard !isEnded else { throw RelataError.closed("the rows were read to their end, or to an error") }
            if snapshot == nil {
                do {
                    snapshot = try Snapshot(readers, pool.engine, leased.connection)
                } catch {
                    // It has given the connection back.
                    isEnded = true
                    throw error
                }
            }
            return try body(leased.connection) { cleanUp = $0 }
        }
    }

    private func endHere() {
        if isEnded { return }
        isEnded = true
        cleanUp?()
        cleanUp = nil
        if let snapshot { snapshot.end() } else { readers.giveBack(leased.connection) }
    }

    /// Gives the connection back, on its thread: at once for a task that runs there, as within ``perform(_:)``, and later
    /// for all others.
    package func end() async { await withTaskExecutorPreference(executor) { self.endHere() } }

    /// As ``end()``, for code that can't wait.
    package func endLater() { Task(executorPreference: executor) { self.endHere() } }
}
