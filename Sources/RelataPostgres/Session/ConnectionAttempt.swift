#if PostgreSQL
import Dispatch
import Foundation
import RelataCPQ
import RelataCore
import Synchronization

/// An attempt to connect, on a separate thread: libpq can't end it early, and a cancelled task doesn't wait for it.
private final class ConnectionAttempt: Sendable {
    /// Safe to send: the thread that connects doesn't use it any more.
    private struct Handle: @unchecked Sendable {
        let pointer: OpaquePointer?
    }

    private struct State {
        var handle: Handle?
        var isAbandoned = false
    }

    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)

    /// Passes on the handle, or closes it if nobody waits any more.
    func end(_ pointer: OpaquePointer?) {
        let handle = Handle(pointer: pointer)
        let isAbandoned = state.withLock { state in
            if !state.isAbandoned { state.handle = handle }
            return state.isAbandoned
        }
        if isAbandoned { PQfinish(pointer) }
        ended.signal()
    }

    /// Waits until the attempt ends, or until the time is over; returns whether it has ended.
    func wait(for time: DispatchTimeInterval) -> Bool { ended.wait(timeout: .now() + time) == .success }

    /// Has the handle closed once there is one.
    func abandon() {
        let handle = state.withLock { state in
            state.isAbandoned = true
            defer { state.handle = nil }
            return state.handle
        }
        if let handle { PQfinish(handle.pointer) }
    }

    /// The handle, after the attempt has ended; `nil` if memory is exhausted.
    var pointer: OpaquePointer? { state.withLock { $0.handle }?.pointer }
}

extension PostgresURL {
    /// The time within which a cancellation is noticed.
    private static let patience = DispatchTimeInterval.milliseconds(50)

    /// As ``connect()``, until the task is cancelled.
    func connectUnlessCancelled() throws(PostgresFailure) -> OpaquePointer? {
        // Code without a task can't be cancelled.
        guard withUnsafeCurrentTask(body: { $0 != nil }) else { return connect() }
        let attempt = ConnectionAttempt()
        Thread { attempt.end(self.connect()) }.start()
        while !attempt.wait(for: Self.patience) {
            guard Task.isCancelled else { continue }
            attempt.abandon()
            throw PostgresFailure(.interrupted)
        }
        return attempt.pointer
    }
}
#endif
