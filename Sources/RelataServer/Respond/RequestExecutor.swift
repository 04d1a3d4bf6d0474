#if Server
import Dispatch
import Foundation
import NIOCore
import Synchronization

/// Threads of the server's own that requests are answered on.
///
/// A statement of SQLite blocks its thread. Swift has only as many threads as processor cores: two slow queries would
/// stop everything else in the process. This executor also uses one thread per core, because more only compete; but a
/// thread that is busy with one job for a while isn't counted, and another replaces it.
///
/// NIO's pool has a fixed number of threads, all of which work at once. In a measurement with jobs of 3 µs from 64
/// tasks on two cores, in jobs a second, this executor did 265,000 to 327,000, and one on 16 threads of NIO's pool
/// 156,000 to 163,000. On two of its threads it was as fast, 270,000 to 322,000, but then two slow queries would block
/// all others.
final class RequestExecutor: TaskExecutor {
    /// A thread, as the others see it.
    private struct Worker {
        var isStarted = false
        /// The current or next job.
        var job: UnownedJob?
        /// The time when it began the job.
        var start = NIODeadline.now()
        /// Whether it has worked so long that another thread replaces it.
        var isBlocked = false
    }

    private enum Watcher { case missing, idle, watching }

    private struct State {
        /// Jobs that no thread is free for, in the order that they came.
        var jobs = CircularBuffer<UnownedJob>()
        var workers: [Worker]
        /// Threads that wait for a job. The last one gets the next job: its caches are warm.
        var idle: [Int] = []
        /// The number of working threads that aren't blocked.
        var activeCount = 0
        /// The thread that watches waiting jobs.
        var watcher = Watcher.missing
        /// The number of threads started so far.
        var startedCount = 0

        /// The thread that can take one more job, if any may.
        mutating func next(width: Int) -> Int? {
            guard activeCount < width else { return nil }
            return idle.popLast() ?? workers.firstIndex { !$0.isStarted }
        }

        /// - Returns: Whether the thread must be started.
        mutating func begin(_ job: UnownedJob, on worker: Int) -> Bool {
            activeCount += 1
            defer { workers[worker].isStarted = true }
            workers[worker].job = job
            workers[worker].start = .now()
            return !workers[worker].isStarted
        }

        mutating func end(_ worker: Int) {
            if !workers[worker].isBlocked { activeCount -= 1 }
            workers[worker].isBlocked = false
            workers[worker].job = nil
        }
    }

    /// The time after which a job counts as blocking its thread.
    private static let patience = TimeAmount.milliseconds(5)

    private let width: Int
    private let idleTime: Double
    private let state: Mutex<State>
    private let wakes: [DispatchSemaphore]
    private let watcherWake = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - threads: The maximum number of threads: the number that the store can block, and some for other work.
    ///   - idleTime: The number of seconds that a thread waits for a job before it ends.
    init(threads: Int, idleTime: Double = 10) {
        let threads = max(1, threads)
        width = min(threads, ProcessInfo.processInfo.activeProcessorCount)
        self.idleTime = idleTime
        state = Mutex(State(workers: Array(repeating: Worker(), count: threads)))
        wakes = (0..<threads).map { _ in DispatchSemaphore(value: 0) }
    }

    /// The number of threads.
    var threadCount: Int { state.withLock { $0.workers.count { $0.isStarted } } }

    /// The number of threads started so far. Starting one takes about as much time as some requests, so there should be
    /// few.
    var startedCount: Int { state.withLock { $0.startedCount } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (worker, isNew, watcher) = state.withLock { state -> (Int?, Bool, Watcher) in
            if let worker = state.next(width: width) { return (worker, state.begin(job, on: worker), .watching) }
            state.jobs.append(job)
            defer { state.watcher = .watching }
            return (nil, false, state.watcher)
        }
        if let worker { wake(worker, isNew: isNew) }
        switch watcher {
        case .missing: start { self.watch() }
        case .idle: watcherWake.signal()
        case .watching: break
        }
    }

    private func wake(_ worker: Int, isNew: Bool) {
        if isNew { start { self.work(worker) } } else { wakes[worker].signal() }
    }

    private func start(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.startedCount += 1 }
        let thread = Thread(block: body)
        // JSON and shapes may be nested deep, and are read on the stack.
        thread.stackSize = 8 << 20
        thread.start()
    }

    // MARK: Working

    /// The loop of a thread, until there is no job for a while.
    private func work(_ worker: Int) {
        var next = state.withLock { $0.workers[worker].job }
        while let job = next {
            job.runSynchronously(on: asUnownedTaskExecutor())
            let waiting = state.withLock { state -> UnownedJob? in
                state.end(worker)
                guard state.activeCount < width, let job = state.jobs.popFirst() else {
                    state.idle.append(worker)
                    return nil
                }
                _ = state.begin(job, on: worker)
                return job
            }
            next = waiting ?? wait(worker)
        }
    }

    /// The next job of an idle thread; `nil` if no job arrives for too long.
    private func wait(_ worker: Int) -> UnownedJob? {
        let isWoken = isWoken(wakes[worker]) { state in
            guard let place = state.idle.firstIndex(of: worker) else { return false }
            state.idle.remove(at: place)
            state.workers[worker].isStarted = false
            return true
        }
        return isWoken ? state.withLock { $0.workers[worker].job } : nil
    }

    /// Waits until a thread is woken; `false` if that takes too long and `leave` removes it from the waiting ones. If
    /// it isn't among them any more, it is about to be woken.
    private func isWoken(_ wake: DispatchSemaphore, orLeaves leave: (inout State) -> Bool) -> Bool {
        while wake.wait(timeout: .now() + idleTime) == .timedOut {
            if state.withLock({ leave(&$0) }) { return false }
        }
        return true
    }

    // MARK: Watching

    /// While jobs wait, starts replacements for blocked threads; ends when no job has waited for a while.
    private func watch() {
        repeat {
            Thread.sleep(forTimeInterval: Double(Self.patience.nanoseconds) / 1e9)
        } while replaceBlocked() || isCalled()
    }

    /// - Returns: Whether jobs still wait.
    private func replaceBlocked() -> Bool {
        let (called, isLeft) = state.withLock { state in
            let latest = NIODeadline.now() - Self.patience
            for worker in state.workers.indices {
                guard state.workers[worker].job != nil, !state.workers[worker].isBlocked,
                    state.workers[worker].start < latest
                else { continue }
                state.workers[worker].isBlocked = true
                state.activeCount -= 1
            }
            var called: [(worker: Int, isNew: Bool)] = []
            while !state.jobs.isEmpty, let worker = state.next(width: width) {
                called.append((worker, state.begin(state.jobs.removeFirst(), on: worker)))
            }
            if state.jobs.isEmpty { state.watcher = .idle }
            return (called, !state.jobs.isEmpty)
        }
        for (worker, isNew) in called { wake(worker, isNew: isNew) }
        return isLeft
    }

    /// Waits until jobs wait again; `false` if none do for too long.
    private func isCalled() -> Bool {
        isWoken(watcherWake) { state in
            guard state.watcher == .idle else { return false }
            state.watcher = .missing
            return true
        }
    }
}
#endif
