import RelataParse
import TestEngines
import Testing

/// Changes of an existing class by a new description, and the parts that stay.
@Suite(.onEveryEngine) struct SchemaChangeTests {
    let server: TestServer

    init() async throws {
        server = try TestServer()
        try await server.send(
            "POST", "/schemas/Book",
            [
                "fields": [
                    "genre": ["type": "Pointer", "targetClass": "Genre"], "shelf": ["type": "Number"],
                    "title": ["type": "String"],
                    "owner": ["type": "Pointer", "targetClass": "Person", "onTargetDelete": "cascade"],
                ]
            ])
        try await server.send(
            "POST", "/schemas/Genre",
            [
                "fields": [
                    "books": [
                        "type": "Relation", "targetClass": "Book", "inverse": "genre", "deleteRule": "deny",
                        "order": "shelf",
                    ], "tags": ["type": "Relation", "targetClass": "Tag", "order": false, "deleteRule": "deny"],
                ]
            ])
    }

    private func change(_ className: String, _ field: String, _ description: JSONValue) async throws -> TestServer.Reply
    {
        try await server.send("PUT", "/schemas/\(className)", ["fields": [field: description]])
    }

    @Test func aRuleStaysUntilAChangeNamesIt() async throws {
        let books = try await change("Genre", "books", ["type": "Relation", "targetClass": "Book"])
        #expect(books["fields"]?["books"]?["deleteRule"] == "deny", "\(books.json)")
        #expect(books["fields"]?["books"]?["order"] == "shelf" && books["fields"]?["books"]?["inverse"] == "genre")
        let tags = try await change("Genre", "tags", ["type": "Relation", "targetClass": "Tag", "required": false])
        #expect(tags["fields"]?["tags"]?["order"] == false && tags["fields"]?["tags"]?["deleteRule"] == "deny")
        let owner = try await change("Book", "owner", ["type": "Pointer", "targetClass": "Person", "required": true])
        #expect(owner["fields"]?["owner"]?["onTargetDelete"] == "cascade")
        #expect(owner["fields"]?["owner"]?["required"] == true)
    }

    @Test func nullRemovesARule() async throws {
        let owner = try await change(
            "Book", "owner", ["type": "Pointer", "targetClass": "Person", "onTargetDelete": .null])
        #expect(owner["fields"]?["owner"]?["onTargetDelete"] == nil)
        let books = try await change(
            "Genre", "books", ["type": "Relation", "targetClass": "Book", "deleteRule": .null, "order": .null])
        #expect(books["fields"]?["books"]?["deleteRule"] == nil && books["fields"]?["books"]?["order"] == nil)
        #expect(books["fields"]?["books"]?["inverse"] == "genre")
        let tags = try await change("Genre", "tags", ["type": "Relation", "targetClass": "Tag", "order": true])
        #expect(tags["fields"]?["tags"]?["order"] == nil && tags["fields"]?["tags"]?["deleteRule"] == "deny")
    }

    /// A document describes a class completely, so rules that it doesn't contain are removed.
    @Test func aDocumentRemovesRules() async throws {
        let other = try TestServer()
        try await other.store.deploy(try SchemaDocument(try await server.store.schemaJSON()))
        _ = try await change("Book", "owner", ["type": "Pointer", "targetClass": "Person", "onTargetDelete": .null])
        let document = try await server.store.schemaJSON()
        #expect(
            try await other.store.deploy(try SchemaDocument(document)).changes
                == ["change the rules of Book.owner from onTargetDelete cascade to none"])
        #expect(try await other.store.schemaJSON() == document)
    }

    @Test func theInverseOfARelationCannotBeChanged() async throws {
        for inverse: JSONValue in ["owner", "nope", .null] {
            let reply = try await change(
                "Genre", "books", ["type": "Relation", "targetClass": "Book", "inverse": inverse])
            #expect(reply.code == 255, "\(inverse): \(reply.json)")
        }
        let tags = try await change("Genre", "tags", ["type": "Relation", "targetClass": "Tag", "inverse": "x"])
        #expect(tags.code == 255)
        let same = try await change("Genre", "books", ["type": "Relation", "targetClass": "Book", "inverse": "genre"])
        #expect(same.status == 200)
    }

    @Test func aClassThatWasOnlyATargetCanStillBeCreated() async throws {
        let made = try await server.send("POST", "/schemas/Person", ["fields": ["name": ["type": "String"]]])
        #expect(made.status == 200 && made["fields"]?["name"]?["type"] == "String", "\(made.json)")
        #expect(try await server.send("POST", "/schemas/Person", [:]).code == 103)
        #expect(try await server.send("POST", "/schemas/Genre", [:]).code == 103)
        // Saving an object creates its class.
        _ = try await server.create("Tag", [:])
        #expect(try await server.send("POST", "/schemas/Tag", [:]).code == 103)
    }

    @Test func aRelationIsOrderedByANumberOfItsTarget() async throws {
        let genre = try await server.create("Genre", [:])
        var books: [JSONValue] = []
        for (title, shelf) in [("c", 2.5), ("a", -1), ("b", 2)] {
            let book = try await server.create(
                "Book",
                ["title": .string(title), "shelf": JSONValue(number: shelf), "genre": pointer("Genre", genre)])
            books.append(pointer("Book", book))
        }
        let related: JSONValue = ["$relatedTo": ["object": pointer("Genre", genre), "key": "books"]]
        #expect(try await server.find("Book", related, [:]).map { $0["title"] } == ["a", "b", "c"])
        let remove: JSONValue = ["books": ["__op": "RemoveRelation", "objects": [books[1]]]]
        #expect(try await server.send("PUT", "/classes/Genre/\(genre)", remove).status == 200)
        #expect(try await server.send("PUT", "/classes/Genre/\(genre)", ["books": adding(books[1])]).status == 200)
        #expect(try await server.find("Book", related, [:]).map { $0["title"] } == ["a", "b", "c"])
    }

    /// Errors mention fields and classes, not Swift.
    @Test func anErrorNamesWhatARelationLacks() async throws {
        let wrong: [(JSONValue, String)] = [
            (["type": "Relation", "targetClass": "Book", "inverse": "nope"], "Book has no pointer nope"),
            (["type": "Relation", "targetClass": "Book", "inverse": "title"], "Book has no pointer title"),
            (["type": "Relation", "targetClass": "Book", "inverse": "owner"], "Book has no pointer owner"),
            (["type": "Relation", "targetClass": "New", "inverse": "x"], "New has no pointer x"),
            (["type": "Relation", "targetClass": "Tag", "order": "shelf"], "name its inverse"),
        ]
        for (field, part) in wrong {
            let reply = try await change("Genre", "other", field)
            #expect(reply.code == 111, "\(field): \(reply.json)")
            let message = try #require(reply["error"]?.string)
            #expect(message.contains(part) && !message.contains("var "), "\(message)")
        }
        for order in ["title", "nope", "genre"] {
            let reply = try await change(
                "Genre", "books", ["type": "Relation", "targetClass": "Book", "order": .string(order)])
            #expect(reply.code == 111 && reply["error"]?.string?.contains("a Number of Book") == true, "\(reply.json)")
        }
    }

    @Test func classesOfDisabledFeaturesSaySo() async throws {
        #expect(try await server.send("GET", "/schemas/_User").code == 119)
        #expect(try await server.send("DELETE", "/schemas/_Role").code == 119)
        #expect(try await change("Book", "user", ["type": "Pointer", "targetClass": "_User"]).code == 119)
        #expect(try await server.send("POST", "/classes/Book", ["user": pointer("_User", "x")]).code == 119)
        #expect(try await server.send("DELETE", "/schemas/1x").code == 103)
        #expect(try await server.send("DELETE", "/schemas/Unknown").status == 200)
    }

    @Test func aRepeatedFieldKeepsTheRulesThatAreNotNamed() async throws {
        try await server.send(
            "POST", "/schemas/Novel",
            [
                "fields": [
                    "genre": ["type": "Pointer", "targetClass": "Genre", "required": true],
                    "year": ["type": "Number", "required": true, "defaultValue": 1900],
                ]
            ])
        func fields(_ fields: JSONValue) async throws -> JSONValue? {
            try await server.send("PUT", "/schemas/Novel", ["fields": fields])["fields"]
        }
        let again = try await fields([
            "genre": ["type": "Pointer", "targetClass": "Genre", "onTargetDelete": "deny"], "year": ["type": "Number"],
        ])
        #expect(
            again?["genre"]
                == ["type": "Pointer", "targetClass": "Genre", "required": true, "onTargetDelete": "deny"])
        #expect(again?["year"] == ["type": "Number", "required": true, "defaultValue": 1900])
        #expect(try await server.send("POST", "/classes/Novel", ["title": "A"]).code == 142)
        let optional = try await fields(["year": ["type": "Number", "required": false]])
        #expect(optional?["year"] == ["type": "Number", "required": false, "defaultValue": 1900])
        let plain = try await fields(["year": ["type": "Number", "defaultValue": .null]])
        #expect(plain?["year"] == ["type": "Number", "required": false])
        let nullified = try await fields([
            "genre": ["type": "Pointer", "targetClass": "Genre", "required": .null, "onTargetDelete": .null]
        ])
        #expect(nullified?["genre"] == ["type": "Pointer", "targetClass": "Genre"])
    }
}
