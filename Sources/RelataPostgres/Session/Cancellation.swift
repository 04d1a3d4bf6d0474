#if PostgreSQL
import RelataCPQ
import RelataCore
import Synchronization

/// Stops what a session does, from another thread.
package final class Cancellation: Sendable {
    // libpq only reads it: PQcancel may be called from any thread, even from a signal handler.
    private nonisolated(unsafe) let handle: OpaquePointer?
    private let waker: Waker
    /// Whether it was asked for. Held while the server is told, so that ``Session/endCancellation()`` waits for that.
    private let requested = Mutex(false)

    init(_ connection: OpaquePointer, _ waker: Waker) {
        handle = PQgetCancel(connection)
        self.waker = waker
    }

    deinit { PQfreeCancel(handle) }

    /// Asks the server to stop the statement that runs now, if one does, and ends a wait for notifications. Blocks for as
    /// long as it takes to reach the server.
    ///
    /// - Returns: Whether the server was reached.
    @discardableResult
    package func cancel() -> Bool {
        requested.withLock { requested in
            requested = true
            waker.wake()
            var reason: [CChar] = Array(repeating: 0, count: 256)
            return PQcancel(handle, &reason, Int32(reason.count)) == 1
        }
    }

    /// Whether it was asked for since the last ``Session/endCancellation()``.
    package var isRequested: Bool { requested.withLock { $0 } }

    func clear() -> Bool {
        requested.withLock { requested in
            defer { requested = false }
            return requested
        }
    }
}

extension Session {
    /// Forgets a cancellation, so that it can't stop what the session does next.
    ///
    /// A statement may have ended by itself just when it was to be cancelled. The server has been told by now, but may
    /// not have acted upon it: an empty query takes the blow.
    package func endCancellation() throws(PostgresFailure) {
        guard cancellation.clear() else { return }
        waker.drain()
        let handle = try idle()
        PQclear(PQexec(handle, ""))
        if PQstatus(handle) != CONNECTION_OK { throw failure(nil) }
    }
}
#endif
