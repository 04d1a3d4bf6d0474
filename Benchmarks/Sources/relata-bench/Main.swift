import BenchmarkReport
import Foundation

/// Measures Relata beside SQLite's own interface (the limit) and GRDB (the peer), prints a table and writes
/// `bench.json`.
@main struct Main {
    static func main() async throws {
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            if let child = options.child { return try await Task.detached { try await ChildProcess.run(child) }.value }
            // A separate task: on the main actor, each async call would hop to another thread and back.
            try await Task.detached { try await measure(options) }.value
        } catch {
            Report.say("relata-bench: \(error)")
            exit(1)
        }
    }

    private static func measure(_ options: Options) async throws {
        let directory = try WorkDirectory()
        var report = Report()
        let bench = Bench(options: options, directory: directory)
        for workload in Workload.all where options.includes(workload.name) {
            Report.say("measuring \(workload.name) …")
            report.add(workload.name, workload.targets, try await workload.measure(bench))
        }
        report.printTable()
        try report.write(to: options.output)
    }
}
