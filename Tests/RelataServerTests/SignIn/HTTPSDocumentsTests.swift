#if Server
import Foundation
import RelataParse
import Testing

@testable import RelataServer

/// Documents that are fetched from a server.
struct HTTPSDocumentsTests {
    /// The error of a fetch.
    private static func failure(_ url: String, _ documents: HTTPSDocuments = HTTPSDocuments()) async -> String {
        do {
            return "fetched \(String(decoding: try await documents.document(at: url).body, as: UTF8.self))"
        } catch {
            #expect((error as? SignInError)?.isTemporary == true)
            return "\(error)"
        }
    }

    @Test(
        arguments: [
            ("", nil), ("Cache-Control: max-age=120", 120),
            ("Cache-Control: public, MAX-AGE=120, must-revalidate", 120),
            ("Cache-Control: max-age=120\r\nAge: 20", 100), ("Cache-Control: max-age=20\r\nAge: 120", 0),
            ("Cache-Control: no-store", 0), ("Cache-Control: no-cache, max-age=120", 0),
            ("Cache-Control: max-age=x", nil),
        ] as [(String, Double?)])
    func aDocumentCarriesItsCacheTime(field: String, lifetime: Double?) async throws {
        try await RawServer.running(reply: { _, _ in
            field.isEmpty ? RawServer.http("{}") : RawServer.http("{}", status: "200 OK", field)
        }) { server in
            let document = try await HTTPSDocuments().document(at: "http://127.0.0.1:\(server.port)/keys?a=b")
            #expect(document == FetchedDocument(Array("{}".utf8), lifetime: lifetime))
        }
    }

    @Test func theRequestContainsThePathAndItsParameters() async throws {
        try await RawServer.running(reply: { path, _ in RawServer.http(path) }) { server in
            for (url, path) in [("/keys?a=b%20c", "/keys?a=b%20c"), ("", "/"), ("?a", "/?a"), ("/%E4/x", "/%E4/x")] {
                let document = try await HTTPSDocuments().document(at: "http://localhost:\(server.port)\(url)")
                #expect(String(decoding: document.body, as: UTF8.self) == path)
            }
        }
    }

    @Test(arguments: [
        (RawServer.http("no", status: "404 Not Found"), "replies with 404"),
        (RawServer.http("no", status: "500 Oops"), "replies with 500"),
        (RawServer.http("", status: "204 No Content"), "replies with 204"),
        (RawServer.http("", status: "302 Found", "Location: http://127.0.0.1/"), "redirects (302)"),
        (RawServer.http(String(repeating: "x", count: 2000)), "more than 1000 bytes"),
        ("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 2000), "more than 1000 bytes"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{}", "broke off"), ("nonsense\r\n\r\n", "doesn't speak HTTP"),
        ("", "closed the connection"),
    ])
    func otherRepliesAreErrors(reply: String, message: String) async throws {
        try await RawServer.running(reply: { _, _ in reply }) { server in
            var documents = HTTPSDocuments()
            documents.maximumSize = 1000
            let url = "http://127.0.0.1:\(server.port)/keys"
            let failure = await Self.failure(url, documents)
            #expect(failure.hasPrefix("\(url): ") && failure.contains(message), "\(failure)")
        }
    }

    @Test func theWaitForAServerIsLimited() async throws {
        try await RawServer.running(reply: { _, _ in nil }) { server in
            var documents = HTTPSDocuments()
            documents.timeout = .milliseconds(100)
            let failure = await Self.failure("http://127.0.0.1:\(server.port)/", documents)
            #expect(failure.hasSuffix(": it took longer than 0.1 seconds"), "\(failure)")
        }
    }

    @Test func unreachableServersAreReported() async throws {
        var port = 0
        try await RawServer.running(reply: { _, _ in nil }) { port = $0.port }
        #expect(await Self.failure("http://127.0.0.1:\(port)/").contains("can't be reached"))
        #expect(await Self.failure("https://nobody.invalid/keys").contains("can't be reached"))
    }

    @Test(arguments: [
        "http://example.org/", "ftp://127.0.0.1/", "file:///etc/passwd", "https://", "https:///x", "//127.0.0.1/", "",
        "https://a b/", "https://mei:secret@example.org/", "https://example.org/#x", "https://example.org:99999/",
        "https://example.org:99999999999999999999/",
        "http://127.0.0.1.example.org/", "http://localhost@example.org/", "https://exämple.org/",
        "https://example.org/\r\nX: y",
    ])
    func otherAddressesAreRefused(url: String) async {
        #expect(WebAddress.problem(url) != nil)
        let failure = await Self.failure(url)
        #expect(failure.contains("it must b") || failure.contains("there is no port"), "\(failure)")
    }

    @Test(.enabled(if: OpenSSL.isThere, "the command openssl isn't there"))
    func aServerMustHaveACertificateThatIsTrusted() async throws {
        let folder = try ServerFolder()
        func certificate(_ name: String, _ subject: String) throws -> (certificate: String, key: String) {
            let (file, key) = (folder.path("\(name).pem"), folder.path("\(name).key"))
            let made = try OpenSSL.run([
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=\(name)", "-addext", "subjectAltName=\(subject)", "-keyout", key, "-out", file,
            ])
            try #require(made.status == 0, "\(made.text)")
            return (file, key)
        }
        let (right, other) = (
            try certificate("right", "DNS:localhost,IP:127.0.0.1"), try certificate("other", "DNS:example.org")
        )
        var trusting = HTTPSDocuments()
        trusting.certificates = right.certificate
        #expect(trusting.problem == nil)
        try await RawServer.running(tls: right, reply: { path, _ in RawServer.http(path) }) { server in
            for host in ["localhost", "127.0.0.1"] {
                let document = try await trusting.document(at: "https://\(host):\(server.port)/keys")
                #expect(String(decoding: document.body, as: UTF8.self) == "/keys")
            }
            #expect(await Self.failure("https://localhost:\(server.port)/").contains("TLS with it failed"))
        }
        var deceived = HTTPSDocuments()
        deceived.certificates = other.certificate
        try await RawServer.running(tls: other, reply: { path, _ in RawServer.http(path) }) { server in
            #expect(await Self.failure("https://localhost:\(server.port)/", deceived).contains("TLS with it failed"))
        }
        try await RawServer.running(reply: { path, _ in RawServer.http(path) }) { server in
            // A server without TLS answers, or closes the connection. In either case nothing of its reply is used.
            #expect(await !Self.failure("https://localhost:\(server.port)/", trusting).contains("fetched"))
        }
        var broken = HTTPSDocuments()
        broken.certificates = right.key
        #expect(broken.problem?.contains("contains no certificates in PEM format") == true)
        broken.timeout = .zero
        #expect(broken.problem == "the time limit for its documents must be above 0")
    }
}
#endif
