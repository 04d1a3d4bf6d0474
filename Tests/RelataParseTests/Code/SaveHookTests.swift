import RelataParse
import TestEngines
import Testing

/// An app's closures before and after clients save and delete objects of classes that they make.
@Suite(.onEveryEngine) struct SaveHookTests {
    private let told = ToldLines()

    private func server(_ configure: (inout CloudCode, ToldLines) -> Void) throws -> TestServer {
        try TestServer.withUsers { options in configure(&options.code, told) }
    }

    @Test func aHookChangesAndRefusesObjects() async throws {
        let server = try server { code, _ in
            code.beforeSave("Book") { save, _ in
                guard let title = save.object["title"]?.string, !title.isEmpty else {
                    throw ParseError(.validationError, "a book needs a title")
                }
                save.object["title"] = .string(title.uppercased())
                save.object["isNew"] = .bool(save.isNew)
                save.object["draft"] = nil
            }
        }
        let made = try await server.send("POST", "/classes/Book", ["title": "dune", "draft": 1, "count": 1])
        #expect(made.status == 201 && made["title"] == "DUNE" && made["isNew"] == true, "\(made.json)")
        let id = try #require(made["objectId"]?.string)
        let stored = try await server.get("Book", id)
        #expect(stored["title"] == "DUNE" && stored["draft"] == nil && stored["count"] == 1)
        let refused = try await server.send("POST", "/classes/Book", ["count": 2])
        #expect(refused.json == ["code": 142, "error": "a book needs a title"], "\(refused.json)")
        let counted = try await server.send(
            "PUT", "/classes/Book/\(id)", ["count": ["__op": "Increment", "amount": 2]])
        #expect(counted["count"] == 3 && counted["isNew"] == false, "\(counted.json)")
        #expect(try await server.find("Book").count == 1)
    }

    @Test func aFieldThatAHookRemovesIsDeleted() async throws {
        let server = try server { code, _ in
            code.beforeSave("Book") { save, _ in if !save.isNew { save.object["note"] = nil } }
        }
        let id = try await server.create("Book", ["title": "a", "note": "b"])
        #expect(try await server.get("Book", id)["note"] == "b")
        #expect(try await server.send("PUT", "/classes/Book/\(id)", ["title": "c"]).status == 200)
        let stored = try await server.get("Book", id)
        #expect(stored["title"] == "c" && stored["note"] == nil, "\(stored)")
    }

    @Test func hooksSeeTheCallerTheContextAndTheOriginal() async throws {
        let server = try server { code, told in
            code.beforeSave("Book") { save, call in
                told.add(
                    "before \(save.original?["title"]?.string ?? "-") \(save.object["title"]?.string ?? "-") \(call.user?["username"]?.string ?? "-") \(call.isMaster) \(call.context["from"]?.string ?? "-")"
                )
            }
            code.afterSave("Book") { save, call in
                told.add(
                    "after \(save.original?["title"]?.string ?? "-") \(save.object["title"]?.string ?? "-") \(call.user?["username"]?.string ?? "-")"
                )
            }
        }
        let mei = try await server.signUp("mei")
        let made = try await server.send(as: mei, "POST", "/classes/Book", ["title": "a", "_context": ["from": "app"]])
        let id = try #require(made["objectId"]?.string, "\(made.json)")
        #expect(try await server.send("PUT", "/classes/Book/\(id)", ["title": "b"]).status == 200)
        #expect(told.all == ["before - a mei false app", "after - a mei", "before a b - true -", "after a b -"])
        #expect(try await server.send("PUT", "/classes/Book/none", ["title": "b"]).code == 101)
        #expect(told.all.count == 4)
    }

    @Test func hooksOfDeletionsSeeTheObject() async throws {
        let server = try server { code, told in
            code.beforeDelete("Book") { book, _ in
                if book["isKept"] == true { throw ParseError(.operationForbidden, "it is kept") }
            }
            code.afterDelete("Book") { book, _ in told.add(book["title"]?.string ?? "-") }
        }
        let kept = try await server.create("Book", ["title": "a", "isKept": true])
        let other = try await server.create("Book", ["title": "b"])
        let refused = try await server.send("DELETE", "/classes/Book/\(kept)")
        #expect(refused.json == ["code": 119, "error": "it is kept"], "\(refused.json)")
        #expect(try await server.send("DELETE", "/classes/Book/\(other)").status == 200)
        #expect(told.all == ["b"])
        #expect(try await server.find("Book").map { $0["title"] } == ["a"])
    }

    @Test func hooksRunForEachObjectOfABatch() async throws {
        let server = try server { code, told in
            code.beforeSave("Book") { save, _ in
                if save.object["title"] == "bad" { throw ParseError(.validationError, "bad") }
                save.object["isSeen"] = true
            }
            code.afterSave("Book") { save, _ in told.add(save.object["title"]?.string ?? "-") }
        }
        _ = try await server.create("Book", ["title": "0"])
        let requests = ["a", "bad", "b"].map { title -> JSONValue in
            ["method": "POST", "path": "/parse/classes/Book", "body": ["title": .string(title)]]
        }
        let reply = try await server.send("POST", "/batch", ["requests": .array(requests)])
        let parts = try #require(reply.json.array)
        #expect(parts[0]["success"] != nil && parts[1]["error"]?["code"] == 142 && parts[2]["success"] != nil)
        #expect(told.all == ["0", "a", "b"])
        #expect(try await server.find("Book", where: ["isSeen": true]).count == 3)
        let atomic = try await server.send(
            "POST", "/batch", ["transaction": true, "requests": .array(requests)])
        #expect(atomic.code == 142, "\(atomic.json)")
        #expect(try await server.find("Book").count == 3 && told.all.count == 3)
    }

    @Test func hooksOfUsersCantChangeHowTheySignIn() async throws {
        let server = try server { code, told in
            code.beforeSave("_User") { save, _ in
                told.add("\(save.object["username"]?.string ?? "-") \(save.object["password"] == nil)")
                if save.object["rename"] == true { save.object["username"] = "other" }
                save.object["level"] = 1
            }
        }
        let mei = try await server.signUp("mei")
        #expect(try await server.send(as: mei, "GET", "/users/me")["level"] == 1)
        let reply = try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["rename": true])
        #expect(reply.code == 141, "\(reply.json)")
        #expect(told.all == ["mei true", "mei true"])
    }

    @Test func errorsOfTheAppAreHiddenFromClients() async throws {
        struct Secret: Error {}
        let server = try server { code, _ in code.beforeSave("Book") { _, _ in throw Secret() } }
        let reply = try await server.send("POST", "/classes/Book", ["title": "a"])
        #expect(reply.json == ["code": 141, "error": "Script failed. Unknown error."], "\(reply.json)")
    }

    @Test func anOvertakenHookRunsAgain() async throws {
        let server = try server { code, told in
            code.beforeSave("Book") { save, call in
                let count = save.original?["count"]?.integer ?? 0
                told.add("\(count)")
                guard call.context["isSlow"] == true, count == 1 else { return }
                // Another request changes the object in the meantime.
                let id = save.object["objectId"]?.string ?? ""
                try await call.asMaster.update("Book", id, ["count": 2])
            }
        }
        let id = try await server.create("Book", ["title": "a", "count": 1])
        let reply = try await server.send(
            "PUT", "/classes/Book/\(id)", ["title": "b", "_context": ["isSlow": true]])
        #expect(reply.status == 200, "\(reply.json)")
        let stored = try await server.get("Book", id)
        #expect(stored["title"] == "b" && stored["count"] == 2)
        #expect(told.all == ["0", "1", "1", "2"])
    }

    @Test func closuresComeBeforeWebhooks() async throws {
        let (server, hooks) = try TestServer.withWebhooks { options in
            options.code.beforeSave("Book") { save, _ in save.object["by"] = "closure" }
        }
        let reply = try await server.send(
            "POST", "/hooks/triggers", ["className": "Book", "triggerName": "beforeSave", "url": "http://a"])
        #expect(reply.code == 143, "\(reply.json)")
        // Another trigger of the class may be a webhook.
        try await server.register("afterSave", "Book")
        hooks.answer("http://hook/afterSave") { _ in ["success": true] }
        let id = try await server.create("Book", ["title": "a"])
        #expect(try await server.get("Book", id)["by"] == "closure")
        try await hooks.wait(for: 1, at: "http://hook/afterSave")
        #expect(hooks.calls("http://hook/afterSave")[0]["object"]?["by"] == "closure")
    }
}
