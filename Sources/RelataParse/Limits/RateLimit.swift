import RelataCore

/// How many requests of one kind a client may send in a while.
///
/// ```swift
/// options.rateLimits = [
///     RateLimit("/functions/*", count: 100, seconds: 60, zone: .user),
///     RateLimit("/login", count: 10, seconds: 60),
/// ]
/// ```
///
/// Each server process counts by itself.
public struct RateLimit: Hashable, Sendable {
    /// Whose requests are counted together.
    public enum Zone: String, Hashable, Sendable, CaseIterable {
        /// Those from one address; of IPv6, from one network of 64 bits.
        case address
        /// Those of one user, in any session; without one, those from one address.
        case user
        /// Those of one session; without one, those from one address.
        case session
        /// All.
        case everyone
    }

    /// The paths below the mount: `/login`, `/functions/*`, `/classes/Book`. A part `*` stands for any part, and at the
    /// end for any number of parts.
    public var path: String
    /// The methods that are counted, such as `POST`; empty for all. Those of a sign-in don't matter.
    public var methods: Set<String> = []
    /// How many requests are answered.
    public var count: Int
    /// In how many seconds, from the first one on.
    public var seconds: Double
    /// Whose requests are counted together.
    public var zone = Zone.address
    /// What clients are told whose requests are refused.
    public var message = "Too many requests."
    /// Whether requests with a master key are counted, too.
    public var includesMasterKey = false

    /// A limit.
    public init(_ path: String, count: Int, seconds: Double, zone: Zone = .address) {
        self.path = path
        self.count = count
        self.seconds = seconds
        self.zone = zone
    }

    /// Checks what can't be.
    ///
    /// - Throws: `RelataError` that says what it is.
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

/// A request as rate limits see it, with every path that it may be named by.
struct CountedRequest: Sendable {
    let method: String
    let paths: [[String]]

    private static let classes = [
        "users": InternalClasses.user, "sessions": InternalClasses.session,
        "roles": InternalClasses.role,
        "installations": ServiceClasses.installation,
    ]
    /// Those whose method makes no difference.
    fileprivate static let signIns: Set = ["login", "verifyPassword"]

    /// - Parameter path: The decoded parts of the path below the mount.
    init(_ method: String, _ path: [String]) {
        self.method = method
        var paths = [path]
        if let first = path.first {
            // One door has one budget, whichever of its names a client uses.
            if let name = Self.classes[first] { paths.append(["classes", name] + path.dropFirst()) }
            if first == "classes", path.count > 1,
                let alias = Self.classes.first(where: { $0.value == path[1] })?.key
            {
                paths.append([alias] + path.dropFirst(2))
            }
            // It tells as well whether a password is right.
            if first == "verifyPassword" { paths.append(["login"]) }
        }
        self.paths = paths
    }

    init(_ method: String, alternatives: [[String]]) {
        self.method = method
        paths = alternatives
    }
}

/// A limit that is ready to be compared with requests.
struct RateRule: Sendable {
    let limit: RateLimit
    private let parts: [Substring]

    init(_ limit: RateLimit) {
        self.limit = limit
        parts = limit.path.split(separator: "/")
    }

    /// Whether a request counts.
    func counts(_ request: CountedRequest) -> Bool {
        request.paths.contains { path in
            guard matches(path) else { return false }
            let isSignIn = path.count == 1 && CountedRequest.signIns.contains(path[0])
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
