#if PostgreSQL
import Foundation
import PostgresCluster
import Relata
import RelataPostgres
import Testing

@Model private struct OddReading {
    var id: Int?
    var time: Date
    var amount: Decimal
}

/// Changes of a store's database by other programs.
@Suite(.enabled(if: PrivateCluster.isInstalled, Testing.Comment(rawValue: PrivateCluster.missing)))
struct OtherProgramsTests {
    private func run(_ sql: String, in database: PostgresCluster.TestDatabase) throws {
        let session = try Session(PostgresURL(database.url))
        defer { session.close() }
        try session.run(sql)
    }

    @Test func schemaNamesMayHaveAnyCase() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        try run(
            "CREATE SCHEMA \"My App\"; ALTER DATABASE \"\(database.name)\" SET search_path = \"My App\"", in: database)
        for round in 1...2 {
            let store = try await Store.open(database.url, for: OddReading.self)
            try await store.insert(OddReading(time: Date(timeIntervalSince1970: 0), amount: 1))
            #expect(try await store.fetch(OddReading.all).count == round)
            try store.close()
        }
    }

    @Test func uncountableChangesAreErrorsOfTheirObject() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Store.open(database.url, for: OddReading.self)
        for number in 1...3 {
            try await store.insert(OddReading(time: Date(timeIntervalSince1970: 0), amount: Decimal(number)))
        }
        try run(
            """
            UPDATE "OddReading" SET time = 'infinity' WHERE id = 1; UPDATE "OddReading" SET amount = 'NaN' WHERE id = 2
            """, in: database)
        #expect(await thrown { try await store.fetch(OddReading.self, id: 1) }?.kind == "corruptStore")
        #expect(await thrown { try await store.fetch(OddReading.self, id: 2) }?.kind == "corruptStore")
        #expect(try await store.fetch(OddReading.self, id: 3)?.amount == 3)
        try store.close()
    }
}
#endif
