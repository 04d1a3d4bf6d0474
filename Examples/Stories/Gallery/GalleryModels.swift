import Relata

/// An artist, whose key is the name. Her works go with her.
@Model public struct Artist {
    @Attribute(.primaryKey, .notEmpty) public let name: String
    public var country: String?
    @Relationship(deleteRule: .cascade, inverse: \Artwork.artist) public var artworks: ToMany<Artwork>
}

/// A collection that owns works. They go with it, too.
@Model public struct Collection {
    @Attribute(.primaryKey, .notEmpty) public let name: String
    @Relationship(deleteRule: .cascade, inverse: \Artwork.collection) public var artworks: ToMany<Artwork>
}

/// A work of one artist, in one collection or none.
@Model public struct Artwork {
    @Attribute(.primaryKey, .notEmpty) public let title: String
    @Attribute(.range(1000...2100)) public var year: Int
    public var artist: ToOne<Artist>
    public var collection: ToOne<Collection>?
    @Relationship(deleteRule: .cascade, inverse: \Comment.artwork) public var comments: ToMany<Comment>
}

/// A visitor's comment on a work.
@Model public struct Comment {
    public var id: Int?
    public var text: String
    public var artwork: ToOne<Artwork>
}

/// The same model, with a reference that may dangle: a work stays when its artist is deleted, and remembers the name.
public enum LooseGallery {
    @Model public struct Artist {
        @Attribute(.primaryKey) public let name: String
        public var country: String?
    }

    @Model public struct Artwork {
        @Attribute(.primaryKey) public let title: String
        public var year: Int
        @Relationship(onTargetDelete: .noAction) public var artist: ToOne<LooseGallery.Artist>
    }
}
