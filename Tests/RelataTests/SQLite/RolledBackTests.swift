import Foundation
import Relata
import Testing

/// Rollbacks by SQLite in the middle of a transaction.
@Suite struct RolledBackTests {
    @Test(arguments: Engine.sqlite) func nothingIsWrittenAfterSQLiteHasRolledBack(_ engine: Engine) async throws {
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
}
