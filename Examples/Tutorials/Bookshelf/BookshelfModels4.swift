import Relata

@Model struct Genre {
    let id: ID<Genre>
    @Attribute(.unique, .notEmpty) var name: String
    @Relationship(deleteRule: .deny, inverse: \Book.genre) var books: ToMany<Book>
}

@Model struct Book {
    let id: ID<Book>
    @Attribute(.notEmpty) var title: String
    var year: Int
    var genre: ToOne<Genre>
    @Relationship(deleteRule: .cascade) var isbn: ToOne<ISBN>
    var authors: ToMany<Author>
}

@Model struct ISBN {
    let id: ID<ISBN>
    @Attribute(.unique, .notEmpty) var value: String
    @Relationship(inverse: \Book.isbn) var book: HasOne<Book>
}

@Model struct Author {
    @Attribute(.primaryKey, .notEmpty) let name: String
}
