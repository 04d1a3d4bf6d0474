#if PostgreSQL
import RelataCPQ
import RelataCore
import Synchronization

/// Stops what a session does, from another thread, and never waits for the server.
///
/// The session's own thread tells the server, and tells it again while the statement goes on: a statement can't slip
/// through that was just about to begin, nor can a late request stop another one. Until ``Session/endCancellation()`` the
/// session begins no statement.
package final class Cancellation: Sendable {
    private let waker: Waker
    private let requested = Atomic<Bool>(false)

    init(_ waker: Waker) { self.waker = waker }

    /// Stops the statement that runs now, or the next one, and ends a wait for notifications.
    package func cancel() {
        requested.store(true, ordering: .sequentiallyConsistent)
        waker.wake()
    }

    /// Whether it was asked for since the last ``Session/endCancellation()``.
    package var isRequested: Bool { requested.load(ordering: .sequentiallyConsistent) }

    fileprivate func clear() {
        // Each call of a store comes here, and seldom one that was cancelled.
        if requested.exchange(false, ordering: .sequentiallyConsistent) { waker.drain() }
    }
}

extension Session {
    /// How long a statement may go on before the server is told once more to stop it.
    private static let patience = Duration.milliseconds(50)

    /// Forgets a cancellation: the session can be used again, such as to roll back.
    package func endCancellation() {
        cancellation.clear()
        cancelled = nil
    }

    /// The handle while nothing else goes on and nobody has asked to stop.
    func ready() throws(PostgresFailure) -> OpaquePointer {
        let handle = try idle()
        if cancellation.isRequested { throw PostgresFailure(.interrupted) }
        if isBrief { throw threadNeeded() }
        return handle
    }

    /// The next result of what was sent; `nil` after the last one.
    func nextResult(_ handle: OpaquePointer) -> OpaquePointer? {
        // What goes wrong is said by the result.
        while PQisBusy(handle) == 1 {
            if wait(for: handle), PQconsumeInput(handle) != 1 { break }
        }
        return PQgetResult(handle)
    }

    /// Waits until the server has sent something, or can be sent something if that is asked for. Stops its statement
    /// meanwhile if somebody asks for it.
    ///
    /// - Returns: Whether there is something to read.
    func wait(for handle: OpaquePointer, writing: Bool = false) -> Bool {
        guard cancellation.isRequested else {
            let isReadable = waker.wait(for: PQsocket(handle), writing: writing, until: nil)
            // Woken by a cancellation that was over when it came.
            if !isReadable, !writing, !cancellation.isRequested { waker.drain() }
            return isReadable
        }
        waker.drain()
        let now = ContinuousClock.now
        if cancelled.map({ now - $0 >= Self.patience }) ?? true {
            cancelled = now
            stopStatement(handle)
        }
        return waker.wait(for: PQsocket(handle), writing: writing, until: now + Self.patience)
    }

    /// Tells the server to stop the statement. When this returns the server has acted upon it: it can't stop a later one.
    func stopStatement(_ handle: OpaquePointer) {
        let cancel = PQgetCancel(handle)
        defer { PQfreeCancel(cancel) }
        var reason: [CChar] = Array(repeating: 0, count: 256)
        // If the server can't be reached the statement goes on, or the connection is found to be gone.
        PQcancel(cancel, &reason, Int32(reason.count))
    }
}
#endif
