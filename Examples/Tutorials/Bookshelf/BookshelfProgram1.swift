import Relata

@main struct Bookshelf {
    static func main() async throws {
        let store = try await Store.open("bookshelf.sqlite", for: Book.self)
        try store.close()
    }
}
