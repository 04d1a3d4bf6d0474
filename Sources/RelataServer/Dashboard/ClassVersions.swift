#if Server
import RelataCore
import RelataParse
import Synchronization

/// How often the objects of each class changed, for pages that show them: counted for as long as somebody asks.
final class ClassVersions: Sendable {
    private struct State {
        /// Changes that nobody counted lie between two of these.
        var epoch = 0
        var versions: [String: Int] = [:]
        var isCounting = false
        var lastAsked = ContinuousClock.now
    }

    /// For how long it goes on when nobody asks any more.
    private static let patience = Duration.seconds(60)

    private let store: ParseStore
    private let state = Mutex(State())

    init(_ store: ParseStore) { self.store = store }

    /// The numbers now: `{"epoch": 1, "versions": {"Book": 3}}`. What another epoch told has nothing to do with them.
    var json: JSONValue {
        let begins = state.withLock { state in
            state.lastAsked = .now
            guard !state.isCounting else { return false }
            state.isCounting = true
            state.epoch += 1
            state.versions = [:]
            return true
        }
        if begins { count() }
        return state.withLock { state in
            [
                "epoch": .integer(Int64(state.epoch)),
                "versions": .object(JSONObject(state.versions.map { ($0, .integer(Int64($1))) })),
            ]
        }
    }

    private func count() {
        // Listens from now on, whenever the task begins to read.
        let changes = store.records.changes
        Task { [weak self] in
            for await set in changes {
                guard let self, self.add(set) else { return }
            }
        }
    }

    /// - Returns: Whether to go on.
    private func add(_ set: ChangeSet) -> Bool {
        state.withLock { state in
            for name in Set(set.changes.map(\.entity)) { state.versions[name, default: 0] += 1 }
            state.isCounting = ContinuousClock.now - state.lastAsked < Self.patience
            return state.isCounting
        }
    }
}
#endif
