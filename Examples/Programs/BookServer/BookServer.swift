// A server of an app's own models, with a rule in Swift and the dashboard:
//
//     swift run --traits Server BookServer 8080
//
// Clients speak Parse's REST protocol: ParseSwift, or curl with the headers that it prints.
#if Server
import Foundation
import Relata
import RelataServer

@Model struct Author {
    @Attribute(.primaryKey, .notEmpty) let name: String
    @Relationship(deleteRule: .deny, inverse: \Book.author) var books: ToMany<Book>
}

@Model struct Book {
    let id: ID<Book>
    @Attribute(.notEmpty) var title: String
    var year: Int?
    var author: ToOne<Author>
}

@main struct BookServer {
    static func main() async throws {
        let store = try await Store.open("books.sqlite", for: Book.self)
        if try await store.count(Book.all) == 0 {
            let author = Author(name: "Ursula K. Le Guin")
            try await store.save(Book(title: "The Dispossessed", year: 1974, author: author))
        }
        let file = try KeyFile("books.keys")
        let (id, key) = (file.keys.applicationID, file.keys.clientKey ?? "")
        var configuration = RelataServer.Configuration()
        configuration.port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
        configuration.dashboard = RelataServer.Dashboard(name: "Books")
        let server = try RelataServer(store, keys: file.keys, configuration: configuration) { hooks in
            // An error is sent to the client, and nothing is written.
            hooks.beforeSave(Book.self) { book, _ in
                book.title = book.title.trimmingCharacters(in: .whitespaces)
            }
        }
        try await server.run { address in
            print("curl -H 'X-Parse-Application-Id: \(id)' -H 'X-Parse-Client-Key: \(key)' \(address.url)/classes/Book")
            print("the dashboard is at \(address.dashboard)")
            if let key = file.newMasterKey { print("its key is shown only this once: \(key)") }
            // If the output isn't a terminal, it would otherwise appear only at the end.
            fflush(nil)
        }
    }
}
#else
@main struct BookServer {
    static func main() { print("BookServer needs the trait Server: swift run --traits Server BookServer") }
}
#endif
