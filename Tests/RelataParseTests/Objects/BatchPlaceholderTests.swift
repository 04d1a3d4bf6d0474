import RelataParse
import TestEngines
import Testing

/// New objects of a batch that point at each other before their ids are known.
@Suite(.onEveryEngine) struct BatchPlaceholderTests {
    private let server: TestServer

    init() async throws { server = try TestServer() }

    private func send(_ requests: [JSONValue], isTransaction: Bool = true) async throws -> TestServer.Reply {
        try await server.send(
            "POST", "/batch", ["transaction": .bool(isTransaction), "requests": .array(requests)])
    }

    private func new(_ className: String, _ placeholder: JSONValue?, _ body: JSONValue) -> JSONValue {
        var request: JSONObject = ["method": "POST", "path": .string("/parse/classes/\(className)"), "body": body]
        if let placeholder { request["placeholder"] = placeholder }
        return .object(request)
    }

    private func ids(_ reply: TestServer.Reply) -> [String?] {
        reply.json.array?.map { $0["success"]?["objectId"]?.string } ?? []
    }

    @Test func aNewObjectPointsAtALaterOneInTheBatch() async throws {
        let reply = try await send([
            new("Book", nil, ["title": "Kindred", "author": pointer("Author", "new-1")]),
            new("Author", "new-1", ["name": "Octavia E. Butler"]),
        ])
        #expect(reply.status == 200, "\(reply.json)")
        let ids = ids(reply)
        #expect(ids.count == 2)
        let book = try await server.get("Book", try #require(ids.first ?? nil), "include=author")
        #expect(book["author"]?["name"] == "Octavia E. Butler")
        #expect(book["author"]?["objectId"]?.string == ids.last)
    }

    @Test func aChainOfNewObjectsOfOneClassIsWrittenFromItsEnd() async throws {
        let reply = try await send([
            new("Place", "a", ["name": "Vilnius", "within": pointer("Place", "b")]),
            new("Place", "b", ["name": "Lithuania", "within": pointer("Place", "c")]),
            new("Place", "c", ["name": "Europe"]),
        ])
        #expect(reply.status == 200, "\(reply.json)")
        let place = try await server.get(
            "Place", try #require(ids(reply).first ?? nil), "include=within,within.within")
        #expect(place["within"]?["within"]?["name"] == "Europe")
    }

    @Test func existingObjectsGetNewOnesInPointersAndRelations() async throws {
        let old = try await server.create("Author", ["name": "Ursula K. Le Guin"])
        let book = try await server.create("Book", ["title": "Kindred", "author": pointer("Author", old)])
        let relation = try await server.send(
            "PUT", "/schemas/Book", ["fields": ["editors": ["type": "Relation", "targetClass": "Author"]]])
        #expect(relation.status == 200)
        let reply = try await send([
            [
                "method": "PUT", "path": .string("/parse/classes/Book/\(book)"),
                "body": [
                    "author": pointer("Author", "new-1"),
                    "editors": [
                        "__op": "AddRelation", "objects": [pointer("Author", old), pointer("Author", "new-1")],
                    ],
                ],
            ],
            new("Author", "new-1", ["name": "Octavia E. Butler"]),
        ])
        #expect(reply.status == 200, "\(reply.json)")
        let stored = try await server.get("Book", book, "include=author")
        #expect(stored["author"]?["name"] == "Octavia E. Butler")
        let editors = try await server.find(
            "Author", where: ["$relatedTo": ["object": pointer("Book", book), "key": "editors"]])
        #expect(editors.count == 2)
    }

    @Test func cyclesAreClosedByALaterRequest() async throws {
        let circle: [JSONValue] = [
            new("Person", "a", ["name": "Ann", "friend": pointer("Person", "b")]),
            new("Person", "b", ["name": "Bob", "friend": pointer("Person", "a")]),
        ]
        let refused = try await send(circle)
        #expect(refused.code == 102, "\(refused.json)")
        #expect(try await server.find("Person").isEmpty)
        let reply = try await send([
            circle[0], new("Person", "b", ["name": "Bob"]),
            ["method": "PUT", "path": "/parse/classes/Person/b", "body": ["friend": pointer("Person", "a")]],
        ])
        #expect(reply.status == 200, "\(reply.json)")
        let person = try await server.get(
            "Person", try #require(ids(reply).first ?? nil), "include=friend,friend.friend")
        #expect(person["friend"]?["friend"]?["name"] == "Ann")
    }

    @Test func aRefusedRequestWritesNothing() async throws {
        let old = try await server.create("Author", ["name": "Ursula K. Le Guin"])
        _ = try await server.create("Book", ["title": "Kindred", "author": pointer("Author", old)])
        let reply = try await send([
            new("Author", "new-1", ["name": "Octavia E. Butler"]),
            new("Book", nil, ["title": 7, "author": pointer("Author", "new-1")]),
        ])
        #expect(reply.status == 400)
        #expect(try await server.find("Author").count == 1)
    }

    @Test func anInvalidPlaceholderIsRefused() async throws {
        let body: JSONValue = ["name": "Ann"]
        for requests in [
            [new("Person", 7, body)], [new("Person", "", body)],
            [new("Person", "a", body), new("Person", "a", body)],
            [["method": "PUT", "path": "/parse/classes/Person/x", "body": body, "placeholder": "a"]],
            [["method": "GET", "path": "/parse/classes/Person", "placeholder": "a"]],
        ] as [[JSONValue]] {
            #expect(try await send(requests).code == 107)
        }
        #expect(try await send([new("Person", "a", body)], isTransaction: false).code == 107)
        #expect(try await send([new("Person", "a", body)]).status == 200)
        // Placeholders are valid only within their batch.
        let late = try await send([new("Person", nil, ["name": "Bob", "friend": pointer("Person", "a")])])
        #expect(late.status == 400)
        #expect(try await server.find("Person").count == 1)
    }
}
