import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestEngines
import Testing

@testable import RelataParse

@Suite struct FullDiskTests {
    @Test func aFullDiskIsReportedUntilThereIsSpaceAgain() async throws {
        let folder = try TestDatabases()
        let server = try TestServer(path: folder.path("full.sqlite"))
        defer { try? server.store.close() }
        let id = try await server.create("Book", ["title": "A"])
        try await server.store.check()
        func limit(_ pages: Int) async throws {
            try await server.store.pool.alone { try $0.execute("PRAGMA max_page_count = \(pages)") }
        }
        // SQLite raises the limit to the number of existing pages, so there is no room for more.
        try await limit(1)
        let text = JSONValue.string(String(repeating: "x", count: 50_000))
        for body: JSONValue in [["title": text], ["title": "B", "more": ["a", text]]] {
            let reply = try await server.send("POST", "/classes/Book", body)
            #expect(reply.status == 503 && reply.code == 1, "\(reply.json)")
            #expect(reply["error"]?.string?.contains("disk is full") == true)
        }
        #expect(try await server.get("Book", id)["title"] == "A")
        let error = await #expect(throws: RelataError.self) { try await server.store.check() }
        #expect(error.map { ParseError($0).message.contains("disk is full") } == true)
        try await limit(100_000)
        try await server.store.check()
        #expect(!server.store.isDiskFull)
        #expect(try await server.send("POST", "/classes/Book", ["title": text]).status == 201)
        try await server.store.check()
    }
}
