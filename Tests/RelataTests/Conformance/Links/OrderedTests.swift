import Relata
import RelataTesting
import Testing

/// Lists with an order: by an attribute, by a position the store keeps, on one side of a many-to-many or on both.
@Suite struct OrderedTests {
    private func titles(_ store: Store, _ album: Album) throws -> String {
        try store.related(to: album) { $0.songs }.map(\.title).joined()
    }

    @Test(arguments: Engine.allCases) func songsKeepTheirPositions(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Album.self)
        let album = try store.insert(Album(title: "A", songs: ToMany("abc".map { Song(title: "\($0)") })))
        let songs = try #require(album.songs.loaded)
        #expect(songs.map(\.album?.id) == [album.id, album.id, album.id])
        #expect(try titles(store, album) == "abc")
        let edits: [(String, (inout Album) throws -> Void)] = [
            ("cab", { $0.songs.place(songs[2], after: nil) }),
            ("acb", { $0.songs.place(songs[0], after: nil) }),
            ("abc", { $0.songs.place(songs[1], after: songs[0]) }),
            ("abcd", { $0.songs.add(Song(title: "d")) }),
            ("abcd", { $0.songs.add(songs[0]) }),
            ("abcd", { $0.songs.add(id: 2) }),
            ("abxcd", { $0.songs.place(Song(title: "x"), after: songs[1]) }),
            ("axcd", { $0.songs.remove(songs[1]) }),
            ("axcdb", { $0.songs.add(songs[1]) }),
            ("axcb", { $0.songs.remove(id: 4) }),
            ("cba", { $0.songs.set([songs[2], songs[1], songs[0]]) }),
            ("cba", { $0.songs.place(songs[1], after: songs[1]) }),
            (
                "ac",
                {
                    $0.songs.remove(songs[0])
                    $0.songs.place(id: 1, after: nil)
                    $0.songs.remove(id: 2)
                }
            ),
        ]
        for (expected, edit) in edits {
            try store.write { tx in _ = try tx.update(album.id, edit) }
            #expect(try titles(store, album) == expected)
        }
        let outside = try store.insert(Song(title: "o"))
        #expect(
            thrown { try store.update(album.id) { $0.songs.place(songs[0], after: outside) } }?.kind == "invalidUse")
        #expect(try titles(store, album) == "ac")
    }

    @Test(arguments: Engine.allCases) func loadedListsAreIndexedLikeArrays(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Album.self)
        var album = try store.insert(Album(title: "A", songs: ToMany("abcd".map { Song(title: "\($0)") })))
        try album.songs.move(from: 0, to: 3)
        try album.songs.insert(Song(title: "x"), at: 1)
        album = try store.save(album)
        #expect(try album.songs.objects.map(\.title).joined() == "bxcda")
        #expect(try titles(store, album) == "bxcda")
        try album.songs.move(from: 4, to: 0)
        album = try store.save(album)
        #expect(try titles(store, album) == "abxcd")
    }

    @Test(arguments: Engine.allCases) func membersAddedByTheirKeyComeLast(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Album.self)
        let (one, two) = try store.insert(
            Album(title: "1", songs: ToMany([Song(title: "a"), Song(title: "b")])),
            Album(title: "2", songs: ToMany([Song(title: "c")])))
        try store.insert(Song(title: "d", album: ToOne(two)))
        #expect(try titles(store, two) == "cd")
        // From the first place of one list to the end of the other, by each way of saving.
        try store.update(Song.self, id: 1) { $0.album = ToOne(two) }
        _ = try store.save(Song(id: 2, title: "b", album: ToOne(two)))
        #expect(try titles(store, two) == "cabd" || titles(store, two) == "cdab")
        #expect(try store.related(to: two) { $0.songs }.first?.title == "c")
        try store.update(two.id) { $0.songs.add(Song(title: "e")) }
        #expect(try titles(store, two).hasSuffix("e"))
        #expect(try titles(store, one) == "")
    }

    @Test(arguments: Engine.allCases) func bothSidesOfAManyToManyHaveTheirOwnOrder(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Playlist.self)
        let songs = try store.insert("abc".map { Song(title: "\($0)") })
        let lists = try store.insert("xyz".map { Playlist(name: "\($0)", songs: ToMany(songs)) })
        func names(ofList list: Int) throws -> String {
            try store.related(to: lists[list]) { $0.songs }.map(\.title).joined()
        }
        func names(ofSong song: Int) throws -> String {
            try store.related(to: songs[song]) { $0.playlists }.map(\.name).joined()
        }
        #expect(try names(ofList: 1) == "abc" && names(ofSong: 2) == "xyz")
        try store.update(Song.self, id: 1) { $0.playlists.place(id: 3, after: nil) }
        try store.update(Playlist.self, id: 1) { $0.songs.place(id: 3, after: 1) }
        #expect(
            try names(ofList: 0) == "acb" && names(ofList: 1) == "abc" && names(ofSong: 0) == "zxy"
                && names(ofSong: 1) == "xyz")
        // Members added from the other side come last.
        let song = try store.insert(Song(title: "d", playlists: ToMany([lists[1], lists[0]])))
        #expect(try names(ofList: 0) == "acbd" && names(ofList: 1) == "abcd")
        #expect(try store.related(to: song) { $0.playlists }.map(\.name).joined() == "yx")
        let list = try store.insert(Playlist(name: "w", songs: ToMany([songs[2], songs[0]])))
        #expect(try names(ofSong: 0) == "zxyw" && names(ofSong: 2) == "xyzw")
        #expect(try store.related(to: list) { $0.songs }.map(\.title) == ["c", "a"])
    }

    @Test(arguments: Engine.allCases) func editsWriteTheOrderAttribute(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Setlist.self)
        let tune = try store.insert(Tune(name: "t"))
        let items = (0..<3).map { SetlistItem(transposedKey: "\($0)", setlist: .unset, tune: ToOne(tune)) }
        let setlist = try store.insert(Setlist(name: "s", items: ToMany(items)))
        let saved = try #require(setlist.items.loaded)
        #expect(try store.fetch(SetlistItem.sorted { $0.position }) == saved.map { try store.refresh($0) })
        #expect(saved.map(\.position) == saved.map(\.position).sorted() && Set(saved.map(\.position)).count == 3)
        // An item that the save returned is up to date: its place and its revision.
        var first = saved[0]
        first.transposedKey = "new"
        first = try store.save(first)
        #expect(try store.related(to: setlist) { $0.items }.map(\.transposedKey) == ["new", "1", "2"])
        // A move updates only the moved row, and counts as a change of it.
        let before = try store.fetch(SetlistItem.sorted { $0.position })
        try store.update(setlist.id) { $0.items.place(id: saved[2].id, after: saved[0].id) }
        let after = try store.fetch(SetlistItem.sorted { $0.position })
        #expect(after.map(\.id) == [saved[0].id, saved[2].id, saved[1].id])
        #expect(after[0] == before[0] && after[2] == before[1] && after[1].revision == before[2].revision + 1)
        #expect(thrown { try store.save(saved[2]) }?.kind == "conflict")
    }

    @Test(arguments: Engine.allCases) func customPositionsStayUsable(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Setlist.self)
        let tune = try store.insert(Tune(name: "t"))
        let setlist = try store.insert(Setlist(name: "s"))
        for positions in [[1, 2, 3], [0, 0, 0], [.min, 0, .max], [.max, .max, .max], [-5, -4, .min]] {
            try store.delete(SetlistItem.all)
            let items = try store.insert(
                positions.map { SetlistItem(position: $0, setlist: ToOne(setlist), tune: ToOne(tune)) })
            let order = try store.related(to: setlist) { $0.items }.map(\.id)
            try store.update(setlist.id) { $0.items.place(id: order[2], after: order[0]) }
            #expect(try store.related(to: setlist) { $0.items }.map(\.id) == [order[0], order[2], order[1]])
            try store.update(setlist.id) { $0.items.place(items[0], after: nil) }
            #expect(try store.related(to: setlist) { $0.items }.first?.id == items[0].id)
            let new = SetlistItem(setlist: .unset, tune: ToOne(tune))
            try store.update(setlist.id) { $0.items.add(new) }
            #expect(try store.related(to: setlist) { $0.items }.last?.id == new.id, "\(positions)")
        }
    }

    @Test(arguments: Engine.allCases, 0..<10) func randomEditsMatchAnArray(_ engine: Engine, _ seed: UInt64) throws {
        let store = try TestStore.make(engine, for: Album.self, Playlist.self)
        var generator = SampleRandom(seed: seed)
        let songs = try store.insert((0..<8).map { Song(title: "\($0)") })
        let album = try store.insert(Album(title: "a"))
        let playlist = try store.insert(Playlist(name: "p"))
        var expected: [Int] = []
        for step in 0..<40 {
            var one = ToMany<Song>()
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let song = Int.random(in: 0..<8, using: &generator)
                switch Int.random(in: 0..<6, using: &generator) {
                case 0, 1:
                    one.add(songs[song])
                    if !expected.contains(song) { expected.append(song) }
                case 2:
                    one.remove(songs[song])
                    expected.removeAll { $0 == song }
                case 3:
                    one.place(songs[song], after: nil)
                    expected.removeAll { $0 == song }
                    expected.insert(song, at: 0)
                case 4:
                    guard let other = expected.filter({ $0 != song }).randomElement(using: &generator) else { continue }
                    one.place(songs[song], after: songs[other])
                    expected.removeAll { $0 == song }
                    expected.insert(song, at: (expected.firstIndex(of: other) ?? 0) + 1)
                default:
                    guard step % 5 == 0 else { continue }
                    expected = Array((0..<8).shuffled(using: &generator).prefix(5))
                    one.set(expected.map { songs[$0] })
                }
            }
            let edits = one
            try store.update(album.id) { $0.songs = edits }
            try store.update(Playlist.self, id: 1) { $0.songs = edits }
            let titles = expected.map(String.init)
            #expect(try store.related(to: album) { $0.songs }.map(\.title) == titles, "seed \(seed), step \(step)")
            #expect(try store.related(to: playlist) { $0.songs }.map(\.title) == titles, "seed \(seed), step \(step)")
        }
    }

    @Test(arguments: Engine.allCases) func aMoveWritesOneRow(_ engine: Engine) throws {
        let log = StatementLog()
        let store = try TestStore.make(engine, for: Album.self, options: log.options)
        let album = try store.insert(Album(title: "a", songs: ToMany((0..<100).map { Song(title: "\($0)") })))
        _ = log.take()
        try store.update(album.id) { $0.songs.place(id: 90, after: 10) }
        #expect(log.take().filter { $0.hasPrefix("UPDATE") }.count <= 2)
        #expect(try store.related(to: album) { $0.songs }.map(\.id)[10] == 90)
        try store.update(album.id) { $0.songs.add([Song(title: "x")]) }
        let statements = log.take()
        #expect(statements.filter { $0.hasPrefix("UPDATE") }.count == 1)
    }
}
