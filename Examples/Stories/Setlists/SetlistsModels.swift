import Relata

/// A song. It can't be deleted while it is on a setlist.
@Model public struct Song {
    public let id: ID<Song>
    @Attribute(.notEmpty) public var title: String
    public var key: String
    @Relationship(deleteRule: .deny, inverse: \SetlistItem.song) public var items: ToMany<SetlistItem>
}

/// The songs that are played in one evening, in order.
@Model public struct Setlist {
    public let id: ID<Setlist>
    @Attribute(.notEmpty) public var name: String
    @Relationship(deleteRule: .cascade, inverse: \SetlistItem.setlist, order: \SetlistItem.position)
    public var items: ToMany<SetlistItem>
    @Relationship(through: \Setlist.items, \SetlistItem.song) public var songs: Through<Song>
}

/// One item of a setlist: a song, and the key in which it is played that evening.
@Model public struct SetlistItem {
    public let id: ID<SetlistItem>
    public var position: Int = 0
    public var transposedKey: String?
    public var setlist: ToOne<Setlist>
    public var song: ToOne<Song>
}
