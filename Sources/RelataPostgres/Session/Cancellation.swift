#if PostgreSQL
import RelataCPQ
import RelataCore
import Synchronization

/// Stops the statement of a session from another thread, and never waits for the server.
///
/// The session's own thread sends the cancellation, and repeats it while the statement runs. A statement that was just
/// about to begin can't slip through, and a late request can't stop another one. The session begins no statement until
/// ``Session/endCancellation()``.
package final class Cancellation: Sendable {
    private let waker: Waker
    private let requested = Atomic<Bool>(false)

    init(_ waker: Waker) { self.waker = waker }

    /// Stops the statement that runs now, or the next one, and ends a wait for notifications.
    package func cancel() {
        requested.store(true, ordering: .sequentiallyConsistent)
        waker.wake()
    }

    /// Whether a cancellation was requested since the last ``Session/endCancellation()``.
    package var isRequested: Bool { requested.load(ordering: .sequentiallyConsistent) }

    fileprivate func clear() {
        // Every call of a store comes here, and few of them were cancelled.
        if requested.exchange(false, ordering: .sequentiallyConsistent) { waker.drain() }
    }
}

extension Session {
    /// The time that a statement may run on before the cancellation is repeated.
    private static let patience = Duration.milliseconds(50)

    /// Clears a cancellation: the session can be used again, such as to roll back.
    package func endCancellation() {
        cancellation.clear()
        cancelled = nil
    }

    /// The handle while the session is idle and no cancellation is requested.
    func ready() throws(PostgresFailure) -> OpaquePointer {
        let handle = try idle()
        if cancellation.isRequested { throw PostgresFailure(.interrupted) }
        if isBrief { throw threadNeeded() }
        return handle
    }

    /// The next result of the sent statements; `nil` after the last one.
    func nextResult(_ handle: OpaquePointer) -> OpaquePointer? {
        // The result reports failures.
        while PQisBusy(handle) == 1 {
            if wait(for: handle), PQconsumeInput(handle) != 1 { break }
        }
        return PQgetResult(handle)
    }

    /// Waits until the server has sent something, or on request until it can receive something. Stops the statement if
    /// a cancellation is requested in the meantime.
    ///
    /// - Returns: Whether data can be read.
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

    /// Requests the server to stop the statement. When this returns, the server has acted on the request: it can't stop
    /// a later statement.
    func stopStatement(_ handle: OpaquePointer) {
        let cancel = PQgetCancel(handle)
        defer { PQfreeCancel(cancel) }
        var reason: [CChar] = Array(repeating: 0, count: 256)
        // If the server can't be reached, the statement runs on, or the connection turns out to be lost.
        PQcancel(cancel, &reason, Int32(reason.count))
    }
}
#endif
