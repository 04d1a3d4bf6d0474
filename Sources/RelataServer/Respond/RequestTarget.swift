#if Server
/// The target of a request: the path and the query, both still encoded.
struct RequestTarget: Sendable {
    let path: Substring
    let query: Substring

    init(_ target: String) {
        var rest = target[...]
        // Clients that use the server as a proxy send the whole address.
        for scheme in ["http://", "https://"] where rest.hasPrefix(scheme) {
            let authority = rest.dropFirst(scheme.count)
            rest = authority.drop { $0 != "/" && $0 != "?" }
        }
        if let hash = rest.utf8.firstIndex(of: UInt8(ascii: "#")) { rest = rest[..<hash] }
        let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?"))
        path = mark.map { rest[..<$0] } ?? rest
        query = mark.map { rest[rest.utf8.index(after: $0)...] } ?? ""
    }
}

/// The path that a protocol is below.
struct Mount: Sendable {
    /// `/parse`; empty if the protocol has all paths.
    let path: String

    init(_ path: String) {
        var path = path[...]
        while path.last == "/" { path.removeLast() }
        self.path = String(path)
    }

    /// The rest of a path below the mount: `/classes/Book`; `nil` for a path outside of it, and for the server's own
    /// pages, even if the protocol has all other paths.
    func rest(of target: Substring) -> Substring? {
        if path.isEmpty, StatusPages.paths.contains(target) { return nil }
        guard target.utf8.starts(with: path.utf8) else { return nil }
        let rest = target.utf8.dropFirst(path.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/") ? Substring(rest) : nil
    }
}
#endif
