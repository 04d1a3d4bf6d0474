#if Server
import Foundation
import RelataCore
import RelataParse
import ServerClient
import TestSupport
import Testing

@testable import RelataServer

/// Clients upload files over HTTP.
struct UploadTests {
    private static let keys = ["X-Parse-Application-Id": "app", "X-Parse-Master-Key": "master"]

    /// A server with a folder for files.
    private func withServer(
        _ configure: (inout RelataServer.Configuration, inout FileOptions) -> Void = { _, _ in },
        code: CloudCode = CloudCode(), _ body: @escaping @Sendable (TestServer, ServerFolder) async throws -> Void
    ) async throws {
        let folder = try ServerFolder()
        var configuration = RelataServer.Configuration()
        configuration.port = 0
        configuration.stopsOnSignals = false
        var options = ParseService.Options()
        var files = FileOptions(storage: try FolderStorage(folder.path("files")))
        configure(&configuration, &files)
        options.files = files
        options.code = code
        let keys = ServerKeys(applicationID: "app", masterKey: "master")
        let server = try RelataServer(
            try ParseStore.open(folder.path("library.sqlite")), keys: keys, options: options,
            configuration: configuration)
        try await TestServer.running(server) { try await body($0, folder) }
    }

    private static func upload(
        _ server: TestServer, _ bytes: [UInt8], name: String = "hello.txt"
    ) async throws -> String {
        let reply = try await server.request("POST", "/parse/files/\(name)", headers: keys, body: bytes)
        #expect(reply.status == 201, "\(reply.text)")
        return try #require(try reply.json["name"]?.string, "\(reply.text)")
    }

    /// The remains of an interrupted upload are removed by the upload itself.
    private static func expectNothing(in path: String) async throws {
        var left = [""]
        try await waitUntil {
            left = try FileManager.default.contentsOfDirectory(atPath: path)
            return left.isEmpty
        }
        #expect(left.isEmpty, "\(left)")
    }

    @Test func aFileIsUploadedAndDownloaded() async throws {
        try await withServer { server, folder in
            let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let name = try await Self.upload(server, bytes, name: "all.bin")
            try await blocking {
                let connection = try server.connect()
                // Further requests on the same connection work.
                for _ in 0..<2 {
                    let reply = try connection.request("GET", "/parse/files/app/\(name)")
                    #expect(reply.status == 200 && reply.body == bytes)
                    #expect(reply.headers["content-type"] == "application/octet-stream")
                    #expect(reply.headers["x-content-type-options"] == "nosniff")
                    #expect(reply.headers["content-disposition"] == "attachment; filename=\"all.bin\"")
                }
                let head = try connection.request("HEAD", "/parse/files/app/\(name)", headers: ["Range": "bytes=0-1"])
                #expect(head.status == 200 && head.headers["content-length"] == "1000000" && head.body.isEmpty)
                let part = try connection.request(
                    "GET", "/parse/files/app/\(name)", headers: ["Range": "bytes=700000-899999"])
                #expect(part.status == 206 && part.body == Array(bytes[700_000..<900_000]))
                let known = try connection.request(
                    "GET", "/parse/files/app/\(name)", headers: ["If-None-Match": head.headers["etag"] ?? ""])
                #expect(known.status == 304 && known.body.isEmpty)
                let beyond = try connection.request(
                    "GET", "/parse/files/app/\(name)", headers: ["Range": "bytes=1000000-"])
                #expect(beyond.status == 416 && beyond.headers["content-range"] == "bytes */1000000")
            }
            // One content, named by its digest, and nothing else.
            let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path("files")).sorted()
            #expect(files.count == 2 && files[1].utf8.count == 2 + 1 + 64, "\(files)")
        }
    }

    @Test func hooksOfDownloadsApplyToEveryWayOfReading() async throws {
        var code = CloudCode()
        code.afterFindFile { download, call in
            guard call.isMaster else { throw ParseError(.scriptFailed, "not for you") }
            download.isAttachment = true
        }
        try await withServer(code: code) { server, _ in
            let name = try await Self.upload(server, Array("hello".utf8))
            for (method, range) in [("GET", nil), ("GET", "bytes=1-2"), ("HEAD", nil)] as [(String, String?)] {
                let headers = range.map { ["Range": $0] } ?? [:]
                let refused = try await server.request(method, "/parse/files/app/\(name)", headers: headers)
                #expect(refused.status == 400 && refused.headers["etag"] == nil, "\(method) \(refused.headers)")
                #expect(!refused.text.contains("hello"))
                let reply = try await server.request(
                    method, "/parse/files/app/\(name)", headers: headers.merging(Self.keys) { $1 })
                #expect(reply.status == (range == nil ? 200 : 206), "\(method) \(reply.text)")
                #expect(reply.headers["content-disposition"] == "attachment; filename=\"hello.txt\"")
                #expect(reply.text == (method == "HEAD" ? "" : range == nil ? "hello" : "el"))
            }
        }
    }

    @Test func theAddressInTheReplyWorks() async throws {
        try await withServer { server, _ in
            let reply = try await server.request(
                "POST", "/parse/files/a.txt", headers: Self.keys, body: Array("hello".utf8))
            let url = try #require(try reply.json["url"]?.string)
            let origin = "http://127.0.0.1:\(server.port)"
            #expect(url.hasPrefix(origin + "/parse/files/app/") && reply.headers["location"] == url, "\(url)")
            #expect(try await server.request("GET", String(url.dropFirst(origin.count))).text == "hello")
        }
    }

    @Test func bodiesInChunksAndAfterAContinueArrive() async throws {
        try await withServer { server, _ in
            try await blocking {
                let connection = try server.connect()
                let fields = "Host: x\r\nX-Parse-Application-Id: app\r\nX-Parse-Master-Key: master\r\n"
                try connection.send(
                    "POST /parse/files/a.txt HTTP/1.1\r\n\(fields)Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
                try connection.send("7\r\n, world\r\n0\r\n\r\n")
                let chunked = try connection.receive()
                #expect(chunked.status == 201, "\(chunked.text)")
                try connection.send(
                    "POST /parse/files/b.txt HTTP/1.1\r\n\(fields)Content-Length: 5\r\nExpect: 100-continue\r\n\r\n")
                #expect(try connection.receive().status == 100)
                // The next request follows at once.
                try connection.send(
                    "hello" + "GET /parse/files/app/\(chunked.json["name"]?.string ?? "") HTTP/1.1\r\nHost: x\r\n\r\n")
                let asked = try connection.receive()
                #expect(asked.status == 201, "\(asked.text)")
                #expect(try connection.receive().text == "hello, world")
            }
        }
    }

    @Test func aRefusedUploadIsNotReadToItsEnd() async throws {
        try await withServer({ _, files in files.maximumSize = 100_000 }) { server, folder in
            let expectations: [(path: String, headers: [String: String], status: Int)] = [
                ("/parse/files/a.txt", Self.keys, 413),
                ("/parse/files/a.txt", ["X-Parse-Application-Id": "app", "X-Parse-Master-Key": "x"], 403),
                ("/parse/files/a.txt", Self.keys.merging(["Content-Encoding": "gzip"]) { $1 }, 415),
            ]
            for (path, headers, status) in expectations {
                let reply = try await blocking {
                    let connection = try server.connect()
                    let fields = headers.map { "\($0): \($1)\r\n" }.joined()
                    try connection.send(
                        "POST \(path) HTTP/1.1\r\nHost: x\r\n\(fields)Content-Length: 1000000000\r\n\r\nabc")
                    return try connection.receive()
                }
                #expect(reply.status == status && reply.headers["connection"] == "close", "\(headers): \(reply)")
            }
            // An upload of unknown size ends once it is too large, or if its name or its key is invalid.
            for (name, key, status) in [("a.txt", "master", 413), (".a", "master", 400), ("a.txt", "", 400)] {
                let reply = try await blocking {
                    let connection = try server.connect()
                    let field = key.isEmpty ? "" : "X-Parse-Master-Key: \(key)\r\n"
                    try connection.send(
                        "POST /parse/files/\(name) HTTP/1.1\r\nHost: x\r\nX-Parse-Application-Id: app\r\n\(field)"
                            + "Transfer-Encoding: chunked\r\n\r\n")
                    let piece = "8000\r\n" + String(repeating: "x", count: 0x8000) + "\r\n"
                    // The server may have closed the connection already.
                    for _ in 0..<(status == 413 ? 40 : 2) { try? connection.send(piece) }
                    return try connection.receive()
                }
                #expect(reply.status == status && reply.headers["connection"] == "close", "\(name): \(reply)")
            }
            try await Self.expectNothing(in: folder.path("files"))
        }
    }

    @Test func anInterruptedUploadLeavesNothing() async throws {
        try await withServer({ configuration, _ in configuration.limits.transferTime = .milliseconds(300) }) {
            server, folder in
            let head =
                "POST /parse/files/a.txt HTTP/1.1\r\nHost: x\r\nX-Parse-Application-Id: app\r\n"
                + "X-Parse-Master-Key: master\r\nContent-Length: 1000000\r\n\r\n"
            let slow = try await blocking {
                let connection = try server.connect()
                try connection.send(head + String(repeating: "x", count: 1000))
                return try connection.receive()
            }
            #expect(slow.status == 408, "\(slow.text)")
            try await blocking {
                let connection = try server.connect()
                try connection.send(head + String(repeating: "x", count: 100_000))
                connection.reset()
            }
            try await Self.expectNothing(in: folder.path("files"))
            // The server still works.
            _ = try await Self.upload(server, Array("hello".utf8))
        }
    }

    @Test func aSlowDownloadBlocksNobody() async throws {
        try await withServer({ configuration, _ in configuration.limits.transferTime = .milliseconds(500) }) {
            server, _ in
            let bytes = [UInt8](repeating: 7, count: 8_000_000)
            let name = try await Self.upload(server, bytes, name: "large.bin")
            let taken = try await blocking {
                let slow = try server.connect(receiveBuffer: 4096)
                try slow.send("GET /parse/files/app/\(name) HTTP/1.1\r\nHost: x\r\n\r\n")
                let other = try server.connect()
                #expect(try other.request("GET", "/parse/files/app/\(name)").body.count == bytes.count)
                // The file takes no memory for replies, and a client that reads too slowly is disconnected.
                #expect(server.heldReplyBytes == 0)
                var isLeft = false
                for _ in 0..<500 where !isLeft {
                    usleep(10_000)
                    isLeft = try other.request("GET", "/metrics").text.contains("relata_connections 1\n")
                }
                #expect(isLeft)
                return try slow.receiveAll().utf8.count
            }
            #expect(taken < bytes.count, "\(taken)")
        }
    }

    @Test func theMemoryDoesNotGrowWithTheFile() async throws {
        let folder = try ServerFolder()
        let (path, files) = (folder.path("library.sqlite"), folder.path("files"))
        try await blocking {
            let served = ServedFile(
                tool: try ServedTool.executable, path: path,
                options: [
                    "--files", files, "--max-file", "1G", "--app-id", "app", "--master-key", "master",
                    "--client-key", "",
                ])
            try served.start()
            let connection = try ServerConnection(port: served.port, timeout: 60)
            let fields = "Host: x\r\nX-Parse-Application-Id: app\r\nX-Parse-Master-Key: master\r\n"
            let warm = try connection.request("POST", "/parse/files/a.bin", headers: Self.keys, body: [1])
            #expect(warm.status == 201, "\(warm.text)")
            let before = try #require(served.residentMegabytes())
            let piece = [UInt8](repeating: 120, count: 1 << 20)
            try connection.send("POST /parse/files/a.bin HTTP/1.1\r\n\(fields)Content-Length: \(160 << 20)\r\n\r\n")
            var most = before
            for count in 0..<160 {
                try connection.send(piece)
                if count % 40 == 39 { most = max(most, served.residentMegabytes() ?? .infinity) }
            }
            let reply = try connection.receive()
            #expect(reply.status == 201, "\(reply.text)")
            let name = try #require(try reply.json["name"]?.string)
            try connection.send("GET /parse/files/app/\(name) HTTP/1.1\r\nHost: x\r\n\r\n")
            let head = try connection.receive(isHead: true)
            #expect(head.headers["content-length"] == "\(160 << 20)")
            for count in 0..<160 {
                let bytes = try connection.receive(count: 1 << 20)
                if count % 40 == 39 {
                    #expect(bytes == piece)
                    most = max(most, served.residentMegabytes() ?? .infinity)
                }
            }
            #expect(most - before < 40, "\(before) MB became \(most) MB")
            #expect(served.stop() == 0)
        }
    }

    @Test func serversThatShareAFolderShareTheKey() async throws {
        let folder = try ServerFolder()
        let first = try FolderStorage(folder.path("files")).signing(lifetime: 60)
        let second = try FolderStorage(folder.path("files")).signing(lifetime: 60)
        let codes = [first, second].map { $0.code(of: "a") }
        #expect(codes[0] == codes[1] && codes[0].count == 32 && first.code(of: "b") != codes[0])
        #expect(try FolderStorage(folder.path("other")).signing(lifetime: 60).code(of: "a") != codes[0])
        // The key isn't a content, and other users can't read it.
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("files/.key"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        try Data().write(to: URL(fileURLWithPath: folder.path("files/.key")))
        #expect(throws: RelataError.self) { try FolderStorage(folder.path("files")).signing(lifetime: 60) }
    }

    @Test func contentsAreCompleteAndStoredOnce() async throws {
        let folder = try ServerFolder()
        let storage = try FolderStorage(folder.path("files"))
        let hello = try await storage.store(ByteStream(Array("hello".utf8)))
        #expect(hello.id == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" && hello.size == 5)
        #expect(try await storage.store(ByteStream(Array("hello".utf8))) == hello)
        struct Stopped: Error {}
        await #expect(throws: Stopped.self) { try await storage.store(ByteStream { throw Stopped() }) }
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path("files")).count == 2)
        #expect(try await storage.read(hello.id, 1..<3)?.next() == Array("el".utf8))
        for id in ["", "..", "../files/2c/\(hello.id)", hello.id.uppercased(), String(repeating: "0", count: 64)] {
            #expect(try await storage.read(id, 0..<1) == nil, "\(id)")
            #expect(try await storage.delete(id, unlessStoredSince: .distantFuture), "\(id)")
        }
        // A recently stored content may belong to a file that is being uploaded.
        #expect(try await !storage.delete(hello.id, unlessStoredSince: Date(timeIntervalSinceNow: -60)))
        #expect(try await storage.read(hello.id, 0..<5) != nil)
        // If a deletion was interrupted, the content is restored, and can be deleted again if it is unused.
        let place = folder.path("files/2c/\(hello.id)")
        try FileManager.default.moveItem(atPath: place, toPath: folder.path("files/.old-\(hello.id)"))
        let again = try FolderStorage(folder.path("files"))
        #expect(try await again.read(hello.id, 0..<5)?.next() == Array("hello".utf8))
        #expect(try await again.delete(hello.id, unlessStoredSince: .distantFuture))
        #expect(try await again.read(hello.id, 0..<5) == nil)
        #expect(throws: (any Error).self) { try FolderStorage(folder.path("none/files")) }
    }

    @Test func remainsOfAnInterruptedDeletionAreDeletedByTheNext() async throws {
        let folder = try ServerFolder()
        let path = folder.path("files")
        let storage = try FolderStorage(path)
        let id = try await storage.store(ByteStream(Array("hello".utf8))).id
        // A server was killed while it restored the content: the content has both names.
        let (place, leaving) = ("\(path)/\(id.prefix(2))/\(id)", "\(path)/.old-\(id)")
        try FileManager.default.linkItem(atPath: place, toPath: leaving)
        #expect(try await storage.delete(id, unlessStoredSince: .distantFuture))
        #expect(try await storage.read(id, 0..<5) == nil)
        // The next start restores it, and it can be deleted again.
        #expect(try await FolderStorage(path).read(id, 0..<5)?.next() == Array("hello".utf8))
        #expect(try await storage.delete(id, unlessStoredSince: .distantFuture))
        #expect(try FileManager.default.subpathsOfDirectory(atPath: path) == [String(id.prefix(2))])
        // It was stored again before that start.
        try FileManager.default.linkItem(atPath: try await Self.file(of: storage, path), toPath: leaving)
        #expect(try await storage.store(ByteStream(Array("hello".utf8))).id == id)
        #expect(try await FolderStorage(path).read(id, 0..<5)?.next() == Array("hello".utf8))
        #expect(!FileManager.default.fileExists(atPath: leaving))
    }

    /// Stores the content of a test, and returns its path.
    private static func file(of storage: FolderStorage, _ path: String) async throws -> String {
        let id = try await storage.store(ByteStream(Array("hello".utf8))).id
        return "\(path)/\(id.prefix(2))/\(id)"
    }

    @Test func aContentThatCannotBeRestoredIsKept() async throws {
        let folder = try ServerFolder()
        let path = folder.path("files")
        let storage = try FolderStorage(path)
        let place = try await Self.file(of: storage, path)
        let id = URL(fileURLWithPath: place).lastPathComponent
        let leaving = "\(path)/.old-\(id)-1"
        try FileManager.default.moveItem(atPath: place, toPath: leaving)
        try FileManager.default.removeItem(atPath: "\(path)/\(id.prefix(2))")
        // Its folder is gone.
        #expect(throws: RelataError.self) { try FolderStorage(path) }
        #expect(FileManager.default.contents(atPath: leaving) == Data("hello".utf8))
        try FileManager.default.createDirectory(
            atPath: "\(path)/\(id.prefix(2))", withIntermediateDirectories: false)
        #expect(try await FolderStorage(path).read(id, 0..<5)?.next() == Array("hello".utf8))
        #expect(!FileManager.default.fileExists(atPath: leaving))
    }

    @Test func aContentThatIsTooShortIsAnError() async throws {
        let folder = try ServerFolder()
        let path = folder.path("files")
        let storage = try FolderStorage(path)
        let place = try await Self.file(of: storage, path)
        try Data("hel".utf8).write(to: URL(fileURLWithPath: place))
        let bytes = try #require(try await storage.read(URL(fileURLWithPath: place).lastPathComponent, 0..<5))
        #expect(try await bytes.next() == Array("hel".utf8))
        do {
            _ = try await bytes.next()
            Issue.record("the content ended like a whole one")
        } catch {
            #expect("\(error)".contains("too short: restore the folder from a copy"), "\(error)")
        }
    }
}
#endif
