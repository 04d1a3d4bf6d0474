import Relata

@Model struct Artist {
    @Attribute(.primaryKey, .notEmpty) let name: String
    var country: String?
    @Relationship(deleteRule: .cascade, inverse: \Artwork.artist) var artworks: ToMany<Artwork>
}

@Model struct Artwork {
    @Attribute(.primaryKey, .notEmpty) let title: String
    @Attribute(.range(1000...2100)) var year: Int
    var artist: ToOne<Artist>
    var collection: ToOne<Collection>?
}

@Model struct Collection {
    @Attribute(.primaryKey, .notEmpty) let name: String
    @Relationship(deleteRule: .cascade, inverse: \Artwork.collection) var artworks: ToMany<Artwork>
}
