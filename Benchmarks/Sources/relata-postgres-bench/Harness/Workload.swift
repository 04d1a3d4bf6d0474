#if PostgreSQL
import BenchmarkReport

/// A measurement, with its name in `bench.json`.
struct Workload: Sendable {
    let name: String
    let targets: [Target]
    let measure: @Sendable (PostgresBench) async throws -> Outcome

    static let all: [Workload] = [
        .insertBatch, .insertBatchLog, .fetchAll, .lookupCall, .lookupCallAsync, .lookupPipelined, .graphBooks,
        .saveGraph, .cascadeTree, .mixed, .streamMemory,
    ]
}
#endif
