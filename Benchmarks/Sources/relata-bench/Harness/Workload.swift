import BenchmarkReport

/// One thing that is measured, by its name in `bench.json`.
struct Workload: Sendable {
    let name: String
    let targets: [Target]
    let measure: @Sendable (Bench) async throws -> Outcome

    static let all: [Workload] = [
        .insertBatch, .fetchAll, .lookupInRead, .lookupCall, .lookupCallAsync, .filterSort, .updateBatch,
        .updateQuery,
        .cascadeTree, .cascadeManyToMany, .cascadeDeny, .saveGraph, .streamMemory, .saveMillion, .openFiftyEntities,
        .buildTime,
        .graphBooks, .graphBooksGrowth, .graphBooksMemory, .graphSetlists, .graphTopPerParent, .graphCounts, .graphDeep,
        .graphTree,
        .observeLatency, .observeUnrelated, .observeMemory, .fairness, .fairnessWrites,
    ]
}

/// Who does a workload.
enum Role: Hashable, Sendable {
    case ours
    case limit
    case peer(String)

    static let codable = Role.peer("GRDB Codable")
    static let byIndex = Role.peer("GRDB by index")
}

/// One way to do a workload.
struct Contestant {
    let role: Role
    /// Makes ready what one measurement needs, and returns what is measured. Its result must be the same for all.
    let prepare: () throws -> () async throws -> Int

    init(_ role: Role, _ prepare: @escaping () throws -> () throws -> Int) {
        self.role = role
        self.prepare = { try prepare() }
    }

    init(async role: Role, _ prepare: @escaping () throws -> () async throws -> Int) {
        self.role = role
        self.prepare = prepare
    }
}
