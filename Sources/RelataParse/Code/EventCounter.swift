import Foundation
import Synchronization

/// Counts apps' events until the counts are stored.
final class EventCounter: Sendable {
    /// An event's name, and a day, as `2026-03-01`.
    struct Key: Hashable, Sendable {
        let name: String
        let day: String
    }

    /// The maximum number of different names. Further events are counted under one name.
    static let maximumNames = 1000
    /// The common name of further events.
    static let other = "*"

    private struct State {
        var counts: [Key: Int64] = [:]
        /// The stored names: new ones never replace them.
        var known: Set<String> = []
    }

    private let state = Mutex(State())

    /// Counts an event.
    func add(_ name: String, on day: String) {
        state.withLock { state in
            var key = Key(name: name, day: day)
            if state.counts[key] == nil, state.counts.count >= Self.maximumNames, !state.known.contains(name) {
                key = Key(name: Self.other, day: day)
            }
            state.counts[key, default: 0] += 1
        }
    }

    /// Notes which names are written down.
    func note(_ names: Set<String>) { state.withLock { $0.known = names } }

    /// Takes the counts, to store them.
    func take() -> [Key: Int64] {
        state.withLock { state in
            defer { state.counts = [:] }
            return state.counts
        }
    }

    /// Takes back what couldn't be written down.
    func putBack(_ taken: [Key: Int64]) { state.withLock { $0.counts.merge(taken, uniquingKeysWith: +) } }
}
