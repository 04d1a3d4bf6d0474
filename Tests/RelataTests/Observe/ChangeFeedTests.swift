import Foundation
import Relata
import Testing

/// What the feed says about each way of writing.
struct ChangeFeedTests {
    /// The changes of one transaction, readable.
    private func changes(
        _ store: Store, _ body: @Sendable (WriteTransaction) throws -> Void
    ) async throws -> [String] {
        let feed = store.changes
        try await store.write(body)
        for await set in feed {
            return set.changes.map { change in
                let properties = change.properties.isEmpty ? "" : " \(change.properties.joined(separator: ","))"
                return "\(change.entity) \(change.kind.rawValue) \(change.keys.count)\(properties)"
            }
        }
        return []
    }

    @Test(arguments: Engine.allCases)
    func savesOfAllKinds(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self, Series.self, Book.self)
        let author = Author(name: "A")
        #expect(try await changes(store) { try $0.insert([author, Author(name: "B")]) } == ["Author insert 2"])
        #expect(try await changes(store) { try $0.save(Author(id: author.id, name: "C")) } == ["Author update 1 name"])
        #expect(try await changes(store) { try $0.save(Author(name: "D")) } == ["Author insert 1"])
        #expect(try await changes(store) { try $0.update(author.id) { $0.name = "E" } } == ["Author update 1 name"])
        #expect(
            try await changes(store) { try $0.update(Author.where { $0.name == "E" }) { $0.name.set(to: "F") } }
                == ["Author update 1 name"])
        #expect(try await changes(store) { try $0.insert(Series(title: "S")) } == ["Series insert 1"])
        #expect(
            try await changes(store) {
                try $0.save(Genre(name: "Fantasy"), matching: { $0.name })
            } == ["Genre insert 1"])
        #expect(
            try await changes(store) {
                try $0.save(Genre(name: "Fantasy"), matching: { $0.name })
            }.first?.hasPrefix("Genre update 1") == true)
    }

    @Test func upsertsIntoTablesWithoutRowIDsAreInsertsAndUpdatesToo() async throws {
        let store = try TestStore.make(.sqliteMemory, for: Numbered.self, Stamped.self)
        try await store.write { tx in
            try tx.execute("DROP TABLE Numbered")
            try tx.execute("CREATE TABLE Numbered (id INTEGER PRIMARY KEY, name TEXT) WITHOUT ROWID")
            try tx.execute("DROP TABLE Stamped")
            try tx.execute(
                "CREATE TABLE Stamped (id BLOB PRIMARY KEY, name TEXT UNIQUE, created INT, updated REAL) WITHOUT ROWID")
        }
        for kind in ["insert 1", "update 1 name"] {
            #expect(try await changes(store) { try $0.save(Numbered(id: 7, name: kind)) } == ["Numbered \(kind)"])
        }
        for kind in ["insert", "update", "update"] {
            let found = try await changes(store) { try $0.save(Stamped(name: "n"), matching: { $0.name }) }
            #expect(found.count == 1 && found[0].hasPrefix("Stamped \(kind) 1"), "\(found)")
        }
    }

    @Test func keysThatTheDatabaseAssignsAreNamed() async throws {
        let store = try TestStore.make(.sqliteMemory, for: Series.self)
        let feed = store.changes
        var series = Series(title: "S")
        series.episodes.add([Episode(title: "1"), Episode(title: "2")])
        try await store.insert(series)
        for await set in feed {
            #expect(set.keys(of: "Series", .insert).map(\.description) == ["1"])
            #expect(set.keys(of: "Episode", .insert).map(\.description) == ["1", "2"])
            break
        }
    }

    @Test func editsOnLinks() async throws {
        let store = try TestStore.make(.sqliteMemory, for: Book.self)
        let author = try await store.insert(Author(name: "A"))
        let book = try await store.insert(Book(title: "T"))
        let genre = try await store.insert(Genre(name: "G"))
        let linked = try await changes(store) { try $0.update(book.id) { $0.authors.add(author) } }
        #expect(Set(linked) == ["Book update 1 authors", "Author update 1 books"])
        // Nothing changes the second time.
        let again = try await changes(store) {
            try $0.update(book.id) { $0.authors.add(author) }
            try $0.update(genre.id) { $0.name = "H" }
        }
        #expect(again == ["Genre update 1 name"])
        let removed = try await changes(store) { try $0.update(book.id) { $0.authors.remove(author) } }
        #expect(Set(removed) == ["Book update 1 authors", "Author update 1 books"])
        let added = try await changes(store) { try $0.update(genre.id) { $0.books.add(book) } }
        #expect(added.contains("Book update 1 genre"))
    }

    @Test func deletionsWithAllThatFollows() async throws {
        let store = try TestStore.make(.sqliteMemory, for: Book.self, Series.self)
        let genre = try await store.insert(Genre(name: "G"))
        var book = Book(title: "T", genre: ToOne(genre))
        book.authors.add(Author(name: "A"))
        let saved = try await store.save(book)
        #expect(try await changes(store) { try $0.delete(genre) } == ["Book update 1 genre", "Genre delete 1"])
        let gone = try await changes(store) { try $0.delete(saved) }
        #expect(Set(gone) == ["Author update 1 books", "Book delete 1"])
        var series = Series(title: "S")
        series.episodes.add([Episode(title: "1"), Episode(title: "2")])
        let stored = try await store.insert(series)
        #expect(Set(try await changes(store) { try $0.delete(stored) }) == ["Episode delete 2", "Series delete 1"])
    }

    @Test func nothingOfWhatWasRolledBack() async throws {
        let store = try TestStore.make(.sqliteMemory, for: Author.self)
        let found = try await changes(store) { tx in
            try tx.insert(Author(name: "A"))
            try? tx.savepoint { tx in
                try tx.insert(Author(name: "B"))
                throw Rollback()
            }
            try tx.insert(Author(name: "C"))
        }
        #expect(found == ["Author insert 2"])
    }

    @Test func ownSQLAndTriggersNameTheEntityOnly() async throws {
        let store = try TestStore.make(.sqliteMemory, for: Author.self, Series.self)
        #expect(
            try await changes(store) { try $0.execute("INSERT INTO Author (id, name) VALUES ('a', 'b')") }
                == ["Author unknown 0"])
        try await store.execute("CREATE TRIGGER t AFTER INSERT ON Series BEGIN UPDATE Author SET name = 'x'; END")
        #expect(
            try await changes(store) { try $0.insert(Series(title: "S")) } == ["Series insert 1", "Author unknown 0"])
    }

    @Test func aReaderThatFallsFarBehindLearnsTheEntities() async throws {
        let store = try TestStore.make(.sqliteMemory, for: Author.self)
        let feed = store.changes
        for _ in 0..<3 {
            try await store.insert((0..<60_000).map { Author(name: "\($0)") })
        }
        var iterator = feed.makeAsyncIterator()
        let first = await iterator.next()
        #expect(first?.changes == [Change(entity: "Author", kind: .unknown)])
    }

    @Test func closingTheStoreEndsTheFeed() async throws {
        let store = try TestStore.make(.sqliteMemory, for: Author.self)
        let feed = store.changes
        try await store.insert(Author(name: "A"))
        try store.close()
        var count = 0
        for await _ in feed { count += 1 }
        #expect(count == 1)
    }
}
