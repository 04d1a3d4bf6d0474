#if Server
import RelataParse
import Synchronization
import Testing

@testable import RelataServer

struct LoginSessionsTests {
    /// A clock that advances only when a test says so.
    private final class Clock: Sendable {
        private let time = Mutex(ContinuousClock.now)
        var now: ContinuousClock.Instant { time.withLock { $0 } }
        func advance(_ duration: Duration) { time.withLock { $0 += duration } }
    }

    private let clock = Clock()
    private let sessions: LoginSessions

    init() {
        let clock = clock
        sessions = LoginSessions(
            KeyRing(ServerKeys(applicationID: "app", masterKey: "master")), now: { clock.now })
    }

    private func refusal(_ key: String, from peer: String = "10.0.0.1") -> LoginSessions.Refusal? {
        do throws(LoginSessions.Refusal) {
            _ = try sessions.signIn(key, from: peer)
            return nil
        } catch {
            return error
        }
    }

    @Test func theMasterKeySignsInEachTime() throws {
        let (first, cookie) = try sessions.signIn("master", from: "10.0.0.1")
        let (second, other) = try sessions.signIn("master", from: "10.0.0.1")
        #expect(cookie != other)
        #expect(first.pageToken != second.pageToken)
        #expect(sessions.session(cookie)?.pageToken == first.pageToken)
        #expect(sessions.session(other)?.pageToken == second.pageToken)
        #expect(sessions.session("guess") == nil)
        #expect(sessions.session(first.pageToken) == nil)
    }

    @Test func aTokenSignsInOnce() throws {
        let token = sessions.makeLoginToken()
        _ = try sessions.signIn(token, from: "10.0.0.1")
        #expect(refusal(token) == .unknownKey)
    }

    @Test func aTokenExpiresSoon() throws {
        let token = sessions.makeLoginToken()
        clock.advance(.seconds(3601))
        #expect(refusal(token) == .unknownKey)
    }

    @Test func withoutAMasterKeyOnlyTokensSignIn() throws {
        let sessions = LoginSessions(KeyRing(ServerKeys(applicationID: "app")))
        #expect(throws: LoginSessions.Refusal.unknownKey) { try sessions.signIn("", from: "") }
        _ = try sessions.signIn(sessions.makeLoginToken(), from: "")
    }

    @Test func anIdleSessionEnds() throws {
        let (_, cookie) = try sessions.signIn("master", from: "10.0.0.1")
        clock.advance(.seconds(7000))
        #expect(sessions.session(cookie) != nil)
        clock.advance(.seconds(7000))
        #expect(sessions.session(cookie) != nil)
        clock.advance(.seconds(7201))
        #expect(sessions.session(cookie) == nil)
        clock.advance(.seconds(-7201))
        #expect(sessions.session(cookie) == nil)
    }

    @Test func aSessionEndsEvenIfItIsUsed() throws {
        let (_, cookie) = try sessions.signIn("master", from: "10.0.0.1")
        for _ in 0..<11 {
            clock.advance(.seconds(3600))
            #expect(sessions.session(cookie) != nil)
        }
        clock.advance(.seconds(3601))
        #expect(sessions.session(cookie) == nil)
    }

    @Test func aSessionOfTheMasterKeyIsUsedFromItsAddressesOnly() throws {
        var keys = ServerKeys(applicationID: "app", masterKey: "master")
        keys.masterKeyAddresses = try AddressRanges(["10.0.0.0/8"])
        let sessions = LoginSessions(KeyRing(keys))
        let (session, _) = try sessions.signIn("master", from: "10.0.0.1")
        #expect(sessions.admits(session, from: "10.0.0.2") && !sessions.admits(session, from: "11.0.0.1"))
        #expect(!sessions.admits(session, from: nil))
        let (other, _) = try sessions.signIn(sessions.makeLoginToken(), from: "11.0.0.1")
        #expect(sessions.admits(other, from: "12.0.0.1"))
    }

    @Test func aSessionEndsWithItsMasterKey() throws {
        let clock = clock
        let ring = KeyRing(ServerKeys(applicationID: "app", masterKey: "one"), now: { clock.now })
        let sessions = LoginSessions(ring, now: { clock.now })
        let (_, old) = try sessions.signIn("one", from: "10.0.0.1")
        let (_, byToken) = try sessions.signIn(sessions.makeLoginToken(), from: "10.0.0.1")
        ring.replace(with: ServerKeys(applicationID: "app", masterKey: "two"), overlap: .seconds(60))
        let (_, new) = try sessions.signIn("two", from: "10.0.0.1")
        clock.advance(.seconds(59))
        #expect(sessions.session(old) != nil)
        clock.advance(.seconds(1))
        #expect(sessions.session(old) == nil)
        #expect(sessions.session(new) != nil && sessions.session(byToken) != nil)
    }

    @Test func signingOutEndsTheSession() throws {
        let (_, cookie) = try sessions.signIn("master", from: "10.0.0.1")
        let (_, other) = try sessions.signIn("master", from: "10.0.0.1")
        sessions.signOut(cookie)
        #expect(sessions.session(cookie) == nil)
        #expect(sessions.session(other) != nil)
    }

    @Test func theNumberOfSessionsIsLimited() throws {
        let (_, first) = try sessions.signIn("master", from: "10.0.0.1")
        clock.advance(.seconds(1))
        let (_, second) = try sessions.signIn("master", from: "10.0.0.1")
        clock.advance(.seconds(1))
        for _ in 2...LoginSessions.maximumSessions { _ = try sessions.signIn("master", from: "10.0.0.1") }
        #expect(sessions.session(first) == nil)
        #expect(sessions.session(second) != nil)
    }

    @Test func eachWrongGuessMakesTheWaitLonger() throws {
        for _ in 0..<LoginAttempts.freeFailures { #expect(refusal("guess") == .unknownKey) }
        for wait in [1, 2, 4, 8, 16, 32, 60, 60] {
            // Another attempt doesn't prolong the wait.
            #expect(refusal("guess") == .tooMany(seconds: wait + 1))
            clock.advance(.seconds(wait) - .milliseconds(1))
            #expect(refusal("another") == .tooMany(seconds: 1))
            clock.advance(.milliseconds(1))
            #expect(refusal("guess") == .unknownKey)
        }
        clock.advance(.seconds(60))
        #expect(refusal("master") == nil)
        #expect(refusal("guess") == .unknownKey)
        #expect(refusal("master") == nil)
    }

    @Test func otherAddressesDoNotWait() throws {
        for _ in 0..<LoginAttempts.freeFailures { #expect(refusal("guess") == .unknownKey) }
        #expect(refusal("guess") == .tooMany(seconds: 2))
        #expect(refusal("guess", from: "10.0.0.2") == .unknownKey)
    }

    /// Behind a proxy, all clients have the same address.
    @Test func theRightKeyAndATokenNeverWait() throws {
        let token = sessions.makeLoginToken()
        for key in ["master", token] {
            for _ in 0..<LoginAttempts.freeFailures { #expect(refusal("guess") == .unknownKey) }
            #expect(refusal("guess") == .tooMany(seconds: 2))
            #expect(refusal(key) == nil)
        }
        // The token is used up.
        #expect(refusal(token) == .unknownKey)
    }

    @Test func failuresAreForgottenAfterAWhile() throws {
        for _ in 1..<LoginAttempts.freeFailures { #expect(refusal("guess") == .unknownKey) }
        clock.advance(.seconds(901))
        for _ in 0..<LoginAttempts.freeFailures { #expect(refusal("guess") == .unknownKey) }
        #expect(refusal("guess") == .tooMany(seconds: 2))
    }
}
#endif
