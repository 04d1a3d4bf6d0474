#if PostgreSQL
import Foundation
import PostgresCluster
import Relata
import RelataPostgres
import Testing

@Model private struct Basin {
    @Attribute(.primaryKey) let number: Int
    var value: Int = 0
}

/// Writes that neither a statement's text nor its plan shows: those of triggers, of actions of foreign keys, and
/// through views and partitions.
@Suite(.enabled(if: PrivateCluster.isInstalled, Testing.Comment(rawValue: PrivateCluster.missing)))
struct UnseenWriteTests {
    private var options: Store.Options {
        var options = Store.Options()
        options.changeLog = true
        return options
    }

    @Test(.timeLimit(.minutes(20))) func foreignKeyActionsOfRawSQLAreObserved() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Store.open(database.url, for: Series.self, Genre.self, options: options)
        let series = try await store.insert(Series(title: "S"))
        let episode = try await store.insert(Episode(title: "E", series: ToOne(series)))
        try await store.insert(History(progress: 1, episode: ToOne(episode)))
        var episodes = store.observe(countOf: Episode.all).makeAsyncIterator()
        var histories = store.observe(countOf: History.where { $0.episode != nil }).makeAsyncIterator()
        #expect(try await episodes.next() == 1)
        #expect(try await histories.next() == 1)
        let end = try #require(await store.changes(after: .start, atLeast: 3).last).position
        try await store.write { _ = try $0.execute("DELETE FROM \"Series\" WHERE title = 'S'") }
        #expect(try await episodes.next() == 0)
        // The key of a history of an episode of the series is unset.
        #expect(try await histories.next() == 0)
        let logged = try await store.changes(after: end, atLeast: 3).map(\.change)
        #expect(Set(logged.map(\.entity)) == ["Series", "Episode", "History"])
        #expect(logged.allSatisfy { $0.kind == .unknown })
        // A table is left alone if no foreign key has an action for the statement.
        try await store.write { _ = try $0.execute("UPDATE \"Series\" SET title = 'T'") }
        let last = try #require(await store.changes(after: end, atLeast: 4).last)
        #expect(last.change == Change(entity: "Series", kind: .unknown))
        #expect(try await store.changes(after: end).count == 4)
        try store.close()
    }

    @Test(.timeLimit(.minutes(20))) func triggersAreObservedBesideAPlainSave() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        try await Store.open(database.url, for: Genre.self, Author.self, options: options).close()
        try Session(PostgresURL(database.url)).run(
            """
            CREATE FUNCTION noting() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN INSERT INTO "Author" VALUES (gen_random_uuid(), 'of a trigger'); RETURN NULL; END $$;
            CREATE TRIGGER notes AFTER INSERT ON "Genre" FOR EACH ROW EXECUTE FUNCTION noting();
            """)
        let store = try await Store.open(database.url, for: Genre.self, Author.self, options: options)
        var authors = store.observe(countOf: Author.all).makeAsyncIterator()
        #expect(try await authors.next() == 0)
        let end = try await store.endOfChanges()
        try await store.insert(Genre(name: "one"))
        #expect(try await authors.next() == 1)
        try await store.write { tx in
            try tx.execute("INSERT INTO \"Genre\" SELECT gen_random_uuid(), 'two' FROM (SELECT 1) AS one")
        }
        #expect(try await authors.next() == 2)
        try await store.insert((0..<300).map { Genre(name: "\($0)") })
        #expect(try await authors.next() == 302)
        let logged = try await store.changes(after: end, atLeast: 14).map(\.change)
        #expect(logged.count { $0 == Change(entity: "Author", kind: .unknown) } == 3, "\(logged)")
        try store.close()
    }

    @Test(.timeLimit(.minutes(20))) func writesThroughAViewAffectItsTable() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        try await Store.open(database.url, for: Genre.self, options: options).close()
        let session = try Session(PostgresURL(database.url))
        try session.run(
            """
            CREATE VIEW "Titles" AS SELECT * FROM "Genre";
            CREATE VIEW "Doubled" AS SELECT name || name AS name FROM "Genre";
            CREATE FUNCTION renaming() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN UPDATE "Genre" SET name = new.name; RETURN new; END $$;
            CREATE TRIGGER renames INSTEAD OF UPDATE ON "Doubled" FOR EACH ROW EXECUTE FUNCTION renaming();
            """)
        let store = try await Store.open(database.url, for: Genre.self, options: options)
        try await store.insert(Genre(name: "one"))
        var names = store.observe(Genre.all.select { $0.name }).makeAsyncIterator()
        #expect(try await names.next() == ["one"])
        try await store.write { _ = try $0.execute("UPDATE \"Titles\" SET name = 'two'") }
        #expect(try await names.next() == ["two"])
        try await store.write { _ = try $0.execute("UPDATE \"Doubled\" SET name = 'three'") }
        #expect(try await names.next() == ["three"])
        try await store.write { _ = try $0.execute("DELETE FROM \"Titles\"") }
        #expect(try await names.next() == [])
        try store.close()
    }

    @Test(.timeLimit(.minutes(20))) func partitionedTablesAreReread() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let session = try Session(PostgresURL(database.url))
        try session.run(
            """
            CREATE TABLE "Basin" (number bigint PRIMARY KEY, value bigint NOT NULL) PARTITION BY RANGE (number)
            """)
        let store = try await Store.open(database.url, for: Basin.self, options: options)
        // Without a partition the server's plan names no table.
        var count = store.observe(countOf: Basin.all).makeAsyncIterator()
        #expect(try await count.next() == 0)
        try session.run("CREATE TABLE low PARTITION OF \"Basin\" FOR VALUES FROM (0) TO (100)")
        try await store.insert(Basin(number: 1))
        #expect(try await count.next() == 1)
        try session.run(
            """
            CREATE TABLE high PARTITION OF "Basin" FOR VALUES FROM (100) TO (300) PARTITION BY RANGE (number);
            CREATE TABLE highest PARTITION OF high FOR VALUES FROM (200) TO (300);
            """)
        try await store.insert(Basin(number: 250))
        #expect(try await count.next() == 2)
        var sum = store.observe(valueOf: Basin.all) { $0.value.sum() }.makeAsyncIterator()
        #expect(try await sum.next() == 0)
        try await store.write { _ = try $0.execute("UPDATE highest SET value = 5") }
        #expect(try await sum.next() == 5)
        try await store.write { _ = try $0.execute("UPDATE \"Basin\" SET value = 6") }
        #expect(try await sum.next() == 12)
        try store.close()
    }
}
#endif
