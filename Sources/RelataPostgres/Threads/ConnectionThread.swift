#if PostgreSQL
import Foundation

/// A thread that runs tasks which block, one job after the other, so that none of Swift's own threads waits for a server:
///
///     try await withTaskExecutorPreference(thread) { try session.run("COMMIT") }
///
/// The thread ends when the object is released and its jobs are done.
package final class ConnectionThread: TaskExecutor {
    private let queue = Queue()

    /// Starts a thread.
    ///
    /// - Parameter name: What debuggers and `top` call it.
    package init(name: String = "relata") {
        let queue = queue
        Thread { queue.run(name) }.start()
    }

    deinit { queue.stop() }

    /// Has the thread run a job after those that it was given before.
    package func enqueue(_ job: consuming ExecutorJob) { queue.add(UnownedJob(job), of: self) }

    /// The jobs that wait. The thread holds this, not the executor, which would never be released otherwise.
    private final class Queue: Sendable {
        private struct State {
            /// A job keeps its executor until it is done.
            var jobs: [(job: UnownedJob, executor: ConnectionThread)] = []
            var isStopped = false
        }

        private let condition = NSCondition()
        // Only used while the condition is locked.
        private nonisolated(unsafe) var state = State()

        func add(_ job: UnownedJob, of executor: ConnectionThread) {
            condition.lock()
            state.jobs.append((job, executor))
            condition.signal()
            condition.unlock()
        }

        func stop() {
            condition.lock()
            state.isStopped = true
            condition.signal()
            condition.unlock()
        }

        func run(_ name: String) {
            var isNamed = false
            while let jobs = next() {
                // On Linux, Foundation can't name a thread before its start has returned. It has when there are jobs.
                if !isNamed { Thread.current.name = name }
                isNamed = true
                for (job, executor) in jobs { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
            }
        }

        /// The jobs that wait now; `nil` where the thread is to end.
        private func next() -> [(job: UnownedJob, executor: ConnectionThread)]? {
            condition.lock()
            defer { condition.unlock() }
            while state.jobs.isEmpty {
                if state.isStopped { return nil }
                condition.wait()
            }
            defer { state.jobs.removeAll(keepingCapacity: true) }
            return state.jobs
        }
    }
}
#endif
