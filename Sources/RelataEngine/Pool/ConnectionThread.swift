import Dispatch
import Foundation
import Synchronization

/// A thread that runs tasks which block, one job after the other, so that none of Swift's own threads waits for a server or a
/// disk:
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
        /// A job keeps its executor until it is done.
        private typealias Entry = (job: UnownedJob, executor: ConnectionThread)

        private let entries = Mutex<[Entry]>([])
        /// Counts the jobs, and the end. Nobody holds the lock while it wakes the thread, which would wait for it then.
        private let signal = DispatchSemaphore(value: 0)

        func add(_ job: UnownedJob, of executor: ConnectionThread) {
            entries.withLock { $0.append((job, executor)) }
            signal.signal()
        }

        /// Nobody has the executor any more, and so no job waits.
        func stop() { signal.signal() }

        func run(_ name: String) {
            var isNamed = false
            while let (job, executor) = next() {
                // On Linux, Foundation can't name a thread before its start has returned. It has when there are jobs.
                if !isNamed { Thread.current.name = name }
                isNamed = true
                job.runSynchronously(on: executor.asUnownedTaskExecutor())
            }
        }

        /// The job that waits longest; `nil` where the thread is to end.
        private func next() -> Entry? {
            signal.wait()
            return entries.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }
    }
}
