import RelataParse
import TestEngines
import Testing

/// Webhooks of live queries: before clients connect and queries begin, and after events.
@Suite(.onEveryEngine) struct LiveWebhookTests {
    private static let (connect, subscribe, event) = (
        "http://hook/beforeConnect", "http://hook/beforeSubscribe", "http://hook/afterEvent"
    )

    @Test func aWebhookSeesAClientAndMayRefuseIt() async throws {
        let (server, hooks) = try TestServer.withWebhooks()
        let mei = try await server.signUp("mei")
        try await server.register("beforeConnect", "@Connect")
        hooks.answer(Self.connect) { body in
            body["user"] == nil ? ["error": ["code": 119, "error": "sign in first"]] : ["success": true]
        }
        let client = try await LiveClient(server, connecting: false, from: "10.0.0.1")
        await client.say(["op": "connect", "applicationId": "app", "installationId": "phone"])
        let refusal = try await client.next()
        #expect(refusal["code"] == 119 && refusal["error"] == "sign in first", "\(refusal)")
        _ = try await LiveClient(server, token: mei.token)
        let calls = hooks.calls(Self.connect)
        #expect(calls.count == 2 && calls[0]["triggerName"] == "beforeConnect" && calls[0]["event"] == "connect")
        #expect(calls[0]["installationId"] == "phone" && calls[0]["ip"] == "10.0.0.1" && calls[0]["master"] == false)
        #expect(calls[1]["user"]?["username"] == "mei" && calls[1]["clients"] == 0 && calls[1]["subscriptions"] == 0)
        #expect(!JSONWriter.text(.array(calls)).contains(mei.token))
    }

    @Test func aWebhookChangesOrRefusesAQuery() async throws {
        let (server, hooks) = try TestServer.withWebhooks()
        for title in ["a", "b"] {
            _ = try await server.create("Book", ["title": .string(title), "year": 1])
        }
        try await server.register("beforeSubscribe", "Book")
        try await server.register("beforeFind", "Book")
        hooks.answer(Self.subscribe) { body in
            guard body["query"]?["where"]?["secret"] == nil else { return ["error": "not by secrets"] }
            return ["success": ["where": ["title": "a"], "keys": "title"]]
        }
        let client = try await LiveClient(server)
        #expect(try await client.subscribe("Book", where: ["year": 1], ["results": true])["op"] == "subscribed")
        let objects = try #require(try await client.next()["objects"]?.array)
        #expect(objects.map { $0["title"] } == ["a"] && objects[0]["year"] == nil, "\(objects)")
        let refusal = try await client.subscribe("Book", where: ["secret": 1], id: 2)
        #expect(refusal["code"] == 141 && refusal["error"] == "not by secrets" && refusal["requestId"] == 2)
        let first = try #require(hooks.calls(Self.subscribe).first)
        #expect(first["query"] == ["className": "Book", "where": ["year": 1]] && first["requestId"] == 1, "\(first)")
        // Without this webhook, only the one for `beforeFind` is left, which isn't called for changes.
        #expect(try await server.send("DELETE", "/hooks/triggers/Book/beforeSubscribe").status == 200)
        #expect(try await client.subscribe("Book", id: 3)["code"] == 119)
    }

    @Test func aWebhookChangesOrWithholdsEvents() async throws {
        let (server, hooks) = try TestServer.withWebhooks()
        _ = try await server.create("Book", ["title": "0", "secret": 0])
        try await server.allow(["protectedFields": ["*": ["secret"]]], in: "Book")
        try await server.register("afterEvent", "Book")
        hooks.answer(Self.event) { body in
            guard var object = body["object"]?.object else { return ["success": true] }
            if object["title"] == "b" { return ["success": false] }
            if object["title"] == "c" { return ["error": "no"] }
            object["title"] = .string("\(object["title"]?.string ?? "") \(body["event"]?.string ?? "")")
            object["secret"] = 1
            return ["success": .object(object)]
        }
        let client = try await LiveClient(server)
        try await client.subscribe("Book")
        for title in ["a", "b", "c", "d"] { _ = try await server.create("Book", ["title": .string(title)]) }
        let event = try await client.next()
        #expect(event["object"]?["title"] == "a create" && event["object"]?["secret"] == nil, "\(event)")
        let error = try await client.next()
        #expect(error["op"] == "error" && error["code"] == 141 && error["error"] == "no", "\(error)")
        try await client.expect("create 1 d create")
    }

    @Test func aFailedWebhookIsLoggedAndItsAddressHiddenFromClients() async throws {
        let (server, hooks) = try TestServer.withWebhooks()
        _ = try await server.create("Book", ["title": "0"])
        let client = try await LiveClient(server)
        try await client.subscribe("Book")
        // No webhook answers at this address.
        try await server.register("afterEvent", "Book")
        _ = try await server.create("Book", ["title": "a"])
        let error = try await client.next()
        #expect(error["op"] == "error" && error["code"] == 141 && error["requestId"] == 1, "\(error)")
        #expect(!JSONWriter.text(error).contains("http://hook"))
        #expect(hooks.reports.contains { $0.contains("afterEvent of Book") }, "\(hooks.reports)")
    }

    @Test func aQueryThatTheWebhookOfAnotherProcessRefusesIsntFollowed() async throws {
        let folder = try TestDatabases()
        defer { withExtendedLifetime(folder) {} }
        let place = try folder.path("live.sqlite")
        let (server, _) = try TestServer.withWebhooks(path: place)
        let (other, _) = try TestServer.withWebhooks(path: place)
        for name in ["Book", "Note"] { _ = try await other.create(name, ["title": "0"]) }
        let client = try await LiveClient(other)
        try await server.register("beforeFind", "Book")
        #expect(try await client.subscribe("Book", id: 1)["code"] == 119)
        try await client.subscribe("Note", id: 2)
        for name in ["Book", "Note"] { _ = try await other.create(name, ["title": .string(name)]) }
        try await client.expect("create 2 Note")
        await client.connection.close()
        try server.store.close()
        try other.store.close()
    }

    @Test func theAppsClosuresComeFirst() async throws {
        let (server, _) = try TestServer.withWebhooks { options in
            options.code.beforeConnect { _, _ in }
            options.code.beforeSubscribe("Book") { _, _ in }
            options.code.afterEvent("Book") { _, _ in }
        }
        for (trigger, className) in [
            ("beforeConnect", "@Connect"), ("beforeSubscribe", "Book"), ("afterEvent", "Book"),
        ] {
            let reply = try await server.send(
                "POST", "/hooks/triggers",
                ["className": .string(className), "triggerName": .string(trigger), "url": "http://a"])
            #expect(reply.code == 143, "\(trigger): \(reply.json)")
        }
    }
}
