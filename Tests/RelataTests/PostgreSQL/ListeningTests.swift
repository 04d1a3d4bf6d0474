#if PostgreSQL
import Foundation
import PostgresCluster
import Relata
import RelataCore
import RelataPostgres
import Synchronization
import Testing

/// Listening for other stores' commits: errors, polling, and waiting for the server.
@Suite(.enabled(if: PrivateCluster.isInstalled, Testing.Comment(rawValue: PrivateCluster.missing)))
struct ListeningTests {
    private var options: Store.Options {
        var options = Store.Options()
        options.changeLog = true
        return options
    }

    @Test(.timeLimit(.minutes(20))) func missingListenPrivilegesAreReported() async throws {
        let cluster = try PrivateCluster.shared
        let database = try cluster.makeDatabase()
        let writer = try await Store.open(database.url, for: Genre.self)
        let session = try Session(PostgresURL(database.url))
        let role = "reader_\(database.name)"
        try session.run(
            """
            CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA public, relata TO \(role);
            GRANT SELECT ON "Genre", relata_metadata TO \(role)
            """)
        var options = Store.Options()
        options.isReadOnly = true
        let reader = try await Store.open(
            cluster.url(database: database.name, user: role), for: Genre.self, options: options)
        var counts = reader.observe(countOf: Genre.all).makeAsyncIterator()
        // The error comes before the first value or after it.
        var error: RelataError?
        for _ in 0..<2 where error == nil {
            error = await thrown {
                let count = try await counts.next()
                #expect(count == 0)
            }
        }
        #expect(error?.kind == "fileAccess" && "\(error as Any)".contains("relata_commits"), "\(error as Any)")
        // A feed can't end with an error: it says that something may have changed.
        var feed = reader.changes.makeAsyncIterator()
        #expect(await feed.next()?.changes.contains(Change(entity: "Genre", kind: .unknown)) == true)
        // With the privilege, the store gets notifications.
        try session.run("GRANT SELECT ON relata_commits TO \(role)")
        var isHeard = false
        for _ in 0..<1000 where !isHeard {
            // The feed checks from time to time, and may have been refused just before.
            var again = reader.observe(countOf: Genre.all).makeAsyncIterator()
            let error = await thrown {
                let before = try #require(try await again.next())
                try await writer.insert(Genre(name: "one"))
                let after = try await again.next()
                #expect(after == before + 1)
            }
            isHeard = error == nil
        }
        #expect(isHeard)
        try reader.close()
        try writer.close()
        try session.run("DROP OWNED BY \(role)")
        try session.run("DROP ROLE \(role)")
    }

    @Test(.timeLimit(.minutes(20))) func unreadableLogRowsDoNotStopFeeds() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Store.open(database.url, for: Genre.self, options: options)
        try await store.insert(Genre(name: "one"))
        var sets = store.changes.makeAsyncIterator()
        try Session(PostgresURL(database.url)).run(
            """
            INSERT INTO relata_changes SELECT log, pg_current_xact_id()::text::bigint, 1,
                pg_current_xact_id()::text::bigint, writer, time, entity, kind, 'no JSON', properties
            FROM relata_changes LIMIT 1
            """)
        let unknown = await sets.next()
        #expect(
            unknown?.changes.contains(Change(entity: "Genre", kind: .unknown)) == true, "\(unknown as Any)")
        try await store.insert(Genre(name: "two"))
        #expect(await sets.next()?.changes.map(\.kind) == [.insert])
        try store.close()
    }

    @Test(.timeLimit(.minutes(20))) func feedsPollRarelyWhileATransactionStaysOpen() async throws {
        let cluster = try PrivateCluster(settings: ["log_statement": "all"])
        let store = try await Store.open(cluster.url(), for: Genre.self, options: options)
        var sets = store.changes.makeAsyncIterator()
        let older = try Session(PostgresURL(cluster.url()))
        try older.run("BEGIN; SELECT pg_current_xact_id()")
        try await store.insert(Genre(name: "one"))
        func looks() throws -> Int {
            try String(contentsOfFile: cluster.place + "/log", encoding: .utf8).split(separator: "\n").count {
                $0.contains("FROM (SELECT pg_current_snapshot() AS s)")
            }
        }
        let before = try looks()
        try older.run("SELECT pg_sleep(2); COMMIT")
        #expect(await sets.next()?.changes.map(\.kind) == [.insert])
        // Each check is logged once or twice. Checks every five milliseconds would be four hundred.
        #expect(try looks() - before < 80)
        #expect(try looks() > before)
        try store.close()
    }

    @Test(.timeLimit(.minutes(20))) func startingAnObserverDoesNotBlock() async throws {
        // Committed data survives a killed server.
        let cluster = try PrivateCluster(settings: ["synchronous_commit": "on"])
        var options = options
        options.busyTimeout = 60
        let store = try await Store.open(cluster.url(), for: Genre.self, options: options)
        let session = try Session(PostgresURL(cluster.url()))
        let rows = try session.execute(
            SQLStatement(
                """
                SELECT pid::bigint FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
                """))
        let processes = try (0..<rows.count).map { Int32(try rows[$0][0].integer()) }
        try #require(!processes.isEmpty)
        // The server doesn't answer for a while.
        for process in processes { kill(process, SIGSTOP) }
        let thread = OneThread()
        let observing = Task(executorPreference: thread) {
            var counts = store.observe(countOf: Genre.all).makeAsyncIterator()
            let before = try await counts.next()
            try await store.insert(Genre(name: "one"))
            return (before, try await counts.next())
        }
        let isFree = Mutex(false)
        let other = Task(executorPreference: thread) { isFree.withLock { $0 = true } }
        #expect(await becomesTrue { isFree.withLock { $0 } }, "observing waits for the server")
        for process in processes { kill(process, SIGCONT) }
        await other.value
        let counts = try await observing.value
        #expect(counts.0 == 0 && counts.1 == 1)
        // A feed doesn't connect to the server either.
        try cluster.killServer()
        let feed = Mutex<ChangeFeed?>(nil)
        Thread {
            let made = store.changes
            feed.withLock { $0 = made }
        }.start()
        #expect(await becomesTrue { feed.withLock { $0 != nil } }, "a feed connects to the server")
        try cluster.start()
        var sets = try #require(feed.withLock { $0 }).makeAsyncIterator()
        try await store.insert(Genre(name: "two"))
        var hasTold = false
        while !hasTold, let set = await sets.next() { hasTold = set.changes.contains { $0.entity == "Genre" } }
        #expect(hasTold)
        try store.close()
    }

    /// Whether something becomes true soon.
    private func becomesTrue(_ condition: () -> Bool) async -> Bool {
        let deadline = ContinuousClock.now + .seconds(15)
        while !condition(), .now < deadline { try? await Task.sleep(for: .milliseconds(2)) }
        return condition()
    }
}

/// The only thread of some tasks.
private final class OneThread: TaskExecutor {
    private let queue = DispatchQueue(label: "one thread")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
#endif
