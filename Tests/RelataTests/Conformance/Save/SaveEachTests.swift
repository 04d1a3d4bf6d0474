import Relata
import Testing

/// Objects that are saved one by one.
@Suite struct SaveEachTests {
    private func outcomes(_ results: [Result<any Model, any Error>]) -> [String] {
        results.map { result in
            switch result {
            case .success: "ok"
            case .failure(let error): (error as? RelataError)?.kind ?? "\(error)"
            }
        }
    }

    @Test(arguments: Engine.allCases) func failingObjectsKeepTheirErrorAndOthersAreSaved(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self, Series.self)
        try store.insert(Genre(name: "taken"))
        let genre = Genre(name: "g")
        let results = try store.saveEach([
            Book(title: "of a later one", genre: ToOne(id: genre.id)), Genre(name: "taken"), Book(title: ""), genre,
            Book(title: "ok"), Series(title: "new"), Episode(title: "lost", series: ToOne(id: 99)),
        ])
        #expect(outcomes(results) == ["ok", "uniqueViolation", "validation", "ok", "ok", "ok", "invalidReference"])
        #expect((try results[5].get() as? Series)?.id == 1)
        #expect(try store.count(Book.all) == 2 && store.count(Genre.all) == 2 && store.count(Episode.all) == 0)
    }

    @Test(arguments: Engine.allCases) func dependentsOfAFailedObjectFailWithTheirOwnError(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self, Team.self)
        let bad = Genre(name: " ")
        let author = Author(name: "")
        var byList = Book(title: "by its list")
        byList.authors.add(id: author.id)
        let results = try store.saveEach([
            Book(title: "by key", genre: ToOne(id: bad.id)), Book(title: "by object", genre: ToOne(bad)), bad, byList,
            author, Book(title: "free"),
        ])
        #expect(outcomes(results)[2] == "validation" && outcomes(results)[4] == "validation")
        for index in [0, 1] {
            guard case .failure(RelataError.invalidReference("Book", "genre", _)) = results[index] else {
                Issue.record("\(results[index])")
                continue
            }
        }
        guard case .failure(RelataError.invalidReference("Book", "authors", _)) = results[3] else {
            Issue.record("\(results[3])")
            return
        }
        #expect(outcomes(results)[5] == "ok")
        #expect(try store.fetch(Book.all).map(\.title) == ["free"])
    }

    @Test(arguments: Engine.allCases) func failuresPropagateAlongAChain(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Chain.self)
        let chains = [
            Chain(id: 3, next: ToOne(id: 2)), Chain(id: 2, next: ToOne(id: 1)), Chain(id: 1, next: ToOne(id: 0)),
            Chain(id: 5, next: ToOne(id: 4)), Chain(id: 4),
        ]
        let results = try store.saveEach(chains)
        #expect(outcomes(results) == Array(repeating: "invalidReference", count: 3) + ["ok", "ok"])
        #expect(try store.fetch(Chain.sorted { $0.id }).map(\.id) == [4, 5])
    }

    @Test(arguments: Engine.allCases) func theFirstOfTwoContradictoryObjectsWins(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self, Series.self)
        let (genre, other) = (Genre(name: "g"), ID<Genre>())
        let isbn = ISBN(value: "1")
        let results = try store.saveEach([
            Book(title: "of a later one", genre: ToOne(id: genre.id)), genre,
            Book(title: "a", genre: ToOne(Genre(id: other, name: "one"))),
            Book(title: "b", genre: ToOne(Genre(id: other, name: "other")), isbn: ToOne(id: "1")),
            Book(title: "c", isbn: ToOne(id: "1")), isbn,
        ])
        #expect(outcomes(results).prefix(3) == ["ok", "ok", "ok"] && outcomes(results).suffix(2) == ["ok", "ok"])
        #expect(try store.fetch(Genre.sorted { $0.name }).map(\.name) == ["g", "one"])
    }

    /// The copy with the edits is met after the one without: its links are visited again.
    @Test(arguments: Engine.allCases) func lateContradictionsFailOneObject(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Person.self)
        let (boss, friend) = (Person(name: "boss"), Person(name: "old"))
        var copy = boss
        copy.following.add(Person(id: friend.id, name: "new"))
        let between = Person(name: "between", boss: ToOne(copy))
        let results = try store.saveEach([
            Person(name: "a", boss: ToOne(boss)), Person(name: "c", boss: ToOne(between)), friend,
        ])
        #expect(outcomes(results) == ["ok", "invalidUse", "ok"])
        #expect(try store.fetch(Person.sorted { $0.name }).map(\.name) == ["a", "boss", "old"])
    }

    @Test(arguments: Engine.allCases) func newObjectsWithoutKeysAreSavedOnce(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Series.self)
        let results = try store.saveEach([
            Series(title: "a"), Series(title: "a"), Episode(title: "e", series: ToOne(Series(title: "b"))),
            Series(title: "c", episodes: ToMany([Episode(title: "f")])),
        ])
        #expect(outcomes(results) == ["ok", "ok", "ok", "ok"])
        #expect(try store.fetch(Series.sorted { $0.title }).map(\.title) == ["a", "a", "b", "c"])
        #expect(try store.count(Episode.all) == 2)
    }

    @Test(arguments: Engine.allCases) func nestedObjectsAreRolledBackWithTheirOwner(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        try store.insert(ISBN(value: "1"))
        let taken = try store.insert(Book(title: "first", isbn: ToOne(id: "1")))
        let results = try store.saveEach([
            Book(title: "", genre: ToOne(Genre(name: "not saved"))),
            Book(title: "ok", genre: ToOne(Genre(name: "saved"))), taken,
        ])
        #expect(outcomes(results) == ["validation", "ok", "ok"])
        #expect(try store.fetch(Genre.all).map(\.name) == ["saved"])
    }

    @Test(arguments: Engine.allCases) func theTransactionContinuesAfterAFailure(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Genre.self)
        try store.write { tx in
            try tx.save(Genre(name: "before"))
            #expect(outcomes(try tx.saveEach([Genre(name: "before"), Genre(name: "b")])) == ["uniqueViolation", "ok"])
            try tx.save(Genre(name: "after"))
        }
        #expect(try store.count(Genre.all) == 3)
    }

    @Test(arguments: Engine.allCases) func aStoredObjectWhoseUpdateFailsFailsAlone(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        let genre = try store.insert(Genre(name: "g"))
        let results = try store.saveEach([
            Genre(id: genre.id, name: " "), Book(title: "x", genre: ToOne(id: genre.id)),
        ])
        #expect(outcomes(results) == ["validation", "ok"])
        #expect(try store.first(Book.where { $0.genre == genre })?.title == "x")
    }

    @Test(arguments: Engine.allCases) func mixedObjectsAreInsertedOrUpdated(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        let genre = Genre(name: "g")
        let stored = try store.insert([Book(title: "x", genre: ToOne(id: genre.id)), genre] as [any Model])
        #expect(stored.count == 2)
        #expect(thrown { try store.insert([genre, Author(name: "a")] as [any Model]) }?.kind == "alreadyExists")
        #expect(thrown { try store.update([genre, Author(name: "a")] as [any Model]) }?.kind == "notFound")
        try store.update([Genre(id: genre.id, name: "h")] as [any Model])
        #expect(try store.first(Genre.all)?.name == "h" && store.count(Author.all) == 0)
    }
}
