import Relata
import RelataTesting
import Testing

/// The order of included objects, if the tables have them in another one.
@Suite struct EdgeOrderTests {
    private func album(_ store: Store) throws -> Album {
        let album = try store.save(
            Album(title: "Kind of Blue", songs: ToMany((1...4).map { (id: Int) in Song(id: id, title: "S\(id)") })))
        _ = try store.execute(
            #"UPDATE "Song" SET "albumPosition" = CASE "id" WHEN 1 THEN 3000 WHEN 3 THEN 1000 WHEN 4 THEN 3000 END"#)
        return album
    }

    @Test(arguments: Engine.allCases) func membersAreSortedByPositionThenByKey(
        _ engine: Engine
    ) throws {
        let store = try TestStore.make(engine, for: Album.self)
        let album = try album(store)
        let loaded = try store.load(album) { $0.songs }
        #expect(try loaded.songs.objects.map(\.id) == [3, 1, 4, 2])
    }

    @Test(arguments: Engine.allCases) func limitsTakeTheFirstMembersOfEachOwner(_ engine: Engine)
        throws
    {
        let store = try TestStore.make(engine, for: Album.self)
        let album = try album(store)
        let other = try store.save(Album(title: "Other", songs: ToMany([Song(id: 9, title: "S9")])))
        let albums = try store.load([other, album]) { $0.songs.where { $0.title != "S1" }.limit(2) }
        #expect(try albums.map { try $0.songs.objects.map(\.id) } == [[9], [3, 4]])
        let sorted = try store.load([other, album]) {
            $0.songs.sorted {
                $0.album.title; $0.title.descending
            }.limit(3)
        }
        #expect(try sorted.map { try $0.songs.objects.map(\.id) } == [[9], [4, 3, 2]])
    }

    @Test(arguments: Engine.allCases) func unorderedMembersAreSortedByKey(
        _ engine: Engine
    ) throws {
        let store = try TestStore.make(engine, for: Person.self)
        let boss = try store.save(Person(name: "Boss"))
        let reports = (0..<9).map { Person(name: "P\($0)", boss: ToOne(id: boss.id)) }
        for index in [3, 1, 4, 0, 5, 8, 2, 6, 7] { try store.insert(reports[index]) }
        let loaded = try store.load(boss) { $0.reports }
        #expect(try loaded.reports.objects.map(\.name) == reports.map(\.name))
    }

    @Test(arguments: Engine.allCases) func sharedObjectsComeInTheOrderOfEachOwner(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Playlist.self)
        let songs = try store.save((1...4).map { (id: Int) in Song(id: id, title: "S\(id)") })
        let there = try store.save(Playlist(name: "There", songs: ToMany(songs)))
        let back = try store.save(Playlist(name: "Back", songs: ToMany(songs.reversed())))
        let loaded = try store.load([there, back]) { $0.songs }
        #expect(try loaded.map { try $0.songs.objects.map(\.id) } == [[1, 2, 3, 4], [4, 3, 2, 1]])
    }

    @Test(arguments: Engine.allCases) func moreOwnersNeedNoMoreStatements(_ engine: Engine) throws {
        let recorder = StatementRecorder()
        let store = try TestStore.make(engine, for: Album.self, options: recorder.options)
        for count in [10, 100] {
            try store.save((0..<count).map { Album(title: "A\($0)", songs: ToMany([Song(title: "S\($0)")])) })
            let albums = try recorder.expectQueries(4) {
                try store.fetch(
                    Album.all.including {
                        $0.songs.including {
                            $0.album; $0.playlists
                        }
                    })
            }
            #expect(albums.count >= count)
        }
    }
}
