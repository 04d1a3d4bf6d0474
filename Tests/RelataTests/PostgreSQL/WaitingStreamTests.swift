#if PostgreSQL
import Foundation
import PostgresCluster
import Relata
import RelataCore
import RelataPostgres
import Synchronization
import TestSupport
import Testing

/// Streams whose server makes them wait.
@Suite(.enabled(if: PrivateCluster.isInstalled, Testing.Comment(rawValue: PrivateCluster.missing)))
struct WaitingStreamTests {
    @Test func aStreamThatWaitsForALockEndsWhenItsTaskIsCancelled() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Store.open(database.url, for: Series.self)
        let series = try await store.save(Series(title: "s"))
        try await store.insert((0..<3000).map { Episode(title: "\($0)", series: ToOne(id: series.id ?? 0)) })
        let session = try Session(PostgresURL(database.url))
        defer { session.close() }
        try session.run(#"BEGIN; LOCK TABLE "Episode" IN ACCESS EXCLUSIVE MODE"#)
        let count = Mutex(0)
        let task = Task {
            for try await _ in store.stream(Episode.all) { count.withLock { $0 += 1 } }
        }
        // The statement waits for the lock.
        try await waitUntil { try isAnyoneWaiting(session) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(count.withLock { $0 } == 0)
        try session.run("COMMIT")
        // The connection is as good as new.
        var seen = 0
        for try await _ in store.stream(Episode.all) { seen += 1 }
        #expect(seen == 3000)
        try store.close()
    }

    private func isAnyoneWaiting(_ session: Session) throws -> Bool {
        let rows = try session.execute(SQLStatement("SELECT 1 FROM pg_locks WHERE NOT granted"))
        return rows.count > 0
    }
}
#endif
