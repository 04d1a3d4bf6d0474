import Relata

@main struct Bookshelf {
    static func main() async throws {
        let store = try await Store.open("bookshelf.sqlite", for: Book.self)
        let omens = try await store.save(
            Book(
                title: "Good Omens", year: 1990, genre: Genre(name: "Fantasy"),
                isbn: ISBN(value: "978-0-575-04800-7")))
        print("saved", omens.title)
        try store.close()
    }
}
