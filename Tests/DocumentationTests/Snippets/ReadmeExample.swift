import Relata
// docs: hide
import Testing
// docs: show

@Model struct Genre {
    @Attribute(.primaryKey) let name: String
    @Relationship(deleteRule: .deny, inverse: \Book.genre) var books: ToMany<Book>
}

@Model struct Author {
    @Attribute(.primaryKey) let name: String
}

@Model struct Book {
    @Attribute(.primaryKey, .notEmpty) let title: String
    var genre: ToOne<Genre>
    var authors: ToMany<Author>
}

// docs: hide
@Test func theReadmesExample() async throws {
    try await example {
        // docs: show
        let store = try await Store.open(temporary("library.sqlite"), for: Book.self)
        let genre = Genre(name: "Fantasy")
        let authors = ["Terry Pratchett", "Neil Gaiman"].map { Author(name: $0) }
        try await store.save(Book(title: "Good Omens", genre: ToOne(genre), authors: ToMany(authors)))
        for book in try await store.fetch(Book.where { $0.genre.name == "Fantasy" }.including { $0.authors }) {
            print(book.title, "by", try book.authors.objects.map(\.name).sorted())
        }
        print(try await store.deletionPlan(for: genre))
        // docs: hide
        try printed(in: "README.md", "README.zh-Hans.md")
    }
}
// docs: show
