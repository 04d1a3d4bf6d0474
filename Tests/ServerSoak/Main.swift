import Foundation
import ServerClient

/// `scripts/soak`: a server under full load, stopped and killed in between.
@main struct Main {
    static func main() throws {
        var arguments = CommandLine.arguments.dropFirst()
        guard let tool = arguments.popFirst(), let seconds = arguments.popFirst().flatMap({ Double($0) }), seconds > 0
        else {
            fail("usage: relata-soak PATH-OF-RELATA SECONDS")
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("relata-soak-\(getpid())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var plan = Soak.Plan()
        plan.seconds = seconds
        let restarts = min(6, max(1, Int(seconds / 20)))
        (plan.stops, plan.kills) = (restarts, restarts)
        plan.idleConnections = 10_000
        let outcome = try Soak(plan, tool: URL(fileURLWithPath: tool), folder: folder, say: say).run()
        say("\(outcome.requests) requests, \(Int(outcome.rate)) a second; \(outcome.requestsSentAgain) were sent again")
        if let first = outcome.memory.first, let last = outcome.memory.last {
            say("memory after the last restart: \(Int(first)) MB at first, \(Int(last)) MB at the end")
        }
        if let (connections, memory, times) = outcome.idle {
            let (half, most) = (times[times.count / 2] * 1000, times[times.count * 99 / 100] * 1000)
            say(
                "\(connections) idle connections: \(Int(memory)) MB; requests meanwhile took "
                    + String(format: "%.2f ms, and 99 of 100 at most %.2f ms", half, most))
        }
        try check(tool, folder + "/soak.sqlite")
        guard outcome.failures.isEmpty else {
            for failure in outcome.failures { say("FAILED: \(failure.prefix(1000))") }
            try? FileManager.default.removeItem(atPath: folder)
            exit(1)
        }
        say("nothing that was acknowledged is lost")
    }

    /// The file itself is in order.
    private static func check(_ tool: String, _ path: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: tool)
        process.arguments = ["check", path]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { fail("the file is not in order") }
    }

    private static func say(_ text: String) {
        print(text)
        fflush(nil)
    }

    private static func fail(_ text: String) -> Never {
        try? FileHandle.standardError.write(contentsOf: Data("relata-soak: \(text)\n".utf8))
        exit(1)
    }
}
