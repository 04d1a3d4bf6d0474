import BenchmarkReport

/// A measurement, with its name in `bench.json`.
struct Workload: Sendable {
    let name: String
    let targets: [Target]
    let measure: @Sendable (Bench) async throws -> Outcome

    static let all: [Workload] = [
        .insertBatch, .fetchAll, .lookupInRead, .lookupCall, .lookupCallAsync, .filterSort, .search, .updateBatch,
        .updateQuery,
        .cascadeTree, .cascadeManyToMany, .cascadeDeny, .saveGraph, .streamMemory, .saveMillion, .openFiftyEntities,
        .buildTime,
        .graphBooks, .graphBooksGrowth, .graphBooksMemory, .graphSetlists, .graphTopPerParent, .graphCounts, .graphDeep,
        .graphTree,
        .observeLatency, .observeUnrelated, .observeMemory, .fairness, .fairnessWrites, .backup,
        .exportRows, .importRows, .exportMemory, .importMemory,
    ]
}

// The role types, under the names that each workload uses.
typealias Role = BenchmarkReport.Role
typealias Contestant = BenchmarkReport.Contestant

extension Role {
    static let codable = Role.peer("GRDB Codable")
    static let byIndex = Role.peer("GRDB by index")
}
