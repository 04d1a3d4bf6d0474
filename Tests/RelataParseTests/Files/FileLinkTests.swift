import Foundation
import RelataCore
import RelataParse
import TestEngines
import Testing

/// Files that objects refer to, and files that became unused.
@Suite(.onEveryEngine) struct FileLinkTests {
    private func server(
        mode: ParseStore.Mode = .development, path: String? = nil, storage: TestFileStorage = TestFileStorage(),
        _ configure: (inout FileOptions) -> Void = { _ in }
    ) throws -> TestServer {
        var files = FileOptions(storage: storage)
        files.contentLifetime = -1
        files.unusedLifetime = -1
        configure(&files)
        return try TestServer.withUsers(mode: mode, path: path) { $0.files = files }
    }

    private func upload(_ text: String, to server: TestServer) async throws -> JSONValue {
        let reply = try await server.upload("a.png", text)
        return ["__type": "File", "name": try #require(reply["name"], "\(reply.json)")]
    }

    /// Whether a file still exists after the server has removed unused files.
    private func isKept(_ file: JSONValue, by server: TestServer) async throws -> Bool {
        // The first round marks unused files, and the second deletes them.
        for _ in 0..<2 { try await server.service.tendFiles() }
        return try await server.download(file["name"]?.string ?? "").status == 200
    }

    @Test func aUsedFileIsDeletedOnlyByForce() async throws {
        let server = try server()
        let file = try await upload("x", to: server)
        let name = try #require(file["name"]?.string)
        let id = try await server.create("Book", ["cover": file])
        let refused = try await server.send("DELETE", "/files/\(name)")
        #expect(refused.code == 153 && refused["error"]?.string?.contains("Book \(id)") == true, "\(refused.json)")
        #expect(try await server.send("DELETE", "/files/\(name)?force=2").code == 102)
        #expect(try await server.download(name).status == 200)
        #expect(try await server.send("DELETE", "/files/\(name)?force=1").status == 200)
        #expect(try await server.download(name).status == 404)
        // The object's value keeps the file's name.
        #expect(try await server.get("Book", id)["cover"]?["name"] == file["name"])
        let other = try await upload("y", to: server)
        let second = try await server.create("Book", ["cover": other])
        #expect(try await server.send("DELETE", "/classes/Book/\(second)").status == 200)
        #expect(try await server.send("DELETE", "/files/\(other["name"]?.string ?? "")").status == 200)
    }

    @Test func aFileIsDeletedAfterItsLastReference() async throws {
        let storage = TestFileStorage()
        let server = try server(storage: storage)
        let file = try await upload("x", to: server)
        // A file that was never used is kept, because it may be known elsewhere.
        #expect(try await isKept(file, by: server))
        let first = try await server.create("Book", ["cover": file])
        let second = try await server.create("Shelf", ["pictures": [["at": file]]])
        let third = try await server.create("Book", ["info": ["deep": [file]]])
        #expect(try await isKept(file, by: server))
        #expect(try await server.send("PUT", "/classes/Book/\(first)", ["cover": ["__op": "Delete"]]).status == 200)
        #expect(try await isKept(file, by: server))
        #expect(try await server.send("DELETE", "/classes/Book/\(third)").status == 200)
        #expect(try await isKept(file, by: server))
        let removed = try await server.send(
            "PUT", "/classes/Shelf/\(second)", ["pictures": ["__op": "Remove", "objects": [["at": file]]]])
        #expect(removed.status == 200, "\(removed.json)")
        #expect(try await !isKept(file, by: server))
        #expect(storage.texts.isEmpty)
    }

    @Test func aFileWithANewReferenceStays() async throws {
        let server = try server { $0.unusedLifetime = 3600 }
        let file = try await upload("x", to: server)
        let id = try await server.create("Book", ["title": "a", "cover": file])
        let change: JSONValue = ["title": "b"]
        #expect(try await server.send("PUT", "/classes/Book/\(id)", change).status == 200)
        #expect(try await server.send("PUT", "/classes/Book/\(id)", ["cover": ["__op": "Delete"]]).status == 200)
        // The file is unused now, but not for long enough.
        #expect(try await isKept(file, by: server))
        #expect(try await server.send("PUT", "/classes/Book/\(id)", ["cover": file]).status == 200)
        #expect(try await isKept(file, by: server))
        #expect(try await server.send("DELETE", "/files/\(file["name"]?.string ?? "")").code == 153)
    }

    @Test func objectsOfABatchReferToFiles() async throws {
        let server = try server()
        var files: [JSONValue] = []
        for index in 0..<3 { files.append(try await upload("\(index)", to: server)) }
        // The class exists before its objects refer to files, and the objects are created together.
        _ = try await server.create("Book", ["title": "first"])
        let requests = files.map { file -> JSONValue in
            ["method": "POST", "path": "/parse/classes/Book", "body": ["title": "x", "cover": file]]
        }
        for isAtomic in [false, true] {
            let reply = try await server.send(
                "POST", "/batch", ["requests": .array(requests), "transaction": .bool(isAtomic)])
            #expect(reply.json.array?.allSatisfy { $0["success"] != nil } == true, "\(reply.json)")
        }
        for file in files {
            #expect(try await server.send("DELETE", "/files/\(file["name"]?.string ?? "")").code == 153)
        }
        // The files are deleted with their last objects.
        #expect(try await server.send("DELETE", "/purge/Book").status == 200)
        for file in files { #expect(try await !isKept(file, by: server)) }
    }

    @Test func clientsCantSeeTheRelationToFiles() async throws {
        let server = try server()
        let file = try await upload("x", to: server)
        let id = try await server.create("Book", ["cover": file])
        let schema = try await server.send("GET", "/schemas/Book")
        #expect(schema["fields"]?["_files"] == nil && schema["fields"]?["cover"]?["type"] == "File", "\(schema.json)")
        #expect(try await server.get("Book", id)["_files"] == nil)
        let plan = try await server.send("GET", "/classes/Book/\(id)?deletionPlan=1")
        #expect(plan["removedRelations"]?.array?.isEmpty == true, "\(plan.json)")
        for condition: JSONValue in [["_files": ["$exists": true]], ["_files": file]] {
            let text = JSONWriter.text(condition).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let reply = try await server.send("GET", "/classes/Book?where=\(text)")
            #expect(reply.code == 105 || reply.results.isEmpty, "\(condition): \(reply.json)")
        }
        // A class can be deleted, and then the files of its objects, too.
        #expect(try await server.send("DELETE", "/purge/Book").status == 200)
        #expect(try await server.send("DELETE", "/schemas/Book").status == 200)
        #expect(try await !isKept(file, by: server))
    }

    @Test func classesAreLinkedInProductionToo() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("files-\(UUID().uuidString).sqlite")
            .path
        let path = try TestDatabases.newPath() ?? file
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + end) } }
        let development = try server(path: path)
        _ = try await development.create(
            "Book", ["title": "a", "cover": ["__type": "File", "name": "x.png", "url": "https://x.example/x"]])
        try development.store.close()
        let server = try server(mode: .production, path: path)
        let cover = try await upload("x", to: server)
        let id = try await server.create("Book", ["cover": cover])
        #expect(try await server.send("DELETE", "/files/\(cover["name"]?.string ?? "")").code == 153)
        #expect(try await server.send("DELETE", "/classes/Book/\(id)").status == 200)
        #expect(try await !isKept(cover, by: server))
        try server.store.close()
    }
}
