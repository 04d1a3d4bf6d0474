#if Server
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// Users on a running server.
struct SignInTests {
    private func withServer(
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        var configuration = RelataServer.Configuration()
        configuration.port = 0
        configuration.stopsOnSignals = false
        var options = ParseService.Options()
        options.secrets = ScryptSecrets(cost: 10)
        let server = try RelataServer(
            try ParseStore.open(nil), keys: ServerKeys(applicationID: "app"), options: options,
            configuration: configuration)
        try await TestServer.running(server, body)
    }

    private static func send(
        _ server: TestServer, _ method: String, _ path: String, _ body: JSONValue? = nil, token: String? = nil
    ) async throws -> ServerReplyText {
        var headers = ["X-Parse-Application-Id": "app", "Content-Type": "application/json"]
        headers["X-Parse-Session-Token"] = token
        return try await server.request(
            method, "/parse" + path, headers: headers, body: body.map { Array(JSONWriter.text($0).utf8) } ?? [])
    }

    @Test func signedUpUsersChooseWhatTheyShare() async throws {
        try await withServer { server in
            let person: JSONValue = ["username": "mei", "password": "secret"]
            let signUp = try await Self.send(server, "POST", "/users", person)
            #expect(signUp.status == 201, "\(signUp.text)")
            let id = try #require(try signUp.json["objectId"]?.string)
            let login = try await Self.send(server, "POST", "/login", person)
            let token = try #require(try login.json["sessionToken"]?.string, "\(login.text)")
            let access: JSONValue = .object(JSONObject([(id, ["read": true, "write": true] as JSONValue)]))
            let note = try await Self.send(
                server, "POST", "/classes/Note", ["title": "diary", "ACL": access], token: token)
            #expect(note.status == 201, "\(note.text)")
            let own = try await Self.send(server, "GET", "/classes/Note", token: token)
            #expect(try own.json["results"]?.array?.first?["ACL"] == access, "\(own.text)")
            let others = try await Self.send(server, "GET", "/classes/Note")
            #expect(try others.json == ["results": []], "\(others.text)")
            let wrong = try await Self.send(server, "POST", "/login", ["username": "mei", "password": "x"])
            #expect(wrong.status == 404, "\(wrong.text)")
        }
    }

    @Test func manySignInAtOnce() async throws {
        try await withServer { server in
            let person: JSONValue = ["username": "mei", "password": "secret"]
            _ = try await Self.send(server, "POST", "/users", person)
            let replies = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<30 { group.addTask { try await Self.send(server, "POST", "/login", person).status } }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(replies == Array(repeating: 200, count: 30))
        }
    }
}
#endif
