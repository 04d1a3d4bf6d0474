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
        let (pratchett, gaiman) = (Author(name: "Terry Pratchett"), Author(name: "Neil Gaiman"))
        try await store.save(Book(title: "Good Omens", genre: genre, authors: [pratchett, gaiman]))
        for book in try await store.fetch(Book.where { $0.genre.name == "Fantasy" }.including { $0.authors }) {
            print(book.title, "by", try book.authors.objects.map(\.name).sorted())
        }
        print(try await store.deletionPlan(for: genre))
        // docs: hide
        try printed(in: "README.md", "README.zh-Hans.md")
    }
}
// docs: show
