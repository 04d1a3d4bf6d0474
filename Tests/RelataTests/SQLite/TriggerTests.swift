import Foundation
import Relata
import Testing

/// Triggers, which no model knows of.
@Suite struct TriggerTests {
    /// A trigger inserts rows beside those of the batch; no object may get the key of one of these.
    @Test(arguments: Engine.sqlite, [1, 15, 16, 17, 40, 100])
    func batchesGetTheirKeysDespiteATrigger(_ engine: Engine, _ count: Int) throws {
        let store = try TestStore.make(engine, for: History.self)
        try store.execute(
            """
            CREATE TRIGGER twice AFTER INSERT ON History WHEN NEW.progress = 3 BEGIN
                INSERT INTO History (progress) VALUES (-1);
            END
            """)
        let odd = try store.insert((0..<count).map { History(progress: Double($0)) })
        #expect(try store.fetch(History.where { $0.progress >= 0 }.sorted { $0.id }) == odd)
    }

    /// The last key that SQLite assigned belongs to another row.
    @Test(arguments: Engine.sqlite, [1, 15, 16, 17, 40])
    func batchesWithIgnoredRowsAreRefused(_ engine: Engine, _ count: Int) throws {
        let store = try TestStore.make(engine, for: History.self)
        try store.execute(
            SQL(
                stringLiteral: """
                    CREATE TRIGGER guard BEFORE INSERT ON History WHEN NEW.progress = \(count) BEGIN
                        SELECT RAISE(IGNORE);
                    END
                    """))
        let error = thrown { try store.insert((1...count).map { History(progress: Double($0)) }) }
        #expect(error?.kind == "validation" && "\(error!)".contains("a trigger of the table History"))
        #expect(try store.count(History.all) == 0)
    }

    /// Keys of the app's own aren't asked of SQLite, and no observer looks at the rows.
    @Test(arguments: Engine.sqlite, [1, 3, 40])
    func ignoredInsertsAreRefused(_ engine: Engine, _ count: Int) throws {
        let store = try TestStore.make(engine, for: Author.self)
        try store.execute(
            """
            CREATE TRIGGER guard BEFORE INSERT ON Author WHEN NEW.name = 'bad' BEGIN SELECT RAISE(IGNORE); END
            """)
        let authors = (1...count).map { Author(name: $0 == count ? "bad" : "good") }
        let error = thrown { try store.insert(authors) }
        #expect(error?.kind == "validation" && "\(error!)".contains("a trigger of the table Author"), "\(error as Any)")
        #expect(try store.count(Author.all) == 0)
        try store.insert(Array(authors.dropLast()))
        #expect(try store.count(Author.all) == count - 1)
    }

    /// An update that changes no row says whether the object is gone.
    @Test(arguments: Engine.sqlite) func ignoredUpdatesAreRefused(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: History.self, Article.self)
        for table in ["History", "Article"] {
            try store.execute(
                SQL(
                    stringLiteral:
                        "CREATE TRIGGER guard\(table) BEFORE UPDATE ON \(table) BEGIN SELECT RAISE(IGNORE); END"))
        }
        let plain = try store.insert([History(progress: 1), History(progress: 2)])
        var article = try store.insert(Article(title: "a"))
        article.title = "b"
        let changes: [() throws -> Void] = [
            { try store.update(plain[0]) }, { _ = try store.save(plain[0]) }, { _ = try store.save(plain) },
            { try store.update(article) }, { try store.save(article) },
            { try store.update(History.self, id: plain[0].id) { $0.progress = 3 } },
        ]
        for (number, change) in changes.enumerated() {
            let error = thrown(change)
            #expect(error?.kind == "validation" && "\(error!)".contains("a trigger of the table"), "\(number)")
        }
        for table in ["History", "Article"] { try store.execute(SQL(stringLiteral: "DROP TRIGGER guard\(table)")) }
        try store.delete(plain[0])
        #expect(thrown { try store.update(plain[0]) }?.kind == "notFound")
        try store.delete(article)
        #expect(thrown { try store.update(article) }?.kind == "conflict")
    }

    @Test func rawSQLAndTriggersNameOnlyTheEntity() async throws {
        let store = try TestStore.make(.sqliteMemory, for: Author.self, Series.self)
        #expect(
            try await store.feed { try $0.execute("INSERT INTO Author (id, name) VALUES ('a', 'b')") }
                == ["Author unknown 0"])
        try await store.execute("CREATE TRIGGER t AFTER INSERT ON Series BEGIN UPDATE Author SET name = 'x'; END")
        #expect(
            try await store.feed { try $0.insert(Series(title: "S")) } == ["Series insert 1", "Author unknown 0"])
    }

    @Test func cascadesTriggersAndRawSQLAreObserved() async throws {
        let store = try TestStore.make(.sqliteFile, for: Series.self, Author.self)
        var series = Series(title: "S")
        series.episodes.add([Episode(title: "1"), Episode(title: "2")])
        series = try await store.insert(series)
        var episodes = store.observe(countOf: Episode.all).makeAsyncIterator()
        #expect(try await episodes.next() == 2)
        try await store.delete(series)
        #expect(try await episodes.next() == 0)

        var authors = store.observe(countOf: Author.all).makeAsyncIterator()
        #expect(try await authors.next() == 0)
        try await store.execute(
            """
            CREATE TRIGGER t AFTER INSERT ON Series BEGIN
                INSERT INTO Author (id, name) VALUES (randomblob(16), new.title);
            END
            """)
        try await store.insert(Series(title: "Triggered"))
        #expect(try await authors.next() == 1)
        try await store.execute("INSERT INTO Author (id, name) VALUES (randomblob(16), 'own')")
        #expect(try await authors.next() == 2)
        // SQLite's own cascade, which no delete rule of the store ran.
        let other = try await store.insert(Series(title: "Other"))
        #expect(try await authors.next() == 3)
        try await store.insert(Episode(title: "3", series: ToOne(other)))
        #expect(try await episodes.next() == 1)
        try await store.execute("DELETE FROM Series")
        #expect(try await episodes.next() == 0)
    }
}
