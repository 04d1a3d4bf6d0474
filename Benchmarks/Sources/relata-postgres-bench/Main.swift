#if PostgreSQL
import BenchmarkReport
import Foundation

/// Measures Relata on PostgreSQL beside libpq (the limit), prints a table and adds the figures to `bench.json`.
@main struct Main {
    static func main() async {
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            if let child = options.child { return try StreamMemory.run(child) }
            // A separate task: on the main actor, each async call would hop to another thread and back.
            try await Task.detached { try await measure(options) }.value
        } catch {
            Report.say("relata-postgres-bench: \(error)")
            exit(1)
        }
    }

    private static func measure(_ options: Options) async throws {
        guard let server = options.server else {
            throw Failure("needs --server URL: scripts/bench --postgres starts one")
        }
        let bench = PostgresBench(options: options, server: server)
        var report = Report()
        for workload in Workload.all where options.includes(workload.name) {
            Report.say("measuring \(workload.name) …")
            report.add(workload.name, workload.targets, try await workload.measure(bench))
        }
        report.printTable()
        try report.write(to: options.output)
    }
}
#else
@main struct Main {
    static func main() { print("built without PostgreSQL: scripts/bench --postgres builds it with") }
}
#endif
