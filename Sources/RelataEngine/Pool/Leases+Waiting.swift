import Dispatch
import Synchronization

/// The tasks and threads that wait for a connection, and the results of their waits.
extension Leases {
    /// The result of a request for a connection.
    enum Handoff {
        case connection(LeasedConnection)
        /// The right to open one.
        case open
        case closed
        /// Nothing: it has waited for too long.
        case exhausted

        var leased: LeasedConnection? { if case .connection(let leased) = self { leased } else { nil } }
    }

    /// A request that waits.
    enum Waiter {
        case task(TaskWait)
        case thread(ThreadWait)

        /// The end of the wait; `nil` for no limit.
        var deadline: ContinuousClock.Instant? {
            switch self {
            case .task(let waiting): waiting.deadline
            case .thread(let wait): wait.deadline
            }
        }

        func resume(_ handoff: Handoff) {
            switch self {
            case .task(let waiting): waiting.continuation.resume(returning: handoff)
            case .thread(let wait): wait.signal(handoff)
            }
        }
    }

    /// A task that waits.
    struct TaskWait {
        let id: Int
        let deadline: ContinuousClock.Instant?
        /// Gets `nil` if its work is done.
        let continuation: CheckedContinuation<Handoff?, any Error>
        /// The work that the holder of a connection may do for the waiting task.
        var work: (any SharedWork)?

        /// Resumes the task, whose work is done.
        func finish() { continuation.resume(returning: nil) }
    }

    /// A blocked thread of code without `async`.
    final class ThreadWait: Sendable {
        let deadline: ContinuousClock.Instant?
        private let semaphore = DispatchSemaphore(value: 0)
        private let handoff = Mutex<Handoff>(.closed)

        init(deadline: ContinuousClock.Instant?) { self.deadline = deadline }

        func signal(_ handoff: Handoff) {
            self.handoff.withLock { $0 = handoff }
            semaphore.signal()
        }

        func wait() -> Handoff {
            semaphore.wait()
            return handoff.withLock { $0 }
        }
    }
}
