import Foundation
import Relata
import Testing

/// Objects by key, one and many, and as they are now.
@Suite struct FetchTests {
    @Test(arguments: Engine.allCases) func keysOfSeveralTypes(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let store = discs.store
        let keys = [
            ObjectKey(Label.self, "Two"), ObjectKey(Disc.self, 4), ObjectKey(Label.self, "none"),
            ObjectKey(Band.self, discs.bee.id), ObjectKey(Disc.self, 99), ObjectKey(Label.self, "Two"),
        ]
        let results = try store.fetch(ids: keys)
        #expect(results.map(\.key.description) == keys.map(\.description))
        #expect(results[0].object(as: Label.self)?.name == "Two" && results[5].object(as: Label.self)?.name == "Two")
        #expect(results[1].object(as: Disc.self)?.title == "D")
        #expect(results[1].object(as: Label.self) == nil)
        #expect(results[3].object(as: Band.self)?.name == "Bee")
        for index in [2, 4] {
            guard case .failure(.notFound(let object)) = results[index].result else {
                Issue.record("\(results[index])")
                continue
            }
            #expect(object == keys[index].reference)
        }
        #expect(try store.fetch(ids: []).isEmpty)
        #expect(try store.fetch(Disc.self, id: 2)?.title == "B" && store.fetch(Disc.self, id: 99) == nil)
    }

    @Test(arguments: Engine.allCases) func aRefreshedObjectIsAsItIsStored(_ engine: Engine) throws {
        let store = try Discs(engine).store
        var disc = try #require(try store.fetch(Disc.self, id: 1))
        try store.update(Disc.self, id: 1) { $0.copies = 99 }
        disc.title = "mine"
        disc.tags.add(id: "jazz")
        let fresh = try store.refresh(disc)
        #expect(fresh.title == "A" && fresh.copies == 99 && !fresh.tags.hasEdits)
        try store.delete(fresh)
        guard case .notFound(let object)? = thrown({ try store.refresh(disc) }) else {
            Issue.record("a deleted object was found")
            return
        }
        #expect(object.entity == "Disc")
        #expect(thrown { try store.refresh(Disc(title: "new", band: .unset)) }?.kind == "notFound")
    }

    @Test(arguments: Engine.allCases) func anUpsertKeepsTheKeyAndWhatIsLinked(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        let first = try store.save(Genre(name: "Fantasy"), matching: { $0.name })
        let book = try store.insert(Book(title: "t", genre: ToOne(first)))
        let again = try store.save(Genre(name: "Fantasy"), matching: { $0.name })
        #expect(again.id == first.id)
        #expect(try store.count(Genre.all) == 1 && store.related(to: book) { $0.genre }?.id == first.id)
        #expect(thrown { try store.save(Author(name: "a"), matching: { $0.name }) }?.kind == "invalidUse")
        #expect(thrown { try store.save(Genre(name: ""), matching: { $0.name }) }?.failures == ["name"])
    }
}
