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

        let items = try await store.fetch(lines(of: friday))
        try await store.update(friday.id) { $0.items.place(id: items[1].id, after: nil) }
        for item in try await store.fetch(lines(of: friday)) { print(try item.song.object.title) }
        try store.close()
    }

    static func lines(of setlist: Setlist) -> Query<SetlistItem> {
        setlist.related { $0.items }.including { $0.song }
    }
}
