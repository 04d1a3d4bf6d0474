#if Server
/// The kinds of requests that are counted apart. There are few, whatever clients ask for.
enum Route: String, CaseIterable, Sendable {
    case objects, object, batch, schemas, aggregate, purge, health, serverInfo, other, server

    /// - Parameter path: The path below the mount; empty for the server's own pages.
    init(_ path: Substring) {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 3)
        guard let first = parts.first else {
            self = path.isEmpty ? .server : .other
            return
        }
        switch Substring(first) {
        case "classes": self = parts.count > 2 ? .object : .objects
        case "batch": self = .batch
        case "schemas": self = .schemas
        case "aggregate": self = .aggregate
        case "purge": self = .purge
        case "health": self = .health
        case "serverInfo": self = .serverInfo
        default: self = .other
        }
    }
}
#endif
