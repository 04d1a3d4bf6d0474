#if PostgreSQL
import Foundation
import PostgresCluster
import Relata
import RelataCore
import RelataPostgres
import RelataTesting
import Synchronization
import TestSupport
import Testing

/// Streams from a server: their connections, and their ends.
@Suite(.enabled(if: PrivateCluster.isInstalled, Testing.Comment(rawValue: PrivateCluster.missing)))
struct ServerStreamTests {
    private func store(_ database: PostgresCluster.TestDatabase, trace: SQLTrace? = nil) async throws -> Store {
        var options = Store.Options()
        options.trace = trace
        let store = try await Store.open(database.url, for: Genre.self, options: options)
        try await store.write { tx in try tx.insert((0..<5000).map { Genre(name: "\($0)") }) }
        return store
    }

    private func endConnections(to url: String) throws {
        let session = try Session(PostgresURL(url))
        try session.run(
            """
            SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
    }

    @Test func noStatementRunsOnAThreadOfSwiftsOwn() async throws {
        let names = Mutex<Set<String>>([])
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await store(database) { _, _ in
            names.withLock { _ = $0.insert(Thread.current.name ?? "") }
        }
        var count = 0
        for try await _ in store.stream(Genre.all) { count += 1 }
        #expect(count == 5000)
        for try await _ in store.stream(Genre.all) { break }
        _ = try await store.read { try $0.count(Genre.all) }
        try await store.save(Genre(name: "new"))
        #expect(names.withLock { $0 } == ["relata"])
        try store.close()
    }

    @Test func brokenStreamsAreErrorsAndTheNextCallWorks() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await store(database)
        var count = 0
        let error = await thrown {
            for try await _ in store.stream(Genre.all) {
                count += 1
                if count == 100 { try endConnections(to: database.url) }
            }
        }
        #expect(error?.kind == "fileAccess")
        #expect(error.map { "\($0)" }?.contains("went away") == true)
        #expect(count >= 100 && count < 5000)
        #expect(try await store.count(Genre.all) == 5000)
        var again = 0
        for try await _ in store.stream(Genre.all) { again += 1 }
        #expect(again == 5000)
        try store.close()
    }

    @Test(.timeLimit(.minutes(20))) func aCancelledTaskStopsTheStatementOfItsStreamAtAnyMoment() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("seed of the cancellations: \(seed)")
        var random = SampleRandom(seed: seed)
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await store(database)
        for _ in 0..<30 {
            let delay = Int.random(in: 0..<20_000, using: &random)
            let task = Task {
                // The stream has no end: only the cancellation ends it.
                while true { for try await _ in store.stream(Genre.all.sorted { $0.name }) {} }
            }
            try await Task.sleep(for: .microseconds(delay))
            task.cancel()
            await #expect(throws: CancellationError.self, "seed \(seed)") { try await task.value }
        }
        try await waitUntilIdle(database)
        #expect(try await store.count(Genre.all) == 5000)
        try store.close()
    }

    @Test func leavingALoopEndsItsTransaction() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await store(database)
        for _ in 0..<20 { for try await _ in store.stream(Genre.all) { break } }
        try await waitUntilIdle(database)
        try store.close()
    }

    /// Waits until no statement runs any more, and no transaction is open.
    private func waitUntilIdle(_ database: PostgresCluster.TestDatabase) async throws {
        let session = try Session(PostgresURL(database.url))
        try await waitUntil {
            let rows = try session.execute(
                SQLStatement(
                    """
                    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
                        AND backend_type = 'client backend' AND state <> 'idle'
                    """))
            return try rows[0][0].integer() == 0
        }
    }
}
#endif
