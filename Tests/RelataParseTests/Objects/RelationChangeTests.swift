import RelataParse
import TestEngines
import Testing

/// Changes of a whole relation.
@Suite(.onEveryEngine) struct RelationChangeTests {
    private let server: TestServer
    private let authors: [String]
    private let book: String

    init() async throws {
        server = try TestServer()
        authors = try await server.save("Author", ["name": "a"], ["name": "b"], ["name": "c"])
        book = try await server.create(
            "Book", ["authors": adding(pointer("Author", authors[1]), pointer("Author", authors[0]))])
    }

    private func members() async throws -> [String] {
        let related: JSONValue = ["$relatedTo": ["object": pointer("Book", book), "key": "authors"]]
        return try await server.find("Author", related).compactMap { $0["name"]?.string }
    }

    @Test(arguments: [["__op": "Delete"], .null] as [JSONValue])
    func deletingARelationRemovesAllItsMembers(change: JSONValue) async throws {
        let other = try await server.create("Book", ["authors": adding(pointer("Author", authors[0]))])
        #expect(try await members() == ["b", "a"])
        let reply = try await server.send("PUT", "/classes/Book/\(book)", ["authors": change])
        #expect(reply.status == 200, "\(reply.json)")
        #expect(try await members() == [])
        #expect(try await server.find("Author", [:]).count == 3)
        let related: JSONValue = ["$relatedTo": ["object": pointer("Book", other), "key": "authors"]]
        #expect(try await server.find("Author", related).count == 1)
        #expect(try await server.send("PUT", "/classes/Book/\(book)", ["authors": change]).status == 200)
    }

    @Test func aBatchOfOperationsIsDoneInItsOrder() async throws {
        let ops: JSONValue = [
            ["__op": "Batch", "ops": [["__op": "Delete"], adding(pointer("Author", authors[2]))]],
            ["__op": "Batch", "ops": [adding(pointer("Author", authors[0])), ["__op": "Delete"]]],
        ]
        try await server.send("PUT", "/classes/Book/\(book)", ["authors": ops.array?[0] ?? .null])
        #expect(try await members() == ["c"])
        try await server.send("PUT", "/classes/Book/\(book)", ["authors": ops.array?[1] ?? .null])
        #expect(try await members() == [])
    }

    @Test func deletingTheInverseOfAPointerUnsetsThePointers() async throws {
        _ = try await server.create("Author", ["bestBook": pointer("Book", book)])
        let fields: JSONValue = ["fans": ["type": "Relation", "targetClass": "Author", "inverse": "bestBook"]]
        #expect(try await server.send("PUT", "/schemas/Book", ["fields": fields]).status == 200)
        try await server.send("PUT", "/classes/Author/\(authors[2])", ["bestBook": pointer("Book", book)])
        #expect(try await server.find("Author", ["bestBook": ["$exists": true]]).count == 2)
        let reply = try await server.send("PUT", "/classes/Book/\(book)", ["fans": ["__op": "Delete"]])
        #expect(reply.status == 200, "\(reply.json)")
        #expect(try await server.find("Author", ["bestBook": ["$exists": true]]).isEmpty)
    }

    @Test(arguments: ["AddRelation", "RemoveRelation", "PlaceRelation"])
    func anOperationWithoutObjectsIsNoChange(operation: String) async throws {
        let nothing: JSONValue = ["__op": .string(operation), "objects": []]
        for name in ["authors", "critics"] {
            let reply = try await server.send("PUT", "/classes/Book/\(book)", [name: nothing])
            #expect(reply.status == 200, "\(name): \(reply.json)")
        }
        #expect(try await server.send("POST", "/classes/Book", ["title": "t", "critics": nothing]).status == 201)
        #expect(try await members() == ["b", "a"])
        #expect(try await server.get("Book", book)["critics"] == nil)
        #expect(try await server.send("PUT", "/classes/Book/\(book)", ["title": nothing]).code == 111)
    }

    /// The inverse of a pointer has no rows that could store an order, so a number field of the objects stores it.
    @Test func theInverseOfAPointerKeepsTheOrderOfAdditions() async throws {
        let server = try TestServer()
        try await server.send(
            "POST", "/schemas/Book",
            ["fields": ["genre": ["type": "Pointer", "targetClass": "Genre"], "shelf": ["type": "Number"]]])
        let schema = try await server.send(
            "POST", "/schemas/Genre",
            ["fields": ["books": ["type": "Relation", "targetClass": "Book", "inverse": "genre", "order": "shelf"]]])
        #expect(schema.status == 200, "\(schema.json)")
        let genre = try await server.create("Genre", [:])
        var books: [String] = []
        for number in 0..<6 { books.append(try await server.create("Book", ["n": .integer(Int64(number))])) }
        func add(_ numbers: [Int]) async throws {
            let objects = numbers.map { pointer("Book", books[$0]) }
            let reply = try await server.send(
                "PUT", "/classes/Genre/\(genre)", ["books": ["__op": "AddRelation", "objects": .array(objects)]])
            #expect(reply.status == 200, "\(reply.json)")
        }
        func order() async throws -> [JSONValue?] {
            let related: JSONValue = ["$relatedTo": ["object": pointer("Genre", genre), "key": "books"]]
            return try await server.find("Book", where: related).map { $0["n"] }
        }
        try await add([3])
        try await add([1, 4])
        try await add([0])
        try await add([3])
        #expect(try await order() == [3, 1, 4, 0])
        // An object that sets its position keeps it.
        try await server.send("PUT", "/classes/Book/\(books[2])", ["shelf": 1.5])
        try await add([2, 5])
        #expect(try await order() == [2, 3, 1, 4, 0, 5])
        for number in 6..<9 { books.append(try await server.create("Book", ["n": .integer(Int64(number))])) }
        try await server.send("PUT", "/classes/Book/\(books[6])", ["shelf": 1_000_000])
        try await add([6, 7, 8])
        #expect(try await order() == [2, 3, 1, 4, 0, 5, 6, 7, 8])
    }

    @Test func additionsWorkIfTheOrderFieldIsUnique() async throws {
        let server = try TestServer()
        try await server.send(
            "POST", "/schemas/Book",
            [
                "fields": ["genre": ["type": "Pointer", "targetClass": "Genre"], "shelf": ["type": "Number"]],
                "uniqueIndexes": ["one": ["shelf": 1]],
            ])
        try await server.send(
            "POST", "/schemas/Genre",
            ["fields": ["books": ["type": "Relation", "targetClass": "Book", "inverse": "genre", "order": "shelf"]]])
        for _ in 0..<2 {
            let book = try await server.create("Book", [:])
            let genre = try await server.create("Genre", ["books": adding(pointer("Book", book))])
            #expect(try await server.get("Book", book)["genre"] == pointer("Genre", genre))
        }
    }
}
