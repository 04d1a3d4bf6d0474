import RelataCore

/// A limit on the requests of one kind that a client may send in a given time.
///
/// ```swift
/// options.rateLimits = [
///     RateLimit("/functions/*", count: 100, seconds: 60, zone: .user),
///     RateLimit("/login", count: 10, seconds: 60),
/// ]
/// ```
///
/// Each server process counts separately.
public struct RateLimit: Hashable, Sendable {
    /// The requests that are counted together.
    public enum Zone: String, Hashable, Sendable, CaseIterable {
        /// The requests from one IPv4 address, or from one IPv6 network of 64 bits.
        case address
        /// The requests of one user, in all sessions; without a user, those from one address.
        case user
        /// The requests of one session; without a session, those from one address.
        case session
        /// All requests.
        case everyone
    }

    /// The path below the mount: `/login`, `/functions/*`, `/classes/Book`. `*` matches any part, and at the end one
    /// or more parts. `/*` matches every path.
    public var path: String
    /// The methods that are counted, such as `POST`; empty for all. A sign-in counts with any method.
    public var methods: Set<String> = []
    /// The number of requests that are allowed.
    public var count: Int
    /// The length of the limit's time in seconds, which begins with the first request.
    public var seconds: Double
    /// The requests that are counted together.
    public var zone = Zone.address
    /// The error message of refused requests.
    public var message = "Too many requests."
    /// Whether requests with a master key are counted as well.
    public var includesMasterKey = false

    /// Creates a limit.
    public init(_ path: String, count: Int, seconds: Double, zone: Zone = .address) {
        self.path = path
        self.count = count
        self.seconds = seconds
        self.zone = zone
    }

    /// Checks the limit.
    ///
    /// - Throws: `RelataError` that names the invalid value.
    public func check() throws(RelataError) {
        guard path.hasPrefix("/"), !path.contains("//"), !path.contains("?") else {
            throw .invalidUse("a rate limit's path is \(path): it must be one such as /functions/*")
        }
        guard (1...1_000_000_000).contains(count) else {
            throw .invalidUse("the rate limit of \(path) is \(count) requests: it must be at least 1")
        }
        guard seconds > 0, seconds <= 7 * 86_400 else {
            throw .invalidUse(
                "the rate limit of \(path) is for \(seconds) seconds: it must be above 0, and at most 7 days"
            )
        }
        for method in methods where !["GET", "POST", "PUT", "DELETE"].contains(method) {
            throw .invalidUse("the rate limit of \(path) is for the method \(method), which doesn't exist")
        }
    }
}

/// A request as rate limits see it, with every path that means the same request.
struct CountedRequest: Sendable {
    let method: String
    let paths: [[String]]

    private static let classes = [
        "users": InternalClasses.user, "sessions": InternalClasses.session,
        "roles": InternalClasses.role,
        "installations": ServiceClasses.installation,
    ]

    /// - Parameter path: The decoded parts of the path below the mount.
    init(_ method: String, _ path: [String]) {
        self.method = method
        var paths = [path]
        if let first = path.first {
            // `/users` and `/classes/_User` are the same requests, so they share a budget.
            if let name = Self.classes[first] { paths.append(["classes", name] + path.dropFirst()) }
            if first == "classes", path.count > 1,
                let alias = Self.classes.first(where: { $0.value == path[1] })?.key
            {
                paths.append([alias] + path.dropFirst(2))
            }
            // It reveals whether a password is right, as a sign-in does.
            if first == "verifyPassword" { paths.append(["login"]) }
        }
        self.paths = paths
    }

    init(_ method: String, alternatives: [[String]]) {
        self.method = method
        paths = alternatives
    }
}

/// A limit in a form for fast comparison with requests.
struct RateRule: Sendable {
    let limit: RateLimit
    private let parts: [Substring]

    init(_ limit: RateLimit) {
        self.limit = limit
        parts = limit.path.split(separator: "/")
    }

    /// Whether a request counts towards the limit.
    func counts(_ request: CountedRequest) -> Bool {
        request.paths.contains { path in
            guard matches(path) else { return false }
            let isSignIn = path.count == 1 && UserRoute.signIns.contains(path[0])
            return limit.methods.isEmpty || isSignIn || limit.methods.contains(request.method)
        }
    }

    private func matches(_ path: [String]) -> Bool {
        for (place, part) in parts.enumerated() {
            if part == "*", place == parts.count - 1 { return place == 0 || path.count > place }
            guard place < path.count, part == "*" || part == path[place] else { return false }
        }
        return parts.count == path.count
    }
}
