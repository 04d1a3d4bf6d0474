import Relata
import Testing

@Model struct Bookcase {
    var id: Int?
    @Attribute(.unique) var label: String
    var authors: ToMany<Author> = []
    @Relationship(ordered: true) var top: ToMany<Author> = []
}

/// Links given as bare objects and as literals.
@Suite struct LiteralTests {
    @Test(arguments: Engine.allCases) func objectsAndLiteralsConvertToLinks(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Book.self, Series.self)
        let (fantasy, a, b) = (Genre(name: "Fantasy"), Author(name: "a"), Author(name: "b"))
        let bare = Book(title: "t", genre: fantasy, authors: [a, b])
        #expect(bare == Book(id: bare.id, title: "t", genre: ToOne(fantasy), authors: ToMany([a, b])))
        let saved = try await store.save(bare)
        #expect(try saved.authors.objects == [a, b])
        let none: Genre? = nil
        #expect(Book(title: "t", genre: none).genre == nil)
        let mixed = try await store.save(Book(title: "m", genre: ToOne(id: fantasy.id), isbn: ISBN(value: "1")))
        #expect(mixed.genre?.id == fantasy.id && mixed.isbn?.id == "1")
        let episode = try await store.save(
            Episode(title: "e", series: Series(title: "s"), history: History(progress: 1)))
        #expect(try episode.history.object?.progress == 1)
        #expect(try episode.series.object.title == "s")
    }

    @Test(arguments: Engine.allCases) func assignedLiteralsReplaceTheList(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Book.self)
        let (a, b) = (Author(name: "a"), Author(name: "b"))
        var book = try await store.save(Book(title: "t", authors: [a, b]))
        book.authors = [b]
        book = try await store.save(book)
        #expect(try await store.related(to: book) { $0.authors }.map(\.name) == ["b"])
        book.authors = []
        book = try await store.save(book)
        #expect(try await store.related(to: book) { $0.authors }.isEmpty)
        #expect(try await store.count(Author.all) == 2)
    }

    @Test(arguments: Engine.allCases) func fetchedObjectsHaveNoEdits(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Bookcase.self)
        let saved = try await store.save(Bookcase(label: "l", authors: [Author(name: "a")], top: [Author(name: "b")]))
        var bookcase = try #require(try await store.fetch(Bookcase.self, id: saved.id))
        #expect(!bookcase.authors.isLoaded && !bookcase.authors.hasEdits && !bookcase.top.hasEdits)
        bookcase.label = "m"
        _ = try await store.save(bookcase)
        #expect(try await store.related(to: bookcase) { $0.authors }.map(\.name) == ["a"])
        #expect(try await store.related(to: bookcase) { $0.top }.map(\.name) == ["b"])
    }

    @Test(arguments: Engine.allCases) func emptyInitialListsAreNotEdits(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Bookcase.self)
        let saved = try await store.save(Bookcase(label: "l", authors: [Author(name: "a")], top: [Author(name: "b")]))
        let renamed = Bookcase(id: saved.id, label: "m")
        #expect(!renamed.authors.hasEdits && !renamed.top.hasEdits)
        _ = try await store.save(renamed)
        #expect(try await store.related(to: saved) { $0.authors }.map(\.name) == ["a"])
        let matched = try await store.save(Bookcase(label: "m"), matching: { $0.label })
        #expect(matched.id == saved.id)
        #expect(try await store.related(to: saved) { $0.top }.map(\.name) == ["b"])
        _ = try await store.save(Bookcase(id: saved.id, label: "m", authors: []))
        #expect(try await store.related(to: saved) { $0.authors }.isEmpty)
        #expect(try await store.related(to: saved) { $0.top }.map(\.name) == ["b"])
    }

    @Test(arguments: Engine.allCases) func anUpdateByQuerySetsAndUnsetsLinks(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Book.self)
        let (one, two) = (Genre(name: "1"), Genre(name: "2"))
        let book = try await store.save(Book(title: "t", genre: one))
        try await store.save(two)
        try await store.update(Book.all) { $0.genre.set(id: two.id) }
        #expect(try await store.fetch(book.id)?.genre?.id == two.id)
        try await store.update(Book.all) { $0.genre.unset() }
        #expect(try await store.fetch(book.id)?.genre == nil)
    }
}
