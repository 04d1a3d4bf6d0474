#if Server
import BenchmarkReport
import Foundation

/// Measures the server under load from other processes, compared with a bare server, with the store by itself, and with
/// Kinto. Prints a table, and adds the figures to `bench.json`.
@main struct Main {
    static func main() async {
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            if let child = options.child { return try await Task.detached { try await ServerChild.run(child) }.value }
            try await Task.detached { try await measure(options) }.value
        } catch {
            Report.say("relata-server-bench: \(error)")
            exit(1)
        }
    }

    private static func measure(_ options: Options) async throws {
        let directory = try WorkDirectory()
        let bench = try await ServerBench(options, directory)
        var report = Report()
        for workload in ServerWorkload.all where options.includes(workload.name) {
            Report.say("measuring \(workload.name) …")
            report.add(workload.name, workload.targets, try await workload.measure(bench))
        }
        report.printTable()
        try report.write(to: options.output)
    }
}
#else
@main struct Main {
    static func main() { print("built without the server: scripts/bench --server builds it with") }
}
#endif
