import BenchmarkReport

/// Measures the contestants of one workload.
struct Bench: Sendable {
    let options: Options
    let directory: WorkDirectory

    /// The number of rows for a workload that takes `full` rows in a full run.
    func count(_ full: Int) -> Int { options.isQuick ? full / 10 : full }

    /// Milliseconds since some moment.
    var now: Double { contest.now }

    /// Measures all contestants in turns.
    func time(_ contestants: [Contestant]) async throws -> Outcome { try await contest.time(contestants) }

    private var contest: Contest { Contest(rounds: options.rounds, usesProcessorTime: options.usesProcessorTime) }
}
