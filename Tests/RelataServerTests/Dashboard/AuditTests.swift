#if Server
import Foundation
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// The log of changes through Parse's protocol, and of who made them.
struct AuditTests: DashboardSuite {
    private static func send(
        _ server: TestServer, _ method: String, _ path: String, _ body: JSONValue? = nil, isMaster: Bool = true,
        token: String? = nil
    ) async throws -> JSONValue {
        var fields = ["X-Parse-Application-Id": "app", "Content-Type": "application/json"]
        if isMaster { fields["X-Parse-Master-Key"] = "master" }
        fields["X-Parse-Session-Token"] = token
        return try await server.request(
            method, "/parse" + path, headers: fields, body: body.map { Array(JSONWriter.text($0).utf8) } ?? []
        ).json
    }

    @Test func changesWithTheMasterKeyAndOfRightsAreLogged() async throws {
        let folder = try ServerFolder()
        let path = folder.path("audit.jsonl")
        var configuration = RelataServer.Configuration()
        (configuration.port, configuration.stopsOnSignals) = (0, false)
        configuration.dashboard = .init(name: "library", auditFile: path)
        var options = ParseService.Options()
        options.secrets = ScryptSecrets(cost: 10)
        let server = try RelataServer(
            try ParseStore.open(nil), keys: ServerKeys(applicationID: "app", masterKey: "master"), options: options,
            configuration: configuration)
        let id = try await TestServer.running(server) { server in
            let made = try await Self.send(server, "POST", "/classes/Book", ["title": "secret"])
            let id = try #require(made["objectId"]?.string)
            _ = try await Self.send(server, "GET", "/classes/Book")
            _ = try await Self.send(server, "POST", "/classes/Book", ["title": "open"], isMaster: false)
            _ = try await Self.send(
                server, "PUT", "/schemas/Book", ["classLevelPermissions": ["find": ["*": true], "create": ["*": true]]])
            let mei = try await Self.send(
                server, "POST", "/users", ["username": "mei", "password": "secret"], isMaster: false)
            // It begins a session, although it is a GET.
            _ = try await Self.send(server, "GET", "/login?username=mei&password=secret")
            let token = try #require(mei["sessionToken"]?.string)
            let user = try #require(mei["objectId"]?.string)
            _ = try await Self.send(
                server, "POST", "/classes/Book", ["title": "own", "ACL": .object([user: ["read": true]])],
                isMaster: false, token: token)
            _ = try await Self.send(server, "POST", "/classes/Book", ["ACL": [:]], isMaster: false)
            _ = try await Self.send(
                server, "POST", "/batch",
                ["requests": [["method": "DELETE", "path": .string("/classes/Book/\(id)")]]])
            _ = try await Self.send(server, "POST", "/classes/Book/none", ["_method": "DELETE"])
            let role = try await Self.send(
                server, "POST", "/roles", ["name": "editors", "ACL": .object([user: ["read": true, "write": true]])],
                isMaster: false, token: token)
            let members: JSONValue = [
                "users": [
                    "__op": "AddRelation",
                    "objects": [["__type": "Pointer", "className": "_User", "objectId": .string(user)]],
                ]
            ]
            let change: JSONValue = [
                "method": "PUT", "path": .string("/parse/classes/_Role/\(role["objectId"]?.string ?? "")?secret=1"),
                "body": members,
            ]
            _ = try await Self.send(
                server, "POST", "/batch/", ["requests": [change]], isMaster: false, token: token)
            return (id, user, role["objectId"]?.string ?? "")
        }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let entries = try text.split(separator: "\n").map { try JSONParser.parse(String($0)) }
        let told = entries.map { entry in
            "\(entry["session"]?.string ?? ""): \(entry["action"]?.string ?? "") \(entry["status"]?.integer ?? 0)"
                + (entry["details"]?.array.map { " " + $0.compactMap(\.string).joined(separator: ", ") } ?? "")
        }
        #expect(
            told == [
                "master key: POST /parse/classes/Book 201",
                "master key: PUT /parse/schemas/Book 200 classLevelPermissions", "master key: GET /parse/login 200",
                "user \(id.1): POST /parse/classes/Book 201 ACL", "client: POST /parse/classes/Book 201 ACL",
                "master key: POST /parse/batch 200 DELETE /classes/Book/\(id.0)",
                "master key: DELETE /parse/classes/Book/none 404",
                "user \(id.1): POST /parse/roles 201 ACL",
                "user \(id.1): POST /parse/batch 200 PUT /parse/classes/_Role/\(id.2) (users)",
            ])
        #expect(!text.contains("secret") && entries.allSatisfy { $0["peer"] == "127.0.0.1" })
    }

    @Test func aBatchIsLoggedWithoutItsParameters() async throws {
        let requests: JSONValue = [
            "requests": [
                ["method": "GET", "path": "/parse/login?username=mei&password=TOPSECRET"],
                ["method": "GET", "path": "/parse/classes/Book?where=%7B%22number%22:%22TOPSECRET%22%7D"],
                // The question mark forms one character with the next code point.
                ["method": "POST", "path": "/classes/Book?\u{301}TOPSECRET", "body": ["title": "TOPSECRET"]],
            ]
        ]
        let bytes = Array(JSONWriter.text(requests).utf8)
        #expect(
            AuditLog.details(of: bytes, Array("[]".utf8))
                == ["GET /parse/login", "GET /parse/classes/Book", "POST /classes/Book (title)"])
        try await running { (server, _) async throws in
            let page = try await page(server)
            #expect(try await page.request("POST", "/parse/batch", requests).status == 200)
            let audit = try await page.request("GET", "/audit")
            #expect(audit.text.contains("/login") && !audit.text.contains("TOPSECRET"), "\(audit.text)")
        }
    }
}
#endif
