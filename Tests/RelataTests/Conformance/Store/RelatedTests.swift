import Relata
import Testing

@Model struct Shiplog {
    var id: Int?
    var text: String
    @Attribute(.revision) var revision: Int
}

/// Queries of related objects, along links of every kind.
@Suite struct RelatedTests {
    @Test(arguments: Engine.allCases) func oneToMany(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let (store, cid) = (discs.store, discs.cid)
        #expect(try store.related(to: cid) { $0.discs }.map(\.title) == ["D", "E"])
        let query = cid.related { $0.discs }
        try discs.expect("DE", query)
        try discs.expect("D", query.where { $0.rating > 4 })
        #expect(try discs.titles(query.sorted { $0.title.descending }) == "ED")
        #expect(try discs.titles(query.sorted { $0.title }.limit(1, offset: 1)) == "E")
        #expect(try store.value(of: query) { $0.copies.maximum() } == 3)
        #expect(try store.fetch(query.select { ($0.title, $0.pieces.count) }).map(\.1) == [3, 1])
        #expect(try store.page(query, size: 1).objects.map(\.title) == ["D"])
        #expect(try store.update(query) { $0.copies.set(to: 1) } == 2)
        #expect(try store.related(to: Band(name: "new")) { $0.discs } == [])
    }

    @Test(arguments: Engine.allCases) func toOneAndHasOne(_ engine: Engine) throws {
        let store = try Discs(engine).store
        let (a, c) = (try disc("A", store), try disc("C", store))
        #expect(try store.related(to: a) { $0.band }?.name == "Ash")
        #expect(try store.related(to: a) { $0.label }?.country == "NO")
        #expect(try store.related(to: c) { $0.label } == nil)
        #expect(try store.related(to: a) { $0.sleeve }?.color == "red")
        #expect(try store.related(to: c) { $0.sleeve } == nil)
        #expect(try store.count(a.related { $0.band }.where { $0.founded > 2000 }) == 0)
        #expect(try store.fetch(a.label)?.name == "One" && store.fetch(c.label) == nil)
    }

    @Test(arguments: Engine.allCases) func relatedToTheObjectWithAKey(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Series.self, Book.self)
        let series = try await store.save(Series(title: "s"))
        let episodes = try await store.save(["a", "b"].map { Episode(title: $0, series: series) })
        #expect(try await store.related(to: Series.self, id: series.id) { $0.episodes }.map(\.title) == ["a", "b"])
        #expect(try await store.related(to: Episode.self, id: episodes[1].id) { $0.series }?.title == "s")
        #expect(try await store.related(to: Series.self, id: 99) { $0.episodes }.isEmpty)
        let last = Series.related(id: series.id) { $0.episodes }.sorted { $0.title.descending }.limit(1)
        #expect(try await store.fetch(last).map(\.title) == ["b"])
        let book = try await store.save(Book(title: "t", genre: Genre(name: "g"), authors: [Author(name: "n")]))
        #expect(try await store.related(to: Book.self, id: book.id) { $0.authors }.map(\.name) == ["n"])
        #expect(try await store.read { try $0.related(to: Book.self, id: book.id) { $0.genre } }?.name == "g")
        // The path may have only one link.
        #expect(throws: RelataError.self) { try store.count(Episode.related(id: 1) { $0.series.episodes }) }
    }

    @Test(arguments: Engine.allCases) func anObjectWithoutAKeyIsAnError(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Series.self, Cabinet.self, Shiplog.self)
        let (series, episode) = (Series(title: "s"), Episode(title: "e", series: .unset))
        let errors = [
            thrown { try store.fetch(series.related { $0.episodes }) },
            thrown { try store.related(to: series) { $0.episodes } },
            thrown { try store.related(to: episode) { $0.series } },
            thrown { try store.count(series.related { $0.episodes }.where { $0.title == "e" }) },
            thrown { try store.delete(series.related { $0.episodes }) },
            thrown { try store.refresh(series) },
            thrown { try store.update(series) },
            thrown { try store.update([series, Series(title: "t")]) },
            thrown { try store.update(Cabinet(text: "c")) },
            thrown { try store.update(Shiplog(text: "l")) },
        ]
        for (number, error) in errors.enumerated() {
            let message = error?.description ?? ""
            #expect(
                error?.kind == "invalidUse" && message.contains("without a key"), "\(number): \(message)")
        }
        // An object that has a key but isn't stored has no related objects.
        #expect(try store.related(to: Series(id: 9, title: "s")) { $0.episodes } == [])
        #expect(thrown { try store.update(Series(id: 9, title: "s")) }?.kind == "notFound")
    }

    @Test(arguments: Engine.allCases) func manyToMany(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let store = discs.store
        let a = try disc("A", store)
        // In the order of the list, unless asked otherwise.
        #expect(try store.related(to: a) { $0.tags }.map(\.word) == ["rock", "live"])
        #expect(try store.fetch(a.related { $0.tags }.sorted { $0.word }).map(\.word) == ["live", "rock"])
        #expect(try store.fetch(a.related { $0.tags }.limit(1)).map(\.word) == ["rock"])
        #expect(try store.fetch(a.related { $0.tags }.where { $0.discs.count == 1 }).map(\.word) == ["live"])
        try discs.expect("ABD", discs.rock.related { $0.discs })
        try discs.expect("BD", discs.rock.related { $0.discs }.where { $0.isLive })
        #expect(try discs.titles(discs.rock.related { $0.discs }.sorted { $0.title.descending }.limit(2)) == "DB")
    }

    @Test(arguments: Engine.allCases) func throughAJoinModelAndToItself(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Setlist.self, Folder.self)
        let (one, two) = (Tune(name: "one"), Tune(name: "two"))
        var setlist = Setlist(name: "s")
        let tunes = [one, two, one]
        setlist.items.add(tunes.map { SetlistItem(setlist: .unset, tune: ToOne($0)) })
        try store.insert(setlist)
        // One tune for each row of the join model, in its order.
        #expect(try store.related(to: setlist) { $0.tunes }.map(\.name) == ["one", "two", "one"])
        #expect(try store.fetch(setlist.related { $0.tunes }.where { $0.name > "one" }).map(\.name) == ["two"])
        #expect(try store.count(setlist.related { $0.tunes }) == 3)
        let root = Folder(name: "root")
        let docs = Folder(name: "docs", parent: ToOne(id: root.id))
        let drafts = Folder(name: "drafts", parent: ToOne(id: docs.id))
        try store.insert([root, docs, drafts])
        #expect(try store.related(to: root) { $0.children }.map(\.name) == ["docs"])
        #expect(try store.related(to: drafts) { $0.parent }?.name == "docs")
        let below = root.descendants { $0.children }
        #expect(try store.fetch(below.sorted { $0.name }).map(\.name) == ["docs", "drafts"])
        #expect(try store.count(below.where { $0.name.hasPrefix("dr") }) == 1)
        #expect(try store.fetch(drafts.ancestors { $0.parent }.sorted { $0.name }).map(\.name) == ["docs", "root"])
        #expect(try store.count(drafts.descendants { $0.children }) == 0)
    }

    private func disc(_ title: String, _ store: Store) throws -> Disc {
        try #require(try store.first(Disc.where { $0.title == title }))
    }
}
