import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestEngines
import Testing

@testable import RelataParse

@Suite(.onEveryEngine) struct ObjectTests {
    @Test func anObjectIsReadBackAsItWasSent() async throws {
        let server = try TestServer()
        let genre = try await server.create("Genre", ["name": "Science fiction"])
        let body: JSONValue = [
            "title": "The Dispossessed", "year": 1974, "price": 9.75, "isRead": true,
            "tags": ["a", 1, .null, ["x": 2]],
            "details": ["pages": 341, "deep": ["list": [1, 2]]], "genre": pointer("Genre", genre),
            "published": ["__type": "Date", "iso": "1974-05-01T10:20:30.123Z"],
            "cover": ["__type": "File", "name": "c.png", "url": "http://x/c.png"],
            "bytes": ["__type": "Bytes", "base64": "aGVsbG8="],
            "place": ["__type": "GeoPoint", "latitude": 45.5, "longitude": -122.6],
            "area": ["__type": "Polygon", "coordinates": [[0, 0], [0, 1], [1, 1], [0, 0]]],
        ]
        let created = try await server.send("POST", "/classes/Book", body)
        #expect(created.status == 201)
        let id = try #require(created["objectId"]?.string)
        #expect(created.location == "/parse/classes/Book/\(id)" && id.count == 10)
        let book = try await server.get("Book", id)
        for (name, value) in body.object ?? [:] { #expect(book[name] == value, "\(name)") }
        #expect(book["createdAt"] == created["createdAt"] && book["updatedAt"] == created["createdAt"])
    }

    @Test func operationsChangeStoredValuesAndRepliesContainTheResults() async throws {
        let server = try TestServer()
        let id = try await server.create("Book", ["title": "A", "year": 1990, "tags": ["a"], "meta": ["n": 1]])
        let reply = try await server.send(
            "PUT", "/classes/Book/\(id)",
            [
                "year": ["__op": "Increment", "amount": 5], "tags": ["__op": "AddUnique", "objects": ["a", "b"]],
                "title": ["__op": "Delete"], "copies": ["__op": "Increment", "amount": 2],
                "meta.n": ["__op": "Increment", "amount": 1],
                "meta.city": "Rome",
                "notes": [
                    "__op": "Batch", "ops": [["__op": "Add", "objects": ["x"]], ["__op": "Add", "objects": ["y"]]],
                ],
            ])
        #expect(reply.status == 200, "\(reply.json)")
        #expect(
            reply["year"] == 1995 && reply["tags"] == ["a", "b"] && reply["copies"] == 2
                && reply["notes"] == ["x", "y"])
        let book = try await server.get("Book", id)
        #expect(book["title"] == nil && book["year"] == 1995 && book["tags"] == ["a", "b"])
        #expect(book["meta"] == ["n": 2, "city": "Rome"])
        try await server.send("PUT", "/classes/Book/\(id)", ["tags": ["__op": "Remove", "objects": ["a"]]])
        #expect(try await server.get("Book", id)["tags"] == ["b"])
    }

    @Test func invalidValuesAreRefusedAndNothingIsStored() async throws {
        let server = try TestServer()
        let id = try await server.create("Book", ["title": "A", "year": 1990])
        let refused: [(JSONValue, Int64)] = [
            (["year": "nineteen"], 111), (["title": 5], 111), (["na me": 1], 105), (["Title": "B"], 105),
            (["title": ["__op": "Increment", "amount": 1]], 111), (["year": ["__op": "Explode"]], 108),
            (["genre": ["__type": "Pointer", "className": "Genre", "objectId": "nobody"]], 101),
            (["place": ["__type": "GeoPoint", "latitude": 91, "longitude": 0]], 111),
            (["when": ["__type": "Date", "iso": "yesterday"]], 111), (["ACL": ["role:Admin": ["write": true]]], 119),
            (["x": ["__type": "Strange"]], 111), (["year": ["__op": "Increment", "amount": "1"]], 107),
        ]
        for (body, code) in refused {
            let reply = try await server.send("PUT", "/classes/Book/\(id)", body)
            #expect(reply.code == code, "\(body): \(reply.json)")
        }
        let book = try await server.get("Book", id)
        #expect(book["title"] == "A" && book["year"] == 1990 && book["Title"] == nil)
        #expect(try await server.send("PUT", "/classes/Book/nobody", ["title": "B"]).code == 101)
        #expect(try await server.send("DELETE", "/classes/Book/nobody").code == 101)
        #expect(try await server.send("POST", "/classes/Bo-ok", ["title": "B"]).code == 103)
        #expect(try await server.send("POST", "/classes/book", ["title": "B"]).code == 103)
        #expect(try await server.send("POST", "/classes/sqlite_x", ["title": "B"]).code == 103)
        #expect(try await server.send("GET", "/classes/Book", isMaster: false).status == 200)
        #expect(
            try await server.send("GET", "/classes/Book", headers: ["x-parse-application-id": "other"]).status == 403)
        #expect(try await server.send("GET", "/classes/Book", headers: ["x-parse-master-key": "wrong"]).status == 403)
    }

    @Test func relationsKeepTheirOrderAndLoseDeletedObjects() async throws {
        let server = try TestServer()
        let (a, b, c) = (
            try await server.create("Author", ["name": "A"]), try await server.create("Author", ["name": "B"]),
            try await server.create("Author", ["name": "C"])
        )
        let book = try await server.create("Book", ["title": "T"])
        func add(_ ids: [String], _ operation: String = "AddRelation") async throws -> TestServer.Reply {
            try await server.send(
                "PUT", "/classes/Book/\(book)",
                ["authors": ["__op": .string(operation), "objects": .array(ids.map { pointer("Author", $0) })]])
        }
        #expect(try await add([c, a]).status == 200)
        #expect(try await add([b, c]).status == 200)
        #expect(try await add(["nobody"]).code == 101)
        let related: JSONValue = ["$relatedTo": ["object": pointer("Book", book), "key": "authors"]]
        #expect(try await server.find("Author", where: related).compactMap { $0["name"]?.string } == ["C", "A", "B"])
        _ = try await add([a], "RemoveRelation")
        try await server.send("DELETE", "/classes/Author/\(b)")
        #expect(try await server.find("Author", where: related).compactMap { $0["name"]?.string } == ["C"])
        #expect(try await server.get("Book", book)["authors"] == ["__type": "Relation", "className": "Author"])
    }

    @Test func aBatchWritesEachSeparatelyOrAllTogether() async throws {
        let server = try TestServer()
        let requests: JSONValue = [
            ["method": "POST", "path": "/parse/classes/Book", "body": ["title": "A"]],
            ["method": "POST", "path": "/classes/Book", "body": ["title": 5]],
            ["method": "PUT", "path": "/parse/classes/Book/nobody", "body": ["title": "C"]],
            ["method": "POST", "path": "/parse/classes/Book", "body": ["title": "D"]],
        ]
        let each = try await server.send("POST", "/batch", ["requests": requests])
        let items = try #require(each.json.array)
        #expect(items.count == 4)
        #expect(items[0]["success"]?["objectId"] != nil && items[3]["success"]?["objectId"] != nil)
        #expect(items[1]["error"]?["code"] == 111 && items[2]["error"]?["code"] == 101)
        #expect(try await server.find("Book").count == 2)
        let all = try await server.send("POST", "/batch", ["requests": requests, "transaction": true])
        #expect(all.status == 400 && all.code == 111)
        #expect(try await server.find("Book").count == 2)
    }

    @Test func newObjectsOfABatchMayPointAtEachOther() async throws {
        var options = ParseService.Options()
        options.allowsCustomObjectIDs = true
        let server = try TestServer(options: options)
        let reply = try await server.send(
            "POST", "/batch",
            [
                "transaction": true,
                "requests": [
                    [
                        "method": "POST", "path": "/classes/Book",
                        "body": ["objectId": "b1", "genre": pointer("Genre", "g1")],
                    ],
                    ["method": "POST", "path": "/classes/Genre", "body": ["objectId": "g1", "name": "Fantasy"]],
                ],
            ])
        #expect(reply.json.array?.map { $0["success"]?["objectId"] } == ["b1", "g1"], "\(reply.json)")
        #expect(try await server.get("Book", "b1", "include=genre")["genre"]?["name"] == "Fantasy")
    }

    @Test func aRepeatedRequestIsDoneOnce() async throws {
        let server = try TestServer()
        let id = try await server.create("Counter", ["n": 0])
        let increment: JSONValue = ["n": ["__op": "Increment", "amount": 1]]
        let first = try await server.send(
            "PUT", "/classes/Counter/\(id)", increment, headers: ["x-parse-request-id": "r1"])
        let again = try await server.send(
            "PUT", "/classes/Counter/\(id)", increment, headers: ["x-parse-request-id": "r1"])
        #expect(first.json == again.json && first["n"] == 1)
        #expect(try await server.get("Counter", id)["n"] == 1)
        let other = try await server.send("POST", "/classes/Counter", ["n": 5], headers: ["x-parse-request-id": "r1"])
        #expect(other.code == 159)
    }

    @Test func oldRepliesAreDeletedFromTimeToTime() async throws {
        var options = ParseService.Options()
        options.requestLifetime = 0
        let server = try TestServer(options: options)
        let id = try await server.create("Counter", ["n": 0])
        for number in 0..<300 {
            let reply = try await server.send(
                "PUT", "/classes/Counter/\(id)", ["n": ["__op": "Increment", "amount": 1]],
                // An id may be used again once its reply is forgotten, even if the row still exists.
                headers: ["x-parse-request-id": "r\(number % 200)"])
            #expect(reply["n"] == .integer(Int64(number + 1)))
        }
        let isShort = try await server.store.read(as: .master) { transaction in
            try transaction.connection.value(SQLStatement("SELECT count(*) <= 64 FROM relata_parse_requests"))
        }
        #expect(isShort == .integer(1))
    }

    /// If all were deleted at once, after hours of many writes, other requests would wait for long.
    @Test func oldRepliesAreDeletedInSmallBatches() async throws {
        let server = try TestServer()
        let id = try await server.create("Counter", ["n": 0])
        try await server.store.write(as: .master) { transaction in
            try transaction.connection.execute(
                """
                WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000)
                INSERT INTO relata_parse_requests (id, line, status, body, expires)
                SELECT 'old' || n, '', 200, '{}', 0 FROM numbers
                """)
        }
        var left: [Value?] = []
        for number in 1...256 {
            try await server.send(
                "PUT", "/classes/Counter/\(id)", ["n": .integer(Int64(number))],
                headers: ["x-parse-request-id": "r\(number)"])
            guard number.isMultiple(of: 64) else { continue }
            left.append(
                try await server.store.read(as: .master) { transaction in
                    try transaction.connection.value(
                        SQLStatement("SELECT count(*) FROM relata_parse_requests WHERE expires = 0"))
                })
        }
        #expect(left == [744, 488, 232, 0].map { Value.integer($0) })
    }

    @Test func aDeletionPlanDeletesNothing() async throws {
        let server = try TestServer()
        let genre = try await server.create("Genre", ["name": "Fantasy"])
        let book = try await server.create("Book", ["title": "T", "genre": pointer("Genre", genre)])
        let plan = try await server.send("DELETE", "/classes/Genre/\(genre)?dryRun=1")
        #expect(plan["deleted"] == [["className": "Genre", "objectIds": [.string(genre)]]])
        #expect(plan["unset"] == [["className": "Book", "field": "genre", "objectIds": [.string(book)]]])
        #expect(try await server.get("Genre", genre)["name"] == "Fantasy")
        #expect(try await server.send("GET", "/classes/Genre/\(genre)?deletionPlan=1").json == plan.json)
        #expect(try await server.send("DELETE", "/classes/Genre/\(genre)").json == [:])
        #expect(try await server.get("Book", book)["genre"] == nil)
    }

    @Test func inProductionUseCreatesNoClassesAndFields() async throws {
        let folder = try TestDatabases()
        let path = try folder.path("store.sqlite")
        do {
            let development = try TestServer(path: path)
            _ = try await development.create("Book", ["title": "A"])
            try development.store.close()
        }
        let server = try TestServer(mode: .production, path: path)
        #expect(try await server.send("POST", "/classes/Book", ["title": "B"]).status == 201)
        #expect(try await server.send("POST", "/classes/Book", ["year": 1]).code == 119)
        #expect(try await server.send("POST", "/classes/Pamphlet", ["title": "B"]).code == 119)
        #expect(try await server.find("Book").count == 2)
    }

    /// A repeated request does nothing, not even to the classes.
    @Test func aRepeatedRequestDoesNotCreateDeletedFieldsAgain() async throws {
        let server = try TestServer()
        let headers = ["x-parse-request-id": "again"]
        let first = try await server.send("POST", "/classes/Item", ["n": 1, "extra": true], headers: headers)
        #expect(try await server.send("DELETE", "/classes/Item/\(first["objectId"]?.string ?? "")").status == 200)
        #expect(try await server.send("PUT", "/schemas/Item", ["fields": ["extra": ["__op": "Delete"]]]).status == 200)
        let second = try await server.send("POST", "/classes/Item", ["n": 1, "extra": true], headers: headers)
        #expect(second.status == 201 && second.json == first.json)
        let fields = try await server.send("GET", "/schemas/Item")["fields"]
        #expect(fields?["extra"] == nil && fields?["n"] != nil)
        #expect(try await server.find("Item").isEmpty)
    }
}
