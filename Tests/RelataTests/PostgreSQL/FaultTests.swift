#if PostgreSQL
import Foundation
import PostgresCluster
import Relata
import RelataCore
import RelataEngine
import RelataPostgres
import Testing

// Values that a server refuses or that are large.
@Model private struct Reading {
    @Attribute(.primaryKey) let name: String
    var note: String = ""
    var level: Double = 0
    var moment: Date?
    var amount: Decimal?
    var count: Int = 0
    var content: Data?
}

@Model private struct StackedWare {
    @Attribute(.primaryKey) let number: Int
    @Attribute(.unique) var label: String
    @Relationship(deleteRule: .deny, inverse: \StackedCrate.ware) var crates: ToMany<StackedCrate>
}

@Model private struct StackedCrate {
    @Attribute(.primaryKey) let number: Int
    var ware: ToOne<StackedWare>
}

/// Servers that fail, refuse, or are changed under a store, and values that they don't take.
@Suite(.enabled(if: PrivateCluster.isInstalled, Testing.Comment(rawValue: PrivateCluster.missing)))
struct FaultTests {
    private func options(_ change: (inout Store.Options) -> Void) -> Store.Options {
        var options = Store.Options()
        change(&options)
        return options
    }

    // MARK: The server

    @Test func aCancelledTaskDoesNotWaitForAServerThatIsSilent() async throws {
        try await expectEnd { try await Store.open($0, for: Book.self) }
    }

    @Test func codeWithoutAsyncDoesNotWaitEither() async throws {
        @Sendable func open(_ url: String) throws -> Store { try Store.open(url, for: Book.self) }
        // This blocks its thread, which must not be one that runs other tests.
        try await expectEnd(on: ConnectionThread()) { try open($0) }
    }

    private func expectEnd(
        on executor: (any TaskExecutor)? = nil, _ open: @escaping @Sendable (String) async throws -> Store
    ) async throws {
        let server = try SilentServer()
        let url = server.url + "?sslmode=disable&connect_timeout=600"
        let opening = Task(executorPreference: executor) { try await open(url) }
        // The server accepts the connection, but doesn't answer.
        let connection = await server.accept()
        opening.cancel()
        await #expect(throws: CancellationError.self) { try await opening.value }
        server.stop()
        close(connection)
    }

    @Test func aKilledServerRollsBackAndTheStoreContinues() async throws {
        // A commit that is acknowledged is in the server's log.
        let cluster = try PrivateCluster(settings: ["synchronous_commit": "on"])
        let store = try await Store.open(cluster.url(), for: Book.self, options: options { $0.busyTimeout = 60 })
        try await store.save(Genre(name: "kept"))
        let error = await thrown {
            try await store.write { tx in
                try tx.save(Genre(name: "lost"))
                try cluster.killServer()
                try tx.save(Genre(name: "lost too"))
            }
        }
        #expect(error?.kind == "fileAccess")
        #expect(error.map { "\($0)" }?.contains("went away") == true)
        // While the server is away, the call waits for it.
        async let name = store.fetch(Genre.all).map(\.name)
        try cluster.start()
        #expect(try await name == ["kept"])
        try await store.save(Genre(name: "new"))
        #expect(try await store.count(Genre.all) == 2)
        #expect(try await store.check().isEmpty)
        #expect(store.statistics.reconnections > 0)
        try store.close()
    }

    @Test func anUnreachableServerIsAnErrorAfterTheTimeout() async throws {
        let cluster = try PrivateCluster()
        let store = try await Store.open(cluster.url(), for: Book.self, options: options { $0.busyTimeout = 0.3 })
        try cluster.stopServer()
        let start = ContinuousClock.now
        let error = await thrown { try await store.count(Genre.all) }
        #expect(error.map { "\($0)" }?.contains("can't connect") == true)
        #expect(.now - start >= .milliseconds(250))
        #expect(store.statistics.failedConnections > 1)
        try cluster.start()
        #expect(try await store.count(Genre.all) == 0)
        try store.close()
    }

    @Test func aServerThatNeverAnsweredIsAnImmediateError() async throws {
        let error = await thrown {
            try await Store.open(
                "postgres://postgres@/x?host=/nonexistent", for: Book.self, options: options { $0.busyTimeout = 86_400 }
            )
        }
        #expect(error?.kind == "fileAccess")
    }

    @Test func wrongPasswordsDatabasesAndRightsAreNamed() async throws {
        let cluster = try PrivateCluster.shared
        let guarded = PrivateCluster.guardedRole
        let password = await thrown { try await Store.open(cluster.url(user: guarded + ":wrong"), for: Book.self) }
        #expect(password.map { "\($0)" }?.contains("password") == true && password?.kind == "fileAccess")
        let missing = await thrown { try await Store.open(cluster.url(database: "nowhere"), for: Book.self) }
        #expect(missing.map { "\($0)" }?.contains("nowhere") == true && missing?.kind == "fileAccess")

        let database = try cluster.makeDatabase()
        let owner = try Session(PostgresURL(database.url))
        let role = "reader_\(UInt32.random(in: 0 ... .max))"
        try owner.run("CREATE ROLE \(role) LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        let url = cluster.url(database: database.name, user: role)
        let refused = await thrown { try await Store.open(url, for: Book.self) }
        #expect(refused?.kind == "fileAccess")
        #expect(refused.map { "\($0)" }?.contains("lacks a privilege") == true)
        // Nothing is left behind. Once a role with that right has opened the store, rights on the rows are enough.
        #expect(try owner.execute(SQLStatement("SELECT relname FROM pg_class WHERE relname = 'Book'")).count == 0)
        try await Store.open(database.url, for: Book.self).close()
        try owner.run(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO \(role)")
        let store = try await Store.open(url, for: Book.self)
        try await store.save(Book(title: "Matilda", authors: [Author(name: "Dahl")]))
        #expect(try await store.fetch(Book.where { $0.title.contains("MAT", .caseInsensitive) }).count == 1)
        try store.close()
    }

    @Test func callsTimeOutIfAllConnectionsAreInUse() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Store.open(
            database.url, for: Genre.self,
            options: options {
                $0.maximumWriters = 1
                $0.maximumReaders = 1
                $0.connectionTimeout = 1
            })
        let (entered, enter) = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        let holder = Task {
            try await store.write { _ in
                enter.yield()
                gate.wait()
            }
        }
        for await _ in entered { break }
        let error = await thrown { try await store.save(Genre(name: "waits")) }
        #expect(error?.kind == "busy")
        #expect(error.map { "\($0)" }?.contains("all 1 connections that write") == true)
        #expect(store.statistics.writers.timeouts == 1 && store.statistics.writers.waiting == 0)
        // Reads have their own connections.
        #expect(try await store.count(Genre.all) == 0)
        // Calls with a longer time limit succeed.
        async let second = store.save(Genre(name: "second"))
        gate.signal()
        try await holder.value
        #expect(try await second.name == "second")
        try store.close()
    }

    @Test func statementLockAndIdleTimeoutsAreEnforced() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        // Making the tables may take longer than the limits.
        try await Store.open(database.url, for: Genre.self).close()
        let store = try await Store.open(
            database.url, for: Genre.self,
            options: options {
                $0.statementTimeout = 0.5
                $0.busyTimeout = 0.1
                $0.idleInTransactionTimeout = 0.3
            })
        let genre = try await store.save(Genre(name: "one"))
        let slow = await thrown { try await store.write { try $0.execute("SELECT pg_sleep(30)") } }
        #expect(slow?.kind == "busy")
        let session = try Session(PostgresURL(database.url))
        try session.run("BEGIN; SELECT * FROM \"Genre\" FOR UPDATE")
        let locked = await thrown { try await store.update(genre.id) { $0.name = "two" } }
        #expect(locked?.kind == "busy")
        #expect(locked.map { "\($0)" }?.contains("lock") == true)
        try session.run("ROLLBACK")
        let idle = await thrown {
            try await store.write { tx in
                try tx.save(Genre(name: "never"))
                Thread.sleep(forTimeInterval: 1)
                try tx.save(Genre(name: "never either"))
            }
        }
        #expect(idle?.kind == "fileAccess")
        #expect(try await store.fetch(Genre.all).map(\.name) == ["one"])
        try store.close()
    }

    // MARK: Another language

    /// A server that speaks German, if its messages are installed.
    private func germanCluster() throws -> PrivateCluster? {
        let cluster = try PrivateCluster(settings: ["lc_messages": "C.UTF-8"], environment: ["LANGUAGE": "de"])
        let session = try Session(PostgresURL(cluster.url()))
        do throws(PostgresFailure) {
            try session.run("SELECT 1 / 0")
            return nil
        } catch {
            return error.diagnostics?.message == "Division durch Null" ? cluster : nil
        }
    }

    @Test func errorsAreTheSameInAnotherLanguage() async throws {
        guard let cluster = try germanCluster() else { return }
        let store = try await Store.open(cluster.url(), for: StackedCrate.self)
        try await store.insert(StackedWare(number: 1, label: "a, b"))
        try await store.insert(StackedCrate(number: 1, ware: ToOne(id: 1)))
        let same = await thrown { try await store.insert(StackedWare(number: 2, label: "a, b")) }
        guard case .uniqueViolation("StackedWare", ["label"])? = same else {
            return #expect(Bool(false), "\(same as Any)")
        }
        let key = await thrown { try await store.insert(StackedWare(number: 1, label: "c")) }
        #expect(key?.kind == "alreadyExists")
        let dangling = await thrown { try await store.insert(StackedCrate(number: 2, ware: ToOne(id: 9))) }
        #expect(dangling?.kind == "invalidReference" && dangling?.reference == "StackedCrate.ware")
        #expect(await thrown { try await store.delete(StackedWare.self, id: 1) }?.kind == "deleteDenied")
        let own = await thrown { try await store.write { try $0.execute("DELETE FROM \"StackedWare\"") } }
        #expect(own?.kind == "database")
        let two = await thrown { try await store.write { try $0.execute("SELECT 1; SELECT 2") } }
        #expect(two?.kind == "invalidUse")
        try store.close()

        let user = await thrown { try await Store.open(cluster.url(user: "niemand"), for: StackedCrate.self) }
        #expect(user?.kind == "fileAccess" && user.map { "\($0)" }?.contains("niemand") == true)
        // A server without a free connection is busy, in any language of its message.
        try Session(PostgresURL(cluster.url())).run("CREATE ROLE gast LOGIN CONNECTION LIMIT 0")
        let full = await thrown {
            try await Store.open(
                cluster.url(user: "gast"), for: StackedCrate.self, options: options { $0.busyTimeout = 0.1 })
        }
        #expect(full?.kind == "busy")
    }

    // MARK: Values

    @Test func valuesThatTheServerRejectsAreNamed() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Store.open(database.url, for: Reading.self)
        let text = await thrown { try await store.insert(Reading(name: "a", note: "x\0y")) }
        #expect(text.map { "\($0)" }?.contains("note") == true, "\(text as Any)")
        let key = await thrown { try await store.insert(Reading(name: "a\0")) }
        #expect(key.map { "\($0)" }?.contains("name") == true, "\(key as Any)")
        let many = await thrown {
            try await store.insert((0..<500).map { Reading(name: "\($0)", note: $0 == 400 ? "\0" : "") })
        }
        #expect(many.map { "\($0)" }?.contains("note") == true, "\(many as Any)")
        #expect(try await store.count(Reading.all) == 0)
        // A value that can't be stored can't be looked up either.
        let found = await thrown { try await store.fetch(Reading.where { $0.note == "\0" }) }
        #expect(found?.kind == "invalidUse")
        try await store.insert(Reading(name: "b"))
        let far = await thrown {
            try await store.insert(Reading(name: "far", moment: Date(timeIntervalSince1970: 1e15)))
        }
        #expect(far?.kind == "validation" || far?.kind == "invalidUse", "\(far as Any)")
        #expect(far.map { "\($0)" }?.contains("moment") == true, "\(far as Any)")
        #expect(try await store.fetch(Reading.all).map(\.name) == ["b"])
        try store.close()
    }

    @Test func infinityAndNumbersAtTheirLimitsAreKept() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Store.open(database.url, for: Reading.self)
        try await store.insert(Reading(name: "infinite", level: .infinity, count: .max))
        try await store.insert(Reading(name: "least", level: -.infinity, count: .min))
        let levels = try await store.fetch(Reading.all.sorted { $0.level }).map(\.level)
        #expect(levels == [-.infinity, .infinity])
        // A sum that is too large for its type is an error of the query, and the connection stays usable.
        let sum = await thrown {
            try await store.fetch(Reading.where { $0.count + 1 > 0 })
        }
        #expect(sum?.kind == "invalidUse", "\(sum as Any)")
        #expect(try await store.count(Reading.where { $0.count == Int.max }) == 1)
        try store.close()
    }

    @Test func aValueOfAHundredMegabytesIsStoredAndRead() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Store.open(database.url, for: Reading.self)
        let content = Data(repeating: 7, count: 100 << 20)
        try await store.insert(Reading(name: "large", content: content))
        #expect(try await store.fetch(Reading.self, id: "large")?.content == content)
        try store.close()
    }

    @Test func aSlowClockCausesNoConflicts() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Store.open(database.url, for: Article.self)
        let other = try await Store.open(database.url, for: Article.self)
        let article = try await store.insert(Article(title: "1"))
        // Another machine, whose clock is a day behind.
        let yesterday = Date(timeIntervalSinceNow: -86_400)
        try await other.pool.write { connection in
            _ = try other.transaction(on: connection, now: yesterday).update(article.id) { $0.title = "2" }
        }
        let stored = try #require(try await store.fetch(Article.self, id: article.id))
        // Stamps come from the writer's clock: the revision determines the order.
        #expect(stored.title == "2" && stored.revision == 2 && stored.updated < article.updated)
        #expect(await thrown { try await store.save(article) }?.kind == "conflict")
        try await store.update(article.id) { $0.title = "3" }
        #expect(try await other.fetch(Article.self, id: article.id)?.revision == 3)
        try other.close()
        try store.close()
    }

    // MARK: The schema

    @Test func aSessionThatLostItsStatementsPreparesThemAgain() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Store.open(
            database.url, for: Genre.self, options: options { $0.maximumWriters = 1 })
        let genre = try await store.save(Genre(name: "one"))
        try await store.update(genre.id) { $0.name = "two" }
        try await store.write { try $0.execute("DISCARD PLANS") }
        try await store.write { try $0.execute("DEALLOCATE ALL") }
        try await store.update(genre.id) { $0.name = "three" }
        #expect(try await store.fetch(Genre.self, id: genre.id)?.name == "three")
        try store.close()
    }
}
#endif
