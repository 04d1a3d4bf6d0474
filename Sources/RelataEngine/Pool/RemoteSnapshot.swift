import RelataCore

/// A ``Snapshot`` on a connection whose statements block: all its work runs on the thread of that connection, including
/// its end, which isn't awaited.
@_documentation(visibility: internal)
package final class RemoteSnapshot: @unchecked Sendable {
    // Safe to send: the parts that aren't Sendable are only used on the connection's thread, one after the other.
    private let pool: ConnectionPool
    private let readers: Leases
    private let leased: LeasedConnection
    private let executor: any TaskExecutor
    private var snapshot: Snapshot?
    private var isEnded = false
    /// Ends open work on the connection, such as a query.
    private var cleanUp: (() -> Void)?

    init(_ pool: ConnectionPool, _ readers: Leases, _ leased: LeasedConnection, _ executor: any TaskExecutor) {
        self.pool = pool
        self.readers = readers
        self.leased = leased
        self.executor = executor
    }

    /// Runs `body` on the connection's thread, inside the transaction. Cancelling the task stops the running statement.
    /// An error ends the snapshot.
    ///
    /// - Parameter body: Gets the connection, and registers calls for the end of the snapshot.
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
            // No caller can cancel any more.
            try? self.leased.connection.driver.endCancellation()
            if case .failure = result { self.endHere() }
            return try result.get()
        }
    }

    private func run<Result>(
        _ body: (Connection, (@escaping () -> Void) -> Void) throws -> Result
    ) throws -> Result {
        try translatingInterrupts {
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

    /// Returns the connection, on its thread: at once for a task that runs there, as within ``perform(_:)``, and later
    /// for all others.
    package func end() async { await withTaskExecutorPreference(executor) { self.endHere() } }

    /// As ``end()``, for code that can't wait.
    package func endLater() { Task(executorPreference: executor) { self.endHere() } }
}
