import Foundation
import RelataParse
import RelataEngine
import RelataSQLite
import TestEngines
import Testing

/// Consecutive new objects of a batch are written with one statement, if this doesn't change the outcome.
@Suite(.onEveryEngine) struct BatchTests {
    private let server: TestServer
    private let statements = SQLStatements()

    init() throws {
        var options = ParseService.Options()
        options.allowsCustomObjectIDs = true
        server = try TestServer(trace: statements, options: options)
    }

    private func pointer(_ className: String, _ id: String) -> JSONValue {
        ["__type": "Pointer", "className": .string(className), "objectId": .string(id)]
    }

    private func new(_ className: String, _ body: JSONValue) -> JSONValue {
        ["method": "POST", "path": .string("/parse/classes/\(className)"), "body": body]
    }

    private func send(_ requests: [JSONValue], isAtomic: Bool = false) async throws -> TestServer.Reply {
        try await server.send("POST", "/batch", ["requests": .array(requests), "transaction": .bool(isAtomic)])
    }

    /// The outcome of each request: the id of its object, or the code of its error.
    private func outcomes(_ reply: TestServer.Reply) -> [String] {
        (reply.json.array ?? []).map { item in
            item["success"]?["objectId"]?.string ?? item["error"]?["code"]?.integer.map { "\($0)" } ?? "\(item)"
        }
    }

    /// The number of statements that wrote objects since the last call.
    private func insertionCount() -> Int {
        defer { statements.removeAll() }
        return statements.all.count { $0.hasPrefix("INSERT") }
    }

    @Test func objectsOfABatchCanHaveDifferentFields() async throws {
        let genre = try await server.create("Genre", ["name": "Novel"])
        let bodies: [JSONValue] = [
            [
                "title": "Kindred", "pages": 264, "price": 9.25, "inPrint": true, "tags": ["a", 1, .null],
                "extra": ["b": ["c": 1]], "cover": ["__type": "Bytes", "base64": "AAH/"],
                "made": ["__type": "Date", "iso": "1979-06-01T00:00:00.000Z"],
                "place": ["__type": "GeoPoint", "latitude": 34.5, "longitude": -118.25],
                "genre": pointer("Genre", genre),
            ],
            ["title": "", "pages": 0, "price": -0.5, "inPrint": false, "tags": [], "extra": [:]],
            ["pages": 7, "title": "Dawn"], ["title": .null, "genre": ["__op": "Delete"]], [:],
        ]
        _ = try await send([new("Book", bodies[0])])
        _ = insertionCount()
        let ids = outcomes(try await send(bodies.map { new("Book", $0) }))
        #expect(insertionCount() == 1)
        #expect(Set(ids).count == bodies.count)
        for (id, body) in zip(ids, bodies) {
            let stored = try #require(try await server.get("Book", id).object)
            let given = (body.object ?? [:]).filter { !$0.value.isNull && $0.value["__op"] == nil }
            #expect(stored.filter { !["objectId", "createdAt", "updatedAt"].contains($0.key) } == given)
            #expect(stored["createdAt"] != nil && stored["createdAt"] == stored["updatedAt"])
        }
    }

    @Test func anInvalidObjectDoesNotAffectTheOthers() async throws {
        let genre = try await server.create("Genre", ["name": "Novel"])
        _ = try await server.create("Book", ["objectId": "there", "title": "x", "genre": pointer("Genre", genre)])
        func book(_ id: String, _ genre: String, title: JSONValue = "x") -> JSONValue {
            new("Book", ["objectId": .string(id), "title": title, "genre": pointer("Genre", genre)])
        }
        let requests = [
            book("a", genre), book("b", "nobody"), book("c", genre, title: 5), book("there", genre), book("d", genre),
            book("a", genre), book("e", genre),
        ]
        let each = try await send(requests)
        #expect(outcomes(each) == ["a", "101", "111", "137", "d", "137", "e"])
        let found = try await server.find("Book", "order=objectId").map { $0["objectId"]?.string }
        #expect(found == ["a", "d", "e", "there"])
        // In a transaction, either all or none are written, and the reply has the error of the first invalid one.
        let all = try await send([book("f", genre), book("g", "nobody"), book("h", genre)], isAtomic: true)
        #expect(all.code == 101 && "\(all.json)".contains("nobody"))
        #expect(try await server.find("Book").count == 4)
        #expect(outcomes(try await send([book("f", genre), book("g", genre)], isAtomic: true)) == ["f", "g"])
    }

    @Test func objectsOfOneClassThatPointAtEachOtherAreWrittenOneAfterAnother() async throws {
        let first = try await server.create("Person", ["name": "x"])
        _ = try await server.create("Person", ["objectId": "p", "boss": pointer("Person", first)])
        func person(_ id: String, boss: String) -> JSONValue {
            new("Person", ["objectId": .string(id), "boss": pointer("Person", boss)])
        }
        // In a cycle, the first one's pointer has no target yet.
        #expect(outcomes(try await send([person("a", boss: "b"), person("b", boss: "a")])) == ["101", "101"])
        #expect(outcomes(try await send([person("c", boss: "d"), person("d", boss: "p")])) == ["c", "d"])
    }

    @Test func aRefusedPathIsNotConfusedWithThePreviousOne() async throws {
        let reply = try await send([
            new("Book", ["title": "A"]), new("_User", ["title": "B"]), new("_User", ["title": "C"]),
            new("Book", ["title": "D"]), ["method": "GET", "path": "/parse/classes/Book"],
            ["method": "PUT", "path": "/parse/classes/Book", "body": ["title": "E"]], new("Shelf", ["title": "F"]),
            new("Shelf", ["title": "G"]),
            ["method": "POST", "path": "/parse/classes/Book?x=1", "body": ["title": "H"]],
        ])
        #expect(outcomes(reply).dropFirst().prefix(2) == ["119", "119"])
        #expect(outcomes(reply).dropFirst(5).prefix(1) == ["108"])
        #expect(try await server.find("Book", "order=title").map { $0["title"] } == ["A", "D", "H"])
        #expect(try await server.find("Shelf", "order=title").map { $0["title"] } == ["F", "G"])
    }

    @Test func aClassWithManyColumnsAcceptsBatches() async throws {
        func wide(_ number: Int) -> JSONValue {
            .object(JSONObject((0..<40).map { ("field\($0)", .integer(Int64(number * 100 + $0))) }))
        }
        let ids = outcomes(try await send((0..<3).map { new("Wide", wide($0)) }))
        for (number, id) in ids.enumerated() {
            #expect(try await server.get("Wide", id)["field39"] == .integer(Int64(number * 100 + 39)))
        }
    }

    @Test func repliesContainTheValuesThatObjectsGetAutomatically() async throws {
        try await server.send(
            "POST", "/schemas/Task",
            [
                "className": "Task",
                "fields": ["state": ["type": "String", "defaultValue": "new"], "n": ["type": "Number"]],
            ])
        let reply = try await send([new("Task", ["n": 1]), new("Task", ["n": ["__op": "Increment", "amount": 2]])])
        let told = (reply.json.array ?? []).map { $0["success"] }
        #expect(told.map { $0?["state"] } == ["new", "new"] && told.map { $0?["n"] } == [nil, 2])
    }

    /// A server of a file that another program created.
    private func server(_ sql: String, in folder: TestDatabases) throws -> TestServer {
        let path = try folder.path("things.sqlite")
        let connection = try Connection(path: path)
        try connection.execute(sql)
        try connection.close()
        return try TestServer(path: path)
    }

    @Test(.onSQLite) func repliesContainTheKeysThatTheDatabaseAssigns() async throws {
        let folder = try TestDatabases()
        let server = try server("CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT)", in: folder)
        let reply = try await server.send(
            "POST", "/batch", ["requests": .array(["a", "b", "c"].map { new("thing", ["name": $0]) })])
        #expect(outcomes(reply) == ["1", "2", "3"])
        #expect(try await server.get("thing", "3")["name"] == "c")
    }

    /// In SQLite, a statement that fails with FAIL keeps the rows that it wrote before.
    @Test(
        .onSQLite,
        arguments: [
            "CREATE TABLE thing (id TEXT PRIMARY KEY, name TEXT UNIQUE ON CONFLICT FAIL)",
            """
            CREATE TABLE thing (id TEXT PRIMARY KEY, name TEXT);
            CREATE TRIGGER once AFTER INSERT ON thing WHEN (SELECT count(*) FROM thing WHERE name = NEW.name) > 1
            BEGIN SELECT RAISE(FAIL, 'twice'); END
            """,
        ])
    func rowsThatAFailedStatementLeavesAreRemoved(_ sql: String) async throws {
        let folder = try TestDatabases()
        let server = try server(sql, in: folder)
        let requests: JSONValue = .array(["a", "b", "a", "c"].map { new("thing", ["name": $0]) })
        let each = try await server.send("POST", "/batch", ["requests": requests])
        #expect(each.json.array?.map { $0["success"] != nil } == [true, true, false, true])
        #expect(try await server.find("thing", "order=name").map { $0["name"] } == ["a", "b", "c"])
        try await server.send("DELETE", "/purge/thing")
        let all = try await server.send("POST", "/batch", ["requests": requests, "transaction": true])
        #expect(all.status >= 400)
        #expect(try await server.find("thing").isEmpty)
    }

    @Test func newObjectsOfATransactionMayPointAtEachOther() async throws {
        func circle(_ last: JSONValue) -> [JSONValue] {
            [
                new("Left", ["objectId": "l1", "right": pointer("Right", "r1")]),
                new(
                    "Right",
                    [
                        "objectId": "r1", "left": pointer("Left", "l1"),
                        "kids": ["__op": "AddRelation", "objects": [last]],
                    ]),
            ]
        }
        let missing = try await send(circle(pointer("Left", "l9")), isAtomic: true)
        #expect(missing.code == 101 && missing.status == 400, "\(missing.json)")
        #expect(missing["error"]?.string?.contains("l9") == true)
        for name in ["Left", "Right"] { #expect(try await server.find(name).isEmpty) }
        let reply = try await send(circle(pointer("Left", "l1")), isAtomic: true)
        #expect(outcomes(reply) == ["l1", "r1"], "\(reply.json)")
        #expect(try await server.get("Left", "l1")["right"] == pointer("Right", "r1"))
        #expect(try await server.get("Right", "r1")["left"] == pointer("Left", "l1"))
        let kids: JSONValue = ["$relatedTo": ["object": pointer("Right", "r1"), "key": "kids"]]
        #expect(try await server.find("Left", where: kids).count == 1)
        // Foreign keys are checked again.
        #expect(try await server.send("POST", "/classes/Left", ["right": pointer("Right", "r9")]).code == 101)
        // In separate requests, the first pointer has no target yet.
        let alone = try await send([
            new("Left", ["objectId": "l2", "right": pointer("Right", "r2")]),
            new("Right", ["objectId": "r2", "left": pointer("Left", "l2")]),
        ])
        #expect(outcomes(alone).contains("101"), "\(alone.json)")
    }

    /// Pointers are checked after all objects exist. Relations are written after their members.
    @Test(arguments: [true, false])
    func aRelationAndItsInversePointerCanBeInOneBatch(_ isOwnerFirst: Bool) async throws {
        let schemas: [(String, JSONValue)] = [
            ("Book", ["author": ["type": "Pointer", "targetClass": "Author"]]),
            ("Author", ["books": ["type": "Relation", "targetClass": "Book", "inverse": "author"]]),
        ]
        for (name, fields) in schemas {
            let reply = try await server.send("POST", "/schemas/\(name)", ["fields": fields])
            #expect(reply.status == 200, "\(reply.json)")
        }
        let owner = new(
            "Author", ["objectId": "a", "books": ["__op": "AddRelation", "objects": [pointer("Book", "b")]]])
        let book = new("Book", ["objectId": "b", "author": pointer("Author", "a")])
        let reply = try await send(isOwnerFirst ? [owner, book] : [book, owner], isAtomic: true)
        #expect(outcomes(reply) == (isOwnerFirst ? ["a", "b"] : ["b", "a"]), "\(reply.json)")
        #expect(try await server.get("Book", "b")["author"] == pointer("Author", "a"))
    }

    @Test(arguments: ["/schemas", "/parse/aggregate/Book", "/purge/Book", "/serverInfo", "/"])
    func requestsThatAreNotAboutObjectsAreRefusedInBatches(_ path: String) async throws {
        let reply = try await send([["method": "GET", "path": .string(path)]])
        let error = reply.json.array?.first?["error"]
        #expect(
            error?["code"] == 108 && error?["error"]?.string?.contains("send that by itself") == true, "\(reply.json)")
    }
}
