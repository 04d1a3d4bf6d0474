import RelataCore
import Synchronization

/// The unread changes of one reader of the feed.
///
/// Memory is limited: a reader that falls far behind gets the missed changes as one change set that names only the
/// entities.
@_documentation(visibility: internal)
package final class ChangeBuffer: Sendable {
    fileprivate struct State {
        var sets: [ChangeSet] = []
        /// The index of the first unread set.
        var first = 0
        var size = 0
        var waiting: CheckedContinuation<ChangeSet?, Never>?
        var isFinished = false
    }

    private let state = Mutex(State())
    private let hub: ChangeHub
    /// The maximum number of waiting keys and sets.
    private let limit: Int

    /// Begins to listen.
    package init(_ hub: ChangeHub, limit: Int = 100_000) {
        self.hub = hub
        self.limit = limit
    }

    /// Listens until ``stop()``.
    package func start() { hub.add(self) }

    /// Stops listening.
    package func stop() {
        hub.remove(self)
        finish()
    }

    func finish() {
        let waiting = state.withLock { state in
            state.isFinished = true
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: nil)
    }

    func append(_ set: ChangeSet) {
        let waiting = state.withLock { state -> CheckedContinuation<ChangeSet?, Never>? in
            if state.isFinished { return nil }
            if let waiting = state.waiting {
                state.waiting = nil
                return waiting
            }
            state.sets.append(set)
            state.size += set.size
            if state.size > limit { state.collapse() }
            return nil
        }
        waiting?.resume(returning: set)
    }

    /// All change sets that wait.
    func takeAll() -> [ChangeSet] {
        state.withLock { state in
            var sets: [ChangeSet] = []
            while let set = state.takeFirst() { sets.append(set) }
            return sets
        }
    }

    /// The next change set, as soon as there is one; `nil` after the store was closed and all sets are read, and for a
    /// cancelled task.
    package func next() async -> ChangeSet? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                typealias Waiting = CheckedContinuation<ChangeSet?, Never>
                let (set, replaced) = state.withLock { state -> (ChangeSet??, Waiting?) in
                    if Task.isCancelled { return (.some(nil), nil) }
                    if let set = state.takeFirst() { return (.some(set), nil) }
                    if state.isFinished { return (.some(nil), nil) }
                    // Only one reader waits at a time: an earlier one that still waits gets nothing.
                    defer { state.waiting = continuation }
                    return (nil, state.waiting)
                }
                replaced?.resume(returning: nil)
                if let set { continuation.resume(returning: set) }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                defer { state.waiting = nil }
                return state.waiting
            }
            waiting?.resume(returning: nil)
        }
    }
}

extension ChangeBuffer.State {
    mutating func takeFirst() -> ChangeSet? {
        guard first < sets.count else { return nil }
        let set = sets[first]
        size -= set.size
        sets[first] = ChangeSet([])
        first += 1
        if first == sets.count || first > 1024 {
            sets.removeFirst(first)
            first = 0
        }
        return set
    }

    /// Merges all unread sets into one, which names the entities only.
    mutating func collapse() {
        let waiting = sets[first...]
        let entities = Set(waiting.flatMap { $0.changes.map(\.entity) })
        let set = ChangeSet(
            entities.sorted().map { Change(entity: $0, kind: .unknown) }, position: waiting.last?.position)
        sets = [set]
        first = 0
        size = set.size
    }
}

extension ChangeSet {
    fileprivate var size: Int { changes.reduce(1) { $0 + 1 + $1.keys.count } }
}
