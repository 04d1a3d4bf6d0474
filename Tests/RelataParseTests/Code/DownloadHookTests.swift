import Foundation
import RelataCore
import TestEngines
import Testing

@testable import RelataParse

/// An app's closures before and after clients read files.
@Suite(.onEveryEngine) struct DownloadHookTests {
    private static let master = ["x-parse-application-id": "app", "x-parse-master-key": "master"]
    private let told = ToldLines()

    private func server(_ configure: (inout CloudCode, ToldLines) -> Void) throws -> TestServer {
        try TestServer.withFiles(options: { configure(&$0.code, told) })
    }

    private func upload(_ server: TestServer, _ name: String, _ text: String) async throws -> String {
        let reply = try await server.upload(name, text, headers: ["x-parse-file-tags": "{\"isSecret\":true}"])
        return try #require(reply["name"]?.string, "\(reply.json)")
    }

    /// The code of the error in the place of a file.
    private func code(_ file: TestServer.File) throws -> Int64? {
        try JSONParser.parse(Array(file.text.utf8))["code"]?.integer
    }

    @Test func aHookRefusesADownloadBeforeItBegins() async throws {
        let server = try server { code, told in
            code.beforeFindFile { file, call in
                told.add("\(file.name) \(file.size) \(file.tags["isSecret"] == true) \(file.url != nil)")
                if call.user == nil, !call.isMaster { throw ParseError(.operationForbidden, "sign in first") }
            }
            code.afterFindFile { _, _ in told.add("found") }
        }
        let name = try await upload(server, "a.txt", "Hello")
        let mei = try await server.signUp("mei")
        let tag = try #require(try await server.download(name, headers: mei.headers).headers["etag"])
        #expect(told.all == ["\(name) 5 true true", "found"])
        for headers in [[:], ["range": "bytes=1-2"], ["range": "bytes=9-"], ["if-none-match": tag]] {
            let refused = try await server.download(name, headers: headers)
            #expect(try code(refused) == 119 && refused.status == 400, "\(headers): \(refused.text)")
            #expect(refused.type == nil && refused.headers.isEmpty, "\(refused.headers)")
        }
        // Metadata is as secret as the file.
        let metadata = try await server.send("GET", "/files/app/metadata/\(name)", isMaster: false)
        #expect(metadata.json == ["code": 119, "error": "sign in first"], "\(metadata.json)")
        #expect(told.all.count == 2 + 5 && told.all.filter { $0 == "found" }.count == 1, "\(told.all)")
        // A file that doesn't exist has nothing to ask about.
        #expect(try await server.download("x_a.txt").status == 404)
        #expect(try await server.send("GET", "/files/app/metadata/none").json == [:])
        #expect(told.all.count == 7)
    }

    @Test func theCallKnowsWhoReads() async throws {
        let server = try server { code, told in
            code.beforeFindFile { _, call in
                told.add("\(call.userID ?? "-") \(call.isMaster) \(call.context["for"]?.string ?? "-")")
                #expect(call.headers["x-parse-session-token"] == nil && call.headers["x-parse-master-key"] == nil)
            }
        }
        let name = try await upload(server, "a.txt", "Hello")
        let mei = try await server.signUp("mei")
        let context = ["x-parse-cloud-context": "{\"for\":\"print\"}"]
        for headers in [[:], mei.headers, Self.master, context] {
            #expect(try await server.download(name, headers: headers).text == "Hello")
        }
        let view = WireRequest(method: "GET", path: "/files/app/\(name)", headers: Self.master)
        #expect(await server.service.respond(to: view, as: .user(mei.id), report: { _ in }).status == 200)
        #expect(told.all == ["- false -", "\(mei.id) false -", "- true -", "- false print", "\(mei.id) false -"])
        // A wrong session or context is refused, as in other requests.
        #expect(try code(try await server.download(name, headers: ["x-parse-session-token": "r:x"])) == 209)
        #expect(try code(try await server.download(name, headers: ["x-parse-cloud-context": "1"])) == 107)
        #expect(told.all.count == 5)
    }

    @Test func aServerWithoutHooksAsksNothingOfTheCaller() async throws {
        let server = try server { code, _ in code.afterSaveFile { _, _ in } }
        let name = try await upload(server, "a.txt", "Hello")
        let headers = ["x-parse-session-token": "r:x", "x-parse-cloud-context": "1"]
        #expect(try await server.download(name, headers: headers).text == "Hello")
    }

    @Test func aHookDecidesWhetherBrowsersSaveAFile() async throws {
        let server = try server { code, told in
            code.afterFindFile { download, _ in
                told.add("\(download.isAttachment)")
                download.isAttachment.toggle()
            }
        }
        let (picture, data) = (try await upload(server, "a.png", "PNG"), try await upload(server, "a.bin", "data"))
        let saved = try await server.download(picture)
        let attachment = "attachment; filename=\"a.png\""
        #expect(saved.text == "PNG" && saved.headers["content-disposition"] == attachment, "\(saved.headers)")
        let part = try await server.download(picture, headers: ["range": "bytes=1-1"])
        #expect(part.status == 206 && part.text == "N" && part.headers["content-disposition"] == attachment)
        let tag = try #require(saved.headers["etag"])
        let known = try await server.download(picture, headers: ["if-none-match": tag])
        #expect(known.status == 304 && known.headers["content-disposition"] == attachment)
        let beyond = try await server.download(picture, headers: ["range": "bytes=9-"])
        #expect(beyond.status == 416 && beyond.headers["content-disposition"] == nil)
        let shown = try await server.download(data)
        #expect(shown.text == "data" && shown.headers["content-disposition"] == nil)
        #expect(told.all == ["false", "false", "false", "false", "true"])
        // Metadata sends no content.
        #expect(try await server.send("GET", "/files/app/metadata/\(picture)")["tags"] == ["isSecret": true])
        #expect(told.all.count == 5)
    }

    @Test func aHookRefusesAFileByItsContent() async throws {
        struct Secret: Error {}
        let server = try server { code, _ in
            code.afterFindFile { download, _ in
                let head = try await download.file.bytes(0..<1).next() ?? []
                if head == Array("a".utf8) { throw ParseError(.scriptFailed, "not that one") }
                if head == Array("b".utf8) { throw Secret() }
            }
            code.afterFindFile { download, _ in download.isAttachment = true }
        }
        for (text, message) in [("a1", "not that one"), ("b2", "Script failed. Unknown error.")] {
            let refused = try await server.download(try await upload(server, "a.txt", text))
            let json = try JSONParser.parse(Array(refused.text.utf8))
            #expect(json == ["code": 141, "error": .string(message)] && refused.type == nil, "\(refused.text)")
        }
        let file = try await server.download(try await upload(server, "a.txt", "c3"))
        #expect(file.text == "c3" && file.headers["content-disposition"] != nil)
    }

    @Test func aMissingContentIsNotFound() async throws {
        let storage = TestFileStorage()
        let told = told
        let server = try TestServer.withFiles(
            storage: storage, options: { $0.code.afterFindFile { _, _ in told.add("found") } })
        let name = try await upload(server, "a.txt", "Hello")
        let id = try #require(try await server.store.read(as: .master) { try $0.file(name)?.content.id })
        storage.age(by: 10)
        #expect(try await storage.delete(id, unlessStoredSince: .now))
        #expect(try await server.download(name).status == 404)
        #expect(told.all.isEmpty)
    }
}
