import Relata

@main struct Bookshelf {
    static func main() async throws {
        let store = try await Store.open("bookshelf.sqlite", for: Book.self)
        let omens = try await add("Good Omens", 1990, "Fantasy", isbn: "978-0-575-04800-7", to: store)
        try await store.update(omens.id) {
            $0.authors.add([Author(name: "Terry Pratchett"), Author(name: "Neil Gaiman")])
        }
        let books = Book.sorted { $0.title }.including {
            $0.genre
            $0.isbn
            $0.authors.sorted { $0.name }
        }
        for book in try await store.fetch(books) {
            let authors = try book.authors.objects.map(\.name).joined(separator: ", ")
            print("\(book.title) by \(authors), \(try book.genre.object.name), \(try book.isbn.object.value)")
        }
        try store.close()
    }

    static func add(_ title: String, _ year: Int, _ genre: String, isbn: String, to store: Store) async throws -> Book {
        try await store.write { tx in
            if let book = try tx.first(Book.where { $0.isbn.value == isbn }) { return book }
            let known = try tx.first(Genre.where { $0.name == genre })
            return try tx.save(
                Book(title: title, year: year, genre: known ?? Genre(name: genre), isbn: ISBN(value: isbn)))
        }
    }
}
