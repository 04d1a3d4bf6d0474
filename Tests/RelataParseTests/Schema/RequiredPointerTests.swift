import RelataParse
import TestEngines
import Testing

/// A required pointer can't be removed through its inverse either.
@Suite(.onEveryEngine) struct RequiredPointerTests {
    private func server(_ rules: JSONObject = [:], inverse: JSONObject = [:]) async throws
        -> (server: TestServer, genre: String, book: String)
    {
        let server = try TestServer()
        var pointerField: JSONObject = ["type": "Pointer", "targetClass": "Genre", "required": true]
        pointerField.merge(rules)
        var relation: JSONObject = ["type": "Relation", "targetClass": "Book", "inverse": "genre"]
        relation.merge(inverse)
        let made = try await server.send("POST", "/schemas/Book", ["fields": ["genre": .object(pointerField)]])
        #expect(made.status == 200, "\(made.json)")
        let put = try await server.send("PUT", "/schemas/Genre", ["fields": ["books": .object(relation)]])
        #expect(put.status == 200, "\(put.json)")
        let genre = try await server.create("Genre", ["name": "a"])
        return (server, genre, try await server.create("Book", ["title": "A", "genre": pointer("Genre", genre)]))
    }

    @Test func theInverseCannotRemoveARequiredPointer() async throws {
        let (server, genre, book) = try await server()
        let removal: JSONValue = ["books": ["__op": "RemoveRelation", "objects": [pointer("Book", book)]]]
        #expect(try await server.send("PUT", "/classes/Genre/\(genre)", removal).code == 142)
        #expect(try await server.get("Book", book)["genre"] == pointer("Genre", genre))
    }

    @Test(
        arguments: [
            ([:], [:]), (["onTargetDelete": "nullify"], [:]), ([:], ["deleteRule": "nullify"]),
            (["onTargetDelete": "nullify"], ["deleteRule": "nullify"]),
        ] as [(JSONObject, JSONObject)])
    func deletingTheTargetOfARequiredPointerIsDenied(_ rules: JSONObject, _ inverse: JSONObject) async throws {
        let (server, genre, book) = try await server(rules, inverse: inverse)
        let plan = try await server.get("Genre", genre, "deletionPlan=1")
        #expect(plan["isDenied"] == true, "\(plan)")
        #expect(try await server.send("DELETE", "/classes/Genre/\(genre)").code == 119)
        #expect(try await server.send("DELETE", "/purge/Genre").code == 119)
        #expect(try await server.get("Book", book)["genre"] == pointer("Genre", genre))
        try await server.send("DELETE", "/classes/Book/\(book)")
        #expect(try await server.send("DELETE", "/classes/Genre/\(genre)").status == 200)
    }

    @Test func aCascadingRuleStillApplies() async throws {
        let (server, genre, book) = try await server(inverse: ["deleteRule": "cascade"])
        #expect(try await server.send("DELETE", "/classes/Genre/\(genre)").status == 200)
        #expect(try await server.get("Book", book)["code"] == 101)
    }

    @Test func theDescriptionContainsOnlyTheGivenRules() async throws {
        let (server, _, _) = try await server()
        let fields = try await server.send("GET", "/schemas/Book")["fields"]
        #expect(fields?["genre"] == ["type": "Pointer", "targetClass": "Genre", "required": true])
        let document = try SchemaDocument(try await server.store.schemaJSON())
        #expect(try await server.store.deploymentPlan(for: document).isEmpty)
    }
}
