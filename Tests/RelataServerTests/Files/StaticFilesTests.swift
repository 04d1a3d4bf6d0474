#if Server
import Foundation
import RelataCore
import RelataParse
import ServerClient
import TestSupport
import Testing

@testable import RelataServer

/// Static files, served along with the protocol.
struct StaticFilesTests {
    /// A folder `public` with some files, and a secret file beside it.
    private struct Site {
        let folder: ServerFolder
        let root: URL

        init() throws {
            folder = try ServerFolder()
            root = folder.url.appendingPathComponent("public")
            try write("index.html", "<p>Home")
            try write("app.js", "export {}")
            try write("with space.txt", "space")
            try write("中文.txt", "中文")
            try write("pages/index.html", "<p>Pages")
            try write("pages/deep/one.css", "p {}")
            try write("empty.txt", "")
            try write(".hidden", "secret")
            try write(".git/config", "secret")
            try write("pages/.env", "secret")
            try write("../secret.txt", "secret")
        }

        func write(_ path: String, _ text: String) throws {
            let file = root.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }

        var files: StaticFiles { get throws { try StaticFiles(folder: root.path) } }
    }

    private static let inMemory = StaticFiles([
        "index.html": Array("<p>Home".utf8), "app.js": Array("export {}".utf8), "with space.txt": Array("space".utf8),
        "中文.txt": Array("中文".utf8), "pages/index.html": Array("<p>Pages".utf8),
        "pages/deep/one.css": Array("p {}".utf8), "empty.txt": [],
    ])

    /// The same files from both kinds of sources.
    private func sources() throws -> (Site, [StaticFiles]) {
        let site = try Site()
        return (site, [try site.files, Self.inMemory])
    }

    @Test func filesAreSentWithTheirTypes() async throws {
        let (site, sources) = try sources()
        defer { withExtendedLifetime(site) {} }
        for files in sources {
            try await TestServer.running({ $0.files["/"] = files }) { server in
                for (path, type, text) in [
                    ("/", "text/html", "<p>Home"), ("/index.html", "text/html", "<p>Home"),
                    ("/app.js?v=1", "text/javascript", "export {}"), ("/pages/", "text/html", "<p>Pages"),
                    ("/pages/deep/one.css", "text/css", "p {}"), ("/with%20space.txt", "text/plain", "space"),
                    ("/%E4%B8%AD%E6%96%87.txt", "text/plain", "中文"), ("/empty.txt", "text/plain", ""),
                ] {
                    let reply = try await server.request("GET", path)
                    #expect(reply.status == 200 && reply.text == text, "\(path): \(reply.status) \(reply.text)")
                    #expect(reply.headers["content-type"] == "\(type); charset=utf-8", "\(path)")
                    #expect(reply.headers["x-content-type-options"] == "nosniff")
                    #expect(reply.headers["cache-control"] == "no-cache")
                    #expect(reply.headers["etag"]?.hasPrefix("W/\"") == true)
                    let head = try await server.request("HEAD", path)
                    #expect(head.status == 200 && head.headers["content-length"] == "\(text.utf8.count)", "\(path)")
                }
                for path in ["/pages", "/pages?x=1"] {
                    let reply = try await server.request("GET", path)
                    #expect(reply.status == 301 && reply.headers["location"] == "/pages/")
                }
            }
        }
    }

    @Test func aCachedFileIsNotSentAgain() async throws {
        let (site, sources) = try sources()
        for files in sources {
            try await TestServer.running({ $0.files["/"] = files }) { server in
                let tag = try #require(try await server.request("GET", "/app.js").headers["etag"])
                for known in [tag, "\"other\", \(tag)", String(tag.dropFirst(2)), "*"] {
                    let reply = try await server.request("GET", "/app.js", headers: ["If-None-Match": known])
                    #expect(reply.status == 304 && reply.body.isEmpty, "\(known)")
                    #expect(reply.headers["etag"] == tag && reply.headers["content-length"] == nil)
                }
                let other = try await server.request("GET", "/app.js", headers: ["If-None-Match": "\"other\""])
                #expect(other.status == 200)
            }
        }
        let files = try site.files
        try await TestServer.running({ $0.files["/"] = files }) { server in
            let tag = try #require(try await server.request("GET", "/app.js").headers["etag"])
            try site.write("app.js", "export {};")
            let reply = try await server.request("GET", "/app.js", headers: ["If-None-Match": tag])
            #expect(reply.status == 200 && reply.text == "export {};")
        }
    }

    @Test func noPathLeadsOutOfTheFolder() async throws {
        let site = try Site()
        let files = try site.files
        let manager = FileManager.default
        try manager.createSymbolicLink(
            at: site.root.appendingPathComponent("link.txt"),
            withDestinationURL: site.folder.url.appendingPathComponent("secret.txt"))
        try manager.createSymbolicLink(
            at: site.root.appendingPathComponent("outside"), withDestinationURL: site.folder.url)
        #expect(mkfifo(site.root.appendingPathComponent("pipe").path, 0o600) == 0)
        try await TestServer.running({ $0.files["/"] = files }) { server in
            for target in [
                "/../secret.txt", "/%2e%2e/secret.txt", "/%2E%2E%2Fsecret.txt", "/..%2fsecret.txt",
                "/pages/../../secret.txt",
                "/pages/%2e%2e/%2e%2e/secret.txt", "/..%5csecret.txt", "/..\\secret.txt", "/pages/../index.html",
                "/./app.js",
                "//app.js", "/pages//index.html", "/app.js/", "/app.js%00", "/app.js%00.html",
                "/%c0%ae%c0%ae/secret.txt",
                "/%", "/%zz", "/.hidden", "/%2ehidden", "/.git/config", "/.git/", "/pages/.env", "/link.txt",
                "/outside/secret.txt", "/outside/", "/outside", "/pipe", "/pages/deep/", "/nothing.txt",
                "http://other.example/../secret.txt", "//etc/passwd", "/app.js%2f..%2findex.html",
            ] {
                let reply = try await blocking {
                    let connection = try server.connect()
                    try connection.send("GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
                    return try connection.receive()
                }
                #expect(reply.status == 404 || reply.status == 400, "\(target): \(reply.status) \(reply.text)")
                #expect(reply.code != nil && !reply.text.contains("secret"), "\(target): \(reply.text)")
            }
        }
    }

    @Test func theProtocolAndTheServersOwnPagesComeFirst() async throws {
        let site = try Site()
        try site.write("parse/classes/Book", "file")
        try site.write("livez", "file")
        try site.write("parsed.txt", "file")
        let files = try site.files
        try await TestServer.running({
            $0.files = ["/": files, "/dashboard": Self.inMemory, "/parse/pages": Self.inMemory]
        }) { server in
            for (path, status, text) in [
                ("/parse/classes/Book", 200, #""path":"/classes/Book""#), ("/livez", 200, "ok"), ("/readyz", 200, "ok"),
                ("/parsed.txt", 200, "file"), ("/dashboard", 301, ""), ("/dashboard/", 200, "<p>Home"),
                ("/dashboards", 404, "there is nothing here"),
                // The longest matching path wins.
                ("/parse/pages/app.js", 200, "export {}"),
            ] {
                let reply = try await server.request("GET", path)
                #expect(reply.status == status && (text.isEmpty || reply.text.contains(text)), "\(path): \(reply)")
            }
        }
        try await TestServer.running({
            $0.mount = "/"
            $0.files["/dashboard"] = Self.inMemory
        }) { server in
            for (path, text) in [("/classes/Book", #""path":"/classes/Book""#), ("/dashboard/app.js", "export {}")] {
                let reply = try await server.request("GET", path)
                #expect(reply.text.contains(text), "\(path): \(reply)")
            }
        }
    }

    @Test func filesCanOnlyBeRead() async throws {
        let files = try Site().files
        try await TestServer.running({ $0.files["/"] = files }) { server in
            for method in ["POST", "PUT", "DELETE", "PATCH"] {
                let reply = try await server.request(method, "/app.js", body: Array("{}".utf8))
                #expect(reply.status == 405 && reply.headers["allow"] == "GET, HEAD", "\(method)")
            }
            let large = try await server.request("POST", "/app.js", body: Array(repeating: 32, count: 100_000))
            #expect(large.status == 413)
        }
    }

    @Test func theHeaderFieldsOfFilesAreSentWithEachFile() async throws {
        var files = Self.inMemory
        files.headers = [("content-security-policy", "default-src 'self'")]
        try await TestServer.running({ [files] in $0.files["/"] = files }) { server in
            let reply = try await server.request("GET", "/")
            #expect(reply.headers["content-security-policy"] == "default-src 'self'")
        }
    }

    @Test func compressedFilesAreNotCompressedAgain() async throws {
        let text = [UInt8](repeating: 32, count: 5000)
        let files = StaticFiles(["a.txt": text, "a.png": text, "a.svg": text])
        try await TestServer.running({ $0.files["/"] = files }) { server in
            for (path, coding) in [("/a.txt", "gzip"), ("/a.svg", "gzip"), ("/a.png", nil)] {
                let reply = try await server.request("GET", path, headers: ["Accept-Encoding": "gzip"])
                #expect(reply.headers["content-encoding"] == coding, "\(path)")
                #expect((reply.body.count < 5000) == (coding != nil))
            }
        }
    }

    @Test func aLargeFileIsReadOnceThereIsMemory() async throws {
        let folder = try ServerFolder()
        try Data(repeating: 32, count: 3_000_000).write(to: folder.url.appendingPathComponent("film.mp4"))
        try Data(repeating: 32, count: 5_000_000).write(to: folder.url.appendingPathComponent("large.mp4"))
        let files = try StaticFiles(folder: folder.url.path)
        try await TestServer.running(
            {
                $0.limits.bodySize = 1000
                $0.limits.totalBodySize = 1000
                $0.files["/"] = files
            }, maximumReply: 4_000_000
        ) { server in
            #expect(try await server.request("GET", "/large.mp4").status == 403)
            let (refused, taken, later) = try await blocking {
                let slow = try server.connect()
                try slow.send(ServerConnection.bytes("GET", "/film.mp4"))
                blockUntil { server.heldFileBytes >= 3_000_000 }
                let refused = try server.connect().request("GET", "/film.mp4")
                let taken = try slow.receive().body.count
                blockUntil { server.heldFileBytes == 0 }
                return (refused, taken, try server.connect().request("GET", "/film.mp4").body.count)
            }
            #expect(refused.status == 503 && refused.headers["retry-after"] == "1")
            #expect(taken == 3_000_000 && later == 3_000_000)
        }
    }

    @Test func filesThatCannotBeServedAreRefusedByName() throws {
        #expect(throws: RelataError.self) { try StaticFiles(folder: "/nowhere/public") }
        for (path, mount) in [("/parse", "/parse"), ("/", "/"), ("/livez", "/parse"), ("pages", "/parse")] {
            var configuration = RelataServer.Configuration()
            configuration.mount = mount
            configuration.files[path] = Self.inMemory
            let error = #expect(throws: RelataError.self) { try configuration.check() }
            #expect(error.map { "\($0)" }?.contains("below \(path)") == true)
        }
    }
}

#if CommandLineTool
extension ServeCommandTests {
    @Test func filesOfAFolderAreServedBesideTheProtocol() throws {
        let folder = try ServerFolder()
        let files = folder.url.appendingPathComponent("public")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        try "<p>Home".write(to: files.appendingPathComponent("index.html"), atomically: true, encoding: .utf8)
        let server = ServedFile(
            tool: try ServedTool.executable, path: folder.path("file.sqlite"), options: ["--public", files.path])
        try server.start()
        #expect(server.printed.contains("The files of \(files.path) are at http://127.0.0.1:\(server.port)/\n"))
        #expect(try ServerConnection(port: server.port).request("GET", "/").text == "<p>Home")
        #expect(try ServerConnection(port: server.port).request("GET", "/parse/health").status == 200)
    }

    @Test func foldersWithTheDatabaseOrItsKeysAreNotServed() throws {
        let folder = try ServerFolder()
        let files = folder.url.appendingPathComponent("public")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: folder.url.appendingPathComponent("link"), withDestinationURL: files)
        for arguments in [
            [folder.path("file.sqlite"), "--public", folder.url.path],
            [folder.path("public/file.sqlite"), "--public", files.path],
            [folder.path("link/file.sqlite"), "--public", files.path],
            [folder.path("public/file.sqlite"), "--public", folder.path("link")],
            [folder.path("file.sqlite"), "--keys", folder.path("public/keys"), "--public", files.path],
            [folder.path("file.sqlite"), "--public", "/"],
        ] {
            let result = try run(arguments)
            #expect(result.status == 64 && result.text.contains("which clients may not read"), "\(result)")
        }
        let missing = try run([folder.path("file.sqlite"), "--public", folder.path("nowhere")])
        #expect(missing.status != 0 && missing.text.contains("isn't a folder"), "\(missing)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("public/file.sqlite")))
    }
}
#endif
#endif
