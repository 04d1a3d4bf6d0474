import Foundation
import Relata

/// The operations on songs and setlists.
public struct Setlists: Sendable {
    /// The database.
    public let store: Store

    /// Opens the setlists of a folder, `setlists.sqlite`.
    public static func open(in folder: URL) async throws -> Setlists {
        let path = folder.appendingPathComponent("setlists.sqlite").path
        return Setlists(store: try await Store.open(path, for: Setlist.self))
    }

    /// Makes a setlist of songs, each in its own key or in another, in that order. One save.
    public func create(_ name: String, _ songs: [(song: Song, transposedKey: String?)]) async throws -> Setlist {
        var setlist = Setlist(name: name)
        setlist.items.add(songs.map { SetlistItem(transposedKey: $0.transposedKey, song: ToOne($0.song)) })
        return try await store.save(setlist)
    }

    /// The items of a setlist in order, each with its song: two statements, regardless of the number of items.
    public func items(of setlist: Setlist) -> Query<SetlistItem> {
        setlist.related { $0.items }.including { $0.song }
    }

    /// The lines of a setlist in order.
    public func lines(of setlist: Setlist) async throws -> [SetlistLine] {
        try await store.fetch(items(of: setlist)).map { SetlistLine(item: $0, song: try $0.song.object) }
    }

    /// The songs of a setlist, each once for every time it is played.
    public func songs(of setlist: Setlist) async throws -> [Song] {
        try await store.related(to: setlist) { $0.songs }
    }

    /// The setlists that a song is on, by name.
    public func setlists(with song: Song) async throws -> [Setlist] {
        try await store.fetch(Setlist.where { $0.songs.contains(song) }.sorted { $0.name })
    }

    /// Moves an item right after another, or to the front.
    public func move(_ item: SetlistItem, after other: SetlistItem?, in setlist: Setlist) async throws {
        try await store.update(setlist.id) { $0.items.place(id: item.id, after: other?.id) }
    }

    /// Adds a song at the front, after an item, or, if it is on the list, a second time.
    public func add(_ song: Song, in key: String? = nil, after other: SetlistItem?, to setlist: Setlist) async throws {
        try await store.update(setlist.id) {
            let item = SetlistItem(transposedKey: key, song: ToOne(song))
            $0.items.place(item, after: other)
        }
    }
}

/// An item of a setlist with its song.
public struct SetlistLine: Sendable {
    /// The place on the list.
    public let item: SetlistItem
    /// The song that is played.
    public let song: Song

    /// The key it is played in.
    public var key: String { item.transposedKey ?? song.key }
}
