import Foundation
import RelataCore
import TestEngines
import Testing

@testable import RelataParse

/// Mistakes that servers of this kind are known for, and that no other suite is about.
@Suite(.onEveryEngine) struct KnownMistakeTests {
    // MARK: Hidden classes

    private static let hidden =
        InternalClasses.hidden.sorted() + [
            "_Join%3Ausers%3A_Role", "_Join%3Aroles%3A_Role", "_SCHEMA", "_Hooks", "_Idempotency", "_PushStatus",
            "_Audience", "_GraphQLConfig",
        ]

    /// A server on which all of its own classes are in use.
    private func busyServer() async throws -> TestServer {
        let (server, _) = try TestServer.withMail { options in
            options.files = FileOptions(storage: TestFileStorage())
            options.lockout = LockoutOptions()
            options.passwords.history = 3
            options.signIn = [TestProvider().named("forum")]
        }
        let mei = try await server.signUpWithAddress("mei")
        try await server.makeRole("Editors", users: [mei])
        _ = try await server.create("Note", ["title": "a", "ACL": acl(read: [mei.id])])
        _ = try await server.signIn(["forum": vouched("7")])
        _ = try await server.send("POST", "/login", ["username": "mei", "password": "x"], isMaster: false)
        _ = try await server.upload("a.txt", "a")
        try await server.send("PUT", "/config", ["params": ["a": 1]])
        try await server.send("POST", "/events/opened", [:])
        try await server.requestMail("mei@example.org")
        return server
    }

    @Test(arguments: hidden) func aHiddenClassIsReachedByNoVerb(name: String) async throws {
        let server = try await busyServer()
        let plain = name.replacing("%3A", with: ":")
        let doors: [(String, String, JSONValue?)] = [
            ("GET", "/classes/\(name)", nil), ("GET", "/classes/\(name)/1", nil),
            ("POST", "/classes/\(name)", ["a": 1]), ("POST", "/classes/\(name)", ["_method": "GET"]),
            ("PUT", "/classes/\(name)/1", ["a": 1]), ("DELETE", "/classes/\(name)/1", nil),
            ("GET", "/aggregate/\(name)?distinct=a", nil), ("GET", "/schemas/\(name)", nil),
            ("POST", "/schemas/\(name)", ["fields": ["a": ["type": "String"]]]),
            ("PUT", "/schemas/\(name)", ["fields": ["a": ["type": "String"]]]), ("DELETE", "/schemas/\(name)", nil),
            ("DELETE", "/purge/\(name)", nil), ("POST", "/classes/Note", ["p": pointer(plain, "1")]),
            (
                "PUT", "/schemas/Note",
                ["fields": ["p": ["type": "Pointer", "targetClass": .string(plain)]]]
            ),
            (
                "PUT", "/schemas/Note",
                ["fields": ["r": ["type": "Relation", "targetClass": .string(plain)]]]
            ),
        ]
        for isMaster in [false, true] {
            for (method, path, body) in doors {
                let reply = try await server.send(method, path, body, isMaster: isMaster)
                #expect(
                    (400..<500).contains(reply.status) && reply.code != nil,
                    "\(method) \(path) \(isMaster): \(reply.status) \(reply.json)")
            }
            let requests: [JSONValue] = ["POST", "PUT", "DELETE"].map { method in
                let end = method == "POST" ? "" : "/1"
                return ["method": .string(method), "path": .string("/classes/\(name)\(end)"), "body": ["a": 1]]
            }
            let batch = try await server.send("POST", "/batch", ["requests": .array(requests)], isMaster: isMaster)
            #expect(
                batch.status >= 400 || batch.json.array?.allSatisfy { $0["error"] != nil } == true, "\(batch.json)")
            for condition: JSONValue in [
                ["title": ["$inQuery": ["className": .string(plain), "where": [:]]]],
                ["title": ["$select": ["key": "a", "query": ["className": .string(plain), "where": [:]]]]],
                ["$relatedTo": ["object": pointer(plain, "1"), "key": "user"]],
            ] {
                let reply = try await server.send(
                    "POST", "/classes/Note", ["_method": "GET", "where": condition], isMaster: isMaster)
                #expect(reply.status >= 400 || reply.results.isEmpty, "\(condition): \(reply.json)")
            }
        }
        let live = try await LiveClient(server, isMaster: true)
        #expect(try await live.subscribe(plain)["op"] == "error")
    }

    // MARK: Ids

    @Test func noUserHasAnIDLikeARole() async throws {
        let server = try TestServer.forImports()
        let ids = ["role:Editors", "role:", "*", "userField:owner", "a b"]
        let lines = ids.map { #"{"_id":"\#($0)","username":"user \#($0)"}"# }
        let (reports, notes, _) = try await server.importing(["_User.json": lines.joined(separator: "\n")])
        #expect(reports["_User"]?.refused == ids.count && reports["_User"]?.created == 0, "\(reports)")
        for id in ids {
            #expect(
                notes.contains { $0.hasPrefix("_User \(id): ") && $0.contains("letters and digits only") }, "\(notes)")
        }
    }

    // MARK: Protected fields

    @Test func repliesAboutTheCallerHideTheFieldsOfOthers() async throws {
        let (server, mei, sam) = try await TestServer.withTwoUsers()
        try await server.send("PUT", "/users/\(sam.id)", ["phone": "zq9", "ACL": acl(read: ["*"])])
        try await server.send("PUT", "/users/\(mei.id)", ["friend": pointer("_User", sam.id)])
        try await server.allow(["protectedFields": ["*": ["phone"]]], in: "_User")
        try await server.allow(["protectedFields": ["*": ["createdWith"]]], in: "_Session")
        let password = "username=mei&password=secret%20of%20mei"
        for path in [
            "/users/me?include=friend", "/users/\(mei.id)?include=friend", "/sessions/me?include=user.friend",
            "/sessions?include=user.friend", "/login?\(password)&include=friend",
            "/verifyPassword?\(password)&include=friend",
        ] {
            let reply = try await server.send(as: mei, "GET", path)
            let text = JSONWriter.text(reply.json)
            #expect(!text.contains("zq9") && !text.contains("createdWith"), "\(path): \(text)")
            #expect(reply.status == 200, "\(path): \(text)")
        }
        let me = try await server.send(as: mei, "GET", "/users/me?include=friend")
        #expect(me["friend"]?["username"] == "sam", "\(me.json)")
    }

    // MARK: Limits

    @Test func aMethodInTheHeaderCountsAsThatMethod() async throws {
        var options = ParseService.Options()
        var limit = RateLimit("/classes/Book", count: 1, seconds: 60)
        limit.methods = ["GET"]
        options.rateLimits = [limit]
        let server = try TestServer(options: options)
        #expect(try await server.send("GET", "/classes/Book", isMaster: false).status == 200)
        let reply = try await server.send(
            "POST", "/classes/Book", [:], headers: ["x-http-method-override": "GET"], isMaster: false)
        #expect(reply.status == 429, "\(reply.json)")
    }
}
