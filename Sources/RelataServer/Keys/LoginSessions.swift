#if Server
import Crypto
import Foundation
import Synchronization

/// The sessions of signed-in users, which end with the process. A session has a cookie that scripts can't read, and a
/// token that the page adds to each request and that other pages can't get.
final class LoginSessions: Sendable {
    /// A session of a signed-in user.
    struct Session: Sendable {
        /// The session's name in the log. It can't be used to sign in.
        let name: String
        /// The token that the page sends, so that other pages can't send requests.
        let pageToken: String
        /// The master key that it began with; `nil` if it began with a token.
        fileprivate let key: HashedKey?
        fileprivate let start: ContinuousClock.Instant
        fileprivate var lastUse: ContinuousClock.Instant
    }

    /// The reason why a request isn't signed in.
    enum Refusal: Error, Equatable {
        /// The key is neither the master key nor a valid token.
        case unknownKey
        /// There were too many attempts. The next one is allowed after this many seconds.
        case tooMany(seconds: Int)
    }

    /// The lifetimes of a session, of a session without requests, and of a login token.
    struct Lifetimes: Sendable {
        var session = Duration.seconds(12 * 3600)
        var idle = Duration.seconds(2 * 3600)
        var loginToken = Duration.seconds(3600)
    }

    private struct State {
        /// The sessions by the digests of their cookies. A digest can't be used to sign in.
        var sessions: [SHA256.Digest: Session] = [:]
        var loginTokens: [SHA256.Digest: ContinuousClock.Instant] = [:]
        var attempts = LoginAttempts()
    }

    static let maximumSessions = 64

    private let keys: KeyRing
    private let lifetimes: Lifetimes
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// - Parameters:
    ///   - keys: The server's keys.
    ///   - now: Returns the time; replaced by tests.
    init(
        _ keys: KeyRing, lifetimes: Lifetimes = Lifetimes(),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.keys = keys
        self.lifetimes = lifetimes
        self.now = now
    }

    /// A token that signs in once, and expires soon.
    func makeLoginToken() -> String {
        let (token, expiry) = (ServerKeys.newKey(), now() + lifetimes.loginToken)
        state.withLock { $0.loginTokens[Self.digest(token)] = expiry }
        return token
    }

    /// Signs in with the master key, or with a token, which is then used up.
    ///
    /// - Parameter peer: The address of the request.
    /// - Returns: The session, and the value of its cookie, which isn't stored.
    func signIn(_ key: String, from peer: String) throws(Refusal) -> (session: Session, cookie: String) {
        let time = now()
        let expiry = state.withLock { $0.loginTokens.removeValue(forKey: Self.digest(key)) }
        // The right key never waits: behind a proxy, all clients have the same address, and an attacker could lock
        // everybody out.
        let masterKey = expiry == nil && admits(peer) ? keys.key(key, .master) : nil
        guard expiry.map({ time < $0 }) ?? (masterKey != nil) else {
            let wait = state.withLock { state in
                let wait = state.attempts.wait(of: peer, at: time)
                if wait == nil { state.attempts.failed(peer, at: time) }
                return wait
            }
            if let wait { throw .tooMany(seconds: wait) }
            throw .unknownKey
        }
        let cookie = ServerKeys.newKey()
        let session = Session(
            name: String(ServerKeys.newKey().prefix(8)), pageToken: ServerKeys.newKey(), key: masterKey, start: time,
            lastUse: time)
        state.withLock { state in
            state.attempts.succeeded(peer)
            state.sessions = state.sessions.filter { isAlive($0.value, at: time) }
            while state.sessions.count >= Self.maximumSessions,
                let oldest = state.sessions.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.sessions[oldest.key] = nil
            }
            state.sessions[Self.digest(cookie)] = session
        }
        return (session, cookie)
    }

    /// Whether a session may be used from an address. A session that began with the master key is bound to the same
    /// addresses as the key.
    func admits(_ session: Session, from peer: String?) -> Bool { session.key == nil || admits(peer) }

    private func admits(_ peer: String?) -> Bool { keys.admits(.master, peer) }

    /// The session of a cookie, from any address; `nil` if it has ended, or never existed.
    func session(_ cookie: String) -> Session? {
        let (digest, time) = (Self.digest(cookie), now())
        return state.withLock { state in
            guard var session = state.sessions[digest] else { return nil }
            guard isAlive(session, at: time) else {
                state.sessions[digest] = nil
                return nil
            }
            session.lastUse = time
            state.sessions[digest] = session
            return session
        }
    }

    /// Ends all sessions, because the key that they began with isn't valid any more.
    func endAll() { state.withLock { $0.sessions = [:] } }

    /// Ends a session.
    func signOut(_ cookie: String) { state.withLock { $0.sessions[Self.digest(cookie)] = nil } }

    private func isAlive(_ session: Session, at time: ContinuousClock.Instant) -> Bool {
        time - session.start < lifetimes.session && time - session.lastUse < lifetimes.idle
            && session.key.map { keys.isValid($0, .master) } ?? true
    }

    private static func digest(_ text: String) -> SHA256.Digest { SHA256.hash(data: Data(text.utf8)) }
}
#endif
