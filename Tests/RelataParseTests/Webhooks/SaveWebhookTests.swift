import RelataParse
import Synchronization
import TestEngines
import Testing

/// Webhooks before objects are saved and deleted.
@Suite(.onEveryEngine) struct SaveWebhookTests {
    private static let before = "http://hook/beforeSave"

    /// A server whose books are saved with a webhook's consent.
    private func server(
        _ answer: @escaping TestWebhooks.Answer = { _ in ["success": true] }
    ) async throws -> (server: TestServer, hooks: TestWebhooks) {
        let (server, hooks) = try TestServer.withWebhooks()
        hooks.answer(Self.before, answer)
        try await server.register("beforeSave", "Book")
        return (server, hooks)
    }

    @Test func aWebhookSeesTheObjectAndItsOriginal() async throws {
        let (server, hooks) = try await server()
        let mei = try await server.signUp("mei")
        let headers = mei.headers.merging(["x-parse-installation-id": "phone"]) { $1 }
        let made = try await server.send(
            "POST", "/classes/Book", ["title": "Dune", "count": 1], headers: headers, isMaster: false)
        let id = try #require(made["objectId"]?.string, "\(made.json)")
        let first = try #require(hooks.calls(Self.before).first)
        #expect(first["object"] == ["className": "Book", "title": "Dune", "count": 1] && first["original"] == nil)
        #expect(first["triggerName"] == "beforeSave" && first["master"] == false)
        #expect(first["user"]?["objectId"] == .string(mei.id) && first["user"]?["className"] == "_User")
        #expect(first["installationId"] == "phone" && first["headers"]?["x-parse-session-token"] == nil)
        #expect(!JSONWriter.text(first).contains(mei.token))
        let changed = try await server.send(
            "PUT", "/classes/Book/\(id)",
            ["count": ["__op": "Increment", "amount": 2], "tags": ["__op": "AddUnique", "objects": ["a"]]])
        #expect(changed.status == 200, "\(changed.json)")
        let second = try #require(hooks.calls(Self.before).last)
        #expect(second["object"]?["count"] == 3 && second["object"]?["tags"] == ["a"], "\(second)")
        #expect(second["object"]?["title"] == "Dune" && second["object"]?["objectId"] == .string(id))
        #expect(second["original"]?["count"] == 1 && second["original"]?["className"] == "Book")
        #expect(second["master"] == true && second["user"] == nil)
    }

    @Test func theObjectInTheReplyIsStored() async throws {
        let (server, _) = try await server { body in
            var object = body["object"]?.object ?? [:]
            object["title"] = .string((object["title"]?.string ?? "").uppercased())
            object["isNew"] = .bool(body["original"] == nil)
            object["secret"] = nil
            return ["success": .object(object)]
        }
        let made = try await server.send("POST", "/classes/Book", ["title": "dune", "secret": 1, "count": 1])
        #expect(made.status == 201 && made["title"] == "DUNE" && made["isNew"] == true, "\(made.json)")
        let id = try #require(made["objectId"]?.string)
        let stored = try await server.get("Book", id)
        #expect(stored["title"] == "DUNE" && stored["isNew"] == true && stored["secret"] == nil && stored["count"] == 1)
        let changed = try await server.send(
            "PUT", "/classes/Book/\(id)", ["count": ["__op": "Increment", "amount": 1]])
        #expect(changed["count"] == 2 && changed["isNew"] == false, "\(changed.json)")
        #expect(try await server.get("Book", id)["title"] == "DUNE")
    }

    @Test func aRefusalDeniesTheSave() async throws {
        let (server, _) = try await server { _ in ["error": ["code": 142, "error": "no books"]] }
        let reply = try await server.send("POST", "/classes/Book", ["title": "Dune"])
        #expect(reply.status == 400 && reply.json == ["code": 142, "error": "no books"], "\(reply.json)")
        // Not even the class was made.
        #expect(try await server.send("GET", "/schemas/Book").code == 103)
        let unknown = try await self.server { _ in ["error": ["code": 1337, "error": "hacking that one!"]] }.server
        #expect(
            try await unknown.send("POST", "/classes/Book", [:]).json == ["code": 141, "error": "hacking that one!"])
    }

    @Test func aFailedWebhookSavesNothing() async throws {
        let (server, hooks) = try await server { _ in throw WebhookError("it hangs", isTemporary: true) }
        let reply = try await server.send("POST", "/classes/Book", ["title": "Dune"])
        #expect(reply.status == 503 && reply.code == 141, "\(reply.json)")
        #expect(reply["error"]?.string?.contains("beforeSave of Book") == true)
        #expect(reply["error"]?.string?.contains("http") == false && reply["error"]?.string?.contains("hangs") == false)
        #expect(hooks.reports.count == 1 && hooks.reports[0].contains("at http://hook/beforeSave failed: it hangs"))
        hooks.answer(Self.before) { _ in ["other": 1] }
        let malformed = try await server.send("POST", "/classes/Book", ["title": "Dune"])
        #expect(malformed.status == 400 && malformed.code == 141, "\(malformed.json)")
        // These are the webhook's faults, and the client could do nothing about them.
        for object: JSONValue in [
            ["constructor": 1], ["_rperm": ["x"]], ["bad name!": 1], ["title": ["__op": "Unknown"]],
            ["title": "Dune", "ACL": 5],
        ] {
            hooks.answer(Self.before) { _ in ["success": object] }
            let reply = try await server.send("POST", "/classes/Book", ["title": "Dune"])
            #expect(reply.status == 400 && reply.code == 141, "\(object) \(reply.json)")
            #expect(reply["error"]?.string?.contains("beforeSave of Book failed") == true, "\(reply.json)")
            #expect(hooks.reports.last?.contains("the object in its reply is invalid: ") == true, "\(hooks.reports)")
        }
        #expect(hooks.reports.count == 7)
        hooks.answer(Self.before) { _ in ["success": true] }
        #expect(try await server.find("Book").isEmpty)
        #expect(try await server.send("POST", "/classes/Book", ["title": "Dune"]).status == 201)
    }

    @Test func webhooksAreCalledAgainForChangedObjects() async throws {
        let (server, hooks) = try await server()
        let id = try await server.create("Book", ["title": "Dune", "count": 1])
        hooks.answer(Self.before) { body in
            guard body["object"]?["note"] == nil else {
                if body["original"]?["count"] == 1 {
                    // Another client writes while the webhook runs: it isn't delayed.
                    let other = try await server.send("PUT", "/classes/Book/\(id)", ["count": 5])
                    #expect(other.status == 200, "\(other.json)")
                }
                return ["success": true]
            }
            return ["success": true]
        }
        let reply = try await server.send("PUT", "/classes/Book/\(id)", ["note": "x"])
        #expect(reply.status == 200, "\(reply.json)")
        let asked = hooks.calls(Self.before).filter { $0["object"]?["note"] == "x" }
        #expect(asked.map { $0["original"]?["count"] } == [1, 5])
        let stored = try await server.get("Book", id)
        #expect(stored["count"] == 5 && stored["note"] == "x")
    }

    @Test func refusedWritesCallNoWebhook() async throws {
        let (server, hooks) = try await server()
        let mei = try await server.signUp("mei")
        let id = try await server.create("Book", ["title": "Dune", "ACL": acl(read: ["*"])])
        let count = hooks.calls(Self.before).count
        #expect(try await server.send(as: mei, "PUT", "/classes/Book/\(id)", ["title": "x"]).code == 101)
        #expect(try await server.send(as: mei, "PUT", "/classes/Book/missing", ["title": "x"]).code == 101)
        try await server.allow(["create": [:]], in: "Book")
        #expect(try await server.send(as: mei, "POST", "/classes/Book", ["title": "x"]).code == 119)
        #expect(hooks.calls(Self.before).count == count)
    }

    @Test func repeatedRequestsCallTheWebhookOnce() async throws {
        let (server, hooks) = try await server()
        let headers = ["x-parse-request-id": "1"]
        let first = try await server.send("POST", "/classes/Book", ["title": "Dune"], headers: headers)
        let again = try await server.send("POST", "/classes/Book", ["title": "Dune"], headers: headers)
        #expect(first.status == 201 && again.json == first.json)
        #expect(hooks.calls(Self.before).count == 1)
    }

    @Test func webhooksAreCalledForDeletions() async throws {
        let (server, hooks) = try TestServer.withWebhooks()
        try await server.register("beforeDelete", "Book")
        let id = try await server.create("Book", ["title": "Dune"])
        hooks.answer("http://hook/beforeDelete") { body in
            body["object"]?["title"] == "Dune" ? ["error": "keep it"] : ["success": true]
        }
        #expect(try await server.send("DELETE", "/classes/Book/\(id)").json == ["code": 141, "error": "keep it"])
        #expect(try await server.send("PUT", "/classes/Book/\(id)", ["title": "x"]).status == 200)
        #expect(try await server.send("DELETE", "/classes/Book/\(id)").status == 200)
        #expect(try await server.find("Book").isEmpty)
    }

    // MARK: Batches

    private func batch(_ server: TestServer, isAtomic: Bool) async throws -> TestServer.Reply {
        let requests = ["a", "bad", "c"].map { title -> JSONValue in
            ["method": "POST", "path": "/parse/classes/Book", "body": ["title": .string(title)]]
        }
        return try await server.send(
            "POST", "/batch", ["requests": .array(requests), "transaction": .bool(isAtomic)])
    }

    @Test func webhooksAreCalledForEachObjectOfABatch() async throws {
        let (server, hooks) = try await server { body in
            let title = body["object"]?["title"]?.string ?? ""
            if title == "bad" { return ["error": "bad"] }
            return ["success": ["title": .string(title + "!")]]
        }
        let reply = try await batch(server, isAtomic: false)
        #expect(reply.json.array?.count == 3, "\(reply.json)")
        #expect(reply.json.array?[0]["success"]?["title"] == "a!")
        #expect(reply.json.array?[1]["error"] == ["code": 141, "error": "bad"])
        #expect(reply.json.array?[2]["success"]?["title"] == "c!")
        #expect(hooks.calls(Self.before).count == 3)
        #expect(try await server.titles(as: nil, "Book") == ["a!", "c!"])
        let whole = try await batch(server, isAtomic: true)
        #expect(whole.json == ["code": 141, "error": "bad"], "\(whole.json)")
        #expect(try await server.titles(as: nil, "Book") == ["a!", "c!"])
    }

    @Test func severalChangesOfAnObjectInABatchAreMade() async throws {
        let (server, _) = try await server()
        let id = try await server.create("Book", ["title": "a", "count": 0])
        let requests = (0..<3).map { _ -> JSONValue in
            [
                "method": "PUT", "path": .string("/parse/classes/Book/\(id)"),
                "body": ["count": ["__op": "Increment", "amount": 1]],
            ]
        }
        let reply = try await server.send("POST", "/batch", ["requests": .array(requests)])
        #expect(reply.json.array?.allSatisfy { $0["success"] != nil } == true, "\(reply.json)")
        #expect(try await server.get("Book", id)["count"] == 3)
    }

    /// These are refused regardless of the webhook's reply.
    @Test func refusedBatchesCallNoWebhook() async throws {
        let (server, hooks) = try await server()
        let mei = try await server.signUp("mei")
        let id = try await server.create("Note", ["text": "a"])
        try await server.allow(["create": [:], "update": [:], "delete": [:]], in: "Note")
        let count = hooks.calls(Self.before).count
        let book: JSONValue = ["method": "POST", "path": "/classes/Book", "body": ["title": "Dune"]]
        for (method, path) in [
            ("POST", "/classes/Note"), ("PUT", "/classes/Note/\(id)"), ("DELETE", "/classes/Note/\(id)"),
        ] {
            var note: JSONObject = ["method": .string(method), "path": .string(path)]
            if method != "DELETE" { note["body"] = ["text": "b"] }
            let reply = try await server.send(
                as: mei, "POST", "/batch", ["requests": [book, .object(note)], "transaction": true])
            #expect(reply.code == 119, "\(method): \(reply.json)")
        }
        let expected: JSONValue = [["className": "Note", "objectId": .string(id), "fields": ["text": "other"]]]
        let conflict = try await server.send(
            "POST", "/batch", ["requests": [book], "transaction": true, "expected": expected])
        #expect(conflict.status == 409, "\(conflict.json)")
        let named: JSONValue = [
            "method": "POST", "path": "/classes/Book", "body": ["title": "Dune"], "placeholder": "new",
        ]
        #expect(try await server.send("POST", "/batch", ["requests": [named]]).code == 107)
        #expect(hooks.calls(Self.before).count == count)
        #expect(try await server.find("Book").isEmpty)
        let done = try await server.send("POST", "/batch", ["requests": [book], "transaction": true])
        #expect(done.status == 200 && hooks.calls(Self.before).count == count + 1, "\(done.json)")
    }

    @Test func missingClassesCallNoWebhookInProduction() async throws {
        let hooks = TestWebhooks()
        var options = ParseService.Options()
        options.webhooks = WebhookOptions(hooks)
        let server = try TestServer(mode: .production, options: options)
        try await server.register("beforeSave", "Book")
        let book: JSONValue = ["method": "POST", "path": "/classes/Book", "body": ["title": "Dune"]]
        #expect(try await server.send("POST", "/classes/Book", ["title": "Dune"]).code == 119)
        let batch = try await server.send("POST", "/batch", ["requests": [book]])
        #expect(batch.json.array?.first?["error"]?["code"] == 119, "\(batch.json)")
        #expect(hooks.calls(Self.before).isEmpty)
    }

    /// The parameters may be a secret.
    @Test func theLogNamesAWebhookWithoutItsParameters() async throws {
        let (server, hooks) = try TestServer.withWebhooks()
        let made = try await server.send(
            "POST", "/hooks/triggers",
            ["className": "Book", "triggerName": "beforeSave", "url": "http://hook/save?token=hidden"])
        try #require(made.status == 200, "\(made.json)")
        #expect(try await server.send("POST", "/classes/Book", ["title": "Dune"]).status == 503)
        #expect(hooks.reports.count == 1 && hooks.reports[0].contains("at http://hook/save failed: nobody is there"))
    }

    // MARK: Users

    @Test func refusedDeletionsOfUsersCallNoWebhook() async throws {
        let (server, hooks) = try TestServer.withWebhooks()
        let (mei, sam) = (try await server.signUp("mei"), try await server.signUp("sam"))
        try await server.register("beforeDelete", "_User")
        hooks.answer("http://hook/beforeDelete") { _ in ["success": true] }
        #expect(try await server.send(as: mei, "DELETE", "/users/\(sam.id)").code == 206)
        #expect(hooks.calls("http://hook/beforeDelete").isEmpty)
        #expect(try await server.send(as: sam, "DELETE", "/users/\(sam.id)").status == 200)
        #expect(hooks.calls("http://hook/beforeDelete").count == 1)
    }

    @Test func webhooksNeverGetPasswords() async throws {
        let (server, hooks) = try TestServer.withWebhooks()
        try await server.register("beforeSave", "_User")
        try await server.register("afterSave", "_User")
        for name in ["beforeSave", "afterSave"] { hooks.answer("http://hook/\(name)") { _ in ["success": true] } }
        hooks.answer(Self.before) { body in
            var object = body["object"]?.object ?? [:]
            if object["username"] == "mallory" { return ["error": "not you"] }
            object["level"] = 1
            return ["success": .object(object)]
        }
        let mei = try await server.signUp("mei", ["email": "mei@example.org", "phone": "1"])
        let asked = try #require(hooks.calls(Self.before).first)
        #expect(asked["object"]?["username"] == "mei" && asked["object"]?["email"] == "mei@example.org")
        #expect(!JSONWriter.text(asked).contains("secret of mei"))
        #expect(try await server.get("_User", mei.id)["level"] == 1)
        let refused = try await server.send(
            "POST", "/users", ["username": "mallory", "password": "x"], isMaster: false)
        #expect(refused.json == ["code": 141, "error": "not you"])
        let changed = try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["phone": "2", "password": "new"])
        #expect(changed.status == 200, "\(changed.json)")
        #expect(hooks.calls(Self.before).last?["original"]?["phone"] == "1")
        hooks.answer(Self.before) { _ in ["success": ["username": "other"]] }
        #expect(try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["phone": "3"]).code == 141)
        #expect(try await server.get("_User", mei.id)["username"] == "mei")
        try await hooks.wait(for: 2, at: "http://hook/afterSave")
        let told = hooks.calls("http://hook/afterSave")
        #expect(told.allSatisfy { $0["object"]?["objectId"] == .string(mei.id) })
        #expect(!told.contains { JSONWriter.text($0).contains("_password") || JSONWriter.text($0).contains("hash") })
    }
}
