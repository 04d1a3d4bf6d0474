import Foundation
import Synchronization

/// What happened in apps, counted until it is written down.
final class EventCounter: Sendable {
    /// A kind of event on a day, as `2026-03-01`.
    struct Key: Hashable, Sendable {
        let name: String
        let day: String
    }

    /// How many names of events are told apart; all others are one.
    static let maximumNames = 1000
    /// The name of all others.
    static let other = "*"

    private struct State {
        var counts: [Key: Int64] = [:]
        /// The names that are written down already: new ones never take their place.
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

    /// Takes what was counted, to be written down.
    func take() -> [Key: Int64] {
        state.withLock { state in
            defer { state.counts = [:] }
            return state.counts
        }
    }

    /// Takes back what couldn't be written down.
    func putBack(_ taken: [Key: Int64]) { state.withLock { $0.counts.merge(taken, uniquingKeysWith: +) } }
}
