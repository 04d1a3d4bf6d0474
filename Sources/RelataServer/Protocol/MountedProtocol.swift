#if Server
/// A protocol, and the path that it is below.
struct MountedProtocol: Sendable {
    let mount: Mount
    let served: any ServedProtocol
}

/// The path below the mount, as the protocol gets it.
struct ServedPath: Sendable {
    let served: any ServedProtocol
    let path: Substring

    /// The kind of the request, for metrics.
    var route: String { served.route(of: path) }
}
#endif
