#if Server
import Foundation
import RelataCore
import RelataParse
import Synchronization

/// Recent changes, for pages that show them: the number of changes of each class, and the last changes. It listens
/// while a page asks.
final class RecentChanges: Sendable {
    private struct State {
        /// Between two epochs, changes aren't counted.
        var epoch = 0
        var versions: [String: Int] = [:]
        var lines: [Line] = []
        /// The number of lines in all epochs.
        var count = 0
        var isListening = false
        var lastAsked = ContinuousClock.now
    }

    /// The changes of one transaction to objects of one class, of one kind.
    private struct Line {
        let number: Int
        let time: Date
        let change: Change
        let origin: ChangeOrigin?
    }

    /// The time that it listens after the last request.
    private static let patience = Duration.seconds(60)
    private static let maximumLines = 200
    /// The maximum number of named objects of a change.
    private static let maximumNames = 5

    private let store: ParseStore
    private let state = Mutex(State())

    init(_ store: ParseStore) { self.store = store }

    /// The current numbers: `{"epoch": 1, "versions": {"Book": 3}}`. Numbers of different epochs can't be compared.
    var versions: JSONValue {
        listen()
        return state.withLock { state in
            [
                "epoch": .integer(Int64(state.epoch)),
                "versions": .object(JSONObject(state.versions.map { ($0, .integer(Int64($1))) })),
            ]
        }
    }

    /// The last changes after a number, the oldest first:
    /// `{"epoch": 1, "last": 7, "changes": [{"number": 7, "at": "…", "className": "Book", "kind": "update", "count": 1,
    /// "objectIds": ["3"], "fields": ["title"], "origin": null}]}`.
    func feed(after number: Int) -> JSONValue {
        listen()
        let (epoch, last, lines) = state.withLock { state in
            (state.epoch, state.count, state.lines.filter { $0.number > number })
        }
        return [
            "epoch": .integer(Int64(epoch)), "last": .integer(Int64(last)), "changes": .array(lines.map(json)),
        ]
    }

    private func json(_ line: Line) -> JSONValue {
        let change = line.change
        let ids = change.keys.prefix(Self.maximumNames).map { store.objectID($0, of: change.entity) }
        return [
            "number": .integer(Int64(line.number)), "at": .string(DateText.parseText(line.time)),
            "className": .string(change.entity), "kind": .string(change.kind.rawValue),
            "count": .integer(Int64(change.keys.count)), "objectIds": .array(ids.map { .string($0) }),
            "fields": .array(change.properties.map { .string($0) }),
            "origin": line.origin.map { .string($0.name) } ?? .null,
        ]
    }

    private func listen() {
        let begins = state.withLock { state in
            state.lastAsked = .now
            guard !state.isListening else { return false }
            state.isListening = true
            state.epoch += 1
            state.versions = [:]
            return true
        }
        guard begins else { return }
        // Listens from now on, even if the task begins to read later.
        let changes = store.records.changes
        Task { [weak self] in
            for await set in changes {
                guard let self, self.add(set) else { return }
            }
        }
    }

    /// - Returns: Whether to continue.
    private func add(_ set: ChangeSet) -> Bool {
        let time = Date()
        return state.withLock { state in
            for name in Set(set.changes.map(\.entity)) { state.versions[name, default: 0] += 1 }
            for change in set.changes {
                state.count += 1
                // An import may have a million keys; only a few are named.
                state.lines.append(Line(number: state.count, time: time, change: change, origin: set.origin))
            }
            state.lines.removeFirst(max(0, state.lines.count - Self.maximumLines))
            state.isListening = ContinuousClock.now - state.lastAsked < Self.patience
            return state.isListening
        }
    }
}
#endif
