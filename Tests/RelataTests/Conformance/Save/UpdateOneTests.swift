import Relata
import Testing

@Model struct Cabinet {
    #Unique<Cabinet>([\.number, \.owner])
    var id: Int?
    var text: String
    @Attribute(.unique) var code: String?
    var number: Int?
    var owner: ToOne<CabinetOwner>?
}

@Model struct CabinetOwner {
    var id: Int?
    var name: String
}

@Model struct Bosun {
    var id: Int?
    @Attribute(.unique) var code: String
    var boss: ToOne<Bosun>?
}

/// `update(id) { }`, which writes what changed; upserts; and reading several or one again.
@Suite struct UpdateOneTests {
    @Test(arguments: Engine.allCases) func onlyChangedColumnsAreWritten(_ engine: Engine) throws {
        let log = StatementLog()
        let store = try TestStore.make(engine, for: Book.self, options: log.options)
        let book = try store.insert(Book(title: "a", year: 1, price: 2))
        _ = log.take()
        try store.update(book.id) { $0.year = 5 }
        let updates = log.take().filter { $0.hasPrefix("UPDATE") }
        #expect(updates.count == 1)
        #expect(updates.first?.contains("\"year\"") == true && updates.first?.contains("\"title\"") == false)
        try store.update(book.id) { $0.year = 5 }
        #expect(log.take().allSatisfy { $0.hasPrefix("SELECT") })
        try store.update(book.id) {
            $0.price = nil
            $0.genre = ToOne(Genre(name: "g"))
        }
        #expect(log.take().filter { $0.hasPrefix("UPDATE") }.first?.contains("\"year\"") == false)
        let stored = try store.refresh(book)
        #expect(stored.title == "a" && stored.year == 5 && stored.price == nil && stored.genre != nil)
    }

    @Test(arguments: Engine.allCases) func columnsThatOthersChangedInTheMeantimeAreKept(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        let book = try store.insert(Book(title: "a", year: 1))
        try store.write { tx in
            try tx.update(book.id) { mine in
                mine.title = "mine"
                try tx.execute(#"UPDATE "Book" SET "year" = 2"#)
            }
        }
        #expect(try store.refresh(book).year == 2 && store.refresh(book).title == "mine")
    }

    @Test(arguments: Engine.allCases) func updatesReturnTheStoredObject(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self, Series.self)
        let book = try store.insert(Book(title: "a"))
        let saved = try store.update(book.id) {
            $0.title = "b"
            $0.isSelected = true
            $0.authors.add(Author(name: "x"))
        }
        #expect(saved.title == "b" && saved.isSelected && !saved.authors.hasEdits)
        #expect(thrown { try store.update(ID<Book>()) { $0.title = "c" } }?.kind == "notFound")
        let error = thrown { try store.update(Series.self, id: 3) { $0.title = "" } }
        #expect(error.map { "\($0)" }?.contains("Series 3") == true)
        struct Changed: Error {}
        #expect(throws: Changed.self) {
            try store.update(book.id) {
                $0.title = "c"
                throw Changed()
            }
        }
        #expect(try store.refresh(book).title == "b")
    }

    @Test(arguments: Engine.allCases) func upsertsKeepTheStoredKey(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Event.self, Article.self)
        let first = try store.save(Venue(name: "v", seats: 1), matching: { $0.name })
        let second = try store.save(Venue(name: "v", seats: 2), matching: { $0.name })
        #expect(second.id == first.id && second.seats == 2)
        #expect(try store.fetch(Venue.all) == [second])
        #expect(thrown { try store.save(Venue(name: "v"), matching: { $0.seats }) }?.kind == "invalidUse")
        #expect(thrown { try store.save(Venue(name: "v"), matching: { ($0.name, $0.seats) }) }?.kind == "invalidUse")
        var edited = Venue(name: "v")
        edited.events.add(Event(title: "e"))
        #expect(thrown { try store.save(edited, matching: { $0.name }) }?.kind == "invalidUse")
        // The key of another object isn't taken over.
        #expect(
            thrown { try store.save(Venue(id: first.id, name: "w"), matching: { $0.name }) }?.kind == "alreadyExists")
        #expect(try store.count(Venue.all) == 1)
    }

    @Test(arguments: Engine.allCases) func upsertsMatchOnlyOwnProperties(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Bosun.self)
        let ahab = try store.insert(Bosun(code: "a"))
        for error in [
            thrown { try store.save(Bosun(code: "b", boss: ToOne(ahab)), matching: { $0.boss.code }) },
            thrown { try store.save([Bosun(code: "b")], matching: { ($0.boss.boss, $0.code) }) },
        ] {
            #expect(error?.kind == "invalidUse")
            #expect(error.map { "\($0)" }?.contains("isn't a property of Bosun itself") == true)
        }
        #expect(try store.count(Bosun.all) == 1)
    }

    @Test(arguments: Engine.allCases) func severalAreUpsertedInOneTransaction(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Event.self)
        let known = try store.save(Venue(name: "b", seats: 1), matching: { $0.name })
        let venues = try store.save("abc".map { Venue(name: "\($0)", seats: 7) }, matching: { $0.name })
        #expect(venues.map(\.name) == ["a", "b", "c"] && venues[1].id == known.id)
        #expect(try store.fetch(Venue.sorted { $0.name }) == venues)
        #expect(try store.save([Venue](), matching: { $0.name }).isEmpty)
        // Only one of two objects with the same value can be stored; nothing of the batch is written.
        let twice = [Venue(name: "d", seats: 1), Venue(name: "e", seats: 1), Venue(name: "d", seats: 2)]
        let error = thrown { try store.save(twice, matching: { $0.name }) }
        #expect(error?.kind == "invalidUse" && "\(error as Any)".contains("(d)"))
        #expect(try store.count(Venue.all) == 3)
    }

    @Test(arguments: Engine.allCases) func oneObjectIsChangedWithItsLinks(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        let book = try store.insert(Book(title: "t", genre: ToOne(Genre(name: "g"))))
        #expect(try store.fetch(Book.self, id: book.id, including: { $0.genre })?.genre?.loaded?.name == "g")
        #expect(try store.fetch(Book.self, id: ID(), including: { $0.genre }) == nil)
        let updated = try store.update(
            book.id,
            including: {
                $0.genre; $0.authors
            }
        ) { book in
            book.title += try book.genre?.object.name ?? "-"
            #expect(book.authors.isLoaded)
        }
        #expect(updated.title == "tg" && updated.genre?.loaded?.name == "g")
        #expect(
            try store.update(Book.self, id: book.id, including: { $0.genre }) { $0.year = 3 }.genre?.isLoaded == true)
        #expect(try store.fetch(Book.self, id: book.id)?.title == "tg")
    }

    @Test(arguments: Engine.allCases) func oneObjectIsChangedWithItsLinksAsynchronously(_ engine: Engine)
        async throws
    {
        let store = try TestStore.make(engine, for: Book.self)
        let book = try await store.insert(Book(title: "t", genre: ToOne(Genre(name: "g"))))
        try await store.update(book.id, including: { $0.genre }) { $0.title += try $0.genre?.object.name ?? "-" }
        let fetched = try await store.fetch(Book.self, id: book.id, including: { $0.genre })
        #expect(fetched?.title == "tg" && fetched?.genre?.isLoaded == true)
        let genres = try await store.save([Genre(name: "g"), Genre(name: "h")], matching: { $0.name })
        let count = try await store.count(Genre.all)
        #expect(count == genres.count)
    }

    @Test(arguments: Engine.allCases) func anUnsetValueMatchesNothingAndIsRefused(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Cabinet.self)
        let error = thrown { try store.save(Cabinet(text: "a"), matching: { $0.code }) }
        #expect(error?.kind == "invalidUse" && "\(error as Any)".contains("code is unset"))
        #expect(
            thrown { try store.save(Cabinet(text: "a", number: 1), matching: { ($0.number, $0.owner) }) }?.kind
                == "invalidUse")
        #expect(try store.count(Cabinet.all) == 0)
        // An owner that is new has no key yet, but will have one.
        let first = try store.save(
            Cabinet(text: "b", number: 1, owner: ToOne(CabinetOwner(name: "o"))), matching: { ($0.number, $0.owner) })
        let second = try store.save(
            Cabinet(text: "c", number: 1, owner: ToOne(id: try #require(first.owner?.id))),
            matching: { ($0.number, $0.owner) })
        #expect(first.id == second.id && second.text == "c")
        #expect(try store.count(Cabinet.all) == 1)
    }

    @Test(arguments: Engine.allCases) func severalPropertiesMayMatchTogether(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Ticket.self)
        let show = try store.insert(Show(name: "s"))
        let ticket = try store.save(
            Ticket(row: 1, number: 2, holder: "a", show: ToOne(show)), matching: { ($0.show, $0.row, $0.number) })
        let again = try store.save(
            Ticket(row: 1, number: 2, holder: "b", show: ToOne(show)), matching: { ($0.number, $0.row, $0.show) })
        let other = try store.save(
            Ticket(row: 2, number: 2, holder: "c", show: ToOne(show)), matching: { ($0.show, $0.row, $0.number) })
        #expect(again.id == ticket.id && again.holder == "b" && other.id != ticket.id)
        #expect(try store.count(Ticket.all) == 2)
        guard
            case .uniqueViolation("Ticket", let properties)? = thrown({
                try store.insert(Ticket(row: 1, number: 2, holder: "d", show: ToOne(show)))
            })
        else {
            Issue.record("inserted twice")
            return
        }
        #expect(Set(properties) == ["show", "row", "number"])
    }

    @Test(arguments: Engine.allCases) func keysOfSeveralModelsAreFetchedAtOnce(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Flight.self, Series.self)
        let paris = try store.insert(Airport(code: "CDG"))
        let flight = try store.insert(Flight(number: "1", origin: ToOne(paris), destination: ToOne(paris)))
        let series = try store.insert(Series(title: "s"))
        let keys = [
            ObjectKey(Flight.self, "1"), ObjectKey(Airport.self, "OSL"), ObjectKey(Airport.self, "CDG"),
            ObjectKey(Series.self, 1), ObjectKey(Airport.self, "CDG"),
        ]
        let results = try store.fetch(ids: keys)
        #expect(results.count == 5)
        #expect(results[0].object(as: Flight.self)?.origin.id == flight.origin.id)
        #expect(results[2].object(as: Airport.self) == paris && results[4].object(as: Airport.self) == paris)
        #expect(results[3].object(as: Series.self) == series)
        #expect(results[0].object(as: Airport.self) == nil)
        guard case .failure(.notFound(let missing)) = results[1].result else {
            Issue.record("found what isn't there")
            return
        }
        #expect(missing.entity == "Airport" && missing.key == KeyValue("OSL"))
        #expect(try store.fetch(ids: []).isEmpty)
        #expect(try store.fetch(ids: [keys[1]]).count == 1)
    }

    @Test(arguments: Engine.allCases) func refreshReturnsTheCurrentObject(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self, Series.self)
        let book = try store.insert(Book(title: "a"))
        try store.update(book.id) { $0.title = "b" }
        #expect(try store.refresh(book).title == "b")
        try store.delete(book)
        #expect(thrown { try store.refresh(book) }?.kind == "notFound")
        #expect(thrown { try store.refresh(Series(title: "new")) }?.kind == "invalidUse")
        #expect(thrown { try store.refresh(Series(id: 7, title: "new")) }?.kind == "notFound")
    }
}

@Model struct Ticket {
    var id: Int?
    var row: Int
    var number: Int
    var holder: String
    var show: ToOne<Show>
    #Unique<Ticket>([\.show, \.row, \.number])
}

@Model struct Show {
    var id: Int?
    var name: String
}
