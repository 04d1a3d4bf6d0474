import RelataParse
import TestEngines
import Testing

/// Webhooks that answer functions, and that change queries and sign-ins.
@Suite(.onEveryEngine) struct CallWebhookTests {
    private static let url = "http://hook/function"

    private func register(_ name: String, _ server: TestServer) async throws {
        let reply = try await server.send(
            "POST", "/hooks/functions", ["functionName": .string(name), "url": .string(Self.url)])
        try #require(reply.status == 200, "\(reply.json)")
    }

    @Test func aWebhookAnswersAFunction() async throws {
        let (server, hooks) = try TestServer.withWebhooks()
        try await register("hello", server)
        hooks.answer(Self.url) { body in ["success": ["hello": body["params"]?["who"] ?? .null]] }
        let mei = try await server.signUp("mei")
        let reply = try await server.send(as: mei, "POST", "/functions/hello", ["who": "world"])
        #expect(reply.status == 200 && reply.json == ["result": ["hello": "world"]], "\(reply.json)")
        let call = try #require(hooks.calls(Self.url).first)
        #expect(call["functionName"] == "hello" && call["params"] == ["who": "world"] && call["master"] == false)
        #expect(call["user"]?["username"] == "mei" && call["triggerName"] == nil)
        hooks.answer(Self.url) { _ in ["success": .null] }
        #expect(try await server.send("POST", "/functions/hello", [:]).json == ["result": .null])
        hooks.answer(Self.url) { _ in ["error": ["code": 101, "error": "nobody"]] }
        let failed = try await server.send("POST", "/functions/hello", [:])
        #expect(failed.status == 400 && failed.json == ["code": 101, "error": "nobody"])
        let unknown = try await server.send("POST", "/functions/other", [:])
        #expect(unknown.json == ["code": 141, "error": "Invalid function: \"other\""])
        #expect(try await server.send("GET", "/functions/hello").status == 405)
        let over = TestServer.Person(id: "", token: "r:over")
        #expect(try await server.send(as: over, "POST", "/functions/hello", [:]).code == 209)
    }

    @Test func severalCallsRunAtOnce() async throws {
        let (server, hooks) = try TestServer.withWebhooks()
        try await register("hello", server)
        // No webhook replies before all have been called.
        hooks.answer(Self.url) { body in
            try await hooks.wait(for: 20, at: Self.url)
            return ["success": body["params"]?["n"] ?? .null]
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let reply = try await server.send("POST", "/functions/hello", ["n": .integer(Int64(number))])
                    #expect(reply.json == ["result": .integer(Int64(number))])
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func aWebhookChangesAQueryAndItsResults() async throws {
        let (server, hooks) = try TestServer.withWebhooks()
        for title in ["a", "b", "c"] { _ = try await server.create("Book", ["title": .string(title)]) }
        try await server.register("beforeFind", "Book")
        try await server.register("afterFind", "Book")
        hooks.answer("http://hook/beforeFind") { body in
            guard body["master"] != true else { return ["success": true] }
            return ["success": ["where": ["title": ["$ne": "b"]], "order": "-title"]]
        }
        hooks.answer("http://hook/afterFind") { body in
            let shown = (body["objects"]?.array ?? []).map { object -> JSONValue in
                var object = object.object ?? [:]
                object["seen"] = true
                return .object(object)
            }
            return ["success": .array(shown)]
        }
        #expect(try await server.titles(as: nil, "Book") == ["c", "a"])
        let all = try await server.send("GET", "/classes/Book?order=title&limit=2")
        #expect(all.results.map { $0["title"] } == ["a", "b"])
        #expect(all.results.allSatisfy { $0["seen"] == true && $0["className"] == nil }, "\(all.json)")
        let asked = try #require(hooks.calls("http://hook/beforeFind").last)
        #expect(asked["query"]?["limit"] == 2 && asked["query"]?["className"] == "Book" && asked["isGet"] == false)
        let hidden = try #require(all.results[1]["objectId"]?.string)
        #expect(try await server.send("GET", "/classes/Book/\(hidden)", isMaster: false).code == 101)
        #expect(try await server.send("GET", "/classes/Book/\(hidden)")["seen"] == true)
        let batch = try await server.send(
            "POST", "/batch", ["requests": [["method": "GET", "path": "/parse/classes/Book"]]])
        #expect(batch.json.array?[0]["error"]?["code"] == 119, "\(batch.json)")
        let client = try await LiveClient(server)
        #expect(try await client.subscribe("Book")["op"] == "error")
        hooks.answer("http://hook/beforeFind") { _ in ["error": "closed"] }
        #expect(try await server.send("GET", "/classes/Book").json == ["code": 141, "error": "closed"])
        hooks.answer("http://hook/beforeFind") { _ in ["success": ["where": 7]] }
        #expect(try await server.send("GET", "/classes/Book").code == 141)
    }

    @Test func aWebhookRefusesASignIn() async throws {
        let (server, hooks) = try TestServer.withWebhooks()
        _ = try await server.signUp("mei")
        for name in ["beforeLogin", "afterLogin"] { try await server.register(name, "_User") }
        try await server.register("afterLogout", "_Session")
        for name in ["afterLogin", "afterLogout"] { hooks.answer("http://hook/\(name)") { _ in ["success": true] } }
        hooks.answer("http://hook/beforeLogin") { _ in ["error": "closed"] }
        #expect(try await server.logIn("mei", "secret of mei").json == ["code": 141, "error": "closed"])
        #expect(hooks.calls("http://hook/beforeLogin")[0]["object"]?["username"] == "mei")
        hooks.answer("http://hook/beforeLogin") { _ in ["success": true] }
        let reply = try await server.logIn("mei", "secret of mei")
        let token = try #require(reply["sessionToken"]?.string, "\(reply.json)")
        try await hooks.wait(for: 1, at: "http://hook/afterLogin")
        let out = try await server.send(
            "POST", "/logout", [:], headers: ["x-parse-session-token": token], isMaster: false)
        #expect(out.status == 200)
        try await hooks.wait(for: 1, at: "http://hook/afterLogout")
        let told = hooks.calls("http://hook/afterLogout")[0]
        #expect(told["object"]?["user"]?["objectId"] == reply["objectId"] && told["user"]?["username"] == "mei")
    }

    @Test func aWebhookRefusesAMail() async throws {
        let hooks = TestWebhooks()
        let (server, mails) = try TestServer.withMail { $0.webhooks = WebhookOptions(hooks) }
        try await server.register("beforePasswordResetRequest", "_User")
        hooks.answer("http://hook/beforePasswordResetRequest") { body in
            body["object"]?["username"] == "mei" ? ["error": "no"] : ["success": true]
        }
        _ = try await server.signUpWithAddress("mei")
        _ = try await server.signUpWithAddress("sam")
        try await server.requestMail("mei@example.org")
        try await server.requestMail("sam@example.org")
        #expect(try await mails.next().address == "sam@example.org")
        #expect(hooks.calls("http://hook/beforePasswordResetRequest").count == 2)
    }
}
