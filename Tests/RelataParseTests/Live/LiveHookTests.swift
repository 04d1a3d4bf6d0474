import Foundation
import RelataParse
import TestEngines
import Testing

/// An app's hooks of live queries: before clients connect and queries begin, and after events.
@Suite(.onEveryEngine) struct LiveHookTests {
    private let told = ToldLines()

    private func server(_ configure: (inout ParseService.Options, ToldLines) -> Void) throws -> TestServer {
        try TestServer.withUsers { options in configure(&options, told) }
    }

    // MARK: Connections

    @Test func aHookSeesAClientAndMayRefuseIt() async throws {
        let server = try server { options, told in
            options.code.beforeConnect { connection, call in
                let name = call.user?["username"]?.string ?? "-"
                told.add(
                    "\(name) \(call.isMaster) \(call.installationID ?? "-") \(connection.address ?? "-") \(connection.clients) \(connection.queries)"
                )
                if call.userID == nil, !call.isMaster { throw ParseError(.operationForbidden, "sign in first") }
            }
        }
        _ = try await server.create("Book", ["title": "0"])
        let mei = try await server.signUp("mei")
        let hers = try await LiveClient(server, token: mei.token)
        try await hers.subscribe("Book")
        _ = try await LiveClient(server, isMaster: true)
        let client = try await LiveClient(server, connecting: false, from: "10.0.0.1")
        await client.say(["op": "connect", "applicationId": "app", "installationId": "phone"])
        let refusal = try await client.next()
        #expect(refusal["op"] == "error" && refusal["code"] == 119 && refusal["error"] == "sign in first")
        #expect(await !client.connection.isConnected)
        #expect(try await client.subscribe("Book")["code"] == 2)
        #expect(told.all == ["mei false - - 0 0", "- true - - 1 1", "- false phone 10.0.0.1 2 1"])
    }

    @Test func errorsOfTheAppAreHiddenFromClients() async throws {
        struct Secret: Error {}
        let server = try server { options, _ in options.code.beforeConnect { _, _ in throw Secret() } }
        let client = try await LiveClient(server, connecting: false) { [told] in told.add("\($0)") }
        await client.say(["op": "connect", "applicationId": "app"])
        let refusal = try await client.next()
        #expect(refusal["code"] == 141 && refusal["error"] == "Script failed. Unknown error.", "\(refusal)")
        #expect(told.all == ["Secret()"])
    }

    // MARK: Queries

    /// A server that shows clients only published books, by their titles.
    private func published() async throws -> TestServer {
        let server = try server { options, told in
            options.code.beforeFind("Book") { find, call in
                if !call.isMaster { find.conditions["isPublished"] = true }
            }
            options.code.beforeSubscribe("Book") { query, call in
                told.add("\(query.requestID) \(JSONWriter.text(.object(query.conditions)))")
                if call.isMaster { return }
                guard query.conditions["secret"] == nil else {
                    throw ParseError(.operationForbidden, "not by secrets")
                }
                query.conditions["isPublished"] = true
                query.keys = ["title"]
            }
        }
        for (title, isPublished) in [("a", true), ("b", false)] {
            _ = try await server.create(
                "Book", ["title": .string(title), "secret": 1, "isPublished": .bool(isPublished)])
        }
        return server
    }

    @Test func aHookChangesTheConditionsAndFieldsOfAQuery() async throws {
        let server = try await published()
        let (client, master) = (try await LiveClient(server), try await LiveClient(server, isMaster: true))
        #expect(try await client.subscribe("Book", ["results": true, "keys": "secret"])["op"] == "subscribed")
        let objects = try #require(try await client.next()["objects"]?.array)
        #expect(objects.map { $0["title"] } == ["a"] && objects[0]["secret"] == nil, "\(objects)")
        try await master.subscribe("Book")
        let id = try await server.create("Book", ["title": "c", "secret": 1, "isPublished": false])
        try await master.expect("create 1 c")
        try await server.send("PUT", "/classes/Book/\(id)", ["isPublished": true])
        let event = try await client.next()
        #expect(event["op"] == "enter" && event["object"]?["title"] == "c" && event["object"]?["secret"] == nil)
        #expect(told.all == ["1 {}", "1 {}"])
    }

    @Test func aHookRefusesOneQueryOnly() async throws {
        let server = try await published()
        let client = try await LiveClient(server)
        try await client.subscribe("Book", id: 1)
        let refusal = try await client.subscribe("Book", where: ["secret": 1], id: 2)
        #expect(refusal["op"] == "error" && refusal["code"] == 119 && refusal["requestId"] == 2, "\(refusal)")
        #expect(refusal["error"] == "not by secrets")
        // Another query may not replace the first one either.
        await client.say(["op": "update", "requestId": 1, "query": ["className": "Book", "where": ["secret": 1]]])
        #expect(try await client.next()["code"] == 119)
        _ = try await server.create("Book", ["title": "c", "secret": 1, "isPublished": true])
        try await client.expect("create 1 c")
    }

    @Test func aHookRunsAgainForAResumedQuery() async throws {
        let server = try await published()
        let (client, fence) = (try await LiveClient(server), try await LiveClient(server, isMaster: true))
        let position = try #require(try await client.subscribe("Book")["position"])
        try await fence.subscribe("Book", id: 2)
        await client.connection.close()
        for (title, isPublished) in [("c", false), ("d", true)] {
            _ = try await server.create("Book", ["title": .string(title), "isPublished": .bool(isPublished)])
            try await fence.expect("create 2 \(title)")
        }
        let again = try await LiveClient(server)
        #expect(try await again.subscribe("Book", message: ["after": position])["resumed"] == true)
        try await again.expect("create 1 d")
        #expect(told.all == ["1 {}", "2 {}", "1 {}"])
    }

    @Test func aQueryThatAHookMakesInvalidIsRefused() async throws {
        let server = try server { options, _ in
            options.code.beforeSubscribe("Book") { query, _ in
                query.conditions["updatedAt"] = ["$gt": ["$relativeTime": "1 day ago"]]
            }
        }
        let client = try await LiveClient(server)
        let refusal = try await client.subscribe("Book")
        #expect(refusal["code"] == 102 && refusal["requestId"] == 1, "\(refusal)")
    }

    @Test func aClassWithAfterFindCantBeFollowed() async throws {
        let server = try server { options, _ in
            options.code.afterFind("Book") { books, _ in books }
            options.code.beforeSubscribe("Book") { _, _ in }
            options.code.beforeFind("Note") { _, _ in }
        }
        let client = try await LiveClient(server)
        #expect(try await client.subscribe("Book", id: 1)["code"] == 119)
        #expect(try await client.subscribe("Note", id: 2)["code"] == 119)
    }

    // MARK: Events

    @Test func aHookChangesTheSentObjectAndNotTheStoredOne() async throws {
        let server = try server { options, _ in
            options.code.afterEvent("Book") { event, call in
                if event.kind == .update { event.isSent = false }
                event.object["for"] = .string(call.user?["username"]?.string ?? "nobody")
                event.object["objectId"] = "other"
                event.object["year"] = nil
            }
        }
        _ = try await server.create("Book", ["title": "0"])
        let mei = try await server.signUp("mei")
        let (hers, theirs) = (try await LiveClient(server, token: mei.token), try await LiveClient(server))
        for client in [hers, theirs] { try await client.subscribe("Book") }
        let id = try await server.create("Book", ["title": "a", "year": 1])
        for (client, name) in [(hers, "mei"), (theirs, "nobody")] {
            let event = try await client.next()
            let object = try #require(event["object"]?.object, "\(event)")
            #expect(event["op"] == "create" && event["position"]?.string != nil)
            #expect(object["for"] == .string(name) && object["objectId"] == .string(id) && object["year"] == nil)
            #expect(object["className"] == "Book" && object["title"] == "a" && object["createdAt"] != nil)
        }
        try await server.send("PUT", "/classes/Book/\(id)", ["title": "b"])
        let stored = try await server.get("Book", id)
        #expect(stored["for"] == nil && stored["year"] == 1 && stored["title"] == "b")
        try await server.send("DELETE", "/classes/Book/\(id)")
        let last = try await hers.next()
        #expect(last["op"] == "delete" && last["object"]?["for"] == "mei" && last["object"]?["title"] == nil)
    }

    @Test func aHookCantRevealHiddenFields() async throws {
        let server = try server { options, _ in
            options.code.afterEvent("Book") { event, call in
                let id = event.object["objectId"]?.string ?? ""
                event.object = try await call.asMaster.get("Book", id, include: ["reader"])
                event.object["note"] = ["of": event.object["reader"] ?? .null]
            }
        }
        let mei = try await server.signUp("mei", ["email": "mei@example.org"])
        _ = try await server.create("Book", ["title": "0", "secret": 0, "reader": pointer("_User", mei.id)])
        try await server.allow(["protectedFields": ["*": ["secret"]]], in: "Book")
        let (client, master) = (try await LiveClient(server), try await LiveClient(server, isMaster: true))
        try await client.subscribe("Book", id: 1)
        try await client.subscribe("Book", id: 2, ["keys": "title"])
        try await master.subscribe("Book")
        _ = try await server.create("Book", ["title": "a", "secret": 1, "reader": pointer("_User", mei.id)])
        let events = [try await client.next(), try await client.next()]
        let whole = try #require(events.first { $0["requestId"] == 1 }?["object"], "\(events)")
        #expect(whole["secret"] == nil && whole["reader"]?["username"] == "mei", "\(whole)")
        #expect(!JSONWriter.text(whole).contains("mei@example.org") && whole["note"]?["of"]?["username"] == "mei")
        let part = try #require(events.first { $0["requestId"] == 2 }?["object"]?.object, "\(events)")
        #expect(Set(part.keys) == ["className", "objectId", "createdAt", "updatedAt", "title"], "\(part)")
        let all = try await master.next()["object"]
        #expect(all?["secret"] == 1 && all?["reader"]?["email"] == "mei@example.org", "\(all ?? .null)")
    }

    @Test func aFieldThatOnlySomeObjectsShowStaysHidden() async throws {
        let server = try server { options, _ in
            options.code.afterEvent("Book") { event, call in
                let id = event.object["objectId"]?.string ?? ""
                event.object["secret"] = try await call.asMaster.get("Book", id)["secret"]
            }
        }
        let (mei, sam) = (try await server.signUp("mei"), try await server.signUp("sam"))
        _ = try await server.create("Book", ["title": "0", "secret": "0", "owner": pointer("_User", mei.id)])
        try await server.allow(
            ["protectedFields": ["*": ["secret"], "userField:owner": []]], in: "Book")
        let (hers, his) = (
            try await LiveClient(server, token: mei.token), try await LiveClient(server, token: sam.token)
        )
        for client in [hers, his] { try await client.subscribe("Book") }
        _ = try await server.create("Book", ["title": "a", "secret": "b", "owner": pointer("_User", mei.id)])
        try await hers.expect("create 1 b", by: "secret")
        try await his.expect("create 1 -", by: "secret")
    }

    @Test func anErrorReplacesOneEvent() async throws {
        let server = try server { options, _ in
            options.code.afterEvent("Book") { event, _ in
                if event.object["title"] == "bad" { throw ParseError(.validationError, "no such book") }
            }
        }
        _ = try await server.create("Book", ["title": "0"])
        let client = try await LiveClient(server)
        try await client.subscribe("Book")
        _ = try await server.create("Book", ["title": "bad"])
        let error = try await client.next()
        #expect(error["op"] == "error" && error["code"] == 142 && error["error"] == "no such book", "\(error)")
        #expect(error["requestId"] == 1 && error["reconnect"] == false)
        _ = try await server.create("Book", ["title": "good"])
        try await client.expect("create 1 good")
    }

    @Test func eventsContainTheAddressesOfFilesAfterAHook() async throws {
        let server = try TestServer.withFiles(options: { options in
            options.code.afterEvent("Book") { event, _ in event.object["second"] = event.object["cover"] }
        })
        let name = try #require(try await server.upload("a.png", "x")["name"])
        let client = try await LiveClient(server)
        try await client.subscribe("Book")
        _ = try await server.create("Book", ["title": "a", "cover": ["__type": "File", "name": name]])
        let object = try await client.next()["object"]
        for field in ["cover", "second"] {
            let url = object?[field]?["url"]?.string
            #expect(url == "https://example.com/parse/files/app/\(name.string ?? "")", "\(field)")
        }
    }
}
