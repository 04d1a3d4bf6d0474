import Relata

/// A book. It must have a genre and an ISBN; the ISBN is deleted with it.
@Model public struct Book {
    public let id: ID<Book>
    @Attribute(.notEmpty) public var title: String
    public var publishingYear: Int
    public var genre: ToOne<Genre>
    @Relationship(deleteRule: .cascade) public var isbn: ToOne<ISBN>
    public var authors: ToMany<Author>
    public var publishers: ToMany<Publisher>
}

/// A kind of book. It can't be deleted while it has books.
@Model public struct Genre {
    public let id: ID<Genre>
    @Attribute(.unique, .notEmpty) public var name: String
    @Relationship(deleteRule: .deny, inverse: \Book.genre) public var books: ToMany<Book>
}

/// An author of books.
@Model public struct Author {
    public let id: ID<Author>
    @Attribute(.unique, .notEmpty) public var name: String
}

/// A publisher of books.
@Model public struct Publisher {
    public let id: ID<Publisher>
    @Attribute(.unique, .notEmpty) public var name: String
}

/// The number of one book.
@Model public struct ISBN {
    public let id: ID<ISBN>
    @Attribute(.unique, .notEmpty) public var value: String
    @Relationship(inverse: \Book.isbn) public var book: HasOne<Book>
}
