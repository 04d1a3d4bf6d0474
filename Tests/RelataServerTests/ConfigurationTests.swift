#if Server
import Foundation
import RelataCore
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

struct ConfigurationTests {
    private func refusal(
        _ configure: (inout RelataServer.Configuration) -> Void = { _ in },
        options set: (inout ParseService.Options) -> Void = { _ in }
    ) throws -> String {
        var (configuration, options) = (RelataServer.Configuration(), ParseService.Options())
        configure(&configuration)
        set(&options)
        let store = try ParseStore.open(nil)
        defer { try? store.close() }
        do {
            _ = try RelataServer(
                store, keys: ServerKeys(applicationID: "app"), options: options, configuration: configuration)
            return "taken"
        } catch {
            return "\(error)"
        }
    }

    @Test func invalidSettingsAreRefusedByName() throws {
        #expect(try refusal { _ in } == "taken")
        #expect(try refusal { $0.port = 70_000 }.contains("port 70000"))
        #expect(try refusal { $0.host = "" }.contains("host"))
        #expect(try refusal { $0.mount = "parse" }.contains("mount parse"))
        #expect(try refusal { $0.mount = "/a b" }.contains("mount /a b"))
        #expect(try refusal { $0.allowedOrigins = ["https://a\r\nx: y"] }.contains("origin"))
        #expect(try refusal { $0.limits.bodySize = 0 }.contains("bodySize"))
        #expect(try refusal { $0.limits.requestTime = .zero }.contains("requestTime"))
        #expect(try refusal { $0.limits.bodySize = 5 << 30 }.contains("bodySize"))
        #expect(try refusal { $0.limits.totalBodySize = 1000 }.contains("totalBodySize"))
        #expect(try refusal { $0.limits.connections = .max }.contains("connections"))
        #expect(try refusal { $0.limits.connections = 1 << 20 } == "taken")
        #expect(try refusal { $0.stopTimeout = .seconds(-1) }.contains("time to stop"))
        #expect(try refusal(options: { $0.maximumLimit = -1 }).contains("maximumLimit"))
        #expect(try refusal(options: { $0.maximumLimit = 0 }).contains("maximumLimit"))
        #expect(try refusal(options: { $0.maximumBatch = 0 }).contains("maximumBatch"))
        #expect(try refusal(options: { $0.maximumReply = 0 }).contains("maximumReply"))
        #expect(try refusal(options: { $0.maximumReply = 5 << 30 }).contains("maximumReply"))
        for time in [-1, 0, Double.nan, .infinity] {
            #expect(try refusal(options: { $0.requestLifetime = time }).contains("requestLifetime"))
        }
    }

    @Test func sizesOfKeptRepliesMustFitTogether() throws {
        let message = try refusal(options: { ($0.maximumKeptReply, $0.maximumKeptReplies) = (2000, 1999) })
        #expect(
            message.contains("maximumKeptReplies is 1999: it must be at least maximumKeptReply, which is 2000"),
            "\(message)")
        #expect(try refusal(options: { ($0.maximumKeptReply, $0.maximumKeptReplies) = (2000, 2000) }) == "taken")
    }

    @Test func invalidSettingsOfFilesAreRefusedByName() throws {
        let folder = try ServerFolder()
        func refusal(_ set: (inout FileOptions) throws -> Void) throws -> String {
            var files = FileOptions(storage: try FolderStorage(folder.path("files")))
            try set(&files)
            return try self.refusal(options: { $0.files = files })
        }
        #expect(try refusal { _ in } == "taken")
        #expect(try refusal { $0.maximumSize = 0 }.contains("maximumSize of files is 0"))
        for time in [-1, 0, 1e10, Double.nan, .infinity] {
            #expect(try refusal { $0.unusedLifetime = time }.contains("unusedLifetime of files is \(time)"), "\(time)")
        }
        #expect(try refusal { $0.unusedLifetime = nil } == "taken")
        for time in [-1, 0, 31_536_001, Double.nan, .infinity] {
            let message = try refusal { $0.signing = FileSigning(lifetime: time) { Array($0.utf8) } }
            #expect(message.contains("the lifetime of signed addresses is \(time)"), "\(message)")
        }
        for url in ["", "example.com", "ftp://example.com", "https://example.com/a b", "https://exämple.com"] {
            #expect(try refusal { $0.publicURL = url }.contains("the public address \(url) isn't one"), "\(url)")
        }
        #expect(try refusal { $0.publicURL = "https://example.com/parse" } == "taken")
    }

    @Test func anAuditThatIsNoRegularFileIsRefused() throws {
        let folder = try ServerFolder()
        let (pipe, directory) = (folder.path("pipe"), folder.path("directory"))
        #expect(mkfifo(pipe, 0o600) == 0)
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        try FileManager.default.createDirectory(atPath: folder.path("old.1"), withIntermediateDirectories: false)
        for (path, words) in [
            (pipe, "\(pipe): isn't a regular file"), ("/dev/zero", "isn't a regular file"),
            (directory, "is a directory"),
            // The file's rotation would have to remove this directory.
            (folder.path("old"), "old.1: is a directory"),
        ] {
            let message = try refusal { $0.dashboard = .init(name: "x", auditFile: path) }
            #expect(message.contains(words), "\(message)")
        }
        #expect(try refusal { $0.dashboard = .init(name: "x", auditFile: folder.path("new")) } == "taken")
    }

    @Test func unreadableFilesOfTLSAreNamed() throws {
        let folder = try ServerFolder()
        let path = folder.path("nothing.pem")
        #expect(try refusal { $0.tls = .init(certificate: path, key: path) }.contains(path))
        try "no certificate".write(toFile: path, atomically: false, encoding: .utf8)
        #expect(try refusal { $0.tls = .init(certificate: path, key: path) }.contains("contains no certificate"))
    }

    @Test func aPortThatIsInUseIsNamed() async throws {
        try await TestServer.running { server in
            var configuration = RelataServer.Configuration()
            configuration.port = server.port
            configuration.stopsOnSignals = false
            let second = try RelataServer(
                ParseStore.open(nil), keys: ServerKeys(applicationID: "app"), configuration: configuration)
            await #expect {
                try await second.run()
            } throws: { error in
                "\(error)".contains("port \(server.port) of 127.0.0.1 is in use")
            }
        }
    }

    @Test func anAddressOfAnotherMachineIsNamed() async throws {
        for host in ["192.0.2.1", "no such host"] {
            var configuration = RelataServer.Configuration()
            configuration.host = host
            configuration.port = 0
            configuration.stopsOnSignals = false
            let server = try RelataServer(
                ParseStore.open(nil), keys: ServerKeys(applicationID: "app"), configuration: configuration)
            await #expect { try await server.run() } throws: { error in
                "\(error)".contains("\(host) isn't an address of this machine")
            }
        }
    }
}
#endif
