#if Server && CommandLineTool
import Foundation
import RelataParse
import ServerClient
import TestSupport
import Testing

@testable import RelataServer

/// The work of a server's operators with the tool.
struct OperatingTests {
    /// Runs the tool.
    private func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) throws -> (status: Int32, output: String, errors: String) {
        let folder = try ServerFolder()
        let process = Process()
        process.executableURL = try ServedTool.executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        try input.write(toFile: folder.path("in"), atomically: false, encoding: .utf8)
        for name in ["out", "err"] { try Data().write(to: URL(fileURLWithPath: folder.path(name))) }
        process.standardInput = FileHandle(forReadingAtPath: folder.path("in"))
        process.standardOutput = FileHandle(forWritingAtPath: folder.path("out"))
        process.standardError = FileHandle(forWritingAtPath: folder.path("err"))
        try process.run()
        process.waitUntilExit()
        return (
            process.terminationStatus, try String(contentsOfFile: folder.path("out"), encoding: .utf8),
            try String(contentsOfFile: folder.path("err"), encoding: .utf8)
        )
    }

    private func serve(
        _ path: String, _ options: [String] = [], environment: [String: String] = [:]
    ) throws
        -> ServedFile
    {
        let server = ServedFile(
            tool: try ServedTool.executable, path: path,
            options: ["--app-id", "app", "--client-key", ""] + options, environment: environment)
        try server.start()
        return server
    }

    private func request(
        _ server: ServedFile, _ method: String, _ path: String, key: String? = "master",
        _ body: String = "",
        headers more: [String: String] = [:]
    ) throws -> ServerReplyText {
        var headers = ["X-Parse-Application-Id": "app"]
        headers["X-Parse-Master-Key"] = key
        return try ServerConnection(port: server.port).request(
            method, path, headers: headers.merging(more) { $1 }, body: Array(body.utf8))
    }

    @Test func aServerIsMovedFromAnother() throws {
        let folder = try ServerFolder()
        let old = try serve(folder.path("old.sqlite"), environment: ["RELATA_MASTER_KEY": "master"])
        for (path, body) in [
            ("/parse/users", #"{"username": "mei", "password": "secret", "email": "mei@example.org"}"#),
            ("/parse/classes/Author", #"{"name": "Octavia"}"#),
        ] {
            #expect(try request(old, "POST", path, body).status == 201)
        }
        let author = try #require(
            try request(old, "GET", "/parse/classes/Author").json["results"]?.array?[0]["objectId"]?
                .string)
        let pointer = #"{"__type": "Pointer", "className": "Author", "objectId": "\#(author)"}"#
        var parts = (0..<1100).map { number in
            #"{"method": "POST", "path": "/parse/classes/Book", "body": {"number": \#(number), "author": \#(pointer)}}"#
        }
        parts.append(
            #"{"method": "POST", "path": "/parse/classes/Shelf", "body": {"authors": {"__op": "AddRelation", "objects": [\#(pointer)]}, "ACL": {"*": {"read": true}}}}"#
        )
        let made = try request(
            old, "POST", "/parse/batch", #"{"requests": [\#(parts.joined(separator: ","))]}"#)
        #expect(made.status == 200)
        let url = "http://127.0.0.1:\(old.port)/parse"
        let new = folder.path("new.sqlite")
        let wrong = try run(["import-parse", new, url, "--app-id", "app"], input: "wrong\n")
        #expect(wrong.status == 1 && wrong.errors.contains("403"), "\(wrong.errors)")
        for turn in 0..<2 {
            let moved = try run(
                ["import-parse", new, url, "--app-id", "app"],
                environment: ["RELATA_SOURCE_MASTER_KEY": "master"])
            #expect(moved.status == 0, "\(moved.errors)")
            #expect(moved.output.contains(turn == 0 ? "1,100" : "Book"), "\(moved.output)")
        }
        #expect(!FileManager.default.fileExists(atPath: new + ".import"))
        let server = try serve(new, environment: ["RELATA_MASTER_KEY": "master"])
        for path in [
            "/parse/classes/Author", "/parse/classes/Book?limit=2000", "/parse/classes/Shelf",
            "/parse/users",
        ] {
            let (before, after) = (try request(old, "GET", path), try request(server, "GET", path))
            #expect(try before.json == after.json, "\(path)")
        }
        let related =
            "/parse/classes/Author?where="
            + (#"{"$relatedTo":{"object":{"__type":"Pointer","className":"Shelf","objectId":"ID"},"key":"authors"}}"#
                .replacing(
                    "ID",
                    with: try request(old, "GET", "/parse/classes/Shelf").json["results"]?.array?[0][
                        "objectId"]?.string
                        ?? ""
                ).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
        #expect(try request(server, "GET", related).json["results"]?.array?.count == 1)
    }

    @Test func usersOfAnExportSignInWithTheirPasswords() throws {
        let folder = try ServerFolder()
        let export = folder.path("export")
        try FileManager.default.createDirectory(atPath: export, withIntermediateDirectories: true)
        let hash = "$2b$04$abcdefghijklmnopqrstuuR3dMtAP7VxjyITC9nfr10gOYSlveDdy"
        try #"{"_id":"u1","username":"mei","_hashed_password":"\#(hash)","_rperm":["u1"],"_wperm":["u1"]}"#
            .write(toFile: export + "/_User.json", atomically: false, encoding: .utf8)
        let path = folder.path("new.sqlite")
        let moved = try run(["import-parse", path, export])
        #expect(moved.status == 0 && moved.output.contains("_User"), "\(moved.errors)")
        let server = try serve(path, ["--password-cost", "10"])
        #if os(Linux)
        for _ in 0..<2 {
            let signedIn = try request(
                server, "POST", "/parse/login", key: nil,
                #"{"username": "mei", "password": "secret of mei"}"#)
            #expect(signedIn.status == 200, "\(signedIn.text)")
        }
        #endif
        let wrong = try request(
            server, "POST", "/parse/login", key: nil, #"{"username": "mei", "password": "no"}"#)
        #expect(wrong.status == 404)
    }

    @Test func theStateOfAnotherImportIsRefused() throws {
        let folder = try ServerFolder()
        let state = folder.path("state")
        try #"{"source": "elsewhere", "done": [], "positions": {}}"#
            .write(toFile: state, atomically: false, encoding: .utf8)
        try FileManager.default.createDirectory(
            atPath: folder.path("export"), withIntermediateDirectories: true)
        try "{}".write(toFile: folder.path("export/Note.json"), atomically: false, encoding: .utf8)
        let other = try run(
            ["import-parse", folder.path("new.sqlite"), folder.path("export"), "--state", state])
        #expect(other.status == 1 && other.errors.contains("of another import"), "\(other.errors)")
        #expect(FileManager.default.fileExists(atPath: state))
        let without = try run([
            "import-parse", folder.path("new.sqlite"), "https://old.example.org/parse",
        ])
        #expect(without.status == 64 && without.errors.contains("--app-id must be given"))
        let plain = try run(
            [
                "import-parse", folder.path("new.sqlite"), "http://old.example.org/parse", "--app-id",
                "app",
            ],
            environment: ["RELATA_SOURCE_MASTER_KEY": "master"])
        #expect(plain.status == 1 && plain.errors.contains("https://"), "\(plain.errors)")
    }

    @Test func keysAreRotatedUnderARunningServer() throws {
        let folder = try ServerFolder()
        let path = folder.path("library.sqlite")
        let server = try serve(path, ["--old-key-time", "0"])
        let line = try #require(
            server.printed.split(separator: "\n").first { $0.hasPrefix("  master key") })
        let old = try #require(line.split(separator: " ").last.map(String.init))
        #expect(try request(server, "GET", "/parse/schemas", key: old).status == 200)
        let rotated = try run(["keys", "rotate", path + ".keys"])
        #expect(rotated.status == 0, "\(rotated.errors)")
        let new = rotated.output.trimmingCharacters(in: .newlines)
        try blockUntil { try request(server, "GET", "/parse/schemas", key: new).status == 200 }
        #expect(try request(server, "GET", "/parse/schemas", key: old).status == 403)
    }

    @Test func aServerNamesItsPartsAndLimitsRequests() throws {
        let folder = try ServerFolder()
        let files = folder.path("files")
        let server = try serve(
            folder.path("library.sqlite"),
            [
                "--files", files, "--rate-limit",
                "path=/classes/*,requests=3,seconds=600,by=user,methods=GET+POST",
                "--rate-limit", "route=/config,requests=1,seconds=600,message=Later",
                "--read-only-master-key", "reads", "--rest-api-key", "rest", "--maintenance-key", "fixes",
                "--maintenance-key-addresses", "10.0.0.0/8",
            ], environment: ["RELATA_MASTER_KEY": "master"])
        #expect(
            try request(server, "GET", "/readyz").text
                == #"{"status":"ok","database":{"status":"ok"},"files":{"status":"ok"}}"#)
        try FileManager.default.removeItem(atPath: files)
        let ready = try request(server, "GET", "/readyz")
        #expect(ready.status == 200)
        let parts = try ready.json
        #expect(parts["files"]?["status"] == "error" && parts["database"]?["status"] == "ok")
        let rest = ["X-Parse-REST-API-Key": "rest"]
        for status in [200, 200, 200, 429] {
            let reply = try request(server, "GET", "/parse/classes/Book", key: nil, headers: rest)
            #expect(reply.status == status)
            #expect((reply.headers["retry-after"] != nil) == (status == 429))
        }
        #expect(try request(server, "GET", "/parse/config", key: nil, headers: rest).status == 200)
        #expect(
            try request(server, "GET", "/parse/config", key: nil, headers: rest).text.contains("Later"))
        #expect(try request(server, "GET", "/parse/classes/Book", key: nil).status == 403)
        #expect(try request(server, "GET", "/parse/schemas", key: "reads").status == 200)
        #expect(try request(server, "POST", "/parse/classes/Book", key: "reads", "{}").status == 403)
        let maintenance = ["X-Parse-Maintenance-Key": "fixes"]
        #expect(
            try request(server, "GET", "/parse/classes/Book", key: nil, headers: maintenance).status
                == 403)
        #expect(try request(server, "GET", "/parse/classes/Book").status == 200)
    }

    @Test(arguments: [
        (["--rate-limit", "/a"], "--rate-limit: /a has no value"),
        (["--rate-limit", "requests=1"], "--rate-limit: it must begin with path="),
        (["--rate-limit", "path=/a"], "--rate-limit: it needs path=, requests= and seconds="),
        (
            ["--rate-limit", "path=/a,requests=1,seconds=1,by=x"],
            "--rate-limit: by must be one of address, user, session"
        ),
        (["--rate-limit", "path=/a,requests=1,seconds=1,zone=x"], "--rate-limit: there is no zone"),
        (["--rate-limit", "path=a,requests=1,seconds=1"], "--rate-limit: a rate limit's path is a"),
        (["--rate-limit", "path=/a,requests=1,requests=2"], "--rate-limit: requests is given twice"),
        (
            ["--master-key-addresses", "10.0.0.0/99"],
            "--master-key-addresses: 10.0.0.0/99 isn't an address"
        ),
        (["--trusted-proxies", "proxy"], "--trusted-proxies: proxy isn't an address"),
        (["--old-key-time", "8d"], "--old-key-time must be 0 to 7 days"),
        (["--client-key", "a", "--master-key", "a"], "the client key equals the master key"),
    ])
    func whatCannotBeSetIsRefused(_ arguments: [String], _ message: String) throws {
        let result = try run(["serve", ":memory:", "--port", "0"] + arguments)
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(result.status != 0)
    }
}
#endif
