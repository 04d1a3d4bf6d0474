#if Server
import RelataCore
import RelataParse
import Synchronization

/// The keys of a running server. They can be replaced; then the replaced keys of backends stay valid for a while.
final class KeyRing: Sendable {
    /// A key that was replaced.
    private struct Former {
        let privilege: ParseKeys.Privilege
        let key: HashedKey
        let end: ContinuousClock.Instant
    }

    private struct State {
        var keys: ServerKeys
        var former: [Former] = []
    }

    /// The maximum number of replaced keys that are remembered.
    private static let maximumFormer = 8

    private let state: Mutex<State>
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameter now: The time, for tests.
    init(
        _ keys: ServerKeys,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        state = Mutex(State(keys: keys))
        self.now = now
    }

    var keys: ServerKeys { state.withLock { $0.keys } }

    /// Replaces the keys, except for the application's id.
    ///
    /// - Parameter overlap: The time that the replaced keys of backends stay valid.
    func replace(with keys: ServerKeys, overlap: Duration) {
        let time = now()
        state.withLock { state in
            let former = state.keys
            state.keys = keys
            state.keys.applicationID = former.applicationID
            guard overlap > .zero else {
                // If the replaced key ends at once, earlier keys must end as well.
                state.former = []
                return
            }
            for privilege in ParseKeys.Privilege.allCases {
                guard let key = former.key(of: privilege), key != keys.key(of: privilege) else {
                    continue
                }
                state.former.append(Former(privilege: privilege, key: key, end: time + overlap))
            }
            state.former.removeFirst(max(0, state.former.count - Self.maximumFormer))
        }
    }

    /// Removes replaced keys that aren't valid any more.
    ///
    /// - Returns: Whether a key was removed.
    func removeEnded() -> Bool {
        let time = now()
        return state.withLock { state in
            let count = state.former.count
            state.former.removeAll { $0.end <= time }
            return state.former.count < count
        }
    }

    /// Whether a text is a key, or a replaced key that is still valid.
    func matches(_ text: String, _ privilege: ParseKeys.Privilege) -> Bool { key(text, privilege) != nil }

    /// The key that a text is, or the replaced key, if that is still valid.
    ///
    /// If a text is also a key with lesser rights, it has only those rights: two hashes don't show that they belong to
    /// the same text. A replaced key that has become another key has only the rights of the new one.
    func key(_ text: String, _ privilege: ParseKeys.Privilege) -> HashedKey? {
        let (keys, former) = state.withLock { ($0.keys, $0.former) }
        if let key = keys.key(of: privilege), key.matches(text) {
            return privilege.lesser.contains { keys.key(of: $0)?.matches(text) == true } ? nil : key
        }
        if former.isEmpty { return nil }
        let time = now()
        guard
            let known = former.first(where: { $0.privilege == privilege && time < $0.end && $0.key.matches(text) })
        else { return nil }
        let isAnother =
            keys.isOpen(text)
            || ParseKeys.Privilege.allCases.contains { keys.key(of: $0)?.matches(text) == true }
        return isAnother ? nil : known.key
    }

    /// Whether a key is still valid.
    func isValid(_ key: HashedKey, _ privilege: ParseKeys.Privilege) -> Bool {
        let (current, former) = state.withLock { ($0.keys.key(of: privilege), $0.former) }
        if key == current { return true }
        if former.isEmpty { return false }
        let time = now()
        return former.contains { $0.privilege == privilege && time < $0.end && $0.key == key }
    }

    /// Whether a key of a privilege may be used from an address.
    func admits(_ privilege: ParseKeys.Privilege, _ address: String?) -> Bool {
        state.withLock { $0.keys.addresses(of: privilege) }.contains(address)
    }

    private func matches(_ text: String, _ key: KeyPath<ServerKeys, String?> & Sendable) -> Bool {
        state.withLock { $0.keys[keyPath: key] }.map { ConstantTime.areEqual(text, $0) } ?? false
    }

    /// The keys in the form for the protocol. The kinds of keys that exist are fixed when the server starts.
    var parseKeys: ParseKeys {
        let keys = keys
        var parse = ParseKeys(applicationID: keys.applicationID)
        if keys.clientKey != nil { parse.isClientKey = { self.matches($0, \.clientKey) } }
        if keys.restAPIKey != nil { parse.ownKeys[.rest] = { self.matches($0, \.restAPIKey) } }
        if keys.javaScriptKey != nil {
            parse.ownKeys[.javaScript] = { self.matches($0, \.javaScriptKey) }
        }
        if keys.dotNetKey != nil { parse.ownKeys[.dotNet] = { self.matches($0, \.dotNetKey) } }
        parse.isMasterKey = { self.matches($0, .master) }
        parse.isReadOnlyMasterKey = { self.matches($0, .readOnlyMaster) }
        parse.isMaintenanceKey = { self.matches($0, .maintenance) }
        parse.admits = { self.admits($0, $1) }
        return parse
    }
}
#endif
