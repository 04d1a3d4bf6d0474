import Foundation
import RelataCore
import RelataParse
import TestEngines
import Testing

/// Files that clients upload through Parse's protocol.
@Suite(.onEveryEngine) struct FileTests {
    @Test func aFileIsUploadedAndDownloaded() async throws {
        for mode in [ParseStore.Mode.development, .production] {
            let server = try TestServer.withFiles(mode: mode)
            let reply = try await server.upload("hello.txt", "Hello, World!")
            #expect(reply.status == 201, "\(reply.json)")
            let name = try #require(reply["name"]?.string)
            #expect(name.hasSuffix("_hello.txt") && name.utf8.count == 32 + 10, "\(name)")
            #expect(reply["url"]?.string == "https://example.com/parse/files/app/\(name)")
            #expect(reply.location == reply["url"]?.string)
            let file = try await server.download(name)
            #expect(file.status == 200 && file.text == "Hello, World!")
            #expect(file.type == "text/plain; charset=utf-8")
            #expect(file.headers["x-content-type-options"] == "nosniff")
            #expect(file.headers["content-disposition"] == nil)
            // The tag depends on the content.
            let tag = try #require(file.headers["etag"])
            #expect(try await server.download(name, headers: ["if-none-match": tag]).status == 304)
            #expect(try await server.download(name, headers: ["if-none-match": "\"x\""]).status == 200)
            #expect(try await server.download(name, app: "other").status == 403)
            #expect(try await server.download("x_hello.txt").status == 404)
        }
    }

    /// The bytes aren't read to compare replies.
    @Test func repliesWithFilesAreEqualByTypeAndSize() async throws {
        let server = try TestServer.withFiles()
        var files: [FileReply] = []
        for (name, text) in [("a.txt", "hello"), ("b.txt", "world"), ("c.txt", "hello!"), ("d.json", "12345")] {
            let stored = try #require(try await server.upload(name, text)["name"]?.string)
            let reply = await server.service.respond(to: WireRequest(method: "GET", path: "/files/app/\(stored)"))
            files.append(try #require(reply.file))
        }
        #expect(files[0] == files[1] && files[0] != files[2] && files[0] != files[3])
        #expect(Set(files).count == 3)
        // They still have their bytes.
        #expect(try await files[1].bytes.next() == Array("world".utf8))
    }

    @Test func theClientForJavaScriptUploadsJSON() async throws {
        let server = try TestServer.withFiles()
        let request = WireRequest(
            method: "POST", path: "/files/picture",
            body: Array(
                JSONWriter.text([
                    "base64": "SGVsbG8=", "_ContentType": "image/png", "_ApplicationId": "app", "_MasterKey": "master",
                    "fileData": ["metadata": ["by": "mei"], "tags": ["kind": "test"]],
                ]).utf8))
        let reply = await server.service.respond(to: request)
        let json = try JSONParser.parse(reply.body)
        let name = try #require(json["name"]?.string, "\(json)")
        #expect(name.hasSuffix("_picture.png"))
        let file = try await server.download(name)
        #expect(file.text == "Hello" && file.type == "image/png")
        let metadata = try await server.send("GET", "/files/app/metadata/\(name)")
        #expect(metadata.json == ["metadata": ["by": "mei"], "tags": ["kind": "test"]])
        #expect(try await server.send("GET", "/files/app/metadata/none").json == [:])
        // The same client deletes with a POST request.
        let deletion = WireRequest(
            method: "POST", path: "/files/\(name)",
            body: Array(
                JSONWriter.text(["_method": "DELETE", "_ApplicationId": "app", "_MasterKey": "master"]).utf8))
        #expect(await server.service.respond(to: deletion).status == 200)
        #expect(try await server.download(name).status == 404)
    }

    @Test func headerFieldsContainMetadataAndTags() async throws {
        let server = try TestServer.withFiles()
        let reply = try await server.upload(
            "a.txt", "a",
            headers: ["x-parse-file-metadata": "{\"page\":1}", "x-parse-file-tags": "{\"lang\":\"en\"}"])
        let name = try #require(reply["name"]?.string, "\(reply.json)")
        let metadata = try await server.send("GET", "/files/app/metadata/\(name)", isMaster: false)
        #expect(metadata.json == ["metadata": ["page": 1], "tags": ["lang": "en"]])
        for text in ["[]", "x", "1"] {
            let reply = try await server.upload("a.txt", "a", headers: ["x-parse-file-tags": text])
            #expect(reply.code == 107, "\(text): \(reply.json)")
        }
        let forbidden = try await server.upload("a.txt", "a", headers: ["x-parse-file-metadata": "{\"__proto__\":1}"])
        #expect(forbidden.code == 105, "\(forbidden.json)")
    }

    @Test func theAllowedUploadersAreASetting() async throws {
        let closed = try TestServer.withFiles()
        let mei = try await closed.signUp("mei")
        let anonymous = try await closed.signUpAnonymously()
        #expect(try await closed.upload("a.txt", "a", as: mei).status == 201)
        #expect(
            try await closed.upload("a.txt", "a", as: anonymous).json["error"]
                == "File upload by anonymous user is disabled.")
        let refused = try await closed.upload("a.txt", "a", isMaster: false)
        #expect(refused.code == 130 && refused["error"] == "File upload by public is disabled.")
        let over = try await closed.upload("a.txt", "a", headers: ["x-parse-session-token": "r:x"], isMaster: false)
        #expect(over.code == 209, "\(over.json)")
        let open = try TestServer.withFiles { files in
            files.allowsPublicUploads = true
            files.allowsUploadsOfAnonymousUsers = true
            files.allowsUploadsOfUsers = false
        }
        #expect(try await open.upload("a.txt", "a", isMaster: false).status == 201)
        #expect(try await open.upload("a.txt", "a", as: try await open.signUpAnonymously()).status == 201)
        #expect(try await open.upload("a.txt", "a", as: try await open.signUp("mei")).code == 130)
    }

    @Test func namesAreNeverUsedAsPaths() async throws {
        let server = try TestServer.withFiles()
        for name in [
            "..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fpasswd", "..", ".hidden", "a%5Cb", "a%0Ab", "-rf", " a", "a%22b",
            "%E4%B8%AD",
            "a;b", "a:b", "a%3Fb", "a*b", String(repeating: "a", count: 129),
        ] {
            let reply = try await server.upload(name, "x")
            #expect(reply.code == 122, "\(name): \(reply.json)")
            #expect(try await server.download(name).status == 404, "\(name)")
        }
        #expect(try await server.upload("a%00b", "x").code == 102)
        for path in ["/files/../classes/Book", "/files/a/b/c"] {
            let reply = try await server.send("POST", path)
            #expect(reply.status >= 400 && reply.status < 500, "\(path): \(reply.json)")
        }
        #expect(try await server.upload("", "x").code == 122)
        let long = try await server.upload(String(repeating: "a", count: 128), "x")
        #expect(long.status == 201, "\(long.json)")
        let odd = try await server.upload("a@b%20c~d.e-f_g", "x")
        let name = try #require(odd["name"]?.string)
        #expect(odd["url"]?.string?.hasSuffix("_a%40b%20c~d.e-f_g") == true, "\(odd.json)")
        #expect(try await server.download(name.replacing(" ", with: "%20")).status == 200)
    }

    @Test func activeContentIsRefusedAndNeverDisplayed() async throws {
        let server = try TestServer.withFiles { $0.allowsPublicUploads = true }
        for (name, type) in [
            ("a.html", nil), ("a.", "text/html"), ("a.HTML", "image/png"), ("a.svg", "image/png"), ("a.b.xml", nil),
            ("a.html ", nil),
            ("a", "text/html; charset=utf-8"), ("a", "image/svg+xml"), ("a", "application/xhtml+xml"),
        ] as [(String, String?)] {
            let path = name.replacing(" ", with: "%20")
            let headers = type.map { ["content-type": $0] } ?? [:]
            let reply = try await server.upload(path, "<script>", headers: headers, isMaster: false)
            #expect(reply.code == 130, "\(name) \(type ?? ""): \(reply.json)")
            // The extensions don't apply to the master key. Such files are stored, but never displayed.
            let kept = try #require(try await server.upload(path, "<script>", headers: headers)["name"]?.string)
            let file = try await server.download(kept.replacing(" ", with: "%20"))
            #expect(file.headers["content-disposition"]?.hasPrefix("attachment; filename=\"a") == true, "\(name)")
            #expect(file.headers["content-security-policy"] == "default-src 'none'; sandbox")
        }
        // A file's type follows from its name, not from the client's content type.
        let reply = try await server.upload("a.bin", "<html>", headers: ["content-type": "text/html"])
        let file = try await server.download(try #require(reply["name"]?.string))
        #expect(file.type == "application/octet-stream" && file.headers["content-disposition"] != nil)
    }

    @Test func theAllowedExtensionsCanBeLimited() async throws {
        let server = try TestServer.withFiles { files in
            files.allowsPublicUploads = true
            files.allowedExtensions = ["png", "jpg"]
        }
        #expect(try await server.upload("a.PNG", "x", isMaster: false).status == 201)
        #expect(
            try await server.upload("a", "x", headers: ["content-type": "image/jpeg"], isMaster: false).status == 201)
        let refused = try await server.upload("a.gif", "x", isMaster: false)
        #expect(refused["error"] == "File upload of extension gif is disabled.")
    }

    @Test func theSizeOfAFileIsLimited() async throws {
        let storage = TestFileStorage()
        let server = try TestServer.withFiles(storage: storage) { $0.maximumSize = 10 }
        #expect(try await server.upload("a.txt", "0123456789").status == 201)
        #expect(try await server.upload("a.txt", "01234567890").code == 130)
        #expect(try await server.upload("a.txt", "").code == 130)
        for body: JSONValue in [
            ["base64": "MDEyMzQ1Njc4OTA="], ["base64": ""], ["base64": "%"], [:], ["base64": 1],
        ] {
            let reply = try await server.send("POST", "/files/a.txt", body)
            #expect(reply.code == 130, "\(body): \(reply.json)")
        }
        #expect(storage.texts == ["0123456789"])
    }

    @Test func partsOfAFileAreDownloaded() async throws {
        let server = try TestServer.withFiles()
        let name = try #require(try await server.upload("a.txt", "0123456789")["name"]?.string)
        for (range, text, part) in [
            ("bytes=0-3", "0123", "0-3"), ("bytes=4-", "456789", "4-9"), ("bytes=-2", "89", "8-9"),
            ("bytes=8-99999999999999999999999", "89", "8-9"), ("bytes=-99", "0123456789", "0-9"),
            ("bytes=9-9", "9", "9-9"), ("BYTES=0-0", "0", "0-0"),
            ("bytes=-99999999999999999999999", "0123456789", "0-9"),
            ("bytes=0-9223372036854775807", "0123456789", "0-9"),
        ] {
            let file = try await server.download(name, headers: ["range": range])
            #expect(file.status == 206 && file.text == text, "\(range): \(file)")
            #expect(file.headers["content-range"] == "bytes \(part)/10", "\(range)")
        }
        for range in ["bytes=10-", "bytes=99999999999999999999999-", "bytes=-0", "bytes=9223372036854775807-"] {
            let file = try await server.download(name, headers: ["range": range])
            #expect(file.status == 416 && file.headers["content-range"] == "bytes */10", "\(range): \(file)")
        }
        for range in [
            "bytes=5-2", "bytes=", "bytes=-", "bytes=a-b", "lines=0-1", "bytes=0-1,3-4", "bytes=--1", "bytes=1-2-3",
            "bytes=+1-2",
        ] {
            let file = try await server.download(name, headers: ["range": range])
            #expect(file.status == 200 && file.text == "0123456789", "\(range): \(file)")
        }
        let tag = try #require(try await server.download(name).headers["etag"])
        let same = try await server.download(name, headers: ["range": "bytes=0-1", "if-range": tag])
        let other = try await server.download(name, headers: ["range": "bytes=0-1", "if-range": "\"x\""])
        #expect(same.status == 206 && other.status == 200)
    }

    @Test func onlyTheMasterKeyDeletesFiles() async throws {
        let storage = TestFileStorage()
        let server = try TestServer.withFiles(storage: storage) { files in
            files.contentLifetime = -1
            files.allowsPublicUploads = true
        }
        let name = try #require(try await server.upload("a.txt", "a")["name"]?.string)
        let twin = try #require(try await server.upload("b.txt", "a")["name"]?.string)
        #expect(try await server.send("DELETE", "/files/\(name)", isMaster: false).status == 403)
        #expect(try await server.send("DELETE", "/files/\(name)").json == [:])
        #expect(try await server.download(name).status == 404)
        #expect(try await server.send("DELETE", "/files/\(name)").code == 153)
        // Another file still has the same content.
        #expect(try await server.download(twin).text == "a" && storage.texts == ["a"])
        #expect(try await server.send("DELETE", "/files/\(twin)").status == 200)
        #expect(storage.texts.isEmpty)
    }

    @Test func recentlyStoredContentsStay() async throws {
        let storage = TestFileStorage()
        let server = try TestServer.withFiles(storage: storage) { $0.contentLifetime = 1 }
        let name = try #require(try await server.upload("a.txt", "a")["name"]?.string)
        #expect(try await server.send("DELETE", "/files/\(name)").status == 200)
        try await server.service.tendFiles()
        #expect(storage.texts == ["a"])
        storage.age(by: 2)
        try await server.service.tendFiles()
        #expect(storage.texts.isEmpty)
    }

    @Test func otherRequestsAreNotUploads() async throws {
        let server = try TestServer.withFiles { $0.maximumSize = 10 }
        for method in ["PUT", "GET", "PATCH"] {
            #expect(try await server.send(method, "/files/a.txt").status >= 400)
        }
        // A request with a method override isn't an upload, and isn't streamed.
        let headers = ["x-parse-application-id": "app", "x-parse-master-key": "master"]
        let service = server.service
        #expect(try service.maximumUpload(method: "POST", path: "/files/a.txt", headers: headers) == 10)
        for (method, path, more) in [
            ("POST", "/files/a.txt", ["x-http-method-override": "DELETE"]), ("PUT", "/files/a.txt", [:]),
            ("POST", "/classes/files", [:]), ("POST", "/filesystem", [:]),
        ] {
            let named = headers.merging(more) { $1 }
            #expect(try service.maximumUpload(method: method, path: path, headers: named) == nil, "\(method) \(path)")
        }
        #expect(try service.maximumUpload(method: "POST", path: "/files/a.txt", headers: [:]) == nil)
        #expect(throws: ParseError.unauthorized) {
            try service.maximumUpload(
                method: "POST", path: "/files/a.txt",
                headers: ["x-parse-application-id": "app", "x-parse-master-key": "wrong"])
        }
        let overridden = try await server.send(
            "POST", "/files/none.txt", ["base64": "YQ=="], headers: ["x-http-method-override": "DELETE"])
        #expect(overridden.code == 153, "\(overridden.json)")
    }

    @Test func clientsCantUseTheClassOfFiles() async throws {
        let server = try TestServer.withFiles()
        _ = try await server.upload("a.txt", "a")
        for (method, path) in [
            ("GET", "/classes/_File"), ("POST", "/classes/_File"), ("GET", "/schemas/_File"),
            ("DELETE", "/schemas/_File"),
            ("DELETE", "/purge/_File"), ("GET", "/aggregate/_File"),
        ] {
            #expect(try await server.send(method, path).code == 119, "\(method) \(path)")
        }
        let schemas = try await server.send("GET", "/schemas")
        #expect(schemas.results.allSatisfy { $0["className"]?.string?.contains("File") != true }, "\(schemas.json)")
    }

    @Test func withoutAStorageThereAreNoFiles() async throws {
        let server = try TestServer()
        #expect(try await server.send("POST", "/files/a.txt", ["base64": "YQ=="]).code == 130)
        #expect(try await server.send("GET", "/files/app/a.txt").code == 130)
    }
}
