import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestEngines
import Testing

@testable import RelataParse

/// Schema changes that are concurrent, repeated, or impossible.
@Suite(.onEveryEngine) struct SchemaSafetyTests {
    @Test func aRepeatedChangeIsDoneOnce() async throws {
        let server = try TestServer()
        let headers = ["x-parse-request-id": "one"]
        let fields: JSONValue = ["fields": ["title": ["type": "String"]]]
        let first = try await server.send("POST", "/schemas/Book", fields, headers: headers)
        #expect(first.status == 200)
        let again = try await server.send("POST", "/schemas/Book", fields, headers: headers)
        #expect(again.status == 200 && again.json == first.json)
        #expect(
            try await server.send("POST", "/schemas/Book", fields, headers: ["x-parse-request-id": "2"]).code == 103)
        for _ in 0..<2 {
            let reply = try await server.send(
                "PUT", "/schemas/Book", ["fields": ["title": ["__op": "Delete"]]],
                headers: ["x-parse-request-id": "three"])
            #expect(reply.status == 200 && reply["fields"]?["title"] == nil)
        }
        for _ in 0..<2 {
            let reply = try await server.send("DELETE", "/schemas/Book", headers: ["x-parse-request-id": "four"])
            #expect(reply.status == 200)
        }
        #expect(try await server.send("GET", "/schemas/Book").code == 103)
        #expect(try await server.send("DELETE", "/schemas/Other", headers: headers).code == 159)
    }

    @Test func aRepeatedPurgeLeavesNewerObjects() async throws {
        let server = try TestServer()
        _ = try await server.create("Book", ["title": "A"])
        let headers = ["x-parse-request-id": "one"]
        #expect(try await server.send("DELETE", "/purge/Book", headers: headers).status == 200)
        _ = try await server.create("Book", ["title": "B"])
        #expect(try await server.send("DELETE", "/purge/Book", headers: headers).status == 200)
        #expect(try await server.find("Book").count == 1)
    }

    /// Each class needs a table, and other writers wait while tables are created.
    @Test(arguments: [true, false]) func aRequestCreatesALimitedNumberOfClasses(isTransaction: Bool) async throws {
        let server = try TestServer()
        for (count, status) in [(101, 400), (100, 200), (1, 200)] {
            let requests = (0..<count).map { number -> JSONValue in
                ["method": "POST", "path": .string("/parse/classes/Class\(count)x\(number)"), "body": ["name": "a"]]
            }
            let reply = try await server.send(
                "POST", "/batch", ["transaction": .bool(isTransaction), "requests": .array(requests)])
            #expect(reply.status == status && reply.code == (status == 200 ? nil : 155), "\(count): \(reply.json)")
        }
        #expect(try await server.send("GET", "/schemas").results.count == 101)
    }

    /// An invalid object of a batch leaves no change of its class, but the classes of the others stay changed.
    @Test func anInvalidObjectOfABatchLeavesItsClassUnchanged() async throws {
        let server = try TestServer()
        _ = try await server.create("Place", ["at": ["__type": "GeoPoint", "latitude": 1, "longitude": 2]])
        let before = try await server.send("GET", "/schemas/Place").json
        func post(_ name: String, _ body: JSONValue) -> JSONValue {
            ["method": "POST", "path": .string("/parse/classes/\(name)"), "body": body]
        }
        let point: JSONValue = ["__type": "GeoPoint", "latitude": 1, "longitude": 2]
        let reply = try await server.send(
            "POST", "/batch",
            [
                "requests": [
                    post("First", ["name": "a"]), post("Place", ["a": 1, "then": point]),
                    post("Second", ["one": point, "two": point]), post("Third", ["name": "a"]),
                ]
            ])
        #expect(reply.json.array?.map { $0["success"] != nil } == [true, false, false, true], "\(reply.json)")
        #expect(try await server.send("GET", "/schemas/Place").json == before)
        let names = try await server.send("GET", "/schemas").results.compactMap { $0["className"]?.string }
        #expect(names.sorted() == ["First", "Place", "Third"])
    }

    @Test func aChangeAndItsChecksAreOneTransaction() async throws {
        let server = try TestServer()
        _ = try await server.create("Book", ["title": "A"])
        try await server.store.alter { draft, connection in
            #expect(connection.isInTransaction)
            #expect(draft.hasClass("Book"))
        }
    }

    @Test func aFailedChangeChangesNothing() async throws {
        let server = try TestServer()
        _ = try await server.create("Book", ["title": "A"])
        let before = try await server.send("GET", "/schemas").json
        await #expect(throws: ParseError.self) {
            try await server.store.alter { draft, _ in
                try draft.addClass("Other")
            } finish: { _, _ in
                throw ParseError(.otherCause, "no")
            }
        }
        #expect(try await server.send("GET", "/schemas").json == before)
        #expect(try await server.send("POST", "/schemas/Other", [:]).status == 200)
    }

    @Test(.onSQLite) func aNameThatIsTakenInTheFileIsRefused() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite").path
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let connection = try Connection(path: path)
        try connection.execute("CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT)")
        try connection.execute("CREATE VIEW Names AS SELECT name FROM thing")
        try connection.execute("CREATE INDEX by_name ON thing (name)")
        try connection.close()
        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        for name in ["Names", "names", "by_name"] {
            let reply = try await server.send("POST", "/schemas/\(name)", [:])
            #expect(reply.code == 103 && reply.status == 400, "\(reply.json)")
            #expect(try await server.send("POST", "/classes/\(name)", ["a": 1]).status == 400)
        }
    }

    @Test func aClassHasNoMoreFieldsThanItsTableCanHave() async throws {
        let server = try TestServer()
        let names = (0..<ParseNames.maximumFields - 3).map { "field\($0)" }
        let body: JSONValue = ["fields": .object(JSONObject(names.map { ($0, ["type": "Number"]) }))]
        #expect(try await server.send("POST", "/schemas/Wide", body).status == 200)
        let reply = try await server.send("PUT", "/schemas/Wide", ["fields": ["more": ["type": "String"]]])
        #expect(reply.code == 105 && reply.status == 400, "\(reply.status)")
        #expect(try await server.send("POST", "/classes/Wide", ["more": "x"]).status == 400)
        let id = try await server.create("Wide", ["field0": 1, "field996": 2])
        #expect(try await server.get("Wide", id)["field996"] == 2)
    }

    @Test func onlyTheMasterKeyPurgesAClassEvenIfEverybodyMayChangeClasses() async throws {
        var options = ParseService.Options()
        options.needsMasterKeyForSchemas = false
        let server = try TestServer(options: options)
        _ = try await server.create("Book", ["title": "A"])
        #expect(try await server.send("GET", "/schemas", isMaster: false).status == 200)
        for target in ["/purge/Book", "/purge/Book?dryRun=1", "/purge/Other"] {
            let reply = try await server.send("DELETE", target, isMaster: false)
            #expect(reply.status == 403 && reply.code == 119, "\(target): \(reply.json)")
        }
        #expect(try await server.find("Book").count == 1)
        #expect(try await server.send("DELETE", "/purge/Book").status == 200)
        #expect(try await server.find("Book").isEmpty)
    }
}
