import Synchronization

/// The runs of jobs in this process.
final class RunningJobs: Sendable {
    private struct State {
        var tasks: [String: Task<Void, Never>] = [:]
        /// The runs that ended before they were added.
        var ended: Set<String> = []
    }

    private let state = Mutex(State())

    /// The ids of the runs, sorted.
    var ids: [String] { state.withLock { $0.tasks.keys.sorted() } }

    /// Records that a run has started.
    func add(_ id: String, _ task: Task<Void, Never>) {
        state.withLock { state in
            if state.ended.remove(id) == nil { state.tasks[id] = task }
        }
    }

    /// Notes that a run has ended.
    func remove(_ id: String) {
        state.withLock { state in
            if state.tasks.removeValue(forKey: id) == nil { state.ended.insert(id) }
        }
    }

    /// Cancels all runs.
    func cancel() { cancel(ids) }

    /// Cancels some runs.
    func cancel(_ ids: [String]) {
        for task in state.withLock({ state in ids.compactMap { state.tasks[$0] } }) { task.cancel() }
    }
}
