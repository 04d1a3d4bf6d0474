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
        try store.close()
    }
}
