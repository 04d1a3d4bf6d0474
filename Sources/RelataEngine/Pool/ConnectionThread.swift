import Dispatch
import Foundation
import Synchronization

/// A thread for tasks that block, one job after the other, so that none of Swift's threads waits for a server or a
/// disk:
///
///     try await withTaskExecutorPreference(thread) { try session.run("COMMIT") }
///
/// The thread ends when the object is released and its jobs are done.
package final class ConnectionThread: TaskExecutor {
    private let queue = Queue()

    /// Starts a thread.
    ///
    /// - Parameter name: The name in debuggers and `top`.
    package init(name: String = "relata") {
        let queue = queue
        Thread { queue.run(name) }.start()
    }

    deinit { queue.stop() }

    /// Lets the thread run a job after earlier ones.
    package func enqueue(_ job: consuming ExecutorJob) { queue.add(UnownedJob(job), of: self) }

    /// The jobs that wait. The thread holds this, not the executor, which would never be released otherwise.
    private final class Queue: Sendable {
        /// A job keeps its executor until it is done.
        private typealias Entry = (job: UnownedJob, executor: ConnectionThread)

        private let entries = Mutex<[Entry]>([])
        /// Counts the jobs, and the end. The lock isn't held while the thread is woken, because it would then wait for
        /// the lock.
        private let signal = DispatchSemaphore(value: 0)

        func add(_ job: UnownedJob, of executor: ConnectionThread) {
            entries.withLock { $0.append((job, executor)) }
            signal.signal()
        }

        /// The executor isn't referenced any more, so no job waits.
        func stop() { signal.signal() }

        func run(_ name: String) {
            var isNamed = false
            while let (job, executor) = next() {
                // On Linux, Foundation can't name a thread before its start has returned, which it has by the time of
                // the first job.
                if !isNamed { Thread.current.name = name }
                isNamed = true
                job.runSynchronously(on: executor.asUnownedTaskExecutor())
            }
        }

        /// The job that has waited longest; `nil` if the thread must end.
        private func next() -> Entry? {
            signal.wait()
            return entries.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }
    }
}
