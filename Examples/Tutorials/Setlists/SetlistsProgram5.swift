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

        var changes = store.observe(lines(of: friday)).differences.makeAsyncIterator()
        let items = try await changes.next()?.elements ?? []
        try await store.update(friday.id) { $0.items.place(id: items[1].id, after: nil) }
        for move in try await changes.next()?.moved ?? [] {
            print(try move.element.song.object.title, "moves from", move.from + 1, "to", move.to + 1)
        }
        try store.close()
    }

    static func lines(of setlist: Setlist) -> Query<SetlistItem> {
        setlist.related { $0.items }.including { $0.song }
    }
}
