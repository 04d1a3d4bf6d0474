import RelataParse
import TestEngines
import Testing

/// Exceeding a limit ends one query with a reason. A query without all its events isn't called resumed.
@Suite(.onEveryEngine) struct LiveLimitTests {
    @Test func aQueryWhoseObjectsAreTooLargeEndsAlone() async throws {
        var options = ParseService.Options()
        options.maximumReply = 20_000
        let server = try TestServer(options: options)
        let author = try await server.create("Author", ["name": "Butler"])
        let id = try await server.create("Book", ["title": "Dawn", "author": pointer("Author", author)])
        let client = try await LiveClient(server)
        try await client.subscribe("Book", id: 1, ["include": "author"])
        try await client.subscribe("Book", id: 2)
        try await server.send(
            "PUT", "/classes/Author/\(author)", ["biography": .string(String(repeating: "x", count: 30_000))])
        try await server.send("PUT", "/classes/Book/\(id)", ["title": "The Dawn"])
        var messages = [try await client.next(), try await client.next()]
        messages.sort { ($0["requestId"]?.integer ?? 0) < ($1["requestId"]?.integer ?? 0) }
        #expect(messages[0]["op"] == "error" && messages[0]["code"] == 116 && messages[0]["reconnect"] == false)
        #expect(messages[1]["op"] == "update" && messages[1]["object"]?["title"] == "The Dawn")
        // The number can be used again. The client may get the update twice if it was read ahead.
        var reply = try await client.subscribe("Book", id: 1)
        if reply["op"] == "update" { reply = try await client.next() }
        #expect(reply["op"] == "subscribed" && reply["requestId"] == 1)
    }

    @Test func aQueryThatFailsWithANewObjectEndsAlone() async throws {
        let server = try TestServer()
        _ = try await server.create("Book", ["title": "0"])
        let (one, other) = (try await LiveClient(server), try await LiveClient(server))
        try await one.subscribe("Book", where: ["title": ["$regex": "(a+)+$"]])
        try await other.subscribe("Book")
        let title = String(repeating: "a", count: 40) + "!"
        _ = try await server.create("Book", ["title": .string(title)])
        try await other.expect("create 1 \(title)")
        _ = try await server.create("Book", ["title": "a"])
        try await other.expect("create 1 a")
        // PostgreSQL soon finds that the expression doesn't match, and the query continues.
        let message = try await one.next()
        #expect(message["op"] == "error" || message["op"] == "create", "\(message)")
        #expect(message["requestId"] == 1 && message["reconnect"]?.bool != true)
    }

    @Test func aQueryThatTakesTooLongEnds() async throws {
        var options = ParseService.Options()
        // Every evaluation takes longer than the limit.
        options.maximumLiveTime = 0
        let server = try TestServer(options: options)
        _ = try await server.create("Book", ["title": "0"])
        let client = try await LiveClient(server)
        try await client.subscribe("Book")
        // A single slow step may have another cause.
        _ = try await server.create("Book", ["title": "1"])
        #expect(try await client.next()["op"] == "create")
        _ = try await server.create("Book", ["title": "2"])
        let end = try await client.next()
        #expect(end["op"] == "error" && end["code"] == 124 && end["requestId"] == 1, "\(end)")
        #expect(end["reconnect"] == false)
        // The client stays, and can use the number again.
        #expect(try await client.subscribe("Book", ["results": true])["op"] == "subscribed")
        #expect(try await client.next()["objects"]?.array?.count == 3)
    }

    @Test func conditionsThatDifferOnlyInValuesShareAStatement() async throws {
        let (statements, count) = (SQLStatements(), 60)
        let server = try TestServer(trace: statements)
        _ = try await server.create("Book", ["year": -1])
        let client = try await LiveClient(server)
        for number in 0..<count {
            try await client.subscribe("Book", where: ["year": .integer(Int64(number))], id: Int64(number))
        }
        statements.removeAll()
        _ = try await server.create("Book", ["year": 7])
        try await client.expect("create 7 7", by: "year")
        // Each text is prepared once for a connection.
        let runs = statements.all.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        #expect(runs.count < count, "\(runs.count) texts")
        #expect(runs.values.contains { $0 >= count }, "\(runs)")
    }

    @Test func aClientThatMissedTooMuchStartsAnew() async throws {
        var options = ParseService.Options()
        options.maximumLiveBacklog = 5000
        let server = try TestServer(options: options)
        _ = try await server.create("Book", ["title": "0"])
        var client = try await LiveClient(server)
        let fence = try await LiveClient(server)
        let position = try #require(try await client.subscribe("Book")["position"])
        try await fence.subscribe("Book")
        await client.connection.close()
        for number in 0..<10 {
            let text = String(repeating: "x", count: 1000)
            _ = try await server.create("Book", ["title": .string("\(number)"), "text": .string(text)])
            _ = try await fence.next()
        }
        client = try await LiveClient(server)
        #expect(try await client.subscribe("Book", message: ["after": position])["resumed"] == false)
    }

    @Test func eventsContainTheAddressesOfFiles() async throws {
        let server = try TestServer.withFiles()
        let name = try #require(try await server.upload("a.png", "x")["name"])
        let client = try await LiveClient(server)
        try await client.subscribe("Book")
        _ = try await server.create("Book", ["title": "a", "cover": ["__type": "File", "name": name]])
        let cover = try await client.next()["object"]?["cover"]
        #expect(cover?["url"]?.string == "https://example.com/parse/files/app/\(name.string ?? "")")
    }

    @Test func resultsThatAreTooLargeAreRefused() async throws {
        var options = ParseService.Options()
        options.maximumLiveBacklog = 5000
        let server = try TestServer(options: options)
        _ = try await server.create("Book", ["title": .string(String(repeating: "x", count: 6000))])
        let client = try await LiveClient(server)
        #expect(try await client.subscribe("Book", id: 1, ["results": true])["code"] == 155)
        #expect(try await client.subscribe("Book", id: 1, ["results": true, "keys": ["year"]])["op"] == "subscribed")
        #expect(try await client.next()["objects"]?.array?.count == 1)
    }

    @Test func queriesThatOutgrowTheLimitAreEnded() async throws {
        var options = ParseService.Options()
        options.maximumLiveObjects = 3
        let server = try TestServer(options: options)
        _ = try await server.create("Book", ["title": "0", "year": 0])
        let client = try await LiveClient(server)
        try await client.subscribe("Book", where: ["year": 1], id: 1)
        try await client.subscribe("Book", where: ["year": ["$gt": 1]], id: 2)
        _ = try await server.create("Book", ["title": "1", "year": 1])
        try await client.expect("create 1 1")
        for number in 2...3 {
            _ = try await server.create("Book", ["title": .string("\(number)"), "year": .integer(Int64(number))])
            try await client.expect("create 2 \(number)")
        }
        _ = try await server.create("Book", ["title": "4", "year": 4])
        try await client.expect("create 2 4")
        let end = try await client.next()
        #expect(end["op"] == "error" && end["code"] == 155 && end["requestId"] == 2)
        _ = try await server.create("Book", ["title": "5", "year": 1])
        try await client.expect("create 1 5")
    }

    @Test func aClassThatIsCreatedLaterIsFollowedThroughOthers() async throws {
        let server = try TestServer()
        let client = try await LiveClient(server)
        _ = try await server.create("Book", ["title": "Dawn", "shelf": "A"])
        let condition: JSONValue = [
            "shelf": ["$select": ["key": "name", "query": ["className": "Shelf", "where": ["isOpen": true]]]]
        ]
        #expect(try await client.subscribe("Book", where: condition)["op"] == "subscribed")
        let shelf = try await server.create("Shelf", ["name": "A", "isOpen": true])
        try await client.expect("enter 1 Dawn")
        try await server.send("PUT", "/classes/Shelf/\(shelf)", ["isOpen": false])
        try await client.expect("leave 1 Dawn")
    }

    @Test func aClientInterruptedWithinAStepGetsAllItsEventsAgain() async throws {
        let server = try TestServer()
        var client = try await LiveClient(server)
        _ = try await server.create("Book", ["title": "0"])
        try await client.subscribe("Book")
        let requests = ["1", "2"].map { title in
            ["method": "POST", "path": "/classes/Book", "body": ["title": .string(title)]] as JSONValue
        }
        try await server.send("POST", "/batch", ["requests": .array(requests), "transaction": true])
        let events = [try await client.next(), try await client.next()]
        let (first, last) = (events[0]["position"]?.string ?? "", events[1]["position"]?.string ?? "")
        await client.connection.close()
        client = try await LiveClient(server)
        #expect(try await client.subscribe("Book", id: 1, message: ["after": .string(first)])["resumed"] == true)
        try await client.expect("create 1 1")
        try await client.expect("create 1 2")
        let end = try await client.subscribe("Book", id: 2, message: ["after": .string(last)])
        #expect(end["resumed"] == true)
        _ = try await server.create("Book", ["title": "3"])
        #expect(Set([try await client.event(), try await client.event()]) == ["create 1 3", "create 2 3"])
    }

    @Test func aResumedQueryGetsTheDeletionOfAnObjectFromAnInterruptedStep() async throws {
        let server = try TestServer()
        var client = try await LiveClient(server)
        let fence = try await LiveClient(server)
        _ = try await server.create("Book", ["title": "0"])
        for client in [client, fence] { try await client.subscribe("Book") }
        let requests = ["1", "2"].map { title in
            ["method": "POST", "path": "/classes/Book", "body": ["title": .string(title)]] as JSONValue
        }
        try await server.send("POST", "/batch", ["requests": .array(requests), "transaction": true])
        let first = try await client.next()
        let id = try #require(first["object"]?["objectId"]?.string)
        await client.connection.close()
        try await server.send("DELETE", "/classes/Book/\(id)")
        for _ in 1...3 { _ = try await fence.next() }
        client = try await LiveClient(server)
        let back = try await client.subscribe("Book", message: ["after": first["position"] ?? .null])
        #expect(back["resumed"] == true)
        let events = [try await client.next(), try await client.next()]
        #expect(Set(events.map { $0["op"]?.string }) == ["create", "delete"], "\(events)")
        #expect(events.contains { $0["op"] == "delete" && $0["object"]?["objectId"]?.string == id })
    }

    @Test func aClientWithOtherRightsStartsAnew() async throws {
        let (server, mei, _) = try await TestServer.withTwoUsers()
        let role = try await server.makeRole("Editors")
        _ = try await server.create("Note", ["title": "a", "ACL": acl(read: ["role:Editors"])])
        var client = try await LiveClient(server, token: mei.token)
        let position = try #require(try await client.subscribe("Note")["position"])
        await client.connection.close()
        let users: JSONValue = ["__op": "AddRelation", "objects": [pointer("_User", mei.id)]]
        try await server.send("PUT", "/roles/\(role)", ["users": users])
        client = try await LiveClient(server, token: mei.token)
        let back = try await client.subscribe("Note", ["results": true], message: ["after": position])
        #expect(back["resumed"] == false)
        #expect(try await client.next()["objects"]?.array?.count == 1)
    }
}
