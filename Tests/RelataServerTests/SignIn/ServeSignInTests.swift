#if Server && CommandLineTool
import Foundation
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// The settings of `relata serve` for other services.
struct ServeSignInTests {
    private static let openID = ["--openid-issuer", "https://id.example.org", "--openid-client-ids", "library"]

    @Test(arguments: [
        (["--openid-name", "x"], "--openid-name needs --openid-issuer"),
        (["--openid-issuer", "https://id.example.org"], "--openid-issuer needs --openid-client-ids"),
        (["--apple-client-ids", ""], "signIn: apple: it needs client ids"),
        (["--google-client-ids", ","], "signIn: google: it needs client ids"),
        (openID + ["--openid-name", "apple", "--apple-client-ids", "a"], "two providers are called apple"),
        (openID + ["--openid-name", "a.b"], "no provider can be called a.b"),
        (openID + ["--openid-algorithms", "RS256,none"], "--openid-algorithms must be of RS256, "),
        (openID + ["--openid-keys", "http://id.example.org/keys"], "must begin with https://"),
        (openID + ["--openid-keys", "/nowhere/keys.json"], "/nowhere/keys.json"),
        (openID + ["--openid-certificates", "/nowhere/certificates.pem"], "/nowhere/certificates.pem"),
        (["--openid-issuer", "id.example.org", "--openid-client-ids", "a"], "can't be found by the issuer id.example"),
    ])
    func invalidSettingsAreRefused(_ arguments: [String], _ message: String) throws {
        let result = try ServeCommandTests().run(["--port", "0", ":memory:"] + arguments)
        #expect(result.text.contains(message), "\(result.text)")
        #expect(result.status != 0)
    }

    private static func signIn(_ server: ServedFile, _ provider: String, _ token: String) throws -> ServerReplyText {
        try ServerConnection(port: server.port).request(
            "POST", "/parse/users", headers: ["X-Parse-Application-Id": "app"],
            body: Array(#"{"authData": {"\#(provider)": {"id": "mei", "id_token": "\#(token)"}}}"#.utf8))
    }

    @Test func theKeysAreFoundThroughTheProvider() async throws {
        let folder = try ServerFolder()
        let key = TestIssuer.Key.es256("one")
        let keys = TestIssuer(key).keySet
        try await RawServer.running(reply: { path, port in
            let issuer = "http://127.0.0.1:\(port)"
            return RawServer.http(
                path == "/keys" ? keys : #"{"issuer": "\#(issuer)", "jwks_uri": "\#(issuer)/keys"}"#)
        }) { provider in
            var issuer = TestIssuer(key)
            issuer.issuer = "http://127.0.0.1:\(provider.port)"
            let server = ServedFile(
                tool: try ServedTool.executable, path: folder.path("library.sqlite"),
                options: [
                    "--openid-issuer", issuer.issuer, "--openid-client-ids", "other, library", "--app-id", "app",
                    "--client-key", "",
                ])
            let token = try issuer.token(at: Date())
            // Starting waits on a thread of this process. The provider runs on other threads.
            try server.start()
            let reply = try Self.signIn(server, "openid", token)
            #expect(reply.status == 201, "\(reply.text)")
        }
    }

    @Test func keysCanBeInAFile() throws {
        let folder = try ServerFolder()
        let issuer = TestIssuer(try .rs256("one"))
        try issuer.keySet.write(toFile: folder.path("keys.json"), atomically: true, encoding: .utf8)
        let server = ServedFile(
            tool: try ServedTool.executable, path: folder.path("library.sqlite"),
            options: ServeSignInTests.openID + [
                "--openid-name", "school", "--openid-keys", folder.path("keys.json"), "--openid-algorithms", "RS256",
                "--apple-client-ids", "org.example.library", "--app-id", "app", "--client-key", "",
            ])
        try server.start()
        let reply = try Self.signIn(server, "school", try issuer.token(at: Date()))
        #expect(reply.status == 201, "\(reply.text)")
        let other = try Self.signIn(server, "openid", try issuer.token(at: Date()))
        #expect(other.code == 252, "\(other.text)")
    }
}
#endif
