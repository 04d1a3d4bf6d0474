import Foundation
import RelataRecords
import TestEngines
import Testing

/// Conditions, orders, includes and deletion plans.
@Suite(.onEveryEngine) struct QueryTests {
    @Test func conditionsTakeArgumentsOfEveryKind() async throws {
        let store = try RecordStore.make()
        let (miles, _) = try await store.addMusic()
        let before = 1960
        #expect(try await store.titles(RecordQuery("Album", where: "year < %@", before)) == ["Kind of Blue"])
        #expect(try await store.count(RecordQuery("Album", where: "artist == %@", miles)) == 2)
        #expect(try await store.count(RecordQuery("Album", where: "artist == %@", RecordLink(miles))) == 2)
        #expect(try await store.count(RecordQuery("Album", where: "year IN %@", [1959, 1960])) == 1)
        #expect(
            try await store.count(RecordQuery("Album", where: "title == %@", RecordValue.text("Kind of Blue"))) == 1)
        let query = RecordQuery("Album", where: "year < 1980 AND artist.name BEGINSWITH 'Miles'", sort: "-year")
        #expect(try await store.titles(query) == ["Bitches Brew", "Kind of Blue"])
        await #expect(throws: RelataError.self) {
            try await store.fetch(RecordQuery("Album", where: "artist == %@", Record("Artist")))
        }
        await #expect(throws: RelataError.self) { try await store.fetch(RecordQuery("Album", where: "year <")) }
        await #expect(throws: RelataError.self) { try await store.fetch(RecordQuery("Album", limit: -1)) }
    }

    @Test func includesHaveFiltersAndLimits() async throws {
        let store = try RecordStore.make()
        try await store.addMusic()
        try await store.alter { try $0.addList("albums", of: "Album", to: "Artist", inverse: "artist") }
        let late = RecordQuery("Artist").including("albums", where: "year > %@", 1960)
        #expect(try await store.first(late)?["albums"].records.map { $0["title"] } == ["Bitches Brew"])
        let first = RecordQuery("Artist").including("albums", sort: "year", limit: 1)
        #expect(try await store.first(first)?["albums"].records.map { $0["title"] } == ["Kind of Blue"])
        #expect(try await store.titles(RecordQuery("Album", sort: "title", limit: 1, offset: 1)) == ["Kind of Blue"])
        #expect(try await store.fetch(RecordQuery("Artist", sort: "-albums.@count")).count == 1)
        await #expect(throws: RelataError.self) { try await store.fetch(RecordQuery("Artist").including("name")) }
        await #expect(throws: RelataError.self) { try await store.fetch(RecordQuery("Artist").including("album")) }
    }

    /// On a server, the statements of one level are sent together.
    @Test func severalRelationshipsAndThoseBehindThemAreIncluded() async throws {
        let store = try RecordStore.make()
        let (miles, albums) = try await store.addMusic()
        try await store.alter { schema in
            try schema.addList("albums", of: "Album", to: "Artist", inverse: "artist")
            try schema.addClass("Track")
            try schema.addLink("album", to: "Album", in: "Track")
            for name in ["player", "guest", "dancer"] { try schema.addLink(name, to: "Artist", in: "Track") }
        }
        try await store.save([
            Record("Track", ["number": 1, "album": .link(albums[0]), "player": .link(miles)]),
            Record("Track", ["number": 2, "album": .link(albums[1]), "guest": .link(miles)]),
        ])
        let tracks = try await store.fetch(
            RecordQuery("Track", sort: "number").including("dancer", "album.artist", "player.albums", "guest"))
        #expect(tracks.map { $0["album"].record?["title"].text } == ["Kind of Blue", "Bitches Brew"])
        #expect(tracks.map { $0["album"].record?["artist"].record?["name"].text } == ["Miles Davis", "Miles Davis"])
        #expect(tracks.map { $0["player"].record?["albums"].records.count } == [2, nil])
        #expect(tracks.map { $0["guest"].record?["name"].text } == [nil, "Miles Davis"])
        #expect(tracks.map { $0["dancer"].record == nil } == [true, true])
    }

    @Test func deletionsMatchTheirPlan() async throws {
        let store = try RecordStore.make()
        let (miles, albums) = try await store.addMusic()
        try await store.alter { schema in
            try schema.addClass("Track")
            try schema.addLink("album", to: "Album", in: "Track", onTargetDelete: .cascade)
            try schema.addLink("likedBy", to: "Artist", in: "Track", onTargetDelete: .deny)
        }
        let track = try await store.save(Record("Track", ["album": .link(albums[0]), "likedBy": .link(miles)]))
        let denied = try await store.deletionPlan(for: miles)
        #expect(denied.isDenied && denied.blockers.map(\.object) == [track.reference])
        await #expect {
            try await store.delete(miles)
        } throws: { if case RelataError.deleteDenied? = $0 as? RelataError { true } else { false } }
        #expect(try await store.count(RecordQuery("Artist")) == 1)

        for query in [RecordQuery("Album", where: "year < 1960"), RecordQuery("Artist")] {
            let plan = try await store.deletionPlan(for: query)
            let report = try await store.delete(query)
            #expect(plan.sorted() == report.sorted() && report.deletedCount > 0 && !plan.isDenied)
        }
        #expect(try await store.count(RecordQuery("Track")) == 0)
        #expect(try await store.refreshed(albums[1])?["artist"] == .null)
        #expect(try await store.delete(miles).deletedCount == 0)
        await #expect(throws: RelataError.self) { try await store.delete(Record("Album")) }
    }
}
