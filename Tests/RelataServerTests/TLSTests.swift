#if Server
import Foundation
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// HTTPS, with a certificate created for the test.
@Suite(.enabled(if: OpenSSL.isThere, "the command openssl isn't there"))
struct TLSTests {
    private func running(_ body: @escaping @Sendable (TestServer, _ certificate: String) async throws -> Void)
        async throws
    {
        let folder = try ServerFolder()
        let (certificate, key) = (folder.path("certificate.pem"), folder.path("key.pem"))
        let made = try OpenSSL.run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out",
            certificate,
        ])
        try #require(made.status == 0, "\(made.text)")
        try await TestServer.running({ $0.tls = .init(certificate: certificate, key: key) }) { server in
            try await body(server, certificate)
        }
    }

    private static func request(_ port: Int, _ certificate: String, _ options: [String] = []) throws
        -> (status: Int32, text: String)
    {
        try OpenSSL.run(
            [
                "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", certificate, "-verify_return_error",
                "-verify_hostname", "localhost", "-servername", "localhost", "-quiet",
            ] + options, input: "GET /parse/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    }

    @Test func aClientThatTrustsTheCertificateIsAnswered() async throws {
        try await running { server, certificate in
            for options in [[], ["-tls1_2"], ["-tls1_3"]] as [[String]] {
                let reply = try await blocking { try Self.request(server.port, certificate, options) }
                #expect(reply.text.contains("HTTP/1.1 200 OK"), "\(options): \(reply.text)")
                #expect(reply.text.contains(#""path":"/x""#), "\(options): \(reply.text)")
            }
        }
    }

    @Test func aClientThatDoesNotTrustTheCertificateSendsNothing() async throws {
        try await running { server, _ in
            let folder = try ServerFolder()
            let other = folder.path("other.pem")
            let made = try OpenSSL.run([
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=other", "-keyout", folder.path("key.pem"), "-out", other,
            ])
            try #require(made.status == 0, "\(made.text)")
            let reply = try await blocking { try Self.request(server.port, other) }
            #expect(reply.status != 0)
            #expect(!reply.text.contains("HTTP/1.1"), "\(reply.text)")
        }
    }

    @Test func clientsWithoutModernTLSAreClosedAndBlockNobody() async throws {
        try await running { server, certificate in
            let old = try await blocking {
                try Self.request(server.port, certificate, ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"])
            }
            #expect(!old.text.contains("HTTP/1.1"), "\(old.text)")
            let silent = try server.connect()
            let plain = try await blocking {
                let connection = try server.connect()
                try connection.send("GET /parse/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return try connection.receiveAll()
            }
            #expect(!plain.contains("HTTP/1.1"), "\(plain)")
            let broken = try await blocking {
                let connection = try server.connect()
                // A handshake that ends before its declared length.
                try connection.send([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03])
                connection.finish()
                return try connection.receiveAll()
            }
            #expect(!broken.contains("HTTP/1.1"))
            let reply = try await blocking { try Self.request(server.port, certificate) }
            #expect(reply.text.contains("HTTP/1.1 200 OK"), "\(reply.text)")
            silent.close()
        }
    }
}

/// The command `openssl`.
enum OpenSSL {
    static var isThere: Bool { (try? run(["version"]).status) == 0 }

    static func run(_ arguments: [String], input: String = "") throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        let (standardInput, output) = (Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = output
        process.standardError = output
        try process.run()
        if !input.isEmpty { try? standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8)) }
        // The command closes the connection when its input ends, so the input ends after the server has closed it.
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        try? standardInput.fileHandleForWriting.close()
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }
}
#endif
