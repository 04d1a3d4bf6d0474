import Relata
import Testing

/// Links through a join model, which has attributes of its own.
@Suite struct ThroughTests {
    private func setlist(_ store: Store, _ names: [String]) throws -> Setlist {
        var setlist = Setlist(name: names.joined())
        for name in names {
            let tune = try store.fetch(Tune.self, id: name) ?? Tune(name: name)
            setlist.items.add(SetlistItem(transposedKey: name + "#", setlist: .unset, tune: ToOne(tune)))
        }
        return try store.insert(setlist)
    }

    @Test(arguments: Engine.allCases) func tunesFollowTheirItemsIncludingRepetitions(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Setlist.self)
        try store.insert("abc".map { Tune(name: "\($0)") })
        let one = try setlist(store, ["b", "a", "b"])
        let two = try setlist(store, ["c", "b"])
        #expect(try store.related(to: one) { $0.tunes }.map(\.name) == ["b", "a", "b"])
        #expect(try store.related(to: two) { $0.tunes }.map(\.name) == ["c", "b"])
        #expect(try store.count(one.related { $0.tunes }) == 3)
        let items = try store.related(to: one) { $0.items }
        try store.update(one.id) { $0.items.place(items[1], after: nil) }
        #expect(try store.related(to: one) { $0.tunes }.map(\.name) == ["a", "b", "b"])
        #expect(try store.fetch(one.related { $0.tunes }.where { $0.name > "a" }.limit(1)).map(\.name) == ["b"])
    }

    @Test(arguments: Engine.allCases) func queriesGoThroughTheJoinModel(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Setlist.self)
        try store.insert("abc".map { Tune(name: "\($0)") })
        let one = try setlist(store, ["b", "a", "b"])
        let two = try setlist(store, ["c", "b"])
        #expect(try store.fetch(Setlist.where { $0.tunes.contains { $0.name == "a" } }).map(\.id) == [one.id])
        #expect(try store.fetch(Setlist.where { $0.tunes.count == 3 }).map(\.id) == [one.id])
        #expect(try store.fetch(Setlist.where { $0.tunes.all { $0.name > "a" } }).map(\.id) == [two.id])
        #expect(
            try store.fetch(Tune.where { $0.items.contains { $0.setlist == two } }.sorted { $0.name }).map(\.name) == [
                "b", "c",
            ])
        #expect(try store.count(SetlistItem.where { $0.tune.name == "b" && $0.transposedKey == "b#" }) == 3)
        #expect(try store.fetch(Setlist.where { $0.items.tune.contains { $0.name == "c" } }).map(\.id) == [two.id])
    }

    @Test(arguments: Engine.allCases) func itemsAreDeletedWithTheirSetlistAndTunesStay(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Setlist.self)
        try store.insert("ab".map { Tune(name: "\($0)") })
        let one = try setlist(store, ["a", "b", "a"])
        let report = try store.delete(one)
        #expect(report.deletedCount == 4)
        #expect(try store.count(Tune.all) == 2)
        #expect(try store.count(SetlistItem.all) == 0)
    }
}
