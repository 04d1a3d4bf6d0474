#if Server
import Foundation

/// The requests of clients, sent one after another and then again from the first: one method, with different paths or
/// bodies.
struct HTTPCall: Sendable {
    var method = "GET"
    var paths: [String]
    var bodies = [""]
    var headers: [String: String] = [:]
    /// The tokens of the requesting users, one after another; none if nobody is signed in.
    var sessions: [String] = []

    /// The number of requests until they begin again.
    var count: Int { max(paths.count, bodies.count, sessions.count) }

    /// The bytes of a request.
    func bytes(_ number: Int) -> [UInt8] {
        let body = bodies[number % bodies.count]
        var text = "\(method) \(paths[number % paths.count]) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        for (name, value) in allHeaders { text += "\(name): \(value)\r\n" }
        if !sessions.isEmpty { text += "\(Self.session): \(sessions[number % sessions.count])\r\n" }
        if !body.isEmpty { text += "Content-Length: \(body.utf8.count)\r\n" }
        return Array((text + "\r\n" + body).utf8)
    }

    /// The script that has `wrk` send them.
    var lua: String {
        var lines = ["local paths, bodies, headers, sessions, requests = {}, {}, {}, {}, {}"]
        lines += paths.map { "paths[#paths + 1] = [==[\($0)]==]" }
        lines += bodies.map { $0.isEmpty ? "bodies[1] = nil" : "bodies[#bodies + 1] = [==[\($0)]==]" }
        lines += sessions.map { "sessions[#sessions + 1] = [==[\($0)]==]" }
        lines += allHeaders.map { "headers[ [==[\($0)]==] ] = [==[\($1)]==]" }
        lines.append(
            """
            local place = 0
            function init(arguments)
                for name, value in pairs(wrk.headers) do headers[name] = value end
                for number = 0, \(count - 1) do
                    if #sessions > 0 then headers["\(Self.session)"] = sessions[number % #sessions + 1] end
                    requests[#requests + 1] = wrk.format(
                        "\(method)", paths[number % #paths + 1], headers, bodies[number % math.max(#bodies, 1) + 1])
                end
            end
            function request()
                place = place % #requests + 1
                return requests[place]
            end
            """)
        return lines.joined(separator: "\n")
    }

    private static let session = "X-Parse-Session-Token"

    private var allHeaders: [(String, String)] {
        var all = headers
        if bodies != [""] { all["Content-Type"] = "application/json" }
        return all.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
#endif
