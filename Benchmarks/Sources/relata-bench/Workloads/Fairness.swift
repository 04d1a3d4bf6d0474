import BenchmarkReport
import Foundation
import Relata

/// The progress of other tasks while one task for each processor loops over `store.fetch`.
enum Fairness {
    /// A task that wakes every 10 ms: the mean time between its ticks, compared with that in an idle process.
    static func ticks(_ bench: Bench) async throws -> Outcome {
        let store = try bench.store(try bench.itemFile("items.sqlite", count: 10_000), for: Item.self)
        return try await compare(bench, store) { try await Task.sleep(for: .milliseconds(10)) }
    }

    /// A task that writes without a pause: the time of a write, compared with that in an idle process.
    static func writes(_ bench: Bench) async throws -> Outcome {
        let store = try bench.store(try bench.itemFile("items.sqlite", count: 10_000), for: Item.self)
        return try await compare(bench, store) {
            try await store.update(Item.where { $0.year == 1 }) { $0.year.set(to: 2) }
        }
    }

    private static func compare(
        _ bench: Bench, _ store: Store, _ work: @escaping @Sendable () async throws -> Void
    ) async throws -> Outcome {
        var (alone, beside): ([Double], [Double]) = ([], [])
        for round in 0...min(bench.options.rounds, 5) {
            let times = [try await time(bench, work), try await besideLoops(bench, store, work)]
            // The first round warms up.
            if round > 0 {
                alone.append(times[0])
                beside.append(times[1])
            }
        }
        return Outcome(ours: beside.median, limit: alone.median)
    }

    private static func besideLoops(
        _ bench: Bench, _ store: Store, _ work: @escaping @Sendable () async throws -> Void
    ) async throws -> Double {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
                group.addTask {
                    while !Task.isCancelled { _ = try? await store.fetch(Item.all.limit(100)) }
                }
            }
            let result = try await time(bench, work)
            group.cancelAll()
            return result
        }
    }

    /// The mean milliseconds of a piece of work that is repeated for a second.
    private static func time(_ bench: Bench, _ work: @Sendable () async throws -> Void) async throws -> Double {
        let start = bench.now
        let end = start + (bench.options.isQuick ? 100 : 1000)
        var count = 0.0
        while bench.now < end {
            try await work()
            count += 1
        }
        return (bench.now - start) / count
    }
}

extension Workload {
    static let fairness = Workload(name: "fairness", targets: [.limit(1.25)]) { try await Fairness.ticks($0) }
    static let fairnessWrites = Workload(name: "fairness-writes", targets: [.limit(3)]) {
        try await Fairness.writes($0)
    }
}
