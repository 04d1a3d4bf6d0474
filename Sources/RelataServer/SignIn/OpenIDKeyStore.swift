#if Server
import Foundation
import RelataParse

/// The keys of a provider: fixed ones, or those fetched last.
///
/// Fetched keys are cached for as long as the provider allows. If a token has an unknown key, the keys are fetched
/// again, because providers change their keys; but only once a minute, because anyone can send such tokens. If the
/// provider can't be reached, the known keys are used for another hour.
actor OpenIDKeyStore {
    private nonisolated let keys: OpenIDKeys
    private nonisolated let issuer: String
    private let documents: any DocumentSource
    private let now: @Sendable () -> Date

    private var known: OpenIDKeySet?
    private var freshUntil = Date.distantPast
    private var nextFetch = Date.distantPast
    private var failure: (any Error)?
    private var running: Task<Void, any Error>?

    /// The number of seconds that keys are cached if the provider doesn't set a time.
    private static let lifetime = 3600.0
    /// The least and the greatest cache time, in seconds, regardless of the provider's.
    private static let lifetimes = 60.0...86_400.0
    /// The number of seconds that expired keys are used if the provider can't be reached.
    private static let grace = 3600.0
    /// The least number of seconds between two fetches.
    private static let interval = 60.0
    /// The time that a sign-in waits for new keys if the last ones are still usable.
    private static let patience = Duration.seconds(1)
    /// The number of seconds that the provider isn't asked again after a failed attempt.
    private static let pause = 5.0

    init(
        _ keys: OpenIDKeys, issuer: String, documents: any DocumentSource,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.keys = keys
        self.issuer = issuer
        self.documents = documents
        self.now = now
    }

    /// The error in the settings, or `nil`.
    nonisolated func problem(_ algorithms: Set<OpenIDAlgorithm>) -> String? {
        switch keys.place {
        case .given(let json):
            do throws(SignInError) {
                let isUsable = try OpenIDKeySet(json.utf8).keys.contains { !$0.algorithms.isDisjoint(with: algorithms) }
                return isUsable ? nil : "none of its keys is for an accepted algorithm"
            } catch {
                return "its keys can't be read: \(error)"
            }
        case .address(let url): return WebAddress.problem(url).map { "its keys can't be at \(url): \($0)" }
        case .discovered:
            return WebAddress.problem(issuer).map { "its keys can't be found by the issuer \(issuer): \($0)" }
        }
    }

    /// The key of a token's signature.
    ///
    /// - Throws: ``SignInError`` if the provider has no such key, and a temporary one if the provider can't be reached.
    func key(_ id: String?, for algorithm: OpenIDAlgorithm) async throws -> OpenIDKey {
        if case .given(let json) = keys.place {
            if known == nil { known = try OpenIDKeySet(json.utf8) }
        } else if now() >= freshUntil || known?.key(id, for: algorithm) == nil {
            do {
                if known?.key(id, for: algorithm) == nil {
                    try await refresh()
                } else {
                    // Sign-ins don't wait long for a hanging provider while its last keys are valid.
                    try await within(Self.patience) { try await self.refresh() }
                }
            } catch {
                guard now() < freshUntil.addingTimeInterval(Self.grace), let key = known?.key(id, for: algorithm) else {
                    throw error
                }
                return key
            }
        }
        guard let key = known?.key(id, for: algorithm) else {
            throw SignInError("the token isn't signed with a key of the provider (kid)")
        }
        return key
    }

    /// Fetches the keys, unless they were just fetched. Concurrent callers share one fetch.
    private func refresh() async throws {
        if let running { return try await running.value }
        if now() < nextFetch {
            if let failure { throw failure }
            return
        }
        let task = Task { try await fetch() }
        running = task
        defer { running = nil }
        do {
            try await task.value
            (failure, nextFetch) = (nil, now().addingTimeInterval(Self.interval))
        } catch {
            (failure, nextFetch) = (error, now().addingTimeInterval(Self.pause))
            throw error
        }
    }

    private func fetch() async throws {
        let address: String
        switch keys.place {
        case .address(let url): address = url
        case .discovered, .given: address = try await discover()
        }
        let document = try await documents.document(at: address)
        do throws(SignInError) {
            known = try OpenIDKeySet(document.body)
        } catch {
            throw SignInError("the keys at \(address) can't be read: \(error)", isTemporary: true)
        }
        let range = Self.lifetimes
        let lifetime = min(max(document.lifetime ?? Self.lifetime, range.lowerBound), range.upperBound)
        freshUntil = now().addingTimeInterval(lifetime)
    }

    /// The address of the keys, from the provider's configuration.
    private func discover() async throws -> String {
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        let address = base + "/.well-known/openid-configuration"
        let document = try await documents.document(at: address)
        let members = try? JSONParser.parse(document.body)
        guard members?["issuer"]?.string?.utf8.elementsEqual(issuer.utf8) == true else {
            throw SignInError("\(address) is about another issuer than \(issuer)", isTemporary: true)
        }
        guard let keys = members?["jwks_uri"]?.string else {
            throw SignInError("\(address) doesn't say where the keys are (jwks_uri)", isTemporary: true)
        }
        do throws(SignInError) {
            // Only for a provider on this machine, the keys may be at an address without TLS.
            let (keys, provider) = (try WebAddress(keys), try WebAddress(issuer))
            if provider.isSecure, !keys.isSecure { throw SignInError("it must begin with https://") }
        } catch {
            throw SignInError("\(address) says that the keys are at \(keys.prefix(256)): \(error)", isTemporary: true)
        }
        return keys
    }
}
#endif
