import Foundation
import Relata
import RelataEngine
import RelataSQLite
import RelataTesting
import Testing

/// Dangling references: SQLite doesn't check references unless a program tells it to.
@Suite struct UnenforcedReferenceTests {
    let recorder = StatementRecorder()

    /// Objects of a cycle have their references checked at the end.
    @Test func onlyReferencesThatAreWrittenAreChecked() throws {
        let path = TestStore.path()
        let store = try TestStore.open(path, for: [Chain.self])
        try store.insert([Chain(id: 1), Chain(id: 2)])
        // As left by a program that doesn't enforce foreign keys.
        let other = try Connection(path: path)
        try other.execute("PRAGMA foreign_keys = OFF; UPDATE Chain SET nextId = 99 WHERE id = 1")
        try store.update(Chain.self, id: 1) { $0.other = ToOne(Chain(id: 3, other: ToOne(id: 1))) }
        #expect(try store.fetch(Chain.self, id: 1)?.other?.id == 3)
        let error = thrown { try store.update(Chain.self, id: 1) { $0.other = ToOne(id: 77) } }
        #expect(error?.reference == "Chain.other")
        // A stored object behind a link isn't written, regardless of the references in the value at hand.
        let stale = Chain(id: 2, next: ToOne(id: 55))
        try store.save(Chain(id: 4, next: ToOne(Chain(id: 5, next: ToOne(id: 4))), other: ToOne(stale)))
        #expect(try store.count(Chain.where { $0.other.id == 2 }) == 1)
        let wrong = Chain(id: 6, next: ToOne(Chain(id: 7, next: ToOne(id: 6), other: ToOne(id: 55))))
        #expect(thrown { try store.save(wrong) }?.reference == "Chain.other")
    }

    @Test func danglingLinksAreLeftOut() throws {
        let path = TestStore.path()
        let models: [any Model.Type] = [Playlist.self]
        let made = try TestStore.open(path, for: models)
        try made.insert([Song(id: 1, title: "A"), Song(id: 2, title: "B")])
        try made.insert([Playlist(id: 1, name: "P"), Playlist(id: 2, name: "P")])
        let connection = try Connection(path: path)
        try connection.execute(
            """
            PRAGMA foreign_keys = OFF;
            INSERT INTO Playlist_songs (playlistId, songId, position) VALUES
                (1, 8, 1), (1, 2, 2), (2, 2, 1), (2, 1, 2), (2, 8, 3), (2, 9, 4)
            """)
        try connection.close()
        let store = try TestStore.open(path, for: models, options: recorder.options)
        // All objects and a part of them: both take one more statement.
        for query in [Playlist.all, Playlist.where { $0.name == "P" }] {
            let playlists = try recorder.expectQueries(2) { try store.fetch(query.including { $0.songs }) }
            #expect(try playlists.map { try $0.songs.objects.map(\.title) } == [["B"], ["B", "A"]])
        }
    }

    @Test func rowsWithoutAnOwnerAreLeftOut() throws {
        let path = TestStore.path()
        let models: [any Model.Type] = [Series.self]
        try TestStore.open(path, for: models).insert([Series(id: 1, title: "A"), Series(id: 2, title: "B")])
        let connection = try Connection(path: path)
        try connection.execute(
            """
            PRAGMA foreign_keys = OFF;
            INSERT INTO Episode (id, title, position, seriesId) VALUES
                (1, 'of none', 0, 9), (2, 'b', 1, 2), (3, 'of none', 2, 0), (4, 'a', 3, 1), (5, 'c', 0, 2)
            """)
        try connection.close()
        let store = try TestStore.open(path, for: models, options: recorder.options)
        // The owners' episodes are looked up by keys after all.
        let series = try recorder.expectQueries(3) { try store.fetch(Series.all.including { $0.episodes }) }
        #expect(try series.map { try $0.episodes.objects.map(\.title) } == [["a"], ["c", "b"]])
        let cards = try recorder.expectQueries(3) { try store.fetch(SeriesCard.all) }
        #expect(cards.map { $0.episodes.map(\.title) } == [["a"], ["c", "b"]])
    }
}

@Shape(of: Series.self) struct SeriesCard {
    var title: String
    var episodes: [Part]
    @Shape(of: Episode.self) struct Part { var title: String }
}
