import Foundation

/// Many idle connections, each of which the server has answered once.
public final class IdleConnections {
    private var connections: [ServerConnection] = []
    private let port: Int
    private let path: String

    /// The number of connections that the system allows, at most those wanted, after raising the limit as far as
    /// possible.
    ///
    /// - Parameter ends: The number of ends of each connection in this process.
    public static func allowed(_ wanted: Int, ends: Int) -> Int {
        #if canImport(Glibc)
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let files = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0 else { return min(wanted, 100) }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(files, &limit)
        guard getrlimit(files, &limit) == 0, limit.rlim_cur < rlim_t(wanted * ends + 500) else { return wanted }
        return max(100, (Int(limit.rlim_cur) - 500) / ends)
    }

    /// Opens connections.
    ///
    /// - Parameter path: The path that each requests.
    public init(_ count: Int, port: Int, path: String) throws {
        self.port = port
        self.path = path
        connections.reserveCapacity(count)
        for _ in 0..<count {
            let connection = try ServerConnection(port: port, timeout: 30)
            try answer(connection)
            connections.append(connection)
        }
    }

    public var count: Int { connections.count }

    /// Asks again on some of them, spread over all: the server must still hold them.
    public func askAgain(_ count: Int) throws {
        for index in 0..<count { try answer(connections[index * connections.count / count]) }
    }

    /// The times, in seconds, of requests that each have their own connection, the fastest first.
    public func times(_ count: Int) throws -> [Double] {
        let connection = try ServerConnection(port: port, timeout: 30)
        return try (0..<count).map { _ in
            let start = Date()
            try answer(connection)
            return Date().timeIntervalSince(start)
        }
        .sorted()
    }

    private func answer(_ connection: ServerConnection) throws {
        let reply = try connection.request("GET", path)
        guard reply.status == 200 else { throw ServerConnection.Failure.malformed(reply.text) }
    }
}
