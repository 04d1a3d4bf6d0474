import RelataCore
import RelataEngine

/// The requests that clients may still send. REST, batches and live queries share one budget.
struct RequestBudget: Sendable {
    private let rules: [RateRule]
    private let counter: RateCounter
    private let store: ParseStore

    /// - Returns: `nil` if there are no limits.
    init?(_ limits: [RateLimit], _ store: ParseStore) {
        if limits.isEmpty { return nil }
        rules = limits.map(RateRule.init)
        counter = RateCounter(limits)
        self.store = store
    }

    /// Counts a request, or each request of a batch.
    ///
    /// - Throws: ``TooManyRequests`` if a limit is reached. A refused request doesn't count.
    func take(_ call: ParseCall, mount: String, from address: String?) async throws {
        try await take(
            CountedRequest(call.method.rawValue, call.path),
            parts: call.path == ["batch"] ? parts(call, mount) : [],
            call.caller, address)
    }

    /// The requests of a batch.
    private func parts(_ call: ParseCall, _ mount: String) -> [CountedRequest] {
        let mount = (try? ParseCall.path(mount)) ?? []
        return (call.body["requests"]?.array ?? []).map { request in
            let target = request["path"]?.string ?? ""
            let path = (try? ParseCall.path(inBatch: target, below: mount)) ?? []
            return CountedRequest(request["method"]?.string?.uppercased() ?? "", path)
        }
    }

    /// Counts a request, or the requests of a batch.
    ///
    /// - Throws: ``TooManyRequests``.
    func take(
        _ request: CountedRequest, parts: [CountedRequest] = [], _ caller: Caller, _ address: String?
    ) async throws {
        var counts: [(rule: Int, count: Int)] = []
        for (number, rule) in rules.enumerated() where rule.limit.includesMasterKey || !caller.isMaster {
            let inside = parts.reduce(0) { $0 + (rule.counts($1) ? 1 : 0) }
            // A batch itself isn't counted in addition to its requests.
            let count = inside > 0 ? inside : rule.counts(request) ? 1 : 0
            if count > 0 { counts.append((number, count)) }
        }
        if counts.isEmpty { return }
        let asksSession = counts.contains { [.user, .session].contains(rules[$0.rule].limit.zone) }
        let session = asksSession ? try await session(of: caller) : nil
        let demands = counts.map { rule, count in
            RateCounter.Demand(
                rule: rule, key: key(rules[rule].limit.zone, session, address), count: count)
        }
        guard let refusal = counter.take(demands) else { return }
        throw TooManyRequests(
            message: rules[refusal.rule].limit.message, seconds: Int((refusal.milliseconds + 999) / 1000))
    }

    /// The session of a caller; `nil` without a valid token. Such a request counts for its address.
    private func session(of caller: Caller) async throws -> KnownCaller.SignedIn? {
        guard caller.sessionToken != nil, store.secrets != nil else { return nil }
        return try await store.read(as: .master) { transaction in
            let lookup = CallerLookup(
                connection: transaction.connection, classes: transaction.storedClasses,
                now: transaction.now,
                secrets: transaction.secrets)
            do {
                return try lookup.session(of: caller)
            } catch let error as ParseError where error.code == .invalidSessionToken {
                return nil
            }
        }
    }

    private func key(_ zone: RateLimit.Zone, _ session: KnownCaller.SignedIn?, _ address: String?)
        -> UInt64
    {
        var hasher = Hasher()
        switch (zone, session) {
        case (.everyone, _): hasher.combine(0)
        case (.user, let session?):
            hasher.combine(1)
            hasher.combine(session.user)
        case (.session, let session?):
            hasher.combine(2)
            hasher.combine(session.id)
        default:
            hasher.combine(3)
            let known = address.flatMap(NetworkAddress.init)?.client
            hasher.combine(known)
            // Clients whose address a proxy doesn't name share a count.
            if known == nil { hasher.combine(address) }
        }
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}

extension NetworkAddress {
    /// The addresses that one client may have: a single address of IPv4, or a network of IPv6.
    fileprivate var client: NetworkAddress { isVersion4 ? self : prefix(64) }
}

/// The refusal of a client that has reached a limit.
struct TooManyRequests: Error, Hashable {
    let message: String
    /// The number of seconds until the client may send requests again.
    let seconds: Int

    var parseError: ParseError { ParseError(.requestLimitExceeded, message, status: 429) }
}
