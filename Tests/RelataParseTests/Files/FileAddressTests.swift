import Foundation
import RelataCore
import RelataParse
import TestEngines
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// The addresses of files in replies and requests.
@Suite(.onEveryEngine) struct FileAddressTests {
    @Test func repliesContainAddressesAndRequestsNeedNone() async throws {
        let server = try TestServer.withFiles()
        let file = try await server.upload("a b.png", "x")
        let name = try #require(file["name"]?.string)
        let full: JSONValue = ["__type": "File", "name": .string(name), "url": file["url"] ?? .null]
        // The file's earlier address doesn't matter.
        let moved: JSONValue = ["__type": "File", "name": .string(name), "url": "https://old.example.com/x"]
        let elsewhere: JSONValue = ["__type": "File", "name": "x.png", "url": "https://cdn.example.com/x.png"]
        let id = try await server.create(
            "Book",
            ["cover": moved, "pages": [full, ["at": moved]], "info": ["deep": ["file": full]], "other": elsewhere])
        let book = try await server.get("Book", id)
        #expect(book["cover"] == full && book["other"] == elsewhere, "\(book)")
        #expect(book["pages"] == [full, ["at": full]] && book["info"] == ["deep": ["file": full]], "\(book)")
        for condition: JSONValue in [
            ["cover": full], ["cover": moved], ["cover": ["$in": [full]]], ["pages": full],
            ["cover.name": .string(name)],
        ] {
            #expect(try await server.find("Book", where: condition).count == 1, "\(condition)")
        }
        #expect(try await server.find("Book", where: ["cover": ["$ne": full]]).isEmpty)
        // An operation compares files by their names.
        let added = try await server.send(
            "PUT", "/classes/Book/\(id)", ["pages": ["__op": "AddUnique", "objects": [moved]]])
        #expect(added["pages"] == [full, ["at": full]], "\(added.json)")
        let text: JSONValue = ["title": "{\"__type\":\"File\",\"name\":\"x\"}"]
        let plain = try await server.create("Book", text)
        #expect(try await server.get("Book", plain)["title"] == text["title"])
        let change: JSONValue = [
            "method": "PUT", "path": .string("/parse/classes/Book/\(id)"), "body": ["cover": moved],
        ]
        let batch = try await server.send("POST", "/batch", ["requests": [change]])
        #expect(batch.status == 200, "\(batch.json)")
        #expect(try await server.get("Book", id)["cover"] == full)
    }

    @Test func movingTheServerChangesNoObject() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("files-\(UUID().uuidString).sqlite")
            .path
        let path = try TestDatabases.newPath() ?? file
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + end) } }
        let storage = TestFileStorage()
        func server(_ url: String) throws -> TestServer {
            var files = FileOptions(storage: storage)
            files.publicURL = url
            return try TestServer.withUsers(path: path) { $0.files = files }
        }
        let old = try server("https://old.example.com/parse")
        let name = try #require(try await old.upload("a.png", "x")["name"]?.string)
        let id = try await old.create("Book", ["cover": ["__type": "File", "name": .string(name)]])
        let before = try await old.get("Book", id)
        #expect(before["cover"]?["url"]?.string == "https://old.example.com/parse/files/app/\(name)")
        try old.store.close()
        let new = try server("https://new.example.com")
        let after = try await new.get("Book", id)
        #expect(after["cover"]?["url"]?.string == "https://new.example.com/files/app/\(name)", "\(after)")
        #expect(after["updatedAt"] == before["updatedAt"])
        try new.store.close()
    }

    @Test func addressesExpire() async throws {
        let server = try TestServer.withFiles { files in
            files.signing = FileSigning(lifetime: 3600) { TestSecrets().digest(of: "key" + $0) }
        }
        func parts(_ url: String?) throws -> (path: String, query: String) {
            let parts = try #require(url).split(separator: "?")
            let query = parts.count > 1 ? String(parts[1]) : ""
            return (String(parts[0]).replacing("https://example.com/parse", with: ""), query)
        }
        func status(_ path: String, _ query: String, isMaster: Bool = false) async -> Int {
            let headers = isMaster ? ["x-parse-application-id": "app", "x-parse-master-key": "master"] : [:]
            return await server.service.respond(
                to: WireRequest(method: "GET", path: path, query: query, headers: headers)
            ).status
        }
        let upload = try await server.upload("a.png", "x")
        let (path, query) = try parts(upload["url"]?.string)
        #expect(await status(path, query) == 200)
        #expect(await status(path, "") == 403)
        #expect(await status(path, "", isMaster: true) == 200)
        let end = try #require(query.firstMatch(of: #/expires=(\d+)/#).flatMap { Int($0.1) })
        let left = Double(end) - Date().timeIntervalSince1970
        #expect((3599...5401).contains(left), "\(left)")
        for changed in [
            query.replacing("\(end)", with: "\(end + 1)"), query + "0", "expires=\(end)", "expires=1&signature=",
            query.replacing("signature=", with: "signature=0"), "expires=99999999999999999999999&signature=00",
        ] {
            #expect(await status(path, changed) == 403, "\(changed)")
        }
        #expect(await status(path.replacing("/app/", with: "/app/metadata/"), "") == 403)
        // Each file has its own signature, and the replies don't reveal which files exist.
        let other = try parts(try await server.upload("b.png", "y")["url"]?.string)
        #expect(await status(other.path, query) == 403)
        #expect(await status("/files/app/none.png", query) == 403)
        // A caller gets the address only with an object that it can read.
        let (mei, sam) = (try await server.signUp("mei"), try await server.signUp("sam"))
        let file: JSONValue = ["__type": "File", "name": upload["name"] ?? .null]
        let id = try await server.create("Note", ["picture": file, "ACL": acl(read: [mei.id])])
        let seen = try await server.send(as: mei, "GET", "/classes/Note/\(id)")
        let told = try parts(seen["picture"]?["url"]?.string)
        #expect(await status(told.path, told.query) == 200)
        #expect(try await server.send(as: sam, "GET", "/classes/Note/\(id)").status == 404)
    }

    /// A file's name alone must not be enough to get a new address.
    @Test func aFilesNameAloneIsRefusedIfAddressesExpire() async throws {
        let server = try TestServer.withFiles { files in
            files.signing = FileSigning(lifetime: 3600) { TestSecrets().digest(of: "key" + $0) }
        }
        let mei = try await server.signUp("mei")
        func file(_ upload: TestServer.Reply, url: String? = nil) -> JSONValue {
            var file: JSONObject = ["__type": "File", "name": upload["name"] ?? .null]
            if let url { file["url"] = .string(url) }
            return .object(file)
        }
        let upload = try await server.upload("a.png", "x")
        let other = try await server.upload("b.png", "y")
        let (url, otherURL) = (try #require(upload["url"]?.string), try #require(other["url"]?.string))
        _ = try await server.create("Note", ["picture": .null, "pictures": [file(other)], "info": ["a": 1]])
        let wrong = [nil, url.replacing("signature=", with: "signature=0"), otherURL, "https://example.com/a.png"]
        for url in wrong {
            for body in [["picture": file(upload, url: url)], ["info": ["deep": [file(upload, url: url)]]]]
                as [JSONValue]
            {
                let reply = try await server.send(as: mei, "POST", "/classes/Note", body)
                #expect(reply.code == 119, "\(reply.json)")
            }
            let requests: JSONValue = [
                ["method": "POST", "path": "/classes/Note", "body": ["picture": file(upload, url: url)]]
            ]
            let batch = try await server.send(as: mei, "POST", "/batch", ["requests": requests])
            #expect(batch.json.array?.first?["error"]?["code"] == 119, "\(batch.json)")
        }
        // Escapes in JSON make no difference.
        let body = JSONWriter.text(["picture": file(upload)]).replacing("\"File\"", with: "\"\\u0046ile\"")
        let escaped = await server.service.respond(
            to: WireRequest(
                method: "POST", path: "/classes/Note",
                headers: ["x-parse-application-id": "app", "x-parse-session-token": mei.token], body: Array(body.utf8)))
        #expect(try JSONParser.parse(escaped.body)["code"] == 119)
        let made = try await server.send(as: mei, "POST", "/classes/Note", ["picture": file(upload, url: url)])
        let id = try #require(made["objectId"]?.string)
        // A change may keep the object's file, but not add another one.
        let kept: JSONValue = ["picture": file(upload), "title": "b"]
        #expect(try await server.send(as: mei, "PUT", "/classes/Note/\(id)", kept).status == 200)
        let added: JSONValue = ["pictures": ["__op": "Add", "objects": [file(other)]]]
        #expect(try await server.send(as: mei, "PUT", "/classes/Note/\(id)", added).code == 119)
        let seen = try await server.send(as: mei, "GET", "/classes/Note/\(id)")
        #expect(seen["title"] == "b" && seen["picture"]?["url"]?.string?.contains("signature=") == true)
    }

    /// Replies show the files of their documents like those of other classes.
    @Test(.onSQLite) func foreignTablesDoNotAcceptFilesByNameAlone() async throws {
        let folder = try TestDatabases()
        let path = try folder.path("things.sqlite")
        let connection = try Connection(path: path)
        try connection.execute("CREATE TABLE Thing (id INTEGER PRIMARY KEY, data JSON)")
        try connection.close()
        let server = try TestServer.withFiles(path: path) { files in
            files.signing = FileSigning(lifetime: 3600) { TestSecrets().digest(of: "key" + $0) }
        }
        let upload = try await server.upload("a.png", "x")
        let named: JSONValue = ["__type": "File", "name": upload["name"] ?? .null]
        let new: JSONValue = ["method": "POST", "path": "/classes/Thing", "body": ["data": named]]
        let refused = try await server.send("POST", "/classes/Thing", ["data": named], isMaster: false)
        #expect(refused.code == 119, "\(refused.json)")
        let batch = try await server.send("POST", "/batch", ["requests": [new, new]], isMaster: false)
        #expect(batch.json.array?.map { $0["error"]?["code"] } == [119, 119], "\(batch.json)")
        var proven = named.object ?? [:]
        proven["url"] = upload["url"]
        let stored = try await server.send("POST", "/classes/Thing", ["data": .object(proven)], isMaster: false)
        #expect(stored.status == 201, "\(stored.json)")
        try server.store.close()
    }
}
