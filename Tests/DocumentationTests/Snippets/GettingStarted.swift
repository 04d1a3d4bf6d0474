import Relata
import Testing

/// The guide's own models: those of the readme have other keys.
struct GettingStarted {
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

    @Test func gettingStarted() async throws {
        try await example {
            let store = try await Store.open(temporary("library.sqlite"), for: Book.self)

            let fantasy = Genre(name: "Fantasy")
            let pratchett = Author(name: "Terry Pratchett")
            var mort = Book(title: "Mort", genre: fantasy)
            mort.authors.add(pratchett)
            mort = try await store.save(mort)
            print("Mort is book", mort.id ?? 0)
            // docs: hide
            try printed(in: "Documentation/GettingStarted.md")
            // docs: show

            let omens = Book(title: "Good Omens", genre: ToOne(id: "Fantasy"))
            try await store.insert(omens)

            let found = try await store.fetch(Book.where { $0.title.hasPrefix("Good") })
            print(found.map(\.title))
            // docs: hide
            try printed(in: "Documentation/GettingStarted.md")
            // docs: show

            let everything = Book.sorted { $0.title }.including {
                $0.genre
                $0.authors
            }
            for book in try await store.fetch(everything) {
                let genre = try book.genre.object
                let authors = try book.authors.objects
                print("\(book.title), \(genre.name), by \(authors.map(\.name))")
            }
            // docs: hide
            try printed(in: "Documentation/GettingStarted.md")
            // docs: show

            if let pratchett = try await store.first(Author.where { $0.name == "Terry Pratchett" }) {
                try await store.update(Book.self, id: 2) {
                    $0.title = "Good Omens: The Nice and Accurate Prophecies"
                    $0.authors.add([pratchett, Author(name: "Neil Gaiman")])
                }
            }
            if let omens = try await store.fetch(Book.self, id: 2) {
                print(omens.title)
                print(try await store.fetch(omens.related { $0.authors }.sorted { $0.name }).map(\.name))
            }
            // docs: hide
            try printed(in: "Documentation/GettingStarted.md")
            // docs: show

            do {
                try await store.delete(fantasy)
            } catch RelataError.deleteDenied(let blockers) {
                print("\(blockers.count) books are in the way")
            }
            let report = try await store.delete(Book.where { $0.genre == "Fantasy" })
            print(report.deletedCount, "deleted;", try await store.count(Author.all), "authors are still there")
            // docs: hide
            try printed(in: "Documentation/GettingStarted.md")
            // docs: show

            try store.close()
        }
    }
}
