import Relata
import Synchronization
import Testing

@Model private struct Branch {
    @Attribute(.primaryKey) let id: Int
    var name: String
    var parent: ToOne<Branch>?
    @Relationship(deleteRule: .cascade, inverse: \Branch.parent) var children: ToMany<Branch>
}

/// A delete is a transaction, or a part of one.
@Suite struct DeleteTransactionTests {
    @Test(arguments: Engine.allCases) func deletionsUseASavepointOnlyInsideATransaction(
        _ engine: Engine
    ) throws {
        try expectSavepoints(Author.self, engine)
        // A deletion that is checked against counts.
        try expectSavepoints(Squad.self, engine)
    }

    private func expectSavepoints<M: Model>(_ model: M.Type, _ engine: Engine) throws {
        let log = StatementLog()
        let store = try TestStore.make(engine, for: model, options: log.options)
        _ = log.takeSavepoints()
        try store.delete(M.all)
        #expect(log.takeSavepoints() == 0, "\(model)")
        try store.write { try $0.delete(M.all) }
        #expect(log.takeSavepoints() == 1, "\(model)")
    }

    @Test(arguments: Engine.inTurn(1...6))
    func cancelledDeletionsAreAtomic(_ engine: Engine, _ statement: UInt64) async throws {
        let cancelling = Countdown()
        var options = Store.Options()
        options.trace = { _, _ in
            if cancelling.isOver() { withUnsafeCurrentTask { $0?.cancel() } }
        }
        let store = try TestStore.make(engine, for: Branch.self, options: options)
        let root = try await store.insert(Branch(id: 1, name: "root"))
        try await store.execute(
            """
            INSERT INTO "Branch" ("id", "name", "parentId")
            WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 20001) SELECT i, 'child', 1 FROM n
            """)
        cancelling.begin(Int(statement))
        _ = await Task { try await store.delete(root) }.result
        let (all, children) = (
            try await store.count(Branch.all), try await store.count(Branch.where { $0.parent == root })
        )
        #expect(all == 0 || all == 20001 && children == 20000, "cancelled after statement \(statement)")
    }
}

/// Counts statements down.
private final class Countdown: Sendable {
    private let left = Mutex<Int?>(nil)

    func begin(_ count: Int) { left.withLock { $0 = count } }

    func isOver() -> Bool {
        left.withLock { left in
            left = left.map { $0 - 1 }
            return left == 0
        }
    }
}
