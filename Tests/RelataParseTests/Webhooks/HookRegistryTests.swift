import RelataParse
import TestEngines
import Testing

/// Webhooks are registered, listed, changed and deleted.
@Suite(.onEveryEngine) struct HookRegistryTests {
    private static let function: JSONValue = ["functionName": "hello", "url": "https://example.org/hello"]
    private static let trigger: JSONValue = [
        "className": "Book", "triggerName": "beforeSave", "url": "https://example.org/save",
    ]

    @Test func functionsAreRegisteredChangedAndDeleted() async throws {
        let (server, _) = try TestServer.withWebhooks()
        #expect(try await server.send("GET", "/hooks/functions").json == [])
        let made = try await server.send("POST", "/hooks/functions/", Self.function)
        #expect(made.status == 200 && made.json == Self.function, "\(made.json)")
        let again = try await server.send("POST", "/hooks/functions", Self.function)
        #expect(again.json == ["code": 143, "error": "function name: hello already exits"], "\(again.json)")
        #expect(try await server.send("GET", "/hooks/functions").json == [Self.function])
        #expect(try await server.send("GET", "/hooks/functions/hello").json == Self.function)
        let missing: JSONValue = ["code": 143, "error": "no function named: nobody is defined"]
        #expect(try await server.send("GET", "/hooks/functions/nobody").json == missing)
        #expect(try await server.send("PUT", "/hooks/functions/nobody", ["url": "https://x.org"]).json == missing)
        let changed = try await server.send("PUT", "/hooks/functions/hello", ["url": "https://example.org/other"])
        #expect(changed.json == ["functionName": "hello", "url": "https://example.org/other"])
        #expect(try await server.send("GET", "/hooks/functions/hello").json == changed.json)
        #expect(try await server.send("PUT", "/hooks/functions/hello", ["__op": "Delete"]).json == [:])
        #expect(try await server.send("GET", "/hooks/functions").json == [])
        #expect(try await server.send("POST", "/hooks/functions", Self.function).status == 200)
        #expect(try await server.send("DELETE", "/hooks/functions/hello").json == [:])
        #expect(try await server.send("GET", "/hooks/functions/hello").code == 143)
    }

    @Test func triggersAreRegisteredChangedAndDeleted() async throws {
        let (server, _) = try TestServer.withWebhooks()
        let made = try await server.send("POST", "/hooks/triggers", Self.trigger)
        #expect(made.status == 200 && made.json == Self.trigger, "\(made.json)")
        let again = try await server.send("POST", "/hooks/triggers", Self.trigger)
        #expect(again.json == ["code": 143, "error": "class Book already has trigger beforeSave"], "\(again.json)")
        try await server.register("afterDelete", "Note")
        #expect(try await server.send("GET", "/hooks/triggers").json.array?.count == 2)
        #expect(try await server.send("GET", "/hooks/triggers/Book").json == [Self.trigger])
        #expect(try await server.send("GET", "/hooks/triggers/Book/beforeSave").json == Self.trigger)
        for name in ["Book/afterSave", "Other/beforeSave", "Book/x"] {
            let reply = try await server.send("GET", "/hooks/triggers/\(name)")
            #expect(reply.code == 143 && reply["error"]?.string?.hasSuffix("does not exist") == true)
        }
        let changed = try await server.send("PUT", "/hooks/triggers/Book/beforeSave", ["url": "https://example.org/b"])
        #expect(changed["url"] == "https://example.org/b" && changed["className"] == "Book")
        #expect(try await server.send("DELETE", "/hooks/triggers/Book/beforeSave").json == [:])
        #expect(try await server.send("GET", "/hooks/triggers/Book").json == [])
        // Webhooks aren't a class, and don't create one.
        let classes = try await server.send("GET", "/schemas").results.compactMap { $0["className"]?.string }
        #expect(!classes.contains("_Hooks") && !classes.contains("Book") && !classes.contains("Note"))
    }

    @Test func onlyTheMasterKeyManagesWebhooks() async throws {
        let (server, _) = try TestServer.withWebhooks()
        for (method, path) in [
            ("GET", "/hooks/functions"), ("POST", "/hooks/functions"), ("DELETE", "/hooks/functions/hello"),
            ("GET", "/hooks/triggers"), ("PUT", "/hooks/triggers/Book/beforeSave"),
        ] {
            let body = method == "POST" ? Self.function : nil
            #expect(try await server.send(method, path, body, isMaster: false).status == 403, "\(method) \(path)")
        }
        #expect(try await server.send("GET", "/hooks").status == 404)
        #expect(try await server.send("GET", "/hooks/others").status == 404)
        #expect(try await server.send("DELETE", "/hooks/functions").status == 405)
        let off = try TestServer.withUsers()
        #expect(try await off.send("GET", "/hooks/functions").code == 119)
        #expect(try await off.send("GET", "/serverInfo")["features"]?["hooks"]?["create"] == false)
        #expect(try await server.send("GET", "/serverInfo")["features"]?["hooks"]?["create"] == true)
    }

    @Test(
        arguments: [
            ("functions", [:], 143), ("functions", ["functionName": "a"], 143), ("functions", ["url": "http://a"], 143),
            ("functions", ["functionName": 1, "url": "http://a"], 143),
            ("functions", ["functionName": "a", "url": "ftp"], 143),
            ("functions", ["functionName": "", "url": "http://a"], 143),
            ("triggers", ["className": "Book", "triggerName": "beforeSave"], 143),
            ("triggers", ["className": "Book", "triggerName": "sometimes", "url": "http://a"], 143),
            ("triggers", ["className": "Book", "triggerName": "beforeConnect", "url": "http://a"], 143),
            ("triggers", ["className": "Book", "triggerName": "beforeLogin", "url": "http://a"], 143),
            ("triggers", ["className": "_Session", "triggerName": "beforeSave", "url": "http://a"], 143),
            ("triggers", ["className": "_Hooks", "triggerName": "afterSave", "url": "http://a"], 119),
            ("triggers", ["className": "a b", "triggerName": "afterSave", "url": "http://a"], 103),
        ] as [(String, JSONValue, Int64)])
    func whatIsNoWebhookIsRefused(kind: String, body: JSONValue, code: Int64) async throws {
        let (server, _) = try TestServer.withWebhooks()
        let reply = try await server.send("POST", "/hooks/\(kind)", body)
        #expect(reply.code == code && reply.status == 400, "\(reply.json)")
        #expect(try await server.send("GET", "/hooks/\(kind)").json == [])
    }

    @Test(
        arguments: [
            ("@Connect", "beforeSubscribe", 103), ("_Session", "beforeSubscribe", 143), ("_Session", "afterEvent", 143),
            ("_JobStatus", "afterSave", 119), ("@Config", "beforeFind", 143), ("@File", "afterEvent", 143),
            ("@Config", "beforeDelete", 143), ("@Other", "beforeSave", 103),
            ("_User", "afterLogout", 143), ("_Session", "beforeLogin", 143),
            ("Book", "beforePasswordResetRequest", 143),
        ] as [(String, String, Int64)])
    func triggersThatNothingCallsAreRefused(className: String, trigger: String, code: Int64) async throws {
        let (server, _) = try TestServer.withWebhooks()
        let body: JSONObject = [
            "className": .string(className), "triggerName": .string(trigger), "url": "https://example.org/a",
        ]
        let reply = try await server.send("POST", "/hooks/triggers", .object(body))
        #expect(reply.code == code && reply.status == 400, "\(reply.json)")
        let change = try await server.send("PUT", "/hooks/triggers/\(className)/\(trigger)", ["url": "https://a.org"])
        #expect(change.code == code, "\(change.json)")
        #expect(try await server.send("GET", "/hooks/triggers").json == [])
        #expect(try await server.send("GET", "/hooks/jobs").status == 404)
    }

    @Test func theAppsOwnCodeComesFirst() async throws {
        let (server, hooks) = try TestServer.withWebhooks { options in
            options.code.function("hello") { _ in "closure" }
            options.code.beforeFind("Book") { _, _ in }
        }
        #expect(try await server.send("POST", "/hooks/functions", Self.function).code == 143)
        let reply = try await server.send(
            "POST", "/hooks/triggers", ["className": "Book", "triggerName": "beforeFind", "url": "http://a"])
        #expect(reply.json == ["code": 143, "error": "class Book already has trigger beforeFind"])
        #expect(try await server.send("POST", "/functions/hello", [:]).json == ["result": "closure"])
        #expect(hooks.calls("https://example.org/hello").isEmpty)
    }

    @Test func aRequestThatIsSentAgainGetsTheSameReply() async throws {
        let (server, _) = try TestServer.withWebhooks()
        let headers = ["x-parse-request-id": "7"]
        for _ in 0..<2 {
            let reply = try await server.send("POST", "/hooks/functions", Self.function, headers: headers)
            #expect(reply.status == 200 && reply.json == Self.function, "\(reply.json)")
        }
    }

    @Test func otherProcessesUseNewWebhooks() async throws {
        let folder = try TestDatabases()
        defer { withExtendedLifetime(folder) {} }
        let place = try folder.path("hooks.sqlite")
        let (server, _) = try TestServer.withWebhooks(path: place)
        let (other, hooks) = try TestServer.withWebhooks(path: place)
        _ = try await other.create("Book", ["title": "a"])
        #expect(try await server.send("POST", "/hooks/functions", Self.function).status == 200)
        hooks.answer("https://example.org/hello") { _ in ["success": "hi"] }
        #expect(try await other.send("POST", "/functions/hello", [:]).json == ["result": "hi"])
        try await server.register("beforeSave", "Book")
        hooks.answer("http://hook/beforeSave") { _ in ["error": "no"] }
        let refused = try await other.send("POST", "/classes/Book", ["title": "b"])
        #expect(refused.json == ["code": 141, "error": "no"], "\(refused.json)")
        try await server.register("beforeFind", "Book")
        hooks.answer("http://hook/beforeFind") { _ in ["error": "not you"] }
        #expect(try await other.send("GET", "/classes/Book").json == ["code": 141, "error": "not you"])
        #expect(try await server.send("DELETE", "/hooks/triggers/Book/beforeFind").status == 200)
        #expect(try await other.send("GET", "/classes/Book").results.count == 1)
        try server.store.close()
        try other.store.close()
    }
}
