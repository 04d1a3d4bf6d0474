import Relata
import RelataCore
import RelataTesting
import Testing

/// Objects that many owners share: each is read once, and is in the lists of all.
@Suite struct SharedObjectTests {
    let recorder = StatementRecorder()

    /// A fetch of everything, compared with a fetch by keys.
    private func fetch<Owner: Model>(
        _ store: Store, _ all: Query<Owner>, _ part: Query<Owner>,
        @IncludeBuilder _ links: (Owner.Fields) -> [IncludePlan]
    ) throws -> [Owner] {
        let whole = try recorder.expectQueries(2) { try store.fetch(all.including(links)) }
        let found = try recorder.expectQueries(2) { try store.fetch(part.including(links)) }
        #expect(whole == found)
        return whole
    }

    @Test(arguments: Engine.allCases) func numbersOfAnySizeAreKeys(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Playlist.self, options: recorder.options)
        let ids = [1, 2, 7, 1 << 20, 1 << 50, -3, 0]
        try store.insert(ids.map { Song(id: $0, title: "S\($0)") })
        let lists = (0..<8).map { number in (0..<4).map { ids[(number * 5 + $0) % ids.count] } }
        for list in lists {
            var playlist = Playlist(name: "P")
            for id in list { playlist.songs.add(id: id) }
            try store.insert(playlist)
        }
        let playlists = try fetch(store, Playlist.all, Playlist.where { $0.name == "P" }) { $0.songs }
        #expect(try playlists.map { try $0.songs.objects.map { $0.id ?? 0 } } == lists)
        #expect(try playlists.allSatisfy { try $0.songs.objects.allSatisfy { $0.title == "S\($0.id ?? 0)" } })
        // With a filter, an order or a limit.
        let some = try fetch(store, Playlist.all, Playlist.where { $0.name == "P" }) { $0.songs.where { $0.id > 1 } }
        #expect(try some.map { try $0.songs.objects.map { $0.id ?? 0 } } == lists.map { $0.filter { $0 > 1 } })
        let sorted = try fetch(store, Playlist.all, Playlist.where { $0.name == "P" }) { $0.songs.sorted { $0.id } }
        #expect(try sorted.map { try $0.songs.objects.map { $0.id ?? 0 } } == lists.map { $0.sorted() })
        let few = try fetch(store, Playlist.all, Playlist.where { $0.name == "P" }) { $0.songs.limit(2) }
        #expect(try few.map { try $0.songs.objects.map { $0.id ?? 0 } } == lists.map { Array($0.prefix(2)) })
    }

    @Test(arguments: Engine.allCases) func peopleFollowEachOther(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Person.self, options: recorder.options)
        var people = (0..<6).map { Person(name: "P\($0)") }
        for index in people.indices {
            for step in 0..<index { people[index].following.add(id: people[(index + step) % 6].id) }
        }
        try store.save(people)
        let found = try fetch(store, Person.sorted { $0.name }, Person.where { $0.name != "" }.sorted { $0.name }) {
            $0.following
        }
        #expect(
            try found.map { try $0.following.objects.map(\.name) }
                == (0..<6).map { index in (0..<index).map { "P\((index + $0) % 6)" }.sorted() })
        let followers = try store.fetch(Person.sorted { $0.name }.including { $0.followers.including { $0.followers } })
        #expect(
            try followers.map { try $0.followers.objects.flatMap { try $0.followers.objects }.count }.max() ?? 0 > 3)
    }

    @Test(arguments: Engine.allCases) func throughLinksCanReachAnObjectSeveralTimes(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Setlist.self, options: recorder.options)
        for name in ["a", "b"] { try store.insert(Tune(name: name)) }
        for list in ["aba", "", "bb"] {
            let setlist = try store.insert(Setlist(name: "S"))
            for (position, tune) in list.enumerated() {
                try store.insert(
                    SetlistItem(position: position, setlist: ToOne(id: setlist.id), tune: ToOne(id: String(tune))))
            }
        }
        let setlists = try fetch(store, Setlist.all, Setlist.where { $0.name == "S" }) { $0.tunes }
        #expect(try setlists.map { try $0.tunes.objects.map(\.name).joined() } == ["aba", "", "bb"])
    }

    @Test(arguments: Engine.allCases) func keysThatLookTheSameAreDistinguished(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Disc.self, options: recorder.options)
        let words = ["caf\u{e9}", "cafe\u{301}"]
        for word in words { try store.insert(Keyword(word: word)) }
        let band = try store.insert(Band(name: "B"))
        for word in words + words {
            var disc = Disc(title: "D", band: ToOne(band))
            disc.tags.add(id: word)
            try store.insert(disc)
        }
        let discs = try fetch(store, Disc.all, Disc.where { $0.title == "D" }) { $0.tags }
        #expect(
            try discs.map { try $0.tags.objects.map { Array($0.word.utf8) } }
                == (words + words).map { [Array($0.utf8)] })
    }
}
