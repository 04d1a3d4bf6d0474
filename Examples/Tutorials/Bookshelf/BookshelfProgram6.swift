import Relata

@main struct Bookshelf {
    static func main() async throws {
        let store = try await Store.open("bookshelf.sqlite", for: Book.self)
        _ = try await add("Good Omens", 1990, "Fantasy", isbn: "978-0-575-04800-7", to: store)
        do {
            try await store.delete(Genre.where { $0.name == "Fantasy" })
        } catch RelataError.deleteDenied(let blockers) {
            print("\(blockers.count) book is in the way")
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
