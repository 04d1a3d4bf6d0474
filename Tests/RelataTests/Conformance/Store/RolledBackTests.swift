import Foundation
import Relata
import Synchronization
import Testing

/// What SQLite does to a transaction by itself, in the middle of it.
@Suite struct RolledBackTests {
    @Test(arguments: Engine.allCases) func nothingIsWrittenAfterSQLiteHasRolledBack(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        let slow: SQL = """
            UPDATE Author SET name = name || (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500000)
            SELECT count(*) FROM n)
            """
        let writing = Task {
            try await store.write { tx in
                try tx.insert(Author(name: "before"))
                withUnsafeCurrentTask { $0?.cancel() }
                #expect(throws: CancellationError.self) {
                    do { try tx.execute(slow) } catch RelataError.database(9, _, _) { throw CancellationError() }
                }
                #expect(thrown { try tx.insert(Author(name: "after")) }?.kind == "invalidUse")
                #expect(thrown { try tx.savepoint { _ in } }?.kind == "invalidUse")
            }
        }
        await #expect(throws: (any Error).self) { try await writing.value }
        #expect(try await store.count(Author.all) == 0)
        try await store.insert(Author(name: "later"))
        #expect(try await store.count(Author.all) == 1)
    }

    @Test func aDeleteMakesOneSavepointInsideATransactionAndNoneAlone() throws {
        try expectSavepoints(Author.self)
        // One that is checked against counts.
        try expectSavepoints(Squad.self)
    }

    private func expectSavepoints<M: Model>(_ model: M.Type) throws {
        let log = StatementLog()
        let store = try Store.inMemory(for: model, options: log.options)
        _ = log.takeSavepoints()
        try store.delete(M.all)
        #expect(log.takeSavepoints() == 0, "\(model)")
        try store.write { try $0.delete(M.all) }
        #expect(log.takeSavepoints() == 1, "\(model)")
    }

    @Test(arguments: 1...6) func aCancelledDeleteOfATreeLeavesItWholeOrGone(_ statement: Int) async throws {
        let cancelling = Countdown()
        var options = Store.Options()
        options.trace = { _, _ in
            if cancelling.isOver() { withUnsafeCurrentTask { $0?.cancel() } }
        }
        let store = try Store.inMemory(for: Folder.self, options: options)
        let root = try await store.insert(Folder(name: "root"))
        try await store.execute(
            """
            INSERT INTO Folder (id, name, parentId) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
            SELECT randomblob(16), 'child', (SELECT id FROM Folder) FROM n
            """)
        cancelling.begin(statement)
        _ = await Task { try await store.delete(root) }.result
        let (all, children) = (
            try await store.count(Folder.all), try await store.count(Folder.where { $0.parent == root })
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
