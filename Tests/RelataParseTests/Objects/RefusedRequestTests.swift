import Testing

@testable import RelataParse

/// Refused requests leave nothing behind, and their errors have Parse's codes.
@Suite(.onEveryEngine) struct RefusedRequestTests {
    @Test func aRefusedRequestCreatesNoClassAndNoField() async throws {
        let server = try TestServer()
        _ = try await server.create("Book", ["title": "A"])
        let far: JSONValue = ["__type": "GeoPoint", "latitude": 91, "longitude": 0]
        let refused: [(String, String, JSONValue, Int64)] = [
            ("POST", "/classes/Place", ["at": far], 111), ("POST", "/classes/Book", ["at": far], 111),
            ("POST", "/classes/Book", ["at": ["__type": "Date", "iso": "yesterday"]], 111),
            ("POST", "/classes/Book", ["at": ["__type": "Bytes", "base64": "?"]], 111),
            ("PUT", "/classes/Nothing/x", ["a": 1], 101), ("PUT", "/classes/Book/none", ["pages": 1], 101),
            ("POST", "/classes/Book", ["genre": pointer("Genre", "none")], 101),
            ("POST", "/classes/Book", ["genres": adding(pointer("Genre", "none"))], 101),
            ("POST", "/classes/Book", ["id": 1], 105), ("POST", "/classes/Fresh", ["id": 1], 105),
        ]
        let before = try await server.send("GET", "/schemas").json
        for (method, target, body, code) in refused {
            let reply = try await server.send(method, target, body)
            #expect(reply.code == code, "\(method) \(target) \(body): \(reply.json)")
            let batch = try await server.send(
                "POST", "/batch",
                [
                    "transaction": true,
                    "requests": [
                        ["method": "POST", "path": "/parse/classes/Other", "body": ["a": 1]],
                        ["method": .string(method), "path": .string("/parse" + target), "body": body],
                    ],
                ])
            #expect(batch.code == code, "\(batch.json)")
        }
        #expect(try await server.send("GET", "/schemas").json == before)
    }

    @Test func eachRefusedRequestOfABatchHasItsOwnError() async throws {
        let server = try TestServer()
        let reply = try await server.send(
            "POST", "/batch",
            [
                "requests": [
                    ["method": "POST", "path": "/parse/classes/Good", "body": ["a": 1]],
                    ["method": "POST", "path": "/parse/classes/Good", "body": ["genre": pointer("Genre", "none")]],
                    ["method": "PUT", "path": "/parse/classes/Bad/x", "body": ["a": 1]],
                    ["method": "POST", "path": "/parse/classes/Bad", "body": ["id": 1]],
                ]
            ])
        #expect(reply.json.array?.map { $0["error"]?["code"] } == [nil, 101, 101, 105], "\(reply.json)")
        #expect(try await server.send("GET", "/schemas").results.map { $0["className"] } == ["Good"])
    }

    @Test func theIDOfAnotherRequestIsRefused() async throws {
        let server = try TestServer()
        func post(_ body: JSONValue, _ id: String = "one") async throws -> TestServer.Reply {
            try await server.send("POST", "/classes/Book", body, headers: ["x-parse-request-id": id])
        }
        let first = try await post(["title": "A", "info": ["a": 1, "b": 2]])
        // The order of members doesn't matter.
        #expect(try await post(["info": ["b": 2, "a": 1], "title": "A"]).json == first.json)
        let other = try await post(["title": "B", "info": ["a": 1, "b": 2]])
        #expect(other.code == 159 && other["error"] == "Duplicate request")
        #expect(try await post(["title": "B"], "two").status == 201)
        #expect(try await server.find("Book").count == 2)
    }

    @Test func inProductionAClassThatDoesNotExistIsForbidden() async throws {
        let server = try TestServer(mode: .production)
        for target in ["/classes/Nope", "/classes/Nope/x", "/classes/Nope?count=1&limit=0"] {
            let reply = try await server.send("GET", target, isMaster: false)
            #expect(reply.code == 119, "\(target)")
            #expect(reply["error"] == "This user is not allowed to access non-existent class: Nope")
        }
        #expect(try await server.send("GET", "/classes/Nope").results.isEmpty)
        #expect(try await server.send("GET", "/classes/Nope/x").code == 101)
        let development = try TestServer()
        #expect(try await development.send("GET", "/classes/Nope", isMaster: false).json == ["results": []])
    }

    @Test func conditionsThatParseRefuses() async throws {
        let server = try TestServer()
        _ = try await server.create("Book", ["title": "A"])
        let acl = try await server.error("Book", ["ACL": ["*": ["read": true]]])
        #expect(acl.code == 102 && acl.message == "Cannot query on ACL.")
        #expect(try await server.error("Book", ["$nor": []]).code == 102)
    }

    @Test func aRelationIsQueriedThroughItsClass() async throws {
        let server = try TestServer()
        let author = try await server.create("Author", ["name": "A"])
        _ = try await server.create("Author", ["name": "B"])
        let book = try await server.create("Book", ["title": "T", "authors": adding(pointer("Author", author))])
        let related: JSONValue = ["$relatedTo": ["object": pointer("Book", book), "key": "authors"]]
        let found = try await server.find("Book", related, ["redirectClassNameForKey": "authors"])
        #expect(found.map { $0["name"] } == ["A"] && found.first?["className"] == "Author")
        #expect(found.first?["objectId"] == .string(author) && found.first?["__type"] == nil)
        let plain = try await server.find("Book", ["title": "T"], ["redirectClassNameForKey": "title"])
        #expect(plain.count == 1)
        #expect(try await server.error("Book", [:], ["redirectClassNameForKey": 1]).code == 102)
    }
}
