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

    private let counts = Mutex<[Key: Int64]>([:])

    /// Counts an event.
    func add(_ name: String, on day: String) {
        counts.withLock { counts in
            var key = Key(name: name, day: day)
            if counts[key] == nil, counts.count >= Self.maximumNames { key = Key(name: Self.other, day: day) }
            counts[key, default: 0] += 1
        }
    }

    /// Takes what was counted, to be written down.
    func take() -> [Key: Int64] {
        counts.withLock { counts in
            defer { counts = [:] }
            return counts
        }
    }

    /// Takes back what couldn't be written down.
    func putBack(_ taken: [Key: Int64]) { counts.withLock { $0.merge(taken, uniquingKeysWith: +) } }
}
