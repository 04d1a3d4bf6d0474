// The structs that an author of hand-written SQL would declare: the same properties, with related objects instead of
// links.

struct RawNovel {
    let id: Int
    var title: String
    var year: Int
    var genre: RawGenre
    var writers: [RawWriter]
}

struct RawGenre {
    let id: Int
    var name: String
}

struct RawWriter {
    let id: Int
    var name: String
}

/// An object of a level, with the key of the one above and the objects below it.
struct RawPlace<Below> {
    let id: Int
    var name: String
    var above: Int
    var below: [Below]
}

struct RawFolder {
    let id: Int
    var name: String
    var parent: Int?
    var children: [RawFolder]
}

struct RawSetlist<Song> {
    let id: Int
    var name: String
    var items: [RawSetlistItem<Song>]
}

/// An item with its song, or only with the song's key.
struct RawSetlistItem<Song> {
    let id: Int
    var transposedKey: String
    var setlist: Int
    var song: Song
}

struct RawSong {
    let id: Int
    var title: String
    var length: Int
}
