#if Server
import BenchmarkReport
import Foundation

/// Load from another process: `wrk`, which sends a connection's next request when it has received the reply to the last
/// one.
struct Wrk: Sendable {
    let directory: WorkDirectory
    /// The time that it sends requests.
    let seconds: Int

    /// The milliseconds for each request, by the number of requests answered in that time: not the time that one
    /// request waits.
    ///
    /// - Parameter toleratesErrors: Whether to count only successful replies, for servers whose errors aren't ours to
    ///   fix. Otherwise any error is a failure.
    func milliseconds(
        _ call: HTTPCall, port: Int, connections: Int = 32, toleratesErrors: Bool = false
    ) throws -> Double {
        let script = try directory.file("requests.lua")
        try call.lua.write(toFile: script, atomically: true, encoding: .utf8)
        let output = try Shell.run([
            "wrk", "-t1", "-c\(connections)", "-d\(seconds)s", "--timeout", "30s", "-s", script,
            "http://127.0.0.1:\(port)",
        ])
        // A server that only refuses would be the fastest.
        let refused = Self.number(after: "Non-2xx or 3xx responses:", in: output) ?? 0
        guard toleratesErrors || refused == 0 && !output.contains("Socket errors"),
            let rate = Self.number(after: "Requests/sec:", in: output),
            let answered = Self.number(before: "requests in", in: output), answered > refused, rate > 0
        else { throw Failure("\(call.method) \(call.paths[0]) failed under load: \(output)") }
        if refused > 0 {
            Report.say("  \(call.method) \(call.paths[0]): \(Int(refused)) of \(Int(answered)) refused: not counted")
        }
        return 1000 / (rate * (answered - refused) / answered)
    }

    private static func number(after label: String, in output: String) -> Double? {
        guard let range = output.range(of: label) else { return nil }
        return output[range.upperBound...].split(whereSeparator: \.isWhitespace).first.flatMap { Double($0) }
    }

    private static func number(before label: String, in output: String) -> Double? {
        guard let range = output.range(of: label) else { return nil }
        return output[..<range.lowerBound].split(whereSeparator: \.isWhitespace).last.flatMap { Double($0) }
    }
}
#endif
