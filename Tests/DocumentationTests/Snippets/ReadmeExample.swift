import Relata
// docs: hide
import Testing
// docs: show

@Model struct Genre {
    @Attribute(.primaryKey) let name: String
    @Relationship(deleteRule: .deny, inverse: \Book.genre) var books: ToMany<Book>
}

@Model struct Author {
    var id: Int?
    var name: String
}

@Model struct Book {
    var id: Int?
    @Attribute(.notEmpty) var title: String
    var genre: ToOne<Genre>
    var authors: ToMany<Author>
}

// docs: hide
@Test func theReadmesExample() async throws {
    try await example {
        // docs: show
        let store = try await Store.open(temporary("library.sqlite"), for: Book.self)
        let authors = ["Terry Pratchett", "Neil Gaiman"].map { Author(name: $0) }
        let genre = Genre(name: "Fantasy")
        try await store.save(Book(title: "Good Omens", genre: ToOne(genre), authors: ToMany(authors)))

        let query = Book.where { $0.genre.name == "Fantasy" && $0.authors.contains { $0.name == "Neil Gaiman" } }
        for book in try await store.fetch(query.including { $0.authors }) {
            print(book.title, "by", try book.authors.objects.map(\.name).sorted())
        }
        print(try await store.deletionPlan(for: genre))
        // docs: hide
        try printed(in: "README.md", "README.zh-Hans.md")
    }
}
// docs: show
