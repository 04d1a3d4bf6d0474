#if Server
import Foundation
import Relata
import RelataServer

struct App {
    static func main() async throws {
        let store = try await Store.open("library.sqlite", for: Book.self)
        let server = try RelataServer(store, keys: KeyFile("library.keys").keys) { hooks in
            hooks.beforeSave(Book.self) { book, _ in book.title = book.title.trimmingCharacters(in: .whitespaces) }
        }
        try await server.run()
    }
}
#endif
