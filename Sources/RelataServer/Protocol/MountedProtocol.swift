#if Server
/// A protocol, and the path that it is below.
struct MountedProtocol: Sendable {
    let mount: Mount
    let served: any ServedProtocol
}

/// What a protocol is asked for: the path below its mount.
struct ServedPath: Sendable {
    let served: any ServedProtocol
    let path: Substring

    /// The kind of the request, for figures.
    var route: String { served.route(of: path) }
}
#endif
