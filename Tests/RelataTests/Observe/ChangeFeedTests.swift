import Foundation
import Relata
import Testing

/// The feed's entries for each way of writing.
struct ChangeFeedTests {
    @Test(arguments: Engine.allCases)
    func savesOfAllKinds(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self, Series.self, Book.self)
        let author = Author(name: "A")
        #expect(try await store.feed { try $0.insert([author, Author(name: "B")]) } == ["Author insert 2"])
        #expect(try await store.feed { try $0.save(Author(id: author.id, name: "C")) } == ["Author update 1 name"])
        #expect(try await store.feed { try $0.save(Author(name: "D")) } == ["Author insert 1"])
        #expect(try await store.feed { try $0.update(author.id) { $0.name = "E" } } == ["Author update 1 name"])
        #expect(
            try await store.feed { try $0.update(Author.where { $0.name == "E" }) { $0.name.set(to: "F") } }
                == ["Author update 1 name"])
        #expect(try await store.feed { try $0.insert(Series(title: "S")) } == ["Series insert 1"])
        #expect(
            try await store.feed {
                try $0.save(Genre(name: "Fantasy"), matching: { $0.name })
            } == ["Genre insert 1"])
        #expect(
            try await store.feed {
                try $0.save(Genre(name: "Fantasy"), matching: { $0.name })
            }.first?.hasPrefix("Genre update 1") == true)
    }

    @Test(arguments: Engine.allCases) func keysThatTheDatabaseAssignsAreNamed(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Series.self)
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

    @Test(arguments: Engine.allCases) func editsOnLinks(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Book.self)
        let author = try await store.insert(Author(name: "A"))
        let book = try await store.insert(Book(title: "T"))
        let genre = try await store.insert(Genre(name: "G"))
        let linked = try await store.feed { try $0.update(book.id) { $0.authors.add(author) } }
        #expect(Set(linked) == ["Book update 1 authors", "Author update 1 books"])
        // Nothing changes the second time.
        let again = try await store.feed {
            try $0.update(book.id) { $0.authors.add(author) }
            try $0.update(genre.id) { $0.name = "H" }
        }
        #expect(again == ["Genre update 1 name"])
        let removed = try await store.feed { try $0.update(book.id) { $0.authors.remove(author) } }
        #expect(Set(removed) == ["Book update 1 authors", "Author update 1 books"])
        let added = try await store.feed { try $0.update(genre.id) { $0.books.add(book) } }
        #expect(added.contains("Book update 1 genre"))
    }

    @Test(arguments: Engine.allCases) func deletionsWithAllConsequences(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Book.self, Series.self)
        let genre = try await store.insert(Genre(name: "G"))
        var book = Book(title: "T", genre: ToOne(genre))
        book.authors.add(Author(name: "A"))
        let saved = try await store.save(book)
        #expect(try await store.feed { try $0.delete(genre) } == ["Book update 1 genre", "Genre delete 1"])
        let gone = try await store.feed { try $0.delete(saved) }
        #expect(Set(gone) == ["Author update 1 books", "Book delete 1"])
        var series = Series(title: "S")
        series.episodes.add([Episode(title: "1"), Episode(title: "2")])
        let stored = try await store.insert(series)
        #expect(Set(try await store.feed { try $0.delete(stored) }) == ["Episode delete 2", "Series delete 1"])
    }

    @Test(arguments: Engine.allCases) func rolledBackChangesAreNotDelivered(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        let found = try await store.feed { tx in
            try tx.insert(Author(name: "A"))
            try? tx.savepoint { tx in
                try tx.insert(Author(name: "B"))
                throw Rollback()
            }
            try tx.insert(Author(name: "C"))
        }
        #expect(found == ["Author insert 2"])
    }

    @Test(arguments: Engine.allCases) func rawSQLNamesOnlyTheEntity(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: ISBN.self)
        let found = try await store.feed { try $0.execute(#"INSERT INTO "ISBN" ("value") VALUES ('a')"#) }
        #expect(found == ["ISBN unknown 0"])
    }

    @Test(arguments: Engine.first) func slowReadersGetOnlyTheEntities(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        let feed = store.changes
        for _ in 0..<3 {
            try await store.insert((0..<60_000).map { Author(name: "\($0)") })
        }
        var iterator = feed.makeAsyncIterator()
        let first = await iterator.next()
        #expect(first?.changes == [Change(entity: "Author", kind: .unknown)])
    }

    @Test(arguments: Engine.allCases) func closingTheStoreEndsTheFeed(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        let feed = store.changes
        try await store.insert(Author(name: "A"))
        try store.close()
        var count = 0
        for await _ in feed { count += 1 }
        #expect(count == 1)
    }
}
