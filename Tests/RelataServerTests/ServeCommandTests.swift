#if Server && CommandLineTool
import Foundation
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// `relata serve` as a process.
struct ServeCommandTests {
    func run(_ arguments: [String], environment: [String: String] = [:]) throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = try ServedTool.executable
        process.arguments = ["serve"] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    @Test func aServerPrintsItsAddressAndItsKeysAndStopsAtASignal() throws {
        for signal in [SIGINT, SIGTERM] {
            let folder = try ServerFolder()
            let server = ServedFile(tool: try ServedTool.executable, path: folder.path("file.sqlite"), options: [])
            try server.start()
            let masterKey = try #require(key("master key", in: server.printed))
            let reply = try ServerConnection(port: server.port).request(
                "GET", "/parse/serverInfo",
                headers: [
                    "X-Parse-Application-Id": try #require(key("application id", in: server.printed)),
                    "X-Parse-Master-Key": masterKey,
                ])
            #expect(reply.status == 200)
            #expect(server.stop(signal: signal) == 0)
            #expect(server.printed.hasSuffix("stopped\n"))
        }
    }

    @Test func keysAndObjectsSurviveARestart() throws {
        let folder = try ServerFolder()
        let server = ServedFile(tool: try ServedTool.executable, path: folder.path("file.sqlite"), options: [])
        try server.start()
        let printed = server.printed
        let headers = [
            "X-Parse-Application-Id": try #require(key("application id", in: printed)),
            "X-Parse-Client-Key": try #require(key("client key", in: printed)),
        ]
        let body = Array(#"{"title": "Dune"}"#.utf8)
        let created = try ServerConnection(port: server.port).request(
            "POST", "/parse/classes/Book", headers: headers, body: body)
        #expect(created.status == 201)
        let location = try #require(created.headers["location"])
        #expect(server.stop() == 0)
        try server.start()
        #expect(key("application id", in: server.printed) == headers["X-Parse-Application-Id"])
        #expect(!server.printed.contains(try #require(key("master key", in: printed))))
        let connection = try ServerConnection(port: server.port)
        let found = try connection.request("GET", location, headers: headers)
        #expect(try found.json["title"] == "Dune")
        let refused = try connection.request(
            "GET", location, headers: ["X-Parse-Application-Id": headers["X-Parse-Application-Id"] ?? ""])
        #expect(refused.status == 403)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("file.sqlite.keys"))
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test func productionRefusesClassesThatDoNotExist() throws {
        let folder = try ServerFolder()
        let server = ServedFile(
            tool: try ServedTool.executable, path: folder.path("file.sqlite"),
            options: ["--production", "--app-id", "app", "--client-key", ""])
        try server.start()
        let reply = try ServerConnection(port: server.port).request(
            "POST", "/parse/classes/Book", headers: ["X-Parse-Application-Id": "app"], body: Array("{}".utf8))
        #expect(reply.status >= 400)
        #expect(reply.code != nil)
        #expect(server.stop() == 0)
    }

    @Test func flagsOverrideTheEnvironmentAndTheEnvironmentOverridesTheFile() throws {
        let folder = try ServerFolder()
        let path = folder.path("server.json")
        try #"{"app-id": "from-file", "mount": "/from-file", "max-body": "1K", "allow-origin": ["https://a.example"]}"#
            .write(toFile: path, atomically: false, encoding: .utf8)
        let server = ServedFile(
            tool: try ServedTool.executable, path: folder.path("file.sqlite"),
            options: ["--config", path, "--client-key", "", "--app-id", "from-flag"],
            environment: ["RELATA_MOUNT": "/from-environment"])
        try server.start()
        let connection = try ServerConnection(port: server.port)
        let headers = ["X-Parse-Application-Id": "from-flag"]
        let reply = try connection.request("GET", "/from-environment/health", headers: headers)
        #expect(reply.status == 200)
        #expect(reply.headers["access-control-allow-origin"] == "https://a.example")
        let large = try connection.request(
            "POST", "/from-environment/classes/A", headers: headers, body: [UInt8](repeating: 32, count: 2000))
        #expect(large.status == 413)
        #expect(server.stop() == 0)
    }

    @Test func aHigherLimitOfABodyRaisesThatOfAllBodies() throws {
        let folder = try ServerFolder()
        let server = ServedFile(
            tool: try ServedTool.executable, path: folder.path("file.sqlite"), options: ["--max-body", "1G"])
        try server.start()
        #expect(server.stop() == 0)
    }

    @Test(arguments: [
        (["--port", "abc"], "--port must be a whole number, not abc"),
        (["--max-body", "5X"], "--max-body must be a number of bytes such as 500000, 64K or 20M, not 5X"),
        (["--max-body", "5ß"], "--max-body must be a number of bytes such as 500000, 64K or 20M, not 5ß"),
        (["--max-body", "ﬁ"], "--max-body must be a number of bytes such as 500000, 64K or 20M, not ﬁ"),
        (
            ["--log-level", "loud"],
            "--log-level must be one of trace, debug, info, notice, warning, error, critical, not loud"
        ),
        (["--production", "--development"], "--production and --development exclude each other"),
        (["--tls-key", "key.pem"], "--tls-certificate and --tls-key belong together"),
        (["--max-bodies", "1M"], "--max-bodies must be at least --max-body, which is 20971520"),
        (["--no-such-flag"], "Unknown option '--no-such-flag'"),
        (["--app-id", ""], "the application's id is empty"),
    ])
    func invalidSettingsAreRefusedInOneLine(_ arguments: [String], _ message: String) throws {
        let result = try run([":memory:"] + arguments)
        #expect(result.text == "relata: \(message) (see relata --help)\n")
        #expect(result.status == 64)
    }

    @Test func anImpossibleNumberOfConnectionsIsRefused() throws {
        let result = try run([":memory:", "--max-connections", "9223372036854775807"])
        #expect(result.text.contains("the limit connections is 9223372036854775807: it must be at most 1048576"))
        #expect(result.status == 1)
    }

    @Test func invalidSettingsAreNamedWithTheirSource() throws {
        let folder = try ServerFolder()
        #expect(
            try run([":memory:"], environment: ["RELATA_PORT": "x"]).text.contains("RELATA_PORT must be a whole number")
        )
        let path = folder.path("server.json")
        for (text, message) in [
            (#"{"porrt": 1}"#, "there is no setting porrt: did you mean port?"),
            (#"{"port": "x"}"#, "port in \(path) must be a whole number"), (#"{"port": {}}"#, "port must be text"),
            (#"[1]"#, "must be a JSON object"), (#"{"port": 1"#, "invalid JSON"),
        ] {
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            let result = try run([":memory:", "--config", path])
            #expect(result.text.contains(message), "\(result.text)")
            #expect(result.text.split(separator: "\n").count == 1)
            #expect(result.status != 0)
        }
        #expect(try run([":memory:", "--config", folder.path("none.json")]).text.contains("can't be read"))
    }

    @Test func aFileThatIsNoDatabaseIsRefusedAndNotChanged() throws {
        let folder = try ServerFolder()
        let path = folder.path("text.sqlite")
        let text = String(repeating: "this is no database\n", count: 100)
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        let result = try run([path, "--port", "0"])
        #expect(result.status == 1)
        #expect(result.text.split(separator: "\n").count == 1)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        #expect(!FileManager.default.fileExists(atPath: path + ".keys"))
    }

    @Test func aPortThatIsInUseIsAClearError() throws {
        let folder = try ServerFolder()
        let server = ServedFile(tool: try ServedTool.executable, path: folder.path("a.sqlite"), options: [])
        try server.start()
        let result = try run([folder.path("b.sqlite"), "--port", "\(server.port)"])
        #expect(result.status == 1)
        #expect(
            result.text
                == "relata: port \(server.port) of 127.0.0.1 is in use: stop the program that uses it, or choose another port\n"
        )
        #expect(server.stop() == 0)
    }

    private func key(_ name: String, in printed: String) -> String? {
        let line = printed.split(separator: "\n").first { $0.hasPrefix("  \(name)") }
        return line?.split(separator: " ").last.map(String.init)
    }
}
#endif
