#if Server
import Dispatch
import Foundation
import NIOCore
import Synchronization

/// Threads of the server's own that requests are answered on.
///
/// A statement of SQLite blocks its thread. Swift's own threads are as few as the processor's cores: two slow queries
/// would silence everything else in the process.
///
/// A thread is started when a job finds none idle, and ends when there was nothing for it for a while.
final class RequestExecutor: TaskExecutor {
    private struct State {
        /// Jobs that no thread is free for, in the order that they came.
        var jobs = CircularBuffer<UnownedJob>()
        /// Threads that wait for a job; the last one that did gets the next, since its caches are warm.
        var idle: [Worker] = []
        var threadCount = 0
    }

    /// The most threads there are.
    let threadLimit: Int
    private let idleTime: Double
    private let state = Mutex(State())

    /// - Parameters:
    ///   - threads: The most threads there are: as many as can wait for the store at once, and some for what doesn't.
    ///   - idleTime: How many seconds a thread waits for a job before it ends.
    init(threads: Int, idleTime: Double = 10) {
        threadLimit = max(1, threads)
        self.idleTime = idleTime
    }

    /// How many threads there are.
    var threadCount: Int { state.withLock { $0.threadCount } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        enum Step {
            case wake(Worker)
            case start
            case wait
        }
        let step = state.withLock { state -> Step in
            if let worker = state.idle.popLast() {
                worker.give(job)
                return .wake(worker)
            }
            if state.threadCount < threadLimit {
                state.threadCount += 1
                return .start
            }
            state.jobs.append(job)
            return .wait
        }
        switch step {
        case .wake(let worker): worker.wake()
        case .start: start(job)
        case .wait: break
        }
    }

    private func start(_ job: UnownedJob) {
        let thread = Thread { self.work(job) }
        // JSON and shapes may be nested deep, and are read on the stack.
        thread.stackSize = 8 << 20
        thread.start()
    }

    /// What a thread does until there was nothing to do for a while.
    private func work(_ first: UnownedJob) {
        let worker = Worker()
        var next: UnownedJob? = first
        while let job = next {
            job.runSynchronously(on: asUnownedTaskExecutor())
            let waiting = state.withLock { state -> UnownedJob? in
                if let job = state.jobs.popFirst() { return job }
                state.idle.append(worker)
                return nil
            }
            next = waiting ?? wait(worker)
        }
    }

    /// The next job of a thread that is idle; `nil` where there is none for too long.
    private func wait(_ worker: Worker) -> UnownedJob? {
        while !worker.wait(idleTime) {
            let isIdle = state.withLock { state -> Bool in
                guard let place = state.idle.firstIndex(where: { $0 === worker }) else { return false }
                state.idle.remove(at: place)
                state.threadCount -= 1
                return true
            }
            // Where it isn't idle any more, a job is on its way to it.
            if isIdle { return nil }
        }
        return worker.take()
    }

    /// A thread, as those see it that have a job.
    private final class Worker: Sendable {
        private let job = Mutex<UnownedJob?>(nil)
        private let semaphore = DispatchSemaphore(value: 0)

        func give(_ job: UnownedJob) { self.job.withLock { $0 = job } }
        func take() -> UnownedJob? { job.withLock { $0.take() } }
        func wake() { semaphore.signal() }
        func wait(_ seconds: Double) -> Bool { semaphore.wait(timeout: .now() + seconds) == .success }
    }
}
#endif
