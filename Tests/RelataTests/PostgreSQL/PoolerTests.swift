#if PostgreSQL
import Foundation
import PostgresCluster
import Relata
import RelataCore
import RelataPostgres
import Testing

/// A store behind a pgbouncer that gives each transaction another connection of the server.
@Suite(
    .enabled(
        if: PrivateCluster.isInstalled && Pooler.isInstalled,
        Testing.Comment(rawValue: PrivateCluster.isInstalled ? Pooler.missing : PrivateCluster.missing)))
struct PoolerTests {
    @Test func poolersAreDetectedAndCarryNoNotifications() throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let pooler = try Pooler(PrivateCluster.shared, serverConnections: 2)
        let session = try Session(PostgresURL(pooler.url(database: database.name)))
        #expect(session.isPooled)
        #expect(throws: PostgresFailure.self) { try session.listen(to: "channel") }
        #expect(try !Session(PostgresURL(database.url)).isPooled)
        // A caller can override the detection.
        #expect(try !Session(PostgresURL(pooler.url(database: database.name)), poolsTransactions: false).isPooled)
    }

    @Test func manyTransactionsShareFewConnections() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let pooler = try Pooler(PrivateCluster.shared, serverConnections: 3)
        var options = Store.Options()
        (options.maximumReaders, options.maximumWriters, options.busyTimeout) = (8, 8, 60)
        let url = pooler.url(database: database.name)
        let store = try await Store.open(url, for: Book.self, options: options)
        let genre = try await store.save(Genre(name: "Fantasy"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                group.addTask {
                    for number in 0..<25 {
                        try await store.write { tx in
                            let author = try tx.save(Author(name: "\(writer)"))
                            try tx.save(
                                Book(title: "\(writer).\(number)", year: number, genre: ToOne(genre), authors: [author])
                            )
                        }
                        let found = try await store.fetch(
                            Book.where { $0.title == "\(writer).\(number)" }.including { $0.authors })
                        guard try found.first?.authors.objects.map(\.name) == ["\(writer)"] else {
                            throw RelataError.invalidUse("\(writer).\(number) isn't there")
                        }
                        let last = try await store.count(Book.where { $0.title.hasPrefix("\(writer).") })
                        guard last == number + 1 else { throw RelataError.invalidUse("\(last) of \(number + 1)") }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.count(Book.all) == 200)
        // A batch, a stream, a deletion, and an error, each of which is more than one statement.
        try await store.write { tx in try tx.insert((0..<500).map { Genre(name: "genre \($0)") }) }
        var streamed = 0
        for try await _ in store.stream(Genre.all) { streamed += 1 }
        #expect(streamed == 501)
        #expect(await thrown { try await store.save(Genre(name: "Fantasy")) }?.kind == "uniqueViolation")
        try await store.delete(Genre.self, id: genre.id)
        #expect(try await store.count(Book.where { $0.genre == nil }) == 200)
        #expect(try await store.check().isEmpty)
        // Fewer than the store's own connections served it.
        let session = try Session(PostgresURL(database.url))
        let rows = try session.execute(
            SQLStatement(
                """
                SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
                    AND backend_type = 'client backend'
                """))
        #expect(try rows[0][0].integer() <= 3)
        try store.close()
    }

    @Test func timeoutsAndReadOnlyTransactionsWorkBehindAPooler() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let pooler = try Pooler(PrivateCluster.shared, serverConnections: 2)
        var options = Store.Options()
        options.statementTimeout = 0.5
        try await Store.open(database.url, for: Genre.self).close()
        try Session(PostgresURL(database.url)).run("CREATE SEQUENCE numbers")
        let store = try await Store.open(pooler.url(database: database.name), for: Genre.self, options: options)
        let slow = await thrown { try await store.write { try $0.execute("SELECT pg_sleep(30)") } }
        #expect(slow?.kind == "busy")
        try await store.save(Genre(name: "one"))
        let written = await thrown {
            try await store.fetch(Genre.self, sql: #"SELECT * FROM "Genre" WHERE nextval('numbers') > 0"#)
        }
        #expect(written?.kind == "readOnly", "\(written as Any)")
        // A transaction's settings don't carry over to the next one on the same connection.
        let session = try Session(PostgresURL(pooler.url(database: database.name)))
        for _ in 0..<5 {
            let rows = try session.execute(SQLStatement("SELECT current_setting('statement_timeout')"))
            #expect(try rows[0][0].text() == "0")
        }
        try store.close()
    }

    @Test func theStoreSurvivesARestartBehindThePooler() async throws {
        let cluster = try PrivateCluster(settings: ["synchronous_commit": "on"])
        let pooler = try Pooler(cluster, serverConnections: 2)
        var options = Store.Options()
        options.busyTimeout = 60
        let store = try await Store.open(pooler.url(database: "postgres"), for: Genre.self, options: options)
        try await store.save(Genre(name: "one"))
        try cluster.killServer()
        try cluster.start()
        var count: Int?
        // The pooler still hands out connections that it doesn't know to be lost.
        let deadline = ContinuousClock.now + .seconds(60)
        while count == nil, .now < deadline { count = try? await store.count(Genre.all) }
        #expect(count == 1)
        try await store.save(Genre(name: "two"))
        try store.close()
    }
}
#endif
