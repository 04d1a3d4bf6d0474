import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestEngines
import Testing

@testable import RelataParse

/// Changes that `/schemas` can't make are refused with Parse's terms and codes, never ignored.
@Suite(.onEveryEngine) struct SchemaRefusalTests {
    let server: TestServer

    init() throws { server = try TestServer() }

    private func post(_ name: String, _ fields: JSONValue) async throws -> TestServer.Reply {
        try await server.send("POST", "/schemas/\(name)", ["fields": fields])
    }

    private func put(_ name: String, _ body: JSONValue) async throws -> TestServer.Reply {
        try await server.send("PUT", "/schemas/\(name)", body)
    }

    /// Whether a message mentions models, or how Swift code is written.
    private func speaksOfSwift(_ reply: TestServer.Reply) -> Bool {
        let message = reply["error"]?.string ?? ""
        return ["`", "var ", "to-one", "to-many", "migration", "model", " view "].contains { message.contains($0) }
    }

    @Test func aFieldOfEveryClassCannotBeRedefined() async throws {
        for field in ["objectId", "createdAt", "updatedAt", "ACL"] {
            let added = try await post("Wrong", [field: ["type": "Number"]])
            #expect(added.code == 136 && added.status == 400, "\(added.json)")
            #expect(added["error"]?.string == "field \(field) cannot be added")
        }
        #expect(try await server.send("GET", "/schemas").results.isEmpty)
        #expect(try await post("Book", ["title": ["type": "String"]]).status == 200)
        for field in ["objectId", "createdAt", "updatedAt", "ACL"] {
            let deleted = try await put("Book", ["fields": [field: ["__op": "Delete"], "title": ["__op": "Delete"]]])
            #expect(deleted.code == 136, "\(deleted.json)")
            #expect(deleted["error"]?.string == "field \(field) cannot be changed")
            let changed = try await put("Book", ["fields": [field: ["type": "Number"]]])
            #expect(changed.code == 255, "\(changed.json)")
            #expect(changed["error"]?.string?.hasPrefix("Field \(field) exists, cannot update") == true)
        }
        #expect(
            try await put("Book", ["fields": ["objectId": ["type": "String", "defaultValue": "x"]]]).code == 136)
        #expect(try await server.send("GET", "/schemas/Book")["fields"]?["title"] != nil)
    }

    @Test func theDescriptionOfAClassCanBeSentBack() async throws {
        let made = try await post("Book", ["title": ["type": "String"]])
        let again = try await put("Book", made.json)
        #expect(again.status == 200 && again.json == made.json, "\(again.json)")
        var copy = try #require(made.json.object)
        copy["className"] = "Copy"
        let other = try await server.send("POST", "/schemas", .object(copy))
        #expect(other.status == 200 && other["fields"] == made["fields"], "\(other.json)")
    }

    @Test(.onSQLite) func aColumnOfAnotherProgramCanHaveTheNameOfAStamp() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite").path
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let connection = try Connection(path: path)
        try connection.execute("CREATE TABLE thing (id INTEGER PRIMARY KEY, createdAt REAL, updatedAt TEXT)")
        try connection.close()
        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        let told = try await server.send("GET", "/schemas/thing")
        #expect(told.status == 200)
        #expect(try await server.send("PUT", "/schemas/thing", told.json).json == told.json)
    }

    @Test func aRelationIsNeitherRequiredNorHasADefault() async throws {
        let relation: [String: JSONValue] = ["type": "Relation", "targetClass": "A"]
        for (member, words, value) in [
            ("required", "required", true), ("defaultValue", "default value", pointer("A", "a")),
            ("defaultValue", "default value", "a"),
        ] as [(String, String, JSONValue)] {
            let field = JSONValue.object(JSONObject((relation.merging([member: value]) { $1 }).map { ($0, $1) }))
            let reply = try await post("R", ["x": field])
            #expect(reply.code == 111, "\(reply.json)")
            #expect(reply["error"]?.string == "The '\(words)' option is not applicable for Relation<A>")
        }
        #expect(try await post("R", ["x": ["type": "Relation", "targetClass": "A", "required": false]]).status == 200)
    }

    @Test func aPostNeedsTheNameOfAClass() async throws {
        for body: JSONValue in [["fields": [:]], [:], ["className": ""], ["className": .null]] {
            let reply = try await server.send("POST", "/schemas", body)
            #expect(reply.code == 135 && reply.status == 400, "\(reply.json)")
            #expect(reply["error"]?.string == "POST /schemas needs a class name.")
        }
    }

    @Test func impossibleRulesAreRefused() async throws {
        #expect(
            try await post("Book", ["genre": ["type": "Pointer", "targetClass": "Genre", "onTargetDelete": "deny"]])
                .status == 200)
        let refused: [(JSONValue, String)] = [
            (["x": ["type": "String", "deleteRule": "deny"]], "only pointers and relations have deleteRule"),
            (["x": ["type": "Pointer", "targetClass": "A", "order": true]], "only a relation has order"),
            (["x": ["type": "Relation", "targetClass": "A", "order": 5]], "order is true, false"),
            (["x": ["type": "Relation", "targetClass": "A", "inverse": 5]], "inverse is the name of a pointer"),
            (["x": ["type": "String", "required": "yes"]], "required is true or false"),
            (["x": ["type": "Relation", "targetClass": "A", "onTargetDelete": "deny"]], "only a pointer"),
            (["x": ["type": "Relation", "targetClass": "A", "deleteRule": "noAction"]], "nullify"),
            (
                ["x": ["type": "Relation", "targetClass": "Book", "inverse": "genre", "deleteRule": "cascade"]],
                "name one of the two"
            ),
            (
                [
                    "x": ["type": "Relation", "targetClass": "Book", "inverse": "genre"],
                    "y": ["type": "Relation", "targetClass": "Book", "inverse": "genre"],
                ], "Genre.x is the other side of Book.genre already"
            ),
        ]
        for (fields, part) in refused {
            let reply = try await put("Genre", ["fields": fields])
            #expect(reply.code == 111 && reply.status == 400, "\(reply.json)")
            #expect(reply["error"]?.string?.contains(part) == true, "\(reply.json)")
            #expect(!speaksOfSwift(reply), "\(reply.json)")
        }
    }

    @Test func aFieldWithDuplicatesCannotBecomeUnique() async throws {
        let ids = [
            try await server.create("Book", ["title": "A", "year": 1]),
            try await server.create("Book", ["title": "A", "year": 2]),
        ]
        let unique: JSONValue = ["uniqueIndexes": ["one_title": ["title": 1]]]
        let reply = try await put("Book", unique)
        #expect(reply.code == 137 && reply.status == 400, "\(reply.json)")
        let message = try #require(reply["error"]?.string)
        #expect(message.contains("Book") && message.contains("title") && message.contains("change or delete"))
        #expect(!speaksOfSwift(reply), "\(message)")
        #expect(try await put("Book", ["uniqueIndexes": ["both": ["title": 1, "year": 1]]]).status == 200)
        let new: JSONValue = ["fields": ["isbn": ["type": "String"]], "uniqueIndexes": ["one": ["isbn": 1]]]
        #expect(try await put("Book", new).status == 200)
        #expect(try await server.send("PUT", "/classes/Book/\(ids[1])", ["title": "B"]).status == 200)
        #expect(try await put("Book", unique).status == 200)
    }

    /// Other programs' tables may contain parts that can't be rewritten.
    @Test(.onSQLite) func changesThatTheTablesCannotFollowAreRefusedWithoutAdviceForSwift() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite").path
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE genre (id INTEGER PRIMARY KEY);
            CREATE TABLE book (id INTEGER PRIMARY KEY, pages INTEGER CHECK (pages > 0),
                genre INTEGER NOT NULL REFERENCES genre(id));
            INSERT INTO genre VALUES (1);
            INSERT INTO book VALUES (1, 2, 1)
            """)
        try connection.close()
        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        let nullify: JSONValue = ["type": "Pointer", "targetClass": "genre", "onTargetDelete": "nullify"]
        let required = try await server.send("PUT", "/schemas/book", ["fields": ["genre": nullify]])
        #expect(required.code == 111 && !speaksOfSwift(required), "\(required.json)")
        let remade = try await server.send("PUT", "/schemas/book", ["fields": ["genre": ["__op": "Delete"]]])
        #expect(remade.code == 255 && remade.status == 400, "\(remade.json)")
        #expect(remade["error"]?.string?.contains("book") == true && !speaksOfSwift(remade), "\(remade.json)")
        #expect(try await server.get("book", "1")["pages"] == 2)
    }

    @Test func purgingAMissingClassDoesNothing() async throws {
        let reply = try await server.send("DELETE", "/purge/Nope")
        #expect(reply.status == 200 && reply.json == [:], "\(reply.json)")
        let plan = try await server.send("DELETE", "/purge/Nope?dryRun=1")
        #expect(plan.status == 200 && plan["deleted"] == [] && plan["isDenied"] == false, "\(plan.json)")
        #expect(try await server.send("DELETE", "/purge/_User").code == 119)
        #expect(try await server.send("GET", "/schemas").results.isEmpty)
    }

    /// Any other number is refused without a crash.
    @Test func theDirectionOfAnIndexIsOneOrMinusOne() async throws {
        for direction: JSONValue in [.integer(.min), .integer(.max), 0, 2, -2, 1.5, "1"] {
            let reply = try await server.send(
                "POST", "/schemas/Wrong", ["fields": ["f": ["type": "Number"]], "indexes": ["a": ["f": direction]]])
            #expect(reply.code == 108, "\(direction): \(reply.json)")
        }
    }

    @Test func aDefaultIsCheckedLikeAValue() async throws {
        let refused: [(JSONValue, Int64)] = [
            (["type": "Object", "defaultValue": ["a.b": 1]], 121),
            (["type": "Array", "defaultValue": [["$x": 1]]], 121),
            (["type": "GeoPoint", "defaultValue": ["__type": "GeoPoint"]], 111),
            (["type": "Date", "defaultValue": ["__type": "Date", "iso": "soon"]], 111),
        ]
        for (field, code) in refused {
            let reply = try await post("Wrong", ["f": field])
            #expect(reply.code == code, "\(field): \(reply.json)")
        }
        #expect(try await server.send("GET", "/schemas").results.isEmpty)
    }
}
