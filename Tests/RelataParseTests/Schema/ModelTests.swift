import Foundation
import Relata
import RelataParse
import Synchronization
import TestEngines
import Testing

@Model struct ShelfGenre {
    let id: Relata.ID<ShelfGenre>
    @Attribute(.notEmpty) var name: String
    @Relationship(deleteRule: .deny, inverse: \ShelfBook.genre) var books: ToMany<ShelfBook>
}

@Model struct ShelfBook {
    let id: Relata.ID<ShelfBook>
    var title: String
    var year: Int
    @Attribute(.unique) var isbn: String?
    var tags: [String] = []
    var genre: ToOne<ShelfGenre>?

    func validate() throws {
        if year > 3000 { throw YearError() }
    }
}

@Model struct PricedBook {
    let id: Relata.ID<PricedBook>
    var price: Decimal
    var total: Decimal
}

struct YearError: Error, CustomStringConvertible {
    var description: String { "a book can't be of a year after 3000" }
}

@Suite(.onEveryEngine) struct ModelTests {
    @Test func modelsAreServedWithTheirRules() async throws {
        let store = try Store.make(for: ShelfBook.self)
        let server = TestServer(try ParseStore.serving(store))
        let genre = try await server.create("ShelfGenre", ["name": "Fantasy"])
        let book = try await server.create(
            "ShelfBook",
            ["title": "A", "year": 1974, "isbn": "1", "genre": pointer("ShelfGenre", genre), "tags": ["x"]])
        let stored = try #require(try await store.fetch(ShelfBook.all).first)
        #expect(stored.title == "A" && stored.year == 1974 && stored.tags == ["x"])
        #expect(stored.id.description.lowercased() == book)
        #expect(try await server.get("ShelfBook", book, "include=genre")["genre"]?["name"] == "Fantasy")

        let refused: [(String, String, JSONValue, Int64)] = [
            ("POST", "/classes/ShelfBook", ["title": "B", "year": 4000], 142),
            ("POST", "/classes/ShelfBook", ["title": "B"], 142),
            ("POST", "/classes/ShelfBook", ["title": "B", "year": 1.5], 111),
            ("POST", "/classes/ShelfBook", ["title": "B", "year": 1, "isbn": "1"], 137),
            ("POST", "/classes/ShelfBook", ["title": "B", "year": 1, "pages": 5], 119),
            ("POST", "/classes/ShelfGenre", ["name": "  "], 142),
            ("PUT", "/classes/ShelfBook/\(book)", ["year": 3001], 142),
            ("POST", "/classes/Other", ["a": 1], 119), ("POST", "/schemas/Other", [:], 119),
        ]
        for (method, target, body, code) in refused {
            let reply = try await server.send(method, target, body)
            #expect(reply.code == code, "\(method) \(body): \(reply.json)")
        }
        #expect(try await server.send("DELETE", "/classes/ShelfGenre/\(genre)").code == 119)
        #expect(try await store.fetch(ShelfBook.all).count == 1)
    }

    @Test func hooksRunBeforeAndAfterChanges() async throws {
        let store = try Store.make(for: ShelfBook.self)
        let told = Mutex<[String]>([])
        let parse = try ParseStore.serving(store) { hooks in
            hooks.beforeSave(ShelfBook.self) { book, change in
                book.title = book.title.uppercased()
                if book.title == "NO" { throw ParseError(.validationError, "not this one") }
                if let original = change.original, original.year > book.year {
                    throw ParseError(.validationError, "books don't get older")
                }
            }
            hooks.afterSave(ShelfBook.self) { book in told.withLock { $0.append("saved \(book.title)") } }
            hooks.beforeDelete(ShelfBook.self) { book, _ in
                if book.title == "KEEP" { throw ParseError(.operationForbidden, "kept") }
            }
            hooks.afterDelete(ShelfBook.self) { book in told.withLock { $0.append("deleted \(book.title)") } }
        }
        let server = TestServer(parse)
        let id = try await server.create("ShelfBook", ["title": "a", "year": 2000])
        #expect(try await server.get("ShelfBook", id)["title"] == "A")
        #expect(try await server.send("POST", "/classes/ShelfBook", ["title": "no", "year": 1]).code == 142)
        #expect(try await server.send("PUT", "/classes/ShelfBook/\(id)", ["year": 1999]).code == 142)
        #expect(try await server.send("PUT", "/classes/ShelfBook/\(id)", ["title": "keep"]).status == 200)
        #expect(try await server.send("DELETE", "/classes/ShelfBook/\(id)").code == 119)
        #expect(try await server.send("PUT", "/classes/ShelfBook/\(id)", ["title": "go"]).status == 200)
        #expect(try await server.send("DELETE", "/classes/ShelfBook/\(id)").status == 200)
        #expect(told.withLock { $0 } == ["saved A", "saved KEEP", "saved GO", "deleted GO"])
        #expect(try await store.fetch(ShelfBook.all).isEmpty)
    }

    @Test func observersOfTheStoreSeeClientsChanges() async throws {
        let store = try Store.make(for: ShelfBook.self)
        let server = TestServer(try ParseStore.serving(store))
        var titles = store.observe(ShelfBook.all).makeAsyncIterator()
        #expect(try await titles.next()?.isEmpty == true)
        _ = try await server.create("ShelfBook", ["title": "A", "year": 1])
        #expect(try await titles.next()?.map(\.title) == ["A"])
    }

    @Test func decimalsAreIncrementedExactly() async throws {
        let store = try Store.make(for: PricedBook.self)
        let server = TestServer(try ParseStore.serving(store))
        let book = try await server.create("PricedBook", ["price": 0.1, "total": 1])
        try await store.write { transaction in
            var stored = try #require(try transaction.fetch(PricedBook.all).first)
            stored.total = try #require(Decimal(string: "12345678901234567.89"))
            try transaction.save(stored)
        }
        let reply = try await server.send(
            "PUT", "/classes/PricedBook/\(book)",
            ["price": ["__op": "Increment", "amount": 0.2], "total": ["__op": "Increment", "amount": 1]])
        #expect(reply["price"] == 0.3, "\(reply.json)")
        let stored = try #require(try await store.fetch(PricedBook.all).first)
        let rounded = try await server.send(
            "PUT", "/classes/PricedBook/\(book)", ["total": ["__op": "Increment", "amount": 1e-30]])
        #expect(rounded.code == 111, "\(rounded.json)")
        #expect(stored.price == Decimal(string: "0.3") && stored.total == Decimal(string: "12345678901234568.89"))
        #expect(
            try await server.send(
                "PUT", "/classes/PricedBook/\(book)", ["price": ["__op": "Increment", "amount": "x"]]
            ).code == 107)
    }

    @Test func schemaFilesAreComparedWithModelsAndNotDeployed() async throws {
        let server = TestServer(try ParseStore.serving(try Store.make(for: ShelfBook.self)))
        let body = Array(#"{"schema": [{"className": "Other"}], "expected": []}"#.utf8)
        for (path, status) in [("comparison", 200), ("plan", 400), ("deployment", 400)] {
            let answer = await server.service.schemaFileForDashboard("POST", "/schema/\(path)", body: body) { _ in }
            let reply = try #require(answer?.reply)
            let text = String(decoding: reply.body, as: UTF8.self)
            #expect(reply.status == status && text.contains("app's models") == (status == 400), "\(path): \(text)")
        }
    }
}
