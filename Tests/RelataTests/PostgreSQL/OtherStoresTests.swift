#if PostgreSQL
import Foundation
import PostgresCluster
import Relata
import RelataPostgres
import Testing

/// A store on a server sees the writes of others.
@Suite(.enabled(if: PrivateCluster.isInstalled, Testing.Comment(rawValue: PrivateCluster.missing)))
struct OtherStoresTests {
    private func open(
        _ database: PostgresCluster.TestDatabase, delay: Double? = 0.25, changeLog: Bool = false
    ) throws -> Store {
        var options = Store.Options()
        options.externalChangeDelay = delay
        options.changeLog = changeLog
        return try TestStore.open(database.url, for: [Book.self], options: options)
    }

    @Test(.timeLimit(.minutes(20))) func observersOfEveryKindSeeOtherStores() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let (store, other) = (try open(database, delay: 30), try open(database))
        let author = try await store.insert(Author(name: "A"))
        var lists = store.observe(Author.sorted { $0.name }).makeAsyncIterator()
        var shared = store.observe(Author.sorted { $0.name }).makeAsyncIterator()
        var differences = store.observe(Author.sorted { $0.name }).differences.makeAsyncIterator()
        var object = store.observe(author.id).makeAsyncIterator()
        var books = store.observe(countOf: Book.all).makeAsyncIterator()
        #expect(try await lists.next()?.map(\.name) == ["A"])
        #expect(try await shared.next()?.map(\.name) == ["A"])
        #expect(try await differences.next()?.inserted.count == 1)
        #expect(try await object.next()??.name == "A")
        #expect(try await books.next() == 0)
        // The stores check only every half minute: a notification wakes them.
        try await other.write { tx in
            try tx.update(author.id) { $0.name = "B" }
            try tx.insert(Author(name: "C"))
        }
        #expect(try await lists.next()?.map(\.name) == ["B", "C"])
        #expect(try await shared.next()?.map(\.name) == ["B", "C"])
        let difference = try #require(try await differences.next())
        #expect(difference.inserted.map(\.element.name) == ["C"] && difference.updated.map(\.new.name) == ["B"])
        #expect(try await object.next()??.name == "B")
        // A commit that an observation doesn't depend on causes no new value.
        try await other.insert(Book(title: "T", year: 1970))
        #expect(try await books.next() == 1)
        try store.close()
        try other.close()
    }

    @Test(.timeLimit(.minutes(20))) func commitsAreSeenWhileAnOlderTransactionRuns() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let (store, other) = (try open(database, delay: 30), try open(database))
        let older = try Session(PostgresURL(database.url))
        try older.run("BEGIN; SELECT pg_current_xact_id()")
        var count = store.observe(countOf: Author.all).makeAsyncIterator()
        #expect(try await count.next() == 0)
        for number in 1...3 {
            try await other.insert(Author(name: "\(number)"))
            #expect(try await count.next() == number)
        }
        // The older transaction's own changes arrive when it ends.
        try older.run(
            """
            INSERT INTO "Author" SELECT gen_random_uuid(), 'old' FROM (SELECT) AS x;
            INSERT INTO relata_commits VALUES (pg_current_xact_id()::text::bigint, 0, '{Author}', false);
            COMMIT; SELECT pg_notify('relata_' || current_schema()::regnamespace::oid, '')
            """)
        #expect(try await count.next() == 4)
        try store.close()
        try other.close()
    }

    @Test(.timeLimit(.minutes(20))) func lostNotificationsCauseOnlyADelay() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try open(database, delay: 0.05)
        var count = store.observe(countOf: Author.all).makeAsyncIterator()
        #expect(try await count.next() == 0)
        // As if a process ended between its commit and its notification.
        let session = try Session(PostgresURL(database.url))
        for number in 1...3 {
            try session.run(
                """
                BEGIN; INSERT INTO "Author" SELECT gen_random_uuid(), 'x' FROM (SELECT) AS x;
                INSERT INTO relata_commits VALUES (pg_current_xact_id()::text::bigint, 0, '{Author}', false); COMMIT
                """)
            #expect(try await count.next() == number)
        }
        try store.close()
    }

    @Test(.timeLimit(.minutes(20))) func commitsDuringAListenersAbsenceAreNotLost() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let (store, other) = (try open(database, changeLog: true), try open(database, changeLog: true))
        var count = store.observe(countOf: Author.all).makeAsyncIterator()
        let feed = store.changes
        #expect(try await count.next() == 0)
        let session = try Session(PostgresURL(database.url))
        for number in 1...3 {
            try session.run(
                """
                SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                """)
            try await other.insert(Author(name: "\(number)"))
            while let found = try await count.next(), found < number {}
        }
        var names = 0
        for await set in feed {
            names += set.keys(of: "Author", .insert).count
            if names == 3 { break }
        }
        try store.close()
        try other.close()
    }

    @Test(.timeLimit(.minutes(20))) func feedsDeliverLoggedChangesAndNameEntitiesOfOthers() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let (store, logging, plain) = (
            try open(database, changeLog: true), try open(database, changeLog: true), try open(database)
        )
        try await logging.insert(Author(name: "before"))
        let feed = store.changes
        var sets = feed.makeAsyncIterator()
        let author = try await logging.write { tx in
            tx.origin = ChangeOrigin("desk", number: 4)
            return try tx.insert(Author(name: "A"))
        }
        let first = try #require(await sets.next())
        #expect(first.changes.map(\.kind) == [.insert] && first.origin == ChangeOrigin("desk", number: 4))
        #expect(first.changes.map(\.keys.first) == [KeyValue(.uuid(author.id.uuid))])
        try await store.update(author.id) { $0.name = "B" }
        let second = try #require(await sets.next())
        #expect(second.changes.map(\.properties) == [["name"]])
        #expect(try #require(first.position) < #require(second.position))
        try await plain.insert(Author(name: "C"))
        #expect(await sets.next()?.changes == [Change(entity: "Author", kind: .unknown)])
        // A store without the log is notified of every write, with or without the log.
        var heard = plain.changes.makeAsyncIterator()
        try await logging.delete(author.id)
        let unknown = try #require(await heard.next()?.changes)
        // The rows that link books to it may be deleted, too.
        #expect(Set(unknown.map(\.entity)).isSubset(of: ["Author", "Book"]), "\(unknown)")
        #expect(unknown.contains(Change(entity: "Author", kind: .unknown)), "\(unknown)")
        #expect(await sets.next()?.changes.map(\.kind) == [.delete])
        for store in [store, logging, plain] { try store.close() }
    }

    @Test(.timeLimit(.minutes(20))) func unreadRemovedRowsCountAsAnyChange() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let (store, other) = (try open(database), try open(database))
        try await other.insert(Author(name: "A"))
        let session = try Session(PostgresURL(database.url))
        // Recent rows stay.
        try CommitTable.trim(olderThan: .seconds(3600), on: session)
        #expect(try session.run("SELECT FROM relata_commits") == 1)
        var count = store.observe(countOf: Author.all).makeAsyncIterator()
        let feed = store.changes
        #expect(try await count.next() == 1)
        // Another process has removed rows that this store hadn't read yet.
        try session.run(
            """
            BEGIN; INSERT INTO "Author" SELECT gen_random_uuid(), 'x' FROM (SELECT) AS x;
            INSERT INTO relata_metadata (name, value) SELECT 'commits removed', pg_current_xact_id()::text; COMMIT
            """)
        #expect(try await count.next() == 2)
        for await set in feed {
            #expect(set.changes.contains(Change(entity: "Book", kind: .unknown)))
            break
        }
        try session.run("DELETE FROM relata_metadata WHERE name = 'commits removed'")
        // Rows stay while older transactions run, including those of the cluster's other databases.
        let deadline = ContinuousClock.now + .seconds(120)
        while try session.run("SELECT FROM relata_commits") > 0 {
            try #require(ContinuousClock.now < deadline, "old rows stay")
            try CommitTable.trim(olderThan: .zero, on: session)
        }
        #expect(try session.run("SELECT FROM relata_metadata WHERE name = 'commits removed'") == 1)
        try store.close()
        try other.close()
    }
}
#endif
