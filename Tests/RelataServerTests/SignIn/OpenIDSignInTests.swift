#if Server
import Foundation
import RelataCore
import ServerClient
import Testing

@testable import RelataParse
@testable import RelataServer

/// Signing in through OpenID Connect, on a running server.
struct OpenIDSignInTests {
    /// Runs a server with two providers on this machine.
    private static func withServer(
        _ body: @escaping @Sendable (_ server: TestServer, _ one: TestIssuer, _ two: TestIssuer) async throws -> Void
    ) async throws {
        let (first, second) = (TestIssuer(TestIssuer.Key.es256("1")), TestIssuer(TestIssuer.Key.es256("2")))
        try await RawServer.running(reply: { path, _ in RawServer.http(path == "/one" ? first.keySet : second.keySet) })
        { keys in
            var (one, two) = (first, second)
            (one.issuer, two.issuer) = ("https://one.example", "https://two.example")
            var options = ParseService.Options()
            options.secrets = ScryptSecrets(cost: 10)
            let address = "http://127.0.0.1:\(keys.port)"
            options.signIn = [
                .openID("one", issuer: one.issuer, audiences: ["library"], keys: .at("\(address)/one")),
                .openID("two", issuer: two.issuer, audiences: ["library"], keys: .at("\(address)/two")),
                .openID("gone", issuer: "https://gone.example", audiences: ["library"], keys: .at("http://[::1]:9/")),
            ]
            var configuration = RelataServer.Configuration()
            configuration.port = 0
            configuration.stopsOnSignals = false
            let server = try RelataServer(
                try ParseStore.open(nil), keys: ServerKeys(applicationID: "app"), options: options,
                configuration: configuration)
            let (known, other) = (one, two)
            try await TestServer.running(server) { try await body($0, known, other) }
        }
    }

    private static func signIn(_ server: TestServer, _ authData: JSONValue) async throws -> ServerReplyText {
        try await server.request(
            "POST", "/parse/users", headers: ["X-Parse-Application-Id": "app"],
            body: Array(JSONWriter.text(["authData": authData]).utf8))
    }

    @Test func aTokenSignsIn() async throws {
        try await Self.withServer { server, one, _ in
            let token = JSONValue.string(try one.token(at: Date()))
            let first = try await Self.signIn(server, ["one": ["id": "mei", "id_token": token]])
            #expect(first.status == 201, "\(first.text)")
            let again = try await Self.signIn(server, ["one": ["id": "mei", "id_token": token]])
            #expect(again.status == 200, "\(again.text)")
            #expect(try again.json["objectId"] == first.json["objectId"])
            #expect(try again.json["authData"] == ["one": ["id": "mei"]])
        }
    }

    @Test func aTokenOfOneProviderIsNotValidForAnother() async throws {
        try await Self.withServer { server, one, two in
            let token = JSONValue.string(try one.token(at: Date()))
            let reply = try await Self.signIn(server, ["two": ["id": "mei", "id_token": token]])
            #expect(reply.status == 404 && reply.code == 101, "\(reply.text)")
            var disguised = one
            disguised.issuer = two.issuer
            for head in ["1", "2"] {
                let token = try disguised.token(head: ["kid": .string(head)], at: Date())
                let reply = try await Self.signIn(server, ["two": ["id": "mei", "id_token": .string(token)]])
                #expect(reply.code == 101, "\(reply.text)")
            }
            let foreign = try await Self.signIn(
                server, ["one": ["id": "sam", "id_token": token]])
            #expect(foreign.code == 101 && foreign.text.contains("one: the id doesn't match the account that signs in"))
        }
    }

    @Test func anUnreachableProviderIsReportedAndCreatesNoUser() async throws {
        try await Self.withServer { server, one, _ in
            let token = JSONValue.string(try one.token(at: Date()))
            let reply = try await Self.signIn(server, ["gone": ["id": "mei", "id_token": token]])
            #expect(reply.status == 503)
            #expect(try reply.json == ["code": 124, "error": "gone can't be reached at the moment: try again later"])
        }
    }
}
#endif
