import TestEngines
import Testing

@testable import RelataParse

/// Several servers of one PostgreSQL database.
@Suite(.onEveryEngine) struct LiveProcessesTests {
    @Test(.onPostgres) func aClientGetsEventsForWritesOfAnotherServer() async throws {
        let path = try TestDatabases.newPath()
        let (first, second) = (try TestServer.withUsers(path: path), try TestServer.withUsers(path: path))
        let id = try await first.create("Book", ["title": "A"])
        let client = try await LiveClient(first)
        #expect(try await client.subscribe("Book")["op"] == "subscribed")
        _ = try await second.create("Book", ["title": "B"])
        // Without a change log, the time of the object's creation shows that it is new.
        try await client.expect("create 1 B")
        try await second.send("PUT", "/classes/Book/\(id)", ["title": "C"])
        try await client.expect("update 1 C")
        try await second.send("DELETE", "/classes/Book/\(id)")
        try await client.expect("delete 1 -")
    }
}
