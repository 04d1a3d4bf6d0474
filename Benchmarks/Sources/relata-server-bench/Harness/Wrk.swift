#if Server
import BenchmarkReport
import Foundation

/// Load from another process: `wrk`, which sends the next request of a connection when it has the reply to the last.
struct Wrk: Sendable {
    let directory: WorkDirectory
    /// For how long it sends.
    let seconds: Int

    /// Milliseconds for each request: of all that is answered in that time, not what one waits for.
    func milliseconds(_ call: HTTPCall, port: Int, connections: Int = 32) throws -> Double {
        let script = try directory.file("requests.lua")
        try call.lua.write(toFile: script, atomically: true, encoding: .utf8)
        let output = try Shell.run([
            "wrk", "-t1", "-c\(connections)", "-d\(seconds)s", "--timeout", "30s", "-s", script,
            "http://127.0.0.1:\(port)",
        ])
        // A server that only refuses would be the fastest.
        guard !output.contains("Non-2xx"), !output.contains("Socket errors"),
            let line = output.split(separator: "\n").first(where: { $0.hasPrefix("Requests/sec:") }),
            let rate = line.split(separator: " ").last.flatMap({ Double($0) }), rate > 0
        else { throw Failure("\(call.method) \(call.paths[0]) failed under load: \(output)") }
        return 1000 / rate
    }
}
#endif
