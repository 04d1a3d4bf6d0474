import RelataCore
import RelataParse
import TestEngines
import Testing

/// An app's closures before and after clients store and delete files.
@Suite(.onEveryEngine) struct FileHookTests {
    private let told = ToldLines()

    private func server(
        storage: TestFileStorage = TestFileStorage(), _ configure: (inout CloudCode, ToldLines) -> Void
    ) throws -> TestServer {
        try TestServer.withFiles(storage: storage) {
            $0.maximumSize = 100
        } options: { options in
            configure(&options.code, told)
        }
    }

    private static func text(_ bytes: ByteStream) async throws -> String {
        var all: [UInt8] = []
        while let piece = try await bytes.next() { all += piece }
        return String(decoding: all, as: UTF8.self)
    }

    @Test func aHookRenamesAFileAndSetsItsMetadata() async throws {
        let server = try server { code, _ in
            code.beforeSaveFile { file, call in
                file.metadata["size"] = .integer(Int64(file.size))
                file.metadata["isNamed"] = .bool(file.url != nil)
                file.tags = ["type": .string(file.contentType)]
                file.name = "by-\(call.user?["username"]?.string ?? "nobody")-\(file.name)"
            }
        }
        let mei = try await server.signUp("mei")
        let reply = try await server.upload(
            "a.txt", "Hello", as: mei, headers: ["x-parse-file-metadata": "{\"page\":1}"])
        let name = try #require(reply["name"]?.string, "\(reply.json)")
        #expect(reply.status == 201 && name.hasSuffix("_by-mei-a.txt") && name.utf8.count == 32 + 13)
        #expect(reply.location?.hasSuffix(name) == true)
        #expect(try await server.download(name).text == "Hello")
        let facts = try await server.send("GET", "/files/app/metadata/\(name)")
        #expect(facts["metadata"] == ["page": 1, "size": 5, "isNamed": false], "\(facts.json)")
        #expect(facts["tags"] == ["type": "text/plain; charset=utf-8"])
        // A name without an extension gets the extension of its type.
        let picture = try await server.upload("b", "x", headers: ["content-type": "image/png"])
        #expect(picture["name"]?.string?.hasSuffix("_by-nobody-b.png") == true, "\(picture.json)")
    }

    @Test func aHookReadsTheBytesAndRefusesThem() async throws {
        let storage = TestFileStorage()
        let server = try server(storage: storage) { code, told in
            code.beforeSaveFile { file, _ in
                told.add(try await Self.text(try await file.bytes()))
                told.add(try await Self.text(try await file.bytes(1..<3)))
                told.add(try await Self.text(try await file.bytes(90..<99)))
                let head = try await Self.text(try await file.bytes(0..<3))
                if head != "PNG" { throw ParseError(.fileSaveError, "it isn't a picture") }
            }
            code.afterSaveFile { file, _ in told.add("stored \(file.size)") }
        }
        let refused = try await server.upload("a.png", "text")
        #expect(refused.json == ["code": 130, "error": "it isn't a picture"], "\(refused.json)")
        #expect(told.all == ["text", "ex", ""])
        // A refused file isn't kept.
        #expect(storage.texts == ["text"])
        storage.age(by: 4000)
        try await server.service.tendFiles()
        #expect(storage.texts == [])
        #expect(try await server.upload("a.png", "PNG…").status == 201)
        #expect(told.all.last == "stored 6")
    }

    @Test func aHookReplacesTheBytes() async throws {
        let storage = TestFileStorage()
        let server = try server(storage: storage) { code, told in
            code.beforeSaveFile { file, call in
                let text = try await Self.text(try await file.bytes())
                let count = text == "large" ? 101 : 1
                file.replaceBytes(with: ByteStream(Array(String(repeating: text, count: count).uppercased().utf8)))
            }
            code.beforeSaveFile { file, _ in told.add(try await Self.text(try await file.bytes())) }
        }
        let reply = try await server.upload("a.txt", "hello")
        let name = try #require(reply["name"]?.string, "\(reply.json)")
        #expect(try await server.download(name).text == "HELLO")
        #expect(told.all == ["HELLO"])
        let large = try await server.upload("a.txt", "large")
        #expect(large.code == 130 && told.all.count == 1, "\(large.json)")
        storage.age(by: 4000)
        try await server.service.tendFiles()
        #expect(storage.texts == ["HELLO"])
    }

    @Test func aHookGetsTheStoredFile() async throws {
        let server = try server { code, told in
            code.afterSaveFile { file, call in
                let text = (try? await Self.text(try await file.bytes())) ?? "-"
                told.add("\(file.name) \(file.url ?? "-") \(text) \(call.isMaster)")
            }
        }
        let reply = try await server.upload("a.txt", "Hello")
        let (name, url) = (try #require(reply["name"]?.string), try #require(reply["url"]?.string))
        #expect(told.all == ["\(name) \(url) Hello true"])
        #expect(try await server.upload("a.txt", "").code == 130)
        #expect(told.all.count == 1)
    }

    @Test func hooksOfDeletionsSeeTheFile() async throws {
        let server = try server { code, told in
            code.beforeDeleteFile { file, _ in
                told.add("before \(try await Self.text(try await file.bytes()))")
                if file.tags["isKept"] == true { throw ParseError(.fileDeleteError, "it is kept") }
            }
            code.afterDeleteFile { file, _ in told.add("after \(file.name) \(file.size)") }
        }
        let kept = try await server.upload("a.txt", "a", headers: ["x-parse-file-tags": "{\"isKept\":true}"])
        let other = try await server.upload("b.txt", "bb")
        let (first, second) = (try #require(kept["name"]?.string), try #require(other["name"]?.string))
        let refused = try await server.send("DELETE", "/files/\(first)")
        #expect(refused.json == ["code": 153, "error": "it is kept"], "\(refused.json)")
        #expect(try await server.send("DELETE", "/files/\(second)").status == 200)
        #expect(told.all == ["before a", "before bb", "after \(second) 2"])
        #expect(try await server.download(first).text == "a")
        #expect(try await server.download(second).status == 404)
        // No hook is called for a file that doesn't exist, or that the caller may not delete.
        #expect(try await server.send("DELETE", "/files/\(second)").code == 153)
        #expect(try await server.send("DELETE", "/files/\(first)", isMaster: false).status == 403)
        #expect(told.all.count == 3)
    }

    @Test func aNewNameObeysTheRulesForNames() async throws {
        let server = try server { code, _ in
            code.beforeSaveFile { file, _ in
                if let name = file.metadata["name"]?.string { file.name = name }
            }
        }
        let mei = try await server.signUp("mei")
        for (name, code) in [("../a.txt", 122), ("", 122), ("a.html", 130), ("a.txt", nil)] as [(String, Int64?)] {
            let reply = try await server.upload(
                "a.txt", "a", as: mei, headers: ["x-parse-file-metadata": "{\"name\":\"\(name)\"}"])
            #expect(reply.code == code, "\(name): \(reply.json)")
        }
        // The rules for extensions don't apply to the master key.
        let page = try await server.upload("a.txt", "a", headers: ["x-parse-file-metadata": "{\"name\":\"a.html\"}"])
        #expect(page["name"]?.string?.hasSuffix("_a.html") == true, "\(page.json)")
    }

    @Test func errorsOfTheAppAreHiddenFromClients() async throws {
        struct Secret: Error {}
        let server = try server { code, _ in code.beforeSaveFile { _, _ in throw Secret() } }
        let reply = try await server.upload("a.txt", "a")
        #expect(reply.json == ["code": 141, "error": "Script failed. Unknown error."], "\(reply.json)")
    }

    @Test func errorsOfTheAppInTheDashboardAreReported() async throws {
        struct Secret: Error {}
        let server = try server { code, _ in code.beforeDeleteFile { _, _ in throw Secret() } }
        let stored = try await server.upload("a.txt", "a")
        let name = try #require(stored["name"]?.string, "\(stored.json)")
        let reply = try #require(
            await server.service.filesForDashboard("DELETE", "/files/\(name)", query: "") { told.add("\($0)") })
        #expect(try JSONParser.parse(reply.body)["code"] == 141)
        #expect(told.all == ["Secret()"])
        #expect(try await server.download(name).text == "a")
    }

    @Test func closuresThatNothingCallsAreRefused() throws {
        for name in ["_Session", "@File", "@Config"] {
            var code = CloudCode()
            code.beforeSave(name) { _, _ in }
            #expect(throws: RelataError.self) { try code.check() }
        }
        var queries = CloudCode()
        queries.beforeFind("@File") { _, _ in }
        #expect(throws: RelataError.self) { try queries.check() }
        var code = CloudCode()
        code.beforeSaveFile { _, _ in }
        code.beforeFindFile { _, _ in }
        code.beforeSave("_Installation") { _, _ in }
        try code.check()
    }
}
