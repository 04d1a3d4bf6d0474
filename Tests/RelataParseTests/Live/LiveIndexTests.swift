import RelataEngine
import RelataParse
import RelataRecords
import RelataSQLite
import TestEngines
import Testing

/// Live queries that compare a field with a text: only those that a change can concern look at it.
@Suite(.onEveryEngine) struct LiveIndexTests {
    /// The next events, in any order.
    private func events(_ count: Int, of client: LiveClient) async throws -> Set<String> {
        var events: Set<String> = []
        for _ in 0..<count { events.insert(try await client.event()) }
        return events
    }

    @Test func anObjectMovesBetweenQueriesWithDifferentTexts() async throws {
        let server = try TestServer()
        _ = try await server.create("Message", ["title": "first", "room": "none", "likes": 0])
        let client = try await LiveClient(server)
        for (id, room) in ["a", "b", "A", "a "].enumerated() {
            try await client.subscribe("Message", where: ["room": .string(room)], id: Int64(id))
        }
        try await client.subscribe("Message", where: ["room": "b", "likes": ["$gt": 1]], id: 4)
        let id = try await server.create("Message", ["title": "m", "room": "a", "likes": 1])
        try await client.expect("create 0 m")
        try await server.send("PUT", "/classes/Message/\(id)", ["room": "b"])
        #expect(try await events(2, of: client) == ["leave 0 m", "enter 1 m"])
        try await server.send("PUT", "/classes/Message/\(id)", ["likes": 2])
        #expect(try await events(2, of: client) == ["update 1 m", "enter 4 m"])
        try await server.send("PUT", "/classes/Message/\(id)", ["room": "A"])
        #expect(try await events(3, of: client) == ["leave 1 m", "leave 4 m", "enter 2 m"])
        try await server.send("PUT", "/classes/Message/\(id)", ["room": "a "])
        #expect(try await events(2, of: client) == ["leave 2 m", "enter 3 m"])
        try await server.send("PUT", "/classes/Message/\(id)", ["room": ["__op": "Delete"]])
        try await client.expect("leave 3 m")
        try await server.send("PUT", "/classes/Message/\(id)", ["room": "a"])
        try await client.expect("enter 0 m")
        try await server.send("DELETE", "/classes/Message/\(id)")
        try await client.expect("delete 0 m", "delete 0 -")
    }

    @Test func theTargetOfAPointerIsATextToo() async throws {
        let server = try TestServer()
        let shelves = [
            try await server.create("Shelf", ["name": "0"]), try await server.create("Shelf", ["name": "1"]),
        ]
        let book = try await server.create("Book", ["title": "a", "shelf": pointer("Shelf", shelves[0])])
        let client = try await LiveClient(server)
        for (id, shelf) in shelves.enumerated() {
            try await client.subscribe("Book", where: ["shelf": pointer("Shelf", shelf)], id: Int64(id))
        }
        try await server.send("PUT", "/classes/Book/\(book)", ["shelf": pointer("Shelf", shelves[1])])
        #expect(try await events(2, of: client) == ["leave 0 a", "enter 1 a"])
    }

    @Test func anObjectThatIsReplacedInOneTransactionLeaves() async throws {
        let server = try TestServer()
        let id = try await server.create("Message", ["title": "m", "room": "a"])
        let client = try await LiveClient(server)
        try await client.subscribe("Message", where: ["room": "a"])
        try await server.store.records.write { transaction in
            try transaction.delete(RecordQuery("Message"))
            try transaction.insert(Record("Message", ["objectId": .text(id), "title": "n", "room": "b"]))
        }
        try await client.expect("leave 1 n")
    }

    @Test(.onSQLite) func textsThatAnotherProgramsColumnTakesForEqualAreFound() async throws {
        let folder = try TestDatabases()
        let path = try folder.path()
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE Message (id INTEGER PRIMARY KEY, title TEXT, room TEXT COLLATE NOCASE,
                town TEXT COLLATE swiftCaseInsensitiveCompare)
            """)
        try connection.close()
        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        let client = try await LiveClient(server)
        try await client.subscribe("Message", where: ["room": "hall"], id: 1)
        // NOCASE compares up to U+0000.
        try await client.subscribe("Message", where: ["room": "a\u{0}b"], id: 2)
        try await client.subscribe("Message", where: ["town": "Évora"], id: 3)
        _ = try await server.create("Message", ["title": "m", "room": "Hall"])
        try await client.expect("create 1 m")
        _ = try await server.create("Message", ["title": "n", "room": "A\u{0}c"])
        try await client.expect("create 2 n")
        _ = try await server.create("Message", ["title": "o", "town": "éVORA"])
        try await client.expect("create 3 o")
    }

    @Test func queriesThatAChangeCantConcernCostNoStatement() async throws {
        let (statements, count) = (SQLStatements(), 60)
        let server = try TestServer(trace: statements)
        _ = try await server.create("Book", ["title": "none"])
        let client = try await LiveClient(server)
        for number in 0..<count {
            try await client.subscribe("Book", where: ["title": .string("\(number)")], id: Int64(number))
        }
        statements.removeAll()
        _ = try await server.create("Book", ["title": "7"])
        try await client.expect("create 7 7")
        #expect(statements.all.count < count / 2, "\(statements.all.count) statements")
    }
}
