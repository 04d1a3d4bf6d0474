import Relata
import Testing

/// Links to one object, and the views of them.
@Suite struct ToOneTests {
    @Test(arguments: Engine.allCases) func keysNeedNoLoadAndObjectsDo(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        let genre = try store.insert(Genre(name: "g"))
        let book = try store.insert(Book(title: "t", genre: ToOne(genre)))
        let stored = try #require(try store.fetch(Book.self, id: book.id))
        #expect(stored.genre?.id == genre.id)
        #expect(stored.genre?.isLoaded == false && stored.genre?.loaded == nil)
        #expect(thrown { try stored.genre?.object }?.kind == "notLoaded")
        #expect(thrown { try stored.authors.objects }?.kind == "notLoaded")
        #expect(try store.fetch(stored.genre) == genre)
        #expect(try store.fetch(stored.isbn) == nil)
        #expect(try book.genre?.object == genre)
    }

    @Test(arguments: Engine.allCases) func assignedKeysCanBeGivenDirectly(_ engine: Engine) throws {
        let store = try Discs(engine).store
        let disc = try #require(try store.first(Disc.where { $0.title == "C" }))
        let piece = try store.save(Piece(title: "p", seconds: 1, disc: ToOne(id: disc.id)))
        #expect(piece.disc.id == disc.id)
        let new = Disc(title: "new", band: .unset)
        let error = thrown { try store.insert(Piece(title: "p", seconds: 1, disc: ToOne(id: new.id))) }
        #expect(error?.kind == "requiredReference" && error?.reference == "Piece.disc")
    }

    @Test(arguments: Engine.allCases) func settingEitherSideUpdatesBoth(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        let (fantasy, crime) = try store.insert(Genre(name: "fantasy"), Genre(name: "crime"))
        let book = try store.insert(Book(title: "t"))
        try store.update(book.id) { $0.genre = ToOne(fantasy) }
        #expect(try store.related(to: fantasy) { $0.books }.map(\.id) == [book.id])
        // Moving it to another parent takes it from the first.
        try store.update(crime.id) { $0.books.add(book) }
        #expect(try store.related(to: fantasy) { $0.books }.isEmpty)
        #expect(try store.refresh(book).genre?.id == crime.id)
        try store.update(crime.id) { $0.books.remove(id: book.id) }
        #expect(try store.refresh(book).genre == nil)
        try store.update(fantasy.id) { $0.books.set(ids: [book.id]) }
        #expect(try store.related(to: book) { $0.genre }?.name == "fantasy")
        try store.update(book.id) { $0.genre = nil }
        #expect(try store.count(Book.where { $0.genre == nil }) == 1)
    }

    @Test(arguments: Engine.allCases) func listEditsOverrideTheForeignKeyInASave(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        let (fantasy, crime) = try store.insert(Genre(name: "fantasy"), Genre(name: "crime"))
        let book = try store.insert(Book(title: "t"))
        var (changed, list) = (book, crime)
        changed.genre = ToOne(fantasy)
        changed.title = "u"
        list.books.add(id: book.id)
        let (saved, _) = try store.save(changed, list)
        #expect(saved.genre?.id == crime.id && saved.title == "u")
        #expect(try store.refresh(book).genre?.id == crime.id)
        // Removed from the list that the column names.
        changed.genre = ToOne(fantasy)
        list = fantasy
        list.books.remove(changed)
        let (freed, _) = try store.save(changed, list)
        #expect(freed.genre == nil)
        #expect(try store.refresh(book).genre == nil)
    }

    @Test(arguments: Engine.allCases) func severalLinksBetweenTwoModelsAreSeparate(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Flight.self)
        let (paris, oslo) = (Airport(code: "CDG"), Airport(code: "OSL"))
        var flight = Flight(number: "1", origin: ToOne(paris), destination: ToOne(oslo))
        flight.stops.add(Airport(code: "FRA"))
        flight.alternates.add([oslo, Airport(code: "TRD")])
        try store.insert(flight)
        #expect(try store.related(to: paris) { $0.departures }.map(\.number) == ["1"])
        #expect(try store.related(to: paris) { $0.arrivals }.isEmpty)
        #expect(try store.related(to: oslo) { $0.arrivals }.map(\.number) == ["1"])
        #expect(try store.related(to: flight) { $0.stops }.map(\.code) == ["FRA"])
        #expect(try store.related(to: flight) { $0.alternates }.map(\.code) == ["OSL", "TRD"])
        #expect(
            try store.fetch(Airport.where { $0.stopovers.contains { $0.origin.code == "CDG" } }).map(\.code) == ["FRA"])
        #expect(try store.count(Flight.where { $0.origin != $0.destination }) == 1)
        #expect(try store.count(Airport.all) == 4)
    }

    @Test(arguments: Engine.allCases) func selfLinksFormTreesAndGraphs(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Person.self)
        var boss = Person(name: "boss")
        boss.boss = ToOne(id: boss.id)
        boss.reports.add([Person(name: "a"), Person(name: "b")])
        boss.following.add(id: boss.id)
        let saved = try store.insert(boss)
        #expect(try store.related(to: saved) { $0.reports.self }.map(\.name).sorted() == ["a", "b", "boss"])
        #expect(try store.fetch(Person.where { $0.boss.name == "boss" && $0.name != "boss" }).count == 2)
        #expect(try store.related(to: saved) { $0.followers }.map(\.name) == ["boss"])
        let a = try #require(try store.first(Person.where { $0.name == "a" }))
        try store.update(a.id) { $0.followers.add(id: boss.id) }
        #expect(try store.related(to: saved) { $0.following }.count == 2)
        #expect(
            try store.fetch(Person.where { $0.followers.contains { $0.name == "boss" } }.sorted { $0.name }).map(\.name)
                == ["a", "boss"])
    }

    @Test(arguments: Engine.allCases) func requiredChildrenMoveButCannotBeOrphaned(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Series.self)
        let one = try store.insert(Series(title: "1", episodes: ToMany([Episode(title: "e")])))
        let two = try store.insert(Series(title: "2"))
        let episode = try #require(one.episodes.loaded?.first)
        let refused = [
            thrown { try store.update(Series.self, id: 1) { $0.episodes.remove(episode) } },
            thrown { try store.update(Series.self, id: 1) { $0.episodes.set(ids: []) } },
            thrown { try store.update(Series.self, id: 1) { $0.episodes.set([Episode(title: "new")]) } },
        ]
        for error in refused { #expect(error?.kind == "requiredReference" && error?.reference == "Episode.series") }
        #expect(try store.count(Episode.all) == 1)
        // Removing an episode that isn't in the list is allowed, and an episode in the list may move.
        try store.update(Series.self, id: 2) { $0.episodes.remove(episode) }
        try store.update(Series.self, id: 2) { $0.episodes.add(episode) }
        #expect(try store.related(to: two) { $0.episodes }.map(\.title) == ["e"])
        #expect(try store.related(to: one) { $0.episodes }.isEmpty)
    }
}
