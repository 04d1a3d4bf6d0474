#if PostgreSQL
import Foundation
import PostgresCluster
import Relata
import RelataPostgres
import Testing

/// A server that ends connections while a store is open.
@Suite(.enabled(if: PrivateCluster.isInstalled, Testing.Comment(rawValue: PrivateCluster.missing)))
struct LostConnectionTests {
    /// Ends all other connections to a database, and waits until they are gone.
    private func endConnections(to url: String) throws {
        let session = try Session(PostgresURL(url))
        defer { session.close() }
        try session.run(
            """
            SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
    }

    @Test func theNextCallConnectsAgain() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Store.open(database.url, for: Book.self)
        let genre = try await store.save(Genre(name: "Fantasy"))
        for round in 1...3 {
            try endConnections(to: database.url)
            #expect(try await store.fetch(Genre.self, id: genre.id)?.name == "Fantasy")
            try endConnections(to: database.url)
            try await store.save(Genre(name: "Genre \(round)"))
            #expect(try await store.count(Genre.all) == round + 1)
        }
        try store.close()
    }

    @Test func lostConnectionsRollBackTheirTransaction() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Store.open(database.url, for: Book.self)
        let error = await #expect(throws: RelataError.self) {
            try await store.write { tx in
                try tx.save(Genre(name: "lost"))
                try endConnections(to: database.url)
                try tx.save(Genre(name: "lost too"))
            }
        }
        #expect(error.map { "\($0)".contains("went away") } == true)
        #expect(try await store.count(Genre.all) == 0)
        try await store.save(Genre(name: "kept"))
        #expect(try await store.count(Genre.all) == 1)
        try store.close()
    }
}
#endif
