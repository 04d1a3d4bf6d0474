import Foundation
import RelataCore
import RelataRecords
import RelataEngine
import RelataSQLite
import TestEngines
import Testing

@testable import RelataParse

/// The stored replies for repeated requests.
@Suite(.onEveryEngine) struct KeptReplyTests {
    private func kept(_ server: TestServer) async throws -> [Value] {
        try await server.store.read(as: .master) { transaction in
            let order = transaction.connection.dialect.insertionOrder
            return try transaction.connection.values(
                SQLStatement("SELECT body FROM relata_parse_requests ORDER BY \(order)")
            ).map { $0[0] }
        }
    }

    private func size(_ server: TestServer) async throws -> Int {
        try await kept(server).reduce(0) { $0 + $1.description.utf8.count }
    }

    private func headers(_ id: String) -> [String: String] { ["x-parse-request-id": id] }

    @Test func anInvalidRequestIDIsRefused() async throws {
        let server = try TestServer()
        let reply = try await server.send("POST", "/classes/Book", ["title": "A"], headers: headers("\u{FFFD}"))
        #expect(reply.status == 400 && reply.json["code"] == 102)
        #expect(try await server.find("Book").isEmpty)
    }

    @Test(arguments: [false, true])
    func aRepeatedBatchReadsAgain(_ isAtomic: Bool) async throws {
        let server = try TestServer()
        let large = try await server.create("Large", ["text": .string(String(repeating: "x", count: 20_000))])
        let read: JSONValue = ["method": "GET", "path": .string("/parse/classes/Large/\(large)")]
        let write: JSONValue = ["method": "POST", "path": "/parse/classes/Book", "body": ["title": "A"]]
        let batch: JSONValue = [
            "requests": .array([read, write] + Array(repeating: read, count: 50) + [write]),
            "transaction": .bool(isAtomic),
        ]
        let first = try await server.send("POST", "/batch", batch, headers: headers("one"))
        #expect(first.status == 200 && JSONWriter.text(first.json).utf8.count > 1_000_000)
        #expect(try await size(server) < 1000)
        let again = try await server.send("POST", "/batch", batch, headers: headers("one"))
        #expect(again.status == 200 && again.json == first.json)
        #expect(try await server.find("Book").count == 2)
        // The object that the batch read may be deleted by now.
        #expect(try await server.send("DELETE", "/classes/Large/\(large)").status == 200)
        let later = try await server.send("POST", "/batch", batch, headers: headers("one"))
        #expect(later.status == 200 && later.json.array?[0]["error"]?["code"] == 101)
        #expect(later.json.array?[1] == first.json.array?[1] && later.json.array?[52] == first.json.array?[52])
        #expect(try await server.find("Book").count == 2)
    }

    @Test func aLargeReplyIsNotStoredAndNothingIsWrittenTwice() async throws {
        var options = ParseService.Options()
        options.maximumKeptReply = 1000
        let server = try TestServer(options: options)
        let id = try await server.create("Book", ["list": .array((0..<500).map { .integer($0) })])
        let change: JSONValue = ["list": ["__op": "Add", "objects": [1]]]
        let first = try await server.send("PUT", "/classes/Book/\(id)", change, headers: headers("one"))
        #expect(first.status == 200 && first["list"]?.array?.count == 501)
        #expect(try await kept(server) == [.text("")])
        let again = try await server.send("PUT", "/classes/Book/\(id)", change, headers: headers("one"))
        #expect(
            again.status == 400 && again.code == 159 && again["error"]?.string?.contains("it was completed") == true)
        #expect(try await server.get("Book", id)["list"]?.array?.count == 501)
    }

    @Test func storedRepliesHaveABudgetAndTheOldestAreDeletedFirst() async throws {
        var options = ParseService.Options()
        options.maximumKeptReply = 4000
        options.maximumKeptReplies = 20_000
        let server = try TestServer(options: options)
        let id = try await server.create("Book", ["text": .string(String(repeating: "x", count: 10)), "n": .array([])])
        var largest = 0
        for number in 0..<100 {
            let tag = JSONValue.string(String(repeating: "y", count: 1000 + number * 20))
            let change: JSONValue = ["n": ["__op": "AddUnique", "objects": [tag]]]
            let reply = try await server.send("PUT", "/classes/Book/\(id)", change, headers: headers("add \(number)"))
            #expect(reply.status == 200)
            let empty: JSONValue = ["n": ["__op": "Remove", "objects": [tag]]]
            #expect(
                try await server.send("PUT", "/classes/Book/\(id)", empty, headers: headers("no \(number)")).status
                    == 200)
            largest = max(largest, try await size(server))
        }
        // Short replies don't count towards the limit.
        #expect(largest > 12_000 && largest < 20_000 + 100 * KeptRequests.shortResult)
        for number in [0, 50, 99] {
            let tag = JSONValue.string(String(repeating: "y", count: 1000 + number * 20))
            let change: JSONValue = ["n": ["__op": "AddUnique", "objects": [tag]]]
            let reply = try await server.send("PUT", "/classes/Book/\(id)", change, headers: headers("add \(number)"))
            #expect(number == 99 ? reply.status == 200 : reply.code == 159, "\(number): \(reply.json)")
            let empty: JSONValue = ["n": ["__op": "Remove", "objects": [tag]]]
            let short = try await server.send("PUT", "/classes/Book/\(id)", empty, headers: headers("no \(number)"))
            #expect(short.status == 200)
        }
        #expect(try await server.get("Book", id)["n"] == [])
    }

    @Test(.onSQLite) func aFileOfAnOlderVersionIsOpened() async throws {
        let folder = try TestDatabases()
        let path = try folder.path("old.sqlite")
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE "relata_parse_requests" (
                id TEXT PRIMARY KEY, line TEXT NOT NULL, status INTEGER NOT NULL, location TEXT, body TEXT NOT NULL,
                expires INTEGER NOT NULL);
            INSERT INTO relata_parse_requests VALUES
                ('old', 'x', 200, NULL, '{}', 1), ('new', 'DELETE /purge/Book cbf29ce484222325', 200, NULL, '{}', 9999999999);
            """)
        try connection.close()
        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        #expect(try await kept(server).count == 1)
        _ = try await server.create("Book", ["a": 1])
        let change: JSONValue = ["list": .array((0..<500).map { .integer($0) })]
        #expect(try await server.send("POST", "/classes/Book", change, headers: headers("one")).status == 201)
    }

    @Test func aLongPathIsNotStored() async throws {
        let server = try TestServer()
        let path = "/classes/Book/" + String(repeating: "x", count: 60_000)
        for _ in 0..<2 {
            #expect(try await server.send("DELETE", path, headers: headers("one")).code == 101)
        }
        let purge = "/purge/" + String(repeating: "B", count: 120)
        #expect(try await server.send("DELETE", purge, headers: headers("two")).status == 200)
        let long = "/purge/" + String(repeating: "B", count: 60_000)
        #expect(try await server.send("DELETE", long, headers: headers("three")).status == 200)
        #expect(try await server.send("DELETE", long, headers: headers("three")).status == 200)
        #expect(try await server.send("DELETE", long + "C", headers: headers("three")).code == 159)
        let lines = try await server.store.read(as: .master) { transaction in
            try transaction.connection.values(SQLStatement("SELECT max(length(line)) FROM relata_parse_requests"))
        }
        guard case .integer(let longest)? = lines.first?.first else {
            Issue.record("\(lines)")
            return
        }
        #expect(longest < 300)
    }

    @Test func theSizeOfABatchIsLimitedOnlyByItsBodyAndTheOption() async throws {
        let server = try TestServer()
        let requests = (0..<2500).map { number -> JSONValue in
            ["method": "POST", "path": "/parse/classes/Book", "body": ["n": .integer(Int64(number))]]
        }
        let reply = try await server.send("POST", "/batch", ["requests": .array(requests)], headers: headers("one"))
        #expect(reply.json.array?.count == 2500 && reply.json.array?.allSatisfy { $0["success"] != nil } == true)
        let again = try await server.send("POST", "/batch", ["requests": .array(requests)], headers: headers("one"))
        #expect(again.json == reply.json)
        #expect(try await server.send("GET", "/classes/Book?count=1&limit=0")["count"] == 2500)
        var options = ParseService.Options()
        options.maximumBatch = 10
        let bounded = try TestServer(options: options)
        let refused = try await bounded.send("POST", "/batch", ["requests": .array(Array(requests.prefix(11)))])
        #expect(refused.code == 107)
    }
}
