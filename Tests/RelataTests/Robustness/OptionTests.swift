import Foundation
import Relata
import Synchronization
import Testing

/// The options that a store is opened with.
@Suite struct OptionTests {
    @Test(arguments: Engine.allCases) func tracesContainEveryStatementAndNoValues(engine: Engine) async throws {
        let traced = Mutex<[(sql: String, duration: Duration)]>([])
        var options = Store.Options()
        options.trace = { sql, duration in traced.withLock { $0.append((sql, duration)) } }
        let store = try TestStore.make(engine, for: Author.self, options: options)
        traced.withLock { $0 = [] }
        try await store.insert(Author(name: "a secret name"))
        let found = try await store.fetch(Author.where { $0.name == "a secret name" || $0.name.in(["other secret"]) })
        #expect(found.count == 1)
        let statements = traced.withLock { $0 }
        #expect(statements.contains { $0.sql.hasPrefix("BEGIN") })
        #expect(statements.contains { $0.sql.hasPrefix("COMMIT") })
        #expect(statements.contains { $0.sql.hasPrefix("INSERT") })
        #expect(statements.contains { $0.sql.hasPrefix("SELECT") })
        #expect(statements.allSatisfy { !$0.sql.contains("secret") && $0.duration >= .zero })
    }

    @Test(arguments: Engine.shared) func readOnlyStoresReadConcurrently(_ engine: Engine) async throws {
        let database = TestDatabase(engine)
        let writer = try database.open(Author.self)
        try await writer.insert((0..<10).map { Author(name: "\($0)") })
        var options = Store.Options()
        options.isReadOnly = true
        let store = try database.open(Author.self, options: options)
        // A read in a read, and in a stream's loop.
        let counts = try await store.read { tx in [try tx.count(Author.all), try store.count(Author.all)] }
        #expect(counts == [10, 10])
        var sum = 0
        for try await _ in store.stream(Author.all) { sum += try await store.count(Author.all) }
        #expect(sum == 100)
        // Writes of others are visible.
        try await writer.insert(Author(name: "more"))
        #expect(try await store.count(Author.all) == 11)
    }

    @Test(arguments: Engine.shared) func readOnlyRefusesEveryWayToWrite(_ engine: Engine) async throws {
        let database = TestDatabase(engine)
        try database.open(Author.self).close()
        var options = Store.Options()
        options.isReadOnly = true
        let store = try database.open(Author.self, options: options)
        let author = Author(name: "x")
        #expect(await thrown { try await store.insert(author) }?.kind == "readOnly")
        #expect(await thrown { try await store.write { _ in } }?.kind == "readOnly")
        #expect(await thrown { try await store.execute(#"DELETE FROM "Author""#) }?.kind == "readOnly")
        #expect(await thrown { try await store.delete(Author.all) }?.kind == "readOnly")
        #expect(await thrown { try await store.insert(contentsOf: [author]) }?.kind == "readOnly")
        // Not even an app's own SQL in a read.
        #expect(await thrown { _ = try await store.rows(#"DELETE FROM "Author""#) } != nil)
        #expect(await thrown { _ = try await store.rows(#"CREATE TABLE "x" ("y" INTEGER)"#) } != nil)
        #expect(await thrown { _ = try await store.rows(#"SELECT * FROM "x""#) }?.kind == "database")
    }

    @Test(arguments: Engine.allCases) func readTransactionsCannotWrite(engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        try await store.insert(Author(name: "x"))
        #expect(
            await thrown { _ = try await store.rows(#"DELETE FROM "Author" RETURNING "name""#) }?.kind == "readOnly")
        #expect(
            await thrown { _ = try await store.fetch(Author.self, sql: #"DELETE FROM "Author" RETURNING *"#) } != nil)
        #expect(try await store.count(Author.all) == 1)
    }
}
