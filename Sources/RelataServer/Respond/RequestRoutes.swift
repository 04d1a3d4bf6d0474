#if Server

/// The responders of requests, by their paths.
struct RequestRoutes: Sendable {
    enum Destination {
        /// A protocol, with the path below its mount.
        case served(ServedPath)
        /// Files, with the path below theirs.
        case files(StaticFiles, Substring)
        /// The server itself.
        case server
    }

    private enum Answerer {
        case served(any ServedProtocol)
        case files(StaticFiles)
    }

    /// The longest path first; of two with the same length, the protocol's.
    private let answerers: [(mount: Mount, answerer: Answerer)]

    /// - Parameter protocols: The protocols that requests are for.
    init(_ protocols: [MountedProtocol], _ configuration: RelataServer.Configuration) {
        let served = protocols.map { (mount: $0.mount, answerer: Answerer.served($0.served)) }
        let files = configuration.files.map { (mount: Mount($0.key), answerer: Answerer.files($0.value)) }
        answerers = (served + files).sorted { Self.rank($0) > Self.rank($1) }
    }

    private static func rank(_ answerer: (mount: Mount, answerer: Answerer)) -> Int {
        let isServed = if case .served = answerer.answerer { 1 } else { 0 }
        return 2 * answerer.mount.path.utf8.count + isServed
    }

    /// The responder for a path: of those that match, the one with the longest path.
    func destination(of path: Substring) -> Destination {
        for (mount, answerer) in answerers {
            guard let rest = mount.rest(of: path) else { continue }
            return switch answerer {
            case .served(let served): .served(ServedPath(served: served, path: rest))
            case .files(let files): .files(files, rest)
            }
        }
        return .server
    }
}
#endif
