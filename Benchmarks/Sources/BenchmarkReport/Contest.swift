import Foundation

/// Measures the contestants of one workload.
public struct Contest: Sendable {
    /// The number of measurements of each.
    public let rounds: Int
    /// Whether processor time is measured instead of elapsed time.
    public let usesProcessorTime: Bool

    /// A contest with that many rounds.
    public init(rounds: Int, usesProcessorTime: Bool = false) {
        self.rounds = rounds
        self.usesProcessorTime = usesProcessorTime
    }

    /// Milliseconds since some moment.
    public var now: Double {
        var time = timespec()
        clock_gettime(usesProcessorTime ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }

    /// Measures all contestants in turns, so that other load on the machine affects all of them alike. The order
    /// differs each time: in a fixed one, each would always follow the same other contestant.
    public func time(_ contestants: [Contestant]) async throws -> Outcome {
        var times: [Role: [Double]] = [:]
        var expected: Int?
        for round in 0...rounds {
            for contestant in contestants.shuffled() {
                let run = try contestant.prepare()
                let start = now
                let result = try await run()
                let duration = now - start
                guard result == expected ?? result else {
                    throw Failure("\(contestant.role) did something else: \(result), not \(expected ?? 0)")
                }
                expected = result
                // The first round warms up caches and memory.
                if round > 0 { times[contestant.role, default: []].append(duration) }
            }
        }
        let medians = times.mapValues { $0.median }
        var outcome = Outcome(ours: medians[.ours] ?? 0, limit: medians[.limit])
        for case .peer(let name) in contestants.map(\.role) {
            outcome.peers.append((name, medians[.peer(name)] ?? 0))
        }
        return outcome
    }
}
