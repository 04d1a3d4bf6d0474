import Relata

@Model struct Song {
    let id: ID<Song>
    @Attribute(.notEmpty) var title: String
    var key: String
}

@Model struct SetlistItem {
    let id: ID<SetlistItem>
    var transposedKey: String?
    var song: ToOne<Song>
}
