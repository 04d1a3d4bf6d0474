import Foundation
import RelataCore
import RelataParse
import TestEngines
import Testing

/// The list of files that the dashboard shows.
@Suite(.onEveryEngine) struct FileListTests {
    private func server(unusedLifetime: Double? = 3600) throws -> TestServer {
        var files = FileOptions(storage: TestFileStorage())
        files.unusedLifetime = unusedLifetime
        return try TestServer.withUsers { $0.files = files }
    }

    private func upload(_ name: String, to server: TestServer) async throws -> JSONValue {
        let reply = try await server.upload(name, "x")
        return ["__type": "File", "name": try #require(reply["name"], "\(reply.json)")]
    }

    private func list(_ server: TestServer, _ query: String = "") async throws -> JSONValue {
        let reply = try #require(
            await server.service.filesForDashboard("GET", "/files", query: query) { Issue.record("\($0)") })
        return try JSONParser.parse(reply.body)
    }

    @Test func theListCountsTheObjectsOfAllClasses() async throws {
        let server = try server()
        let file = try await upload("a.png", to: server)
        let other = try await upload("b.png", to: server)
        for className in ["Book", "Book", "Shelf"] { _ = try await server.create(className, ["cover": file]) }
        _ = try await server.create("Shelf", ["covers": [other, other]])
        let results = try #require(try await list(server)["results"]?.array)
        #expect(results.first { $0["name"] == file["name"] }?["uses"] == 3, "\(results)")
        // An object counts once.
        #expect(results.first { $0["name"] == other["name"] }?["uses"] == 1, "\(results)")
    }

    @Test func anUnusedFileShowsWhenItWillBeDeleted() async throws {
        let server = try server()
        let file = try await upload("a.png", to: server)
        let id = try await server.create("Book", ["cover": file])
        #expect(try await list(server, "unused=1")["results"] == [])
        #expect(try await server.send("PUT", "/classes/Book/\(id)", ["cover": ["__op": "Delete"]]).status == 200)
        // The server hasn't noticed it yet.
        let before = try #require(try await list(server, "unused=1")["results"]?.array?.first)
        #expect(before["uses"] == 0 && before["wasUsed"] == true && before["deletedAt"] == .null, "\(before)")
        let start = Date()
        try await server.service.tendFiles()
        let after = try #require(try await list(server, "unused=1")["results"]?.array?.first)
        let text = try #require(after["deletedAt"]?.string, "\(after)")
        let end = try #require(DateText.microseconds(text: text))
        let delay = Double(end) / 1_000_000 - start.timeIntervalSince1970
        #expect(abs(delay - 3600) < 60, "\(text)")
        #expect(try await server.send("PUT", "/classes/Book/\(id)", ["cover": file]).status == 200)
        #expect(try await list(server)["results"]?.array?.first?["deletedAt"] == .null)
    }

    @Test func filesThatStayShowNoTimeOfDeletion() async throws {
        let server = try server(unusedLifetime: nil)
        let file = try await upload("a.png", to: server)
        let unused = try #require(try await list(server, "unused=1")["results"]?.array?.first)
        #expect(unused["name"] == file["name"] && unused["wasUsed"] == false, "\(unused)")
        #expect(unused["deletedAt"] == .null)
        #expect(try await list(server)["deletesUnused"] == false)
    }

    @Test func pagesFollowEachOtherByName() async throws {
        let server = try server()
        #expect(try await list(server)["results"] == [])
        var names: [String] = []
        for number in 0..<7 { names.append(try await upload("\(number).png", to: server)["name"]?.string ?? "") }
        var (seen, query) = ([String](), "limit=3")
        for _ in 0..<3 {
            let page = try await list(server, query)
            seen += page["results"]?.array?.compactMap { $0["name"]?.string } ?? []
            guard let next = page["next"]?.string else { break }
            query = "limit=3&after=\(next)"
        }
        #expect(seen == names.sorted())
        for query in ["limit=0", "limit=x", "limit=501", "unused=yes"] {
            #expect(try await list(server, query)["code"] == 102, "\(query)")
        }
    }
}
