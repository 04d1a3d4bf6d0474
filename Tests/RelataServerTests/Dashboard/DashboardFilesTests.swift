#if Server
import Foundation
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// The files of the store, as the dashboard's page and others ask for them.
struct DashboardFilesTests: DashboardSuite {
    private static let keys = ["X-Parse-Application-Id": "app", "X-Parse-Master-Key": "master"]

    /// A server with a folder for files.
    private func withFiles(
        isReadOnly: Bool = false, _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        let folder = try ServerFolder()
        var options = ParseService.Options()
        options.files = FileOptions(storage: try FolderStorage(folder.path("files")))
        try await running(isReadOnly: isReadOnly, options: options) { (server, _) async throws in
            try await body(server)
        }
        withExtendedLifetime(folder) {}
    }

    private func upload(_ server: TestServer, _ name: String) async throws -> String {
        let reply = try await server.request(
            "POST", "/parse/files/\(name)", headers: Self.keys, body: Array("hello".utf8))
        #expect(reply.status == 201, "\(reply.text)")
        return try #require(try reply.json["name"]?.string, "\(reply.text)")
    }

    private func use(_ file: String, _ server: TestServer) async throws {
        let body: JSONValue = ["cover": ["__type": "File", "name": .string(file)]]
        let reply = try await server.request(
            "POST", "/parse/classes/Book", headers: Self.keys, body: Array(JSONWriter.text(body).utf8))
        #expect(reply.status == 201, "\(reply.text)")
    }

    private func results(_ page: DashboardPage, _ query: String = "") async throws -> [JSONValue] {
        let reply = try await page.request("GET", "/files\(query)")
        #expect(reply.status == 200, "\(reply.text)")
        return try #require(try reply.json["results"]?.array, "\(reply.text)")
    }

    @Test func thePageListsFilesAndOpensThem() async throws {
        try await withFiles { server in
            let (used, other) = (try await upload(server, "a.png"), try await upload(server, "b.txt"))
            try await use(used, server)
            let page = try await page(server)
            let files = try await results(page)
            #expect(files.compactMap { $0["name"]?.string } == [used, other].sorted())
            let line = try #require(files.first { $0["name"]?.string == used })
            #expect(line["title"] == "a.png" && line["type"] == "image/png" && line["size"] == 5, "\(line)")
            #expect(line["uses"] == 1 && line["wasUsed"] == true && line["deletedAt"] == .null, "\(line)")
            #expect(try await results(page, "?unused=1").map { $0["name"]?.string } == [other])
            // The address is the one that clients use.
            let url = try #require(try await page.request("GET", "/files/\(other)").json["url"]?.string)
            let origin = "http://127.0.0.1:\(server.port)"
            #expect(url == "\(origin)/parse/files/app/\(other)")
            #expect(try await server.request("GET", String(url.dropFirst(origin.count))).text == "hello")
        }
    }

    @Test func aUsedFileIsDeletedOnlyByForceAndAudited() async throws {
        try await withFiles { server in
            let (used, other) = (try await upload(server, "a.png"), try await upload(server, "b.txt"))
            try await use(used, server)
            let page = try await page(server)
            let refused = try await page.request("DELETE", "/files/\(used)")
            #expect(refused.code == 153 && refused.text.contains("force=1"), "\(refused.text)")
            #expect(try await results(page).count == 2)
            #expect(try await page.request("DELETE", "/files/\(other)").status == 200)
            #expect(try await page.request("DELETE", "/files/\(used)?force=1").status == 200)
            #expect(try await results(page).isEmpty)
            let audit = try #require(try await page.request("GET", "/audit").json["results"]?.array)
            let actions = audit.compactMap { $0["action"]?.string }
            #expect(actions.contains("DELETE /files/\(used)"), "\(actions)")
        }
    }

    @Test func thePageUploadsFiles() async throws {
        try await withFiles { server in
            let page = try await page(server)
            let reply = try await page.send(
                "POST", "/files/a.png", Array("hello".utf8), headers: ["Content-Type": "image/png"])
            #expect(reply.status == 201, "\(reply.text)")
            let name = try #require(try reply.json["name"]?.string)
            let line = try #require(try await results(page).first)
            #expect(line["name"]?.string == name && line["size"] == 5, "\(line)")
            #expect(try await server.request("GET", "/parse/files/app/\(name)").text == "hello")
            #expect(try await page.send("POST", "/files/.png", Array("x".utf8)).code == 122)
            let audit = try #require(try await page.request("GET", "/audit").json["results"]?.array)
            #expect(audit.contains { $0["action"] == "POST /files/a.png" }, "\(audit)")
            // Without the page's token, nothing is stored.
            let strange = try await server.request(
                "POST", "/dashboard/api/files/b.png", headers: ["Cookie": page.cookie], body: Array("x".utf8))
            #expect(strange.status == 403, "\(strange.text)")
            #expect(try await results(page).count == 1)
        }
    }

    @Test func onlyUsersWhoMayChangeTheStoreDeleteFiles() async throws {
        try await withFiles(isReadOnly: true) { server in
            let name = try await upload(server, "a.png")
            let page = try await page(server)
            #expect(try await page.request("DELETE", "/files/\(name)?force=1").status == 403)
            #expect(try await page.send("POST", "/files/b.png", Array("x".utf8)).status == 403)
            #expect(try await results(page).count == 1)
            #expect(try await server.request("GET", "/dashboard/api/files").status == 401)
            // A page viewed as somebody else has no list of all files.
            let view = ["X-Relata-View-As": "nobody"]
            #expect(try await page.request("GET", "/files", headers: view).status == 404)
            #expect(try await page.request("DELETE", "/files/\(name)", headers: view).status == 403)
        }
    }

    @Test func aServerWithoutFilesSaysSo() async throws {
        try await running { (server, _) async throws in
            let page = try await page(server)
            #expect(try await page.request("GET", "/files").json["isOn"] == false)
            #expect(try await page.request("GET", "/files/a.png").code == 130)
            #expect(try await page.request("DELETE", "/files/a.png").code == 130)
            #expect(try await page.send("POST", "/files/a.png", Array("x".utf8)).code == 130)
        }
    }
}
#endif
