import Foundation
import RelataRecords
import TestEngines
import Testing

/// Values that follow the database, including classes that appear later.
@Suite(.timeLimit(.minutes(20)), .onEveryEngine) struct ObservingTests {
    @Test(arguments: [false, true]) func observersSeeClassesCreatedLater(isFile: Bool) async throws {
        let folder = try TestDatabases()
        let store = try isFile ? RecordStore.open(folder.path()) : RecordStore.make()
        var albums = store.observe(RecordQuery("Album", sort: "year")).makeAsyncIterator()
        var count = store.observe(countOf: RecordQuery("Artist")).makeAsyncIterator()
        #expect(try await albums.next() == [])
        #expect(try await count.next() == 0)
        let key = KeyValue(.uuid(UUID()))
        var object = store.observe("Artist", key: key).makeAsyncIterator()
        #expect(try await object.next() == .some(nil))
        let (_, saved) = try await store.addMusic()
        #expect(try await albums.next()?.map { $0["title"] } == ["Kind of Blue", "Bitches Brew"])
        #expect(try await count.next() == 1)
        guard case .uuid(let id) = key.values[0] else { return }
        try await store.save(Record("Artist", ["id": .uuid(id), "name": "Ornette Coleman"]))
        #expect(try await object.next()??["name"] == "Ornette Coleman")
        #expect(try await count.next() == 2)
        // A new field appears.
        var changed = saved[0]
        changed["stars"] = 5
        try await store.save(changed)
        #expect(try await albums.next()?.map { $0["stars"] } == [5, .null])
        // An observer of one object gets no value for another.
        try await store.save(Record("Artist", ["name": "Bill Evans"]))
        try await store.save(Record("Artist", ["id": .uuid(id), "name": "Ornette"]))
        #expect(try await object.next()??["name"] == "Ornette")
        try store.close()
        #expect(try await albums.next() == nil)
    }

    @Test func differencesAndCallbacksFollowTheList() async throws {
        let store = try RecordStore.make()
        let (_, albums) = try await store.addMusic()
        var differences = store.observe(RecordQuery("Album", sort: "title")).differences.makeAsyncIterator()
        #expect(try await differences.next()?.inserted.count == 2)
        let calls = AsyncStream.makeStream(of: Int.self)
        let observer = store.observe(RecordQuery("Album")) { calls.continuation.yield($0.count) }
        var counts = calls.stream.makeAsyncIterator()
        #expect(await counts.next() == 2)
        try await store.write { tx in
            try tx.delete(albums[0])
            var brew = albums[1]
            brew["year"] = 1971
            try tx.save(brew)
        }
        let difference = try #require(try await differences.next())
        #expect(difference.removed.map(\.element.key) == [albums[0].key])
        #expect(difference.updated.map { $0.new["year"] } == [1971])
        #expect(await counts.next() == 1)
        observer.cancel()
    }

    @Test func theFeedNamesObjectsOfNewClasses() async throws {
        let store = try RecordStore.make()
        var feed = store.changes.makeAsyncIterator()
        let (miles, albums) = try await store.addMusic()
        let artist = try #require(await feed.next())
        #expect(artist.changes.map(\.entity) == ["Artist"] && artist.changes.map(\.kind) == [.insert], "\(artist)")
        #expect(Array(artist.changes[0].keys) == [miles.key])
        let inserted = try #require(await feed.next())
        #expect(inserted.keys(of: "Album", .insert).map { $0 } == albums.map(\.key))
        try await store.write { tx in
            tx.origin = ChangeOrigin("phone", number: 7)
            var album = albums[0]
            album["tracks"] = .links([Record("Track", ["title": "So What"])])
            album["year"] = 1958
            try tx.save(album)
        }
        let changed = try #require(await feed.next())
        #expect(changed.origin == ChangeOrigin("phone", number: 7))
        #expect(changed.changes.map(\.entity) == ["Track", "Album", "Album"])
        #expect(changed.changes.map(\.properties) == [[], ["updatedAt", "year"], ["tracks"]])
        try await store.delete(miles)
        let deleted = try #require(await feed.next())
        #expect(deleted.keys(of: "Artist", .delete).count == 1 && deleted.keys(of: "Album", .update).count == 2)
    }

    @Test func theLogContinuesWithOriginsAndVersions() async throws {
        let folder = try TestDatabases()
        let store = try RecordStore.watching(folder.path(), changeLog: true)
        try await store.alter { schema in
            try schema.addClass("Note")
            try schema.addField("text", .text, to: "Note")
            try schema.countRevisions(in: "Note")
        }
        var note = try await store.save(Record("Note", ["text": "one"]))
        note["text"] = "two"
        let changed = note
        try await store.write { tx in
            tx.origin = ChangeOrigin("phone", number: 1)
            try tx.save([changed, Record("Page", ["number": 1])])
        }
        try store.close()
        let again = try RecordStore.watching(folder.path(), changeLog: true)
        let log = try await again.changes(after: 0, atLeast: 3)
        #expect(log.map(\.change.entity) == ["Note", "Note", "Page"])
        #expect(log.map(\.change.kind) == [.insert, .update, .insert])
        #expect(log.map(\.versions) == [[1], [2], []])
        #expect(log.map(\.origin?.name) == [nil, "phone", "phone"])
        try #require(log.count == 3)
        try await again.save(Record("Page", ["number": 2]))
        let rest = try await again.changes(after: log[2].position, atLeast: 1)
        #expect(rest.map(\.change.entity) == ["Page"])
        #expect(try await again.removeChanges(through: log[2].position) == 3)
        await #expect(throws: RelataError.self) { try await again.changes(after: 0) }
        let unlogged = try RecordStore.open(folder.path())
        await #expect(throws: RelataError.self) { try await unlogged.changes(after: 0) }
    }
}
