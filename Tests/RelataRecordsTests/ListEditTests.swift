import RelataRecords
import TestEngines
import Testing

/// Adding to lists and removing from them.
@Suite(.onEveryEngine) struct ListEditTests {
    private func numbers(_ store: RecordStore) async throws -> [Int64?] {
        try await store.first(RecordQuery("Album").including("tracks"))?["tracks"].records.map { $0["number"].integer }
            ?? []
    }

    /// An album with the tracks 1 and 2, and two more tracks.
    private func album(_ store: RecordStore) async throws -> (album: Record, tracks: [Record]) {
        let tracks = try await store.save((1...4).map { Record("Track", ["number": .integer($0)]) })
        let album = try await store.save(Record("Album", ["tracks": .links(Array(tracks[0...1]))]))
        return (album, tracks)
    }

    @Test func aListIsEditedWithoutBeingLoaded() async throws {
        let store = try RecordStore.make()
        let (saved, tracks) = try await album(store)
        var album = try #require(try await store.refreshed(saved))
        album.add(tracks[3], to: "tracks")
        album.add(Record("Track", ["number": 5]), to: "tracks")
        album.remove(tracks[0], from: "tracks")
        album.remove(tracks[2], from: "tracks")
        #expect(throws: RelataError.self) { try album.relatedList("tracks") }
        album = try await store.save(album)
        #expect(try await numbers(store) == [2, 4, 5])
        #expect(album.edits.isEmpty)
        // Nothing is left to write.
        try await store.save(album)
        #expect(try await numbers(store) == [2, 4, 5])
    }

    @Test func aListThatIsLoadedShowsItsEdits() async throws {
        let store = try RecordStore.make()
        var (album, tracks) = try await album(store)
        album.add([tracks[2], tracks[0]], to: "tracks")
        album.remove(tracks[1], from: "tracks")
        #expect(try album.relatedList("tracks").map { $0["number"] } == [1, 3])
        #expect(album["tracks"].records.count == 2)
        album = try await store.save(album)
        #expect(try album.relatedList("tracks").map { $0["number"] } == [1, 3])
        #expect(try await numbers(store) == [1, 3])
        album["tracks"] = .links([tracks[3]])
        album.add(tracks[0], to: "tracks")
        try await store.save(album)
        #expect(try await numbers(store) == [4, 1])
    }

    @Test func newObjectsHaveTheAddedMembers() async throws {
        let store = try RecordStore.make()
        var album = Record("Album")
        album.add(Record("Track", ["number": 1]), to: "tracks")
        let gone = Record("Track", ["number": 2])
        album.add(gone, to: "tracks")
        album.remove(gone, from: "tracks")
        try await store.save(album)
        #expect(try await numbers(store) == [1])
        #expect(try await store.count(RecordQuery("Track")) == 1)
    }

    @Test func editsOfALinkedObjectsListAreRefused() async throws {
        let store = try RecordStore.make()
        var (album, tracks) = try await album(store)
        album.remove(tracks[0], from: "tracks")
        let given = album
        await #expect {
            try await store.save(Record("Shelf", ["best": .link(given)]))
        } throws: { "\($0)".contains("tracks of") && "\($0)".contains("a link doesn't write") }
    }

    @Test func onlyListsCanBeAddedTo() async throws {
        let store = try RecordStore.make()
        let (miles, albums) = try await store.addMusic()
        for field in ["title", "artist"] {
            var album = albums[0]
            album.add(miles, to: field)
            let given = album
            await #expect {
                try await store.save(given)
            } throws: { "\($0)".contains("Album.\(field)") }
        }
    }
}
