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
