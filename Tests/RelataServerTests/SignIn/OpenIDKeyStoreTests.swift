#if Server
import Foundation
import RelataParse
import Synchronization
import Testing

@testable import RelataServer

/// Fetching and caching a provider's keys.
struct OpenIDKeyStoreTests {
    /// A source with a test's documents, and a clock that the test sets.
    private final class Network: DocumentSource {
        private struct State {
            var now = TestIssuer.now
            var documents: [String: Result<FetchedDocument, any Error>] = [:]
            var asked: [String] = []
            var waiting: [CheckedContinuation<Void, Never>] = []
            var holds = false
        }

        private let state = Mutex(State())

        var asked: [String] { state.withLock { $0.asked } }
        var now: Date { state.withLock { $0.now } }
        func pass(_ seconds: Double) { state.withLock { $0.now += seconds } }

        func set(_ url: String, _ text: String, lifetime: Double? = nil) {
            state.withLock { $0.documents[url] = .success(FetchedDocument(Array(text.utf8), lifetime: lifetime)) }
        }

        func fail(_ url: String) {
            state.withLock { $0.documents[url] = .failure(SignInError("\(url) is away", isTemporary: true)) }
        }

        /// Holds all documents back until ``release()``.
        func hold() { state.withLock { $0.holds = true } }

        func release() {
            let waiting = state.withLock { state in
                state.holds = false
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }

        func document(at url: String) async throws -> FetchedDocument {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    state.asked.append(url)
                    if state.holds { state.waiting.append(continuation) }
                    return !state.holds
                }
                if goesOn { continuation.resume() }
            }
            let document = state.withLock { $0.documents[url] }
            return try (document ?? .failure(SignInError("there is no \(url)", isTemporary: true))).get()
        }
    }

    private static let address = "https://id.example.org/keys"
    private static let (old, new) = (TestIssuer.Key.es256("old"), TestIssuer.Key.es256("new"))

    private static func store(_ network: Network, _ keys: OpenIDKeys = .at(address)) -> OpenIDKeyStore {
        OpenIDKeyStore(keys, issuer: "https://id.example.org", documents: network, now: { network.now })
    }

    private static func keySet(_ keys: TestIssuer.Key...) -> String { TestIssuer.keySet(keys.map(\.told)) }

    @Test func keysAreCachedAsLongAsTheProviderAllows() async throws {
        let network = Network()
        network.set(Self.address, Self.keySet(Self.old), lifetime: 600)
        let store = Self.store(network)
        for _ in 0..<3 { #expect(try await store.key("old", for: .es256).id == "old") }
        network.pass(599)
        _ = try await store.key("old", for: .es256)
        #expect(network.asked == [Self.address])
        network.pass(2)
        network.set(Self.address, Self.keySet(Self.new))
        await #expect(throws: SignInError("the token isn't signed with a key of the provider (kid)")) {
            try await store.key("old", for: .es256)
        }
        #expect(network.asked.count == 2)
        // Without a time from the provider, the keys are cached for an hour.
        network.pass(3590)
        _ = try await store.key("new", for: .es256)
        #expect(network.asked.count == 2)
        network.pass(20)
        _ = try await store.key("new", for: .es256)
        #expect(network.asked.count == 3)
    }

    @Test func unknownKeysAreFetchedAtMostOnceAMinute() async throws {
        let network = Network()
        network.set(Self.address, Self.keySet(Self.old), lifetime: 86_400)
        let store = Self.store(network)
        _ = try await store.key("old", for: .es256)
        network.set(Self.address, Self.keySet(Self.old, Self.new), lifetime: 86_400)
        network.pass(30)
        for name in ["new", "x", "y"] {
            await #expect(throws: SignInError.self) { try await store.key(name, for: .es256) }
        }
        #expect(network.asked.count == 1)
        network.pass(31)
        #expect(try await store.key("new", for: .es256).id == "new")
        #expect(network.asked.count == 2)
        for name in ["x", "y", "z"] {
            await #expect(throws: SignInError.self) { try await store.key(name, for: .es256) }
        }
        #expect(network.asked.count == 2)
    }

    @Test func concurrentCallersShareOneFetch() async throws {
        let network = Network()
        network.set(Self.address, Self.keySet(Self.old))
        network.hold()
        let store = Self.store(network)
        let tasks = (0..<10).map { _ in Task { try await store.key("old", for: .es256).id } }
        while network.asked.isEmpty { await Task.yield() }
        network.release()
        for task in tasks { #expect(try await task.value == "old") }
        #expect(network.asked.count == 1)
    }

    @Test func knownKeysAreUsedWhileTheProviderIsUnreachable() async throws {
        let network = Network()
        network.set(Self.address, Self.keySet(Self.old), lifetime: 600)
        let store = Self.store(network)
        _ = try await store.key("old", for: .es256)
        network.fail(Self.address)
        network.pass(700)
        for _ in 0..<3 { #expect(try await store.key("old", for: .es256).id == "old") }
        // The next fetch is delayed.
        #expect(network.asked.count == 2)
        await #expect(throws: SignInError("\(Self.address) is away", isTemporary: true)) {
            try await store.key("new", for: .es256)
        }
        network.pass(3600)
        await #expect(throws: SignInError("\(Self.address) is away", isTemporary: true)) {
            try await store.key("old", for: .es256)
        }
        #expect(network.asked.count == 3)
        network.set(Self.address, Self.keySet(Self.new))
        network.pass(6)
        #expect(try await store.key("new", for: .es256).id == "new")
    }

    @Test(arguments: ["", "[]", "<html></html>", #"{"keys": {}}"#, #"{"keys": []}"#, #"{"keys": [{"kty": "oct"}]}"#])
    func anInvalidKeySetIsAnErrorOfTheProvider(text: String) async {
        let network = Network()
        network.set(Self.address, text)
        do {
            _ = try await Self.store(network).key("old", for: .es256)
            Issue.record("there is no key")
        } catch {
            let error = error as? SignInError
            #expect(error?.isTemporary == true)
            #expect(error?.description.hasPrefix("the keys at \(Self.address) can't be read: ") == true)
        }
    }

    @Test func theProviderNamesTheAddressOfItsKeys() async throws {
        let network = Network()
        let place = "https://id.example.org/.well-known/openid-configuration"
        network.set(place, #"{"issuer": "https://id.example.org", "jwks_uri": "https://cdn.example.org/keys"}"#)
        network.set("https://cdn.example.org/keys", Self.keySet(Self.old))
        #expect(try await Self.store(network, .discovered).key("old", for: .es256).id == "old")
        #expect(network.asked == [place, "https://cdn.example.org/keys"])
    }

    @Test(arguments: [
        (#"{"issuer": "https://evil.example", "jwks_uri": "https://id.example.org/keys"}"#, "is about another issuer"),
        (
            #"{"issuer": "https://id.example.org/", "jwks_uri": "https://id.example.org/keys"}"#,
            "is about another issuer"
        ),
        (#"{"jwks_uri": "https://id.example.org/keys"}"#, "is about another issuer"), ("[]", "is about another issuer"),
        (#"{"issuer": "https://id.example.org"}"#, "doesn't say where the keys are"),
        (
            #"{"issuer": "https://id.example.org", "jwks_uri": "http://id.example.org/keys"}"#,
            "must begin with https://"
        ),
        (#"{"issuer": "https://id.example.org", "jwks_uri": "http://127.0.0.1/keys"}"#, "must begin with https://"),
        (#"{"issuer": "https://id.example.org", "jwks_uri": "file:///etc/passwd"}"#, "must be an address"),
    ])
    func aProviderThatSaysSomethingElseIsNotFollowed(text: String, message: String) async {
        let network = Network()
        network.set("https://id.example.org/.well-known/openid-configuration", text)
        do {
            _ = try await Self.store(network, .discovered).key("old", for: .es256)
            Issue.record("there is no key")
        } catch {
            #expect("\(error)".contains(message) && (error as? SignInError)?.isTemporary == true, "\(error)")
        }
        #expect(network.asked.count == 1)
    }

    @Test func knownKeysServeWhileTheProviderHangs() async throws {
        let network = Network()
        network.set(Self.address, Self.keySet(Self.old), lifetime: 600)
        let store = Self.store(network)
        _ = try await store.key("old", for: .es256)
        network.pass(601)
        network.hold()
        // Without a limit, the wait would never end.
        #expect(try await store.key("old", for: .es256).id == "old")
        network.release()
    }
}
#endif
