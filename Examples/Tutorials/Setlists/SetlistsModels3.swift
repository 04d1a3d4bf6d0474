import Relata

@Model struct Song {
    let id: ID<Song>
    @Attribute(.notEmpty) var title: String
    var key: String
    @Relationship(deleteRule: .deny, inverse: \SetlistItem.song) var items: ToMany<SetlistItem>
}

@Model struct SetlistItem {
    let id: ID<SetlistItem>
    var position: Int = 0
    var transposedKey: String?
    var setlist: ToOne<Setlist>
    var song: ToOne<Song>
}

@Model struct Setlist {
    let id: ID<Setlist>
    @Attribute(.notEmpty) var name: String
    @Relationship(deleteRule: .cascade, inverse: \SetlistItem.setlist, order: \SetlistItem.position)
    var items: ToMany<SetlistItem>
    @Relationship(through: \Setlist.items, \SetlistItem.song) var songs: Through<Song>
}
