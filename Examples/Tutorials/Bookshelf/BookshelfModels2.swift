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
}
