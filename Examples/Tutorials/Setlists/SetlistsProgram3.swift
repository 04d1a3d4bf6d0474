import Relata

@main struct Setlists {
    static func main() async throws {
        let store = try Store.inMemory(for: Setlist.self)
        let river = Song(title: "River Song", key: "G")
        let home = Song(title: "Long Way Home", key: "D")
        var friday = Setlist(name: "Friday")
        friday.items.add([
            SetlistItem(song: river), SetlistItem(song: home), SetlistItem(transposedKey: "A", song: river),
        ])
        friday = try await store.save(friday)

        for song in try await store.related(to: friday, { $0.songs }) { print(song.title) }
        for list in try await store.fetch(Setlist.where { $0.songs.contains(home) }) {
            print(home.title, "is on", list.name)
        }
        try store.close()
    }

    static func lines(of setlist: Setlist) -> Query<SetlistItem> {
        setlist.related { $0.items }.including { $0.song }
    }
}
