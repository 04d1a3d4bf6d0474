#if Server

/// Who answers requests, by their paths.
struct RequestRoutes: Sendable {
    enum Destination {
        /// The protocol, with the path below its mount.
        case served(Substring)
        /// Files, with the path below theirs.
        case files(StaticFiles, Substring)
        /// The server itself.
        case server
    }

    private let mount: Mount
    /// Those whose path is longer than the protocol's, the longest first.
    private let filesBefore: [(mount: Mount, files: StaticFiles)]
    /// The others, the longest first.
    private let filesAfter: [(mount: Mount, files: StaticFiles)]

    init(_ configuration: RelataServer.Configuration) {
        let mount = Mount(configuration.mount)
        let files = configuration.files.map { (mount: Mount($0.key), files: $0.value) }
            .sorted { $0.mount.path.utf8.count > $1.mount.path.utf8.count }
        filesBefore = files.filter { $0.mount.path.utf8.count > mount.path.utf8.count }
        filesAfter = files.filter { $0.mount.path.utf8.count <= mount.path.utf8.count }
        self.mount = mount
    }

    /// Who answers requests for a path: of those that it is below, the one with the longest path.
    func destination(of path: Substring) -> Destination {
        for (mount, files) in filesBefore {
            if let rest = mount.rest(of: path) { return .files(files, rest) }
        }
        if let rest = mount.rest(of: path) { return .served(rest) }
        for (mount, files) in filesAfter {
            if let rest = mount.rest(of: path) { return .files(files, rest) }
        }
        return .server
    }
}
#endif
