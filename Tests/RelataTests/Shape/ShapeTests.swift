import Foundation
import Relata
import Testing

@Suite struct ShapeTests {
    let log = StatementLog()

    func setlists(_ engine: Engine) throws -> Store {
        let store = try TestStore.make(engine, for: Setlist.self, options: log.options)
        try store.write { tx in
            for (index, names) in [["Blue", "Sun", "Blue"], [], ["Rain"]].enumerated() {
                let setlist = try tx.insert(Setlist(name: "S\(index)"))
                for (position, name) in names.enumerated() {
                    try tx.save(Tune(name: name))
                    try tx.insert(
                        SetlistItem(
                            position: position, transposedKey: position == 1 ? "G" : nil,
                            setlist: ToOne(id: setlist.id), tune: ToOne(id: name)))
                }
            }
        }
        _ = log.take()
        return store
    }

    func library(_ engine: Engine) throws -> Store {
        let store = try TestStore.make(engine, for: Book.self, options: log.options)
        let genres = (0..<3).map { Genre(name: "G\($0)") }
        let authors = (0..<3).map { Author(name: "A\($0)") }
        try store.write { tx in
            try tx.insert(genres)
            try tx.insert(authors)
            for index in 0..<6 {
                var book = Book(title: "B\(index)", year: 1947 + index)
                book.genre = index % 3 == 2 ? nil : ToOne(id: genres[index % 3].id)
                if index == 1 { book.isbn = ToOne(try tx.insert(ISBN(value: "978"))) }
                for step in 0..<index % 3 { book.authors.add(id: authors[(index + step) % 3].id) }
                try tx.insert(book)
            }
        }
        _ = log.take()
        return store
    }

    /// Rows that lead to the same objects share them; where most lead to others, each is read for itself.
    @Test(arguments: Engine.allCases, [1, 40, 600, 2000])
    func rowsWithASharedTargetEachGetIt(_ engine: Engine, tuneCount: Int) throws {
        let store = try TestStore.make(engine, for: Setlist.self)
        let names = (0..<2000).map { "Tune \($0 % tuneCount)" }
        try store.write { tx in
            try tx.insert((0..<tuneCount).map { Tune(name: "Tune \($0)") })
            let setlist = try tx.insert(Setlist(name: "All"))
            try tx.insert(
                names.enumerated().map {
                    SetlistItem(position: $0, setlist: ToOne(id: setlist.id), tune: ToOne(id: $1))
                })
        }
        let found = try #require(try store.fetch(SetlistTunes.all).first)
        #expect(found.items.map(\.tune.name) == names && found.itemCount == 2000)
    }

    /// A row may leave out an object that an earlier row had; each row has the object's other requested values.
    @Test(arguments: Engine.allCases) func rowsGetOtherValuesOfTheirTarget(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Setlist.self, options: log.options)
        let names = (0..<30).map { "Tune \($0 * 7 % 4)" }
        try store.write { tx in
            try tx.insert((0..<4).map { Tune(name: "Tune \($0)") })
            for list in 0..<3 {
                let setlist = try tx.insert(Setlist(name: "S\(list)"))
                try tx.insert(
                    names[(list * 10)..<(list * 10 + 10)].enumerated().map {
                        SetlistItem(position: $0, setlist: ToOne(id: setlist.id), tune: ToOne(id: $1))
                    })
            }
        }
        _ = log.take()
        let items = try store.fetch(ItemTargets.all)
        #expect(log.take().count == 1)
        #expect(items.map(\.tune.name) == names && items.map(\.tuneName) == names)
        #expect(items.map(\.setlist.name) == (0..<30).map { "S\($0 / 10)" })
        let sorted = try store.fetch(
            SetlistTunes.Item.sorted {
                $0.tune.name; $0.id
            })
        #expect(sorted.map(\.tune.name) == names.sorted())
        let backwards = try store.fetch(
            SetlistTunes.Item.where { $0.tune.name != "Tune 1" }.sorted {
                $0.tune.name.descending; $0.id
            })
        #expect(backwards.map(\.tune.name) == names.filter { $0 != "Tune 1" }.sorted(by: >))
        let page = try store.page(SetlistTunes.Item.sorted { $0.tune.name }, size: 12)
        #expect(page.objects.map(\.tune.name) == Array(names.sorted().prefix(12)))
    }

    // MARK: Parts

    @Test(arguments: Engine.allCases) func setlistsHaveItemsWithTheirTunes(_ engine: Engine) throws {
        let store = try setlists(engine)
        let setlists = try store.fetch(SetlistTunes.sorted { $0.name })
        #expect(log.take().count == 2)
        #expect(setlists.map(\.name) == ["S0", "S1", "S2"])
        #expect(setlists.map(\.itemCount) == [3, 0, 1])
        #expect(setlists.map { $0.items.map(\.tune.name) } == [["Blue", "Sun", "Blue"], [], ["Rain"]])
        #expect(setlists[0].items.map(\.position) == [0, 1, 2])
        #expect(setlists[0].items.map(\.transposedKey) == [nil, "G", nil])
        #expect(setlists[0].title == "S0")
        #expect(try Set(store.fetch(Setlist.all).map(\.id)) == Set(setlists.map(\.id)))
    }

    @Test(arguments: Engine.allCases) func songsAloneAreAnotherShape(_ engine: Engine) throws {
        let store = try setlists(engine)
        let setlists = try store.fetch(TunesOfSetlist.sorted { $0.name })
        #expect(log.take().count == 2)
        #expect(setlists.map { $0.tunes.map(\.name) } == [["Blue", "Sun", "Blue"], [], ["Rain"]])
        #expect(setlists.allSatisfy { $0.id == $0.setlist.id && !$0.setlist.items.isLoaded })
    }

    @Test(arguments: Engine.allCases) func aRelationshipMayAppearSeveralTimesUnderOtherNames(_ engine: Engine) throws {
        let store = try setlists(engine)
        let setlists = try store.fetch(SetlistHalves.sorted { $0.name })
        #expect(log.take().count == 6)
        #expect(setlists[0].itemsInOrder.map(\.position) == [0, 1, 2])
        #expect(setlists[0].transposed.map(\.position) == [1])
        #expect(setlists[0].lastTwo.map(\.position) == [2, 1])
        #expect(setlists[0].opener?.position == 0)
        #expect(setlists[0].closer?.position == 2)
        #expect(setlists[1].opener == nil && setlists[1].closer == nil && setlists[1].lastTwo.isEmpty)
    }

    @Test(arguments: Engine.allCases) func toOnesAreReadWithTheirRow(_ engine: Engine) throws {
        let store = try library(engine)
        let books = try store.fetch(BookCard.sorted { $0.year })
        #expect(log.take().count == 2)
        #expect(books.map(\.genre?.name) == ["G0", "G1", nil, "G0", "G1", nil])
        #expect(books.map(\.genreName) == books.map(\.genre?.name))
        #expect(books.map(\.genreKey) == books.map(\.genre?.id))
        #expect(books.map(\.isbn?.value) == [nil, "978", nil, nil, nil, nil])
        #expect(books.map(\.nextYear) == [1948, 1949, 1950, 1951, 1952, 1953])
        #expect(books.map(\.isModern) == [false, false, false, true, true, true])
        #expect(books.map { $0.authors.map(\.name) } == [[], ["A1"], ["A2", "A0"], [], ["A1"], ["A2", "A0"]])
        #expect(books[1].authors[0].bookCount == 2)
        #expect(try store.fetch(Book.sorted { $0.year }) == books.map(\.book))
    }

    @Test(arguments: Engine.allCases) func aggregatesOfToManysAreColumns(_ engine: Engine) throws {
        let store = try library(engine)
        let genres = try store.fetch(GenreFigures.sorted { $0.name })
        #expect(log.take().count == 1)
        #expect(genres.map(\.count) == [2, 2, 0])
        #expect(genres.map(\.isUsed) == [true, true, false])
        #expect(genres.map(\.first) == [1947, 1948, nil])
        #expect(genres.map(\.last) == [1950, 1951, nil])
        #expect(genres.map(\.sum) == [3897, 3899, 0])
        #expect(genres.map(\.average) == [1948.5, 1949.5, nil])
        #expect(genres.map(\.authorCount) == [0, 2, 0])
        #expect(genres.map(\.unpriced) == [2, 2, 0])
    }

    @Test(arguments: Engine.allCases) func listsMayFollowToOnesAndLists(_ engine: Engine) throws {
        let store = try library(engine)
        let books = try store.fetch(BookNeighbours.sorted { $0.year })
        #expect(log.take().count == 5)
        #expect(
            books.map { $0.genre?.books.map(\.title) } == [
                ["B0", "B3"], ["B1", "B4"], nil, ["B0", "B3"], ["B1", "B4"], nil,
            ])
        #expect(books.map { $0.sameGenre.map(\.title) } == books.map { $0.genre?.books.map(\.title) ?? [] })
        #expect(books[2].authors.map { $0.books.map(\.title) } == [["B2", "B5"], ["B2", "B5"]])
        #expect(books[3].authors.isEmpty)
        #expect(books.map(\.year) == Array(1947...1952))
        #expect(books.map(\.genreName) == ["G0", "G1", nil, "G0", "G1", nil])
    }

    @Test(arguments: Engine.allCases) func shapesMayBeRecursive(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Folder.self, options: log.options)
        try store.write { tx in
            let root = try tx.insert(Folder(name: "root"))
            for name in ["a", "b"] {
                let child = try tx.insert(Folder(name: name, parent: ToOne(id: root.id)))
                try tx.insert(Folder(name: name + "1", parent: ToOne(id: child.id)))
            }
        }
        _ = log.take()
        let trees = try store.fetch(FolderTree.where { $0.parent == nil })
        #expect(log.take().count == 4)
        #expect(trees.map(\.name) == ["root"])
        #expect(trees[0].children.map(\.name) == ["a", "b"])
        #expect(trees[0].children.map { $0.children.map(\.name) } == [["a1"], ["b1"]])
    }

    @Test(arguments: Engine.allCases) func cyclesAreErrorsAndTerminate(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Folder.self)
        var folder = try store.insert(Folder(name: "loop"))
        folder.parent = ToOne(id: folder.id)
        try store.update(folder)
        let error = thrown { try store.fetch(FolderTree.all) }
        #expect(error?.kind == "invalidUse")
        #expect(error?.description.contains("Folder.children") == true)
    }

    @Test(arguments: Engine.allCases) func selfReferencesAndManyToManysOfOneModel(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Person.self)
        let boss = try store.insert(Person(name: "boss"))
        var ann = Person(name: "ann", boss: ToOne(id: boss.id))
        ann.following.add(boss)
        ann.favourites.add(boss)
        try store.save(ann)
        let people = try store.fetch(PersonCircle.sorted { $0.name })
        #expect(people.map(\.boss?.name) == ["boss", nil])
        #expect(people.map { $0.followers.map(\.name) } == [[], ["ann"]])
        #expect(people.map { $0.favourites.map(\.name) } == [["boss"], []])
    }

    @Test(arguments: Engine.allCases) func aCustomIDAndAHasOne(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Series.self)
        let series = try store.insert(Series(title: "S"))
        let seen = try store.insert(Episode(title: "E0", series: ToOne(id: try #require(series.id))))
        try store.insert(Episode(title: "E1", series: ToOne(id: try #require(series.id))))
        try store.insert(History(progress: 0.5, episode: ToOne(id: try #require(seen.id))))
        let cards = try store.fetch(EpisodeCard.sorted { $0.title })
        #expect(cards.map(\.id) == [1, 2])
        #expect(cards.map(\.series) == ["S", "S"])
        #expect(cards.map(\.history?.progress) == [0.5, nil])
    }

    @Test(arguments: Engine.allCases) func valuesOfEveryTypeAndKeysOfSeveralColumns(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Diary.self)
        let code = UUID()
        for part in ["a", "b"] {
            try store.insert(
                Diary(
                    day: 1, part: part, mood: part == "a" ? .glad : nil, marks: [Mark(text: "x"), Mark(text: "y")],
                    written: Date(timeIntervalSince1970: 10), read: part == "a" ? Date(timeIntervalSince1970: 20) : nil,
                    printed: Date(timeIntervalSince1970: 30), code: code, price: 1.25, picture: Data([1, 2])))
        }
        // Another program wrote whole seconds.
        try store.write { tx in _ = try tx.execute(#"UPDATE "Diary" SET "read" = 20 WHERE "part" = 'a'"#) }
        for n in 1...3 { try store.insert(DiaryNote(n: n, diary: ToOne(id: Diary.Key(day: 1, part: "b")))) }
        let words = ["xy", "10.0"]
        let rest = ["30.0", code.uuidString, "1.25", "2"]
        #expect(
            try diaryPages(store).sorted { $0[0] < $1[0] } == [
                ["1a", "glad"] + words + ["20.0"] + rest + ["[]"], ["1b", ""] + words + ["0.0"] + rest + ["[3]"],
            ])
    }

    @Test(arguments: Engine.allCases) func missingValuesAreUnsetOrErrorsThatNameTheProperty(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Diary.self)
        try store.insert(DiaryNote(n: 1))
        try store.execute(#"UPDATE "DiaryNote" SET "diaryDay" = 9, "diaryPart" = 'gone'"#)
        let notes = try store.fetch(NoteOfDiary.all)
        #expect(notes.map(\.n) == [1])
        #expect(notes.allSatisfy { $0.diary == nil && $0.price == nil })
        let error = thrown { try store.fetch(StrictNote.all) }
        #expect(error?.kind == "invalidUse")
        #expect(error?.description.contains("DiaryNote.diary") == true)
    }

    // MARK: Queries

    @Test(arguments: Engine.allCases) func emptyResultsNeedOneStatement(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Setlist.self, Folder.self, options: log.options)
        _ = log.take()
        #expect(try store.fetch(SetlistTunes.all).isEmpty)
        #expect(try store.fetch(FolderTree.all).isEmpty)
        #expect(log.take().count == 2)
        try store.insert(Setlist(name: "empty"))
        _ = log.take()
        #expect(try store.fetch(SetlistHalves.all).map(\.itemsInOrder) == [[]])
        #expect(log.take().count == 6)
    }

    @Test(arguments: Engine.allCases) func theNumberOfStatementsDoesNotDependOnTheNumberOfRows(_ engine: Engine) throws
    {
        let store = try TestStore.make(engine, for: Setlist.self, options: log.options)
        for count in [1, 40] {
            try store.write { tx in
                let tune = try tx.save(Tune(name: "T"))
                for index in 0..<count {
                    let setlist = try tx.insert(Setlist(name: "\(index)"))
                    try tx.insert(
                        (0..<5).map { SetlistItem(position: $0, setlist: ToOne(id: setlist.id), tune: ToOne(tune)) })
                }
            }
            _ = log.take()
            #expect(try store.fetch(SetlistTunes.all).allSatisfy { $0.items.map(\.position) == [0, 1, 2, 3, 4] })
            #expect(log.take().count == 2)
        }
    }

    @Test(arguments: Engine.allCases) func shapesSupportEveryQueryFeature(_ engine: Engine) async throws {
        let store = try setlists(engine)
        let some = SetlistTunes.where { $0.name != "S1" }.sorted { $0.name.descending }
        #expect(try await store.fetch(some.limit(1)).map(\.name) == ["S2"])
        #expect(try await store.first(some)?.name == "S2")
        #expect(try await store.count(some) == 2)
        #expect(try await store.exists(some.where { $0.items.isEmpty }) == false)
        #expect(try await store.fetch(SetlistTunes.matching("name == %@", "S0")).first?.items.count == 3)
        #expect(try await store.fetch(some.matching("name < %@", "S2")).map(\.name) == ["S0"])
        #expect(await thrown { try await store.fetch(some.matching("name ==")) }?.kind == "predicateFormat")
        let known = try await #require(store.first(Setlist.where { $0.name == "S0" }))
        #expect(try await store.fetch(SetlistTunes.self, id: known.id)?.items.count == 3)
        #expect(try await store.fetch(SetlistTunes.self, id: ID()) == nil)
        #expect(
            try await store.fetch(known.related { $0.items }.shaped(as: SetlistTunes.Item.self)).map(\.tune.name)
                == ["Blue", "Sun", "Blue"])
        #expect(
            try await store.fetch(known.related { $0.tunes }.shaped(as: SetlistTunes.TuneName.self)).map(\.name)
                == ["Blue", "Sun", "Blue"])
        let first = try await store.page(SetlistTunes.sorted { $0.name }, size: 2)
        #expect(first.objects.map(\.name) == ["S0", "S1"])
        let second = try await store.page(SetlistTunes.sorted { $0.name }, size: 2, after: first.next)
        #expect(second.objects.map { $0.items.count } == [1])
        #expect(second.next == nil)
        let counted = try await store.write { tx in
            try tx.delete(Setlist.where { $0.name == "S0" })
            return try tx.fetch(SetlistTunes.all).map(\.itemCount).sorted()
        }
        #expect(counted == [0, 1])
    }

    @Test(arguments: Engine.allCases) func shapesAreObserved(_ engine: Engine) async throws {
        let store = try setlists(engine)
        var values = store.observe(SetlistTunes.sorted { $0.name }).makeAsyncIterator()
        var differences = store.observe(SetlistTunes.sorted { $0.name }).differences.makeAsyncIterator()
        #expect(try await values.next()?[2].items.map(\.tune.name) == ["Rain"])
        #expect(try await differences.next()?.inserted.count == 3)
        let setlist = try await #require(store.first(Setlist.where { $0.name == "S2" }))
        try await store.save(SetlistItem(position: 1, setlist: ToOne(id: setlist.id), tune: ToOne(id: "Sun")))
        #expect(try await values.next()?[2].items.map(\.tune.name) == ["Rain", "Sun"])
        let difference = try await #require(differences.next())
        #expect(difference.updated.map(\.new.id) == [setlist.id])
        #expect(difference.inserted.isEmpty && difference.removed.isEmpty)
    }

    @Test(arguments: Engine.allCases) func shapesRoundTripAsJSON(_ engine: Engine) throws {
        let store = try setlists(engine)
        let setlists = try store.fetch(SetlistTunes.where { $0.name == "S2" })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let json = try encoder.encode(setlists)
        let text = String(decoding: json, as: UTF8.self)
        #expect(text.contains("\"itemCount\":1,\"items\":[{\"id\":"))
        #expect(text.contains("\"position\":0,\"tune\":{\"id\":\"Rain\",\"name\":\"Rain\"}}],\"name\":\"S2\"}]"))
        #expect(try JSONDecoder().decode([SetlistTunes].self, from: json) == setlists)
    }

    @Test(arguments: Engine.allCases) func shapesCompareAllPropertiesAndHashTheirKey(_ engine: Engine) throws {
        let store = try setlists(engine)
        let before = try store.fetch(SetlistTunes.sorted { $0.name })
        try store.write { tx in try tx.delete(SetlistItem.where { $0.position == 2 }) }
        let after = try store.fetch(SetlistTunes.sorted { $0.name })
        #expect(before[0] != after[0] && before[1] == after[1])
        #expect(before[0].hashValue == after[0].hashValue)
        let made = SetlistTunes.TuneName(name: "x", id: "x")
        #expect(made.name == "x")
    }

    @Test(arguments: Engine.allCases) func misusesAreExplained(_ engine: Engine) throws {
        let store = try setlists(engine)
        let included = Setlist.all.including { $0.items }.shaped(as: SetlistTunes.self)
        #expect(thrown { try store.fetch(included) }?.description.contains("including") == true)
        #expect(thrown { try store.fetch(NoItems.all) }?.description.contains("limit of 0") == true)
        #expect(thrown { try store.fetch(Deep.all) }?.description.contains("Nest a shape") == true)
        #expect(thrown { try store.fetch(Detour.all) }?.description.contains("Through") == true)
        #expect(thrown { try store.fetch(SetlistTunes.all.limit(-1)) }?.kind == "invalidUse")
    }
}

@Shape(of: Setlist.self) private struct NoItems {
    var items: [SetlistItem]
    static let items = from { $0.items.limit(0) }
}

@Shape(of: Setlist.self) private struct Deep {
    var items: [SetlistItem]
    static let items = from { $0.items.including { $0.tune } }
}

@Shape(of: Setlist.self) private struct Detour {
    @From(\.items.tune) var tunes: [Tune]
}
