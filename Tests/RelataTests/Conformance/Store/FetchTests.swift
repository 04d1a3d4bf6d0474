import Foundation
import Relata
import RelataTesting
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

    @Test(arguments: Engine.allCases) func aTypedIDFetchesItsObject(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Book.self)
        let author = Author(name: "a")
        let book = try await store.save(Book(title: "t", authors: [author]))
        let found: Book? = try await store.fetch(book.id)
        #expect(found?.title == "t" && found?.authors.isLoaded == false)
        #expect(try await store.fetch(Relata.ID<Book>()) == nil)
        #expect(try await store.fetch(book.id) { $0.authors }?.authors.objects == [author])
        #expect(
            try await store.fetch(Book.self, id: book.id) {
                $0.authors; $0.genre
            }?.authors.objects == [author])
        #expect(try await store.fetch(Book.self, id: Relata.ID()) { $0.authors } == nil)
        let (plain, loaded) = try await store.read { transaction in
            (try transaction.fetch(book.id), try transaction.fetch(book.id) { $0.authors })
        }
        #expect(plain?.title == "t" && plain?.authors.isLoaded == false)
        #expect(try loaded?.authors.objects == [author])
    }

    @Test(arguments: Engine.allCases) func manyKeysOfOneModelInTheirOrder(_ engine: Engine) async throws {
        let recorder = StatementRecorder()
        let store = try TestStore.make(engine, for: Series.self, options: recorder.options)
        let series = try await store.save(Series(title: "s"))
        let episodes = try await store.save(["a", "b", "c"].map { Episode(title: $0, series: series) })
        let ids = [episodes[2].id, 99, episodes[0].id, episodes[2].id]
        let count = recorder.statements.count
        let found = try await store.fetch(Episode.self, ids: ids)
        #expect(recorder.statements.count == count + 1)
        #expect(found.map(\.?.title) == ["c", nil, "a", "c"])
        #expect(try await store.fetch(Episode.self, ids: []).isEmpty)
        let loaded = try await store.fetch(Episode.self, ids: ids) { $0.series }
        #expect(loaded.map(\.?.series.loaded?.title) == ["s", nil, "s", "s"])
        #expect(try await store.read { try $0.fetch(Episode.self, ids: [episodes[1].id]).map(\.?.title) } == ["b"])
    }

    @Test(arguments: Engine.allCases) func unassignedKeysAreReported(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Series.self)
        let series = try await store.save(Series(title: "s"))
        let new = Series(title: "new")
        #expect(try await store.fetch(Series.self, id: series.id)?.title == "s")
        #expect(try await store.update(Series.self, id: series.id) { $0.title = "t" }.title == "t")
        let calls: [(Store) async throws -> Void] = [
            { _ = try await $0.fetch(Series.self, id: new.id) },
            { _ = try await $0.fetch(Series.self, ids: [1, new.id]) },
            { _ = try await $0.update(Series.self, id: new.id) { $0.title = "x" } },
            { _ = try await $0.delete(Series.self, id: new.id) },
            { _ = try await $0.related(to: Series.self, id: new.id) { $0.episodes } },
            {
                var values = $0.observe(Series.self, id: new.id).makeAsyncIterator()
                _ = try await values.next()
            },
        ]
        for call in calls {
            let error = await #expect(throws: RelataError.self) { try await call(store) }
            #expect(error?.kind == "invalidUse" && "\(error as Any)".contains("a Series without a key isn't stored"))
        }
        #expect(try await store.delete(Series.self, id: series.id).deletedCount == 1)
        #expect(try await store.count(Series.all) == 0)
    }

    @Test(arguments: Engine.allCases) func refreshedObjectsMatchTheStoredOnes(_ engine: Engine) throws {
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
        #expect(thrown { try store.refresh(Disc(title: "new", band: .unset)) }?.kind == "invalidUse")
    }

    @Test(arguments: Engine.allCases) func upsertsKeepTheKeyAndTheLinks(_ engine: Engine) throws {
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
