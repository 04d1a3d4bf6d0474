import RelataParse
import Testing

@Suite struct DeploymentTests {
    private func development() async throws -> TestServer {
        let server = try TestServer()
        try await server.send(
            "POST", "/schemas/Book", ["fields": ["genre": ["type": "Pointer", "targetClass": "Genre"]]])
        try await server.send(
            "PUT", "/schemas/Genre",
            ["fields": ["books": ["type": "Relation", "targetClass": "Book", "inverse": "genre"]]])
        _ = try await server.create("Book", ["title": "A", "tags": ["x"]])
        try await server.send("PUT", "/schemas/Book", ["indexes": ["by_title": ["title": 1]]])
        return server
    }

    @Test func aStoreBecomesWhatAnotherIs() async throws {
        let development = try await development()
        let exported = try await development.store.schemaJSON()
        let production = try TestServer(mode: .production)
        let document = try SchemaDocument(exported)
        let changes = try await production.store.changes(to: document)
        #expect(changes.contains("add the class Book") && changes.contains("add Book.title: String"), "\(changes)")
        #expect(try await production.send("GET", "/schemas").results.isEmpty)
        try await production.store.deploy(document)
        #expect(try await production.store.schemaJSON() == exported)
        #expect(try await production.store.changes(to: document).isEmpty)
        #expect(try await production.send("POST", "/classes/Book", ["title": "B"]).status == 201)
    }

    @Test func nothingGoesThatHoldsSomething() async throws {
        let production = try await development()
        let smaller = try SchemaDocument([["className": "Book", "fields": ["title": ["type": "String"]]]])
        #expect(try await production.store.changes(to: smaller).isEmpty)
        let error = await #expect(throws: ParseError.self) {
            try await production.store.deploy(smaller, removes: true)
        }
        #expect(error?.message.contains("Book.tags holds values") == true, "\(String(describing: error))")
        try await production.send("DELETE", "/purge/Book")
        let changes = try await production.store.deploy(smaller, removes: true)
        #expect(Set(changes) == ["remove Book.genre", "remove Book.tags", "remove the class Genre"], "\(changes)")
        #expect(try await production.send("GET", "/schemas").results.count == 1)
    }

    @Test func onlyWhatWasAgreedToIsDeployed() async throws {
        let production = try await development()
        try await production.send("DELETE", "/purge/Book")
        let smaller = try SchemaDocument([["className": "Book", "fields": ["title": ["type": "String"]]]])
        let agreed = try await production.store.changes(to: smaller, removes: true)
        try await production.send("POST", "/schemas/Reader", [:])
        let before = try await production.store.schemaJSON()
        let error = await #expect(throws: ParseError.self) {
            try await production.store.deploy(smaller, removes: true, expecting: agreed)
        }
        #expect(error?.code == .operationForbidden && error?.message.contains("changed meanwhile") == true)
        #expect(try await production.store.schemaJSON() == before)
        try await production.send("DELETE", "/schemas/Reader")
        #expect(try await production.store.deploy(smaller, removes: true, expecting: agreed) == agreed)
    }

    @Test func anotherTypeIsRefused() async throws {
        let production = try await development()
        let other = try SchemaDocument([["className": "Book", "fields": ["title": ["type": "Number"]]]])
        await #expect(throws: ParseError.self) { try await production.store.deploy(other) }
        #expect(throws: ParseError.self) { try SchemaDocument(["className": "Book"]) }
    }
}
