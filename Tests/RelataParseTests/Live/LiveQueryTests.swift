import Foundation
@testable import RelataParse
import Testing

/// Clients follow queries: they get events of created, changed and deleted objects as these are committed.
struct LiveQueryTests {
    // MARK: Events

    @Test func anObjectIsFollowedFromCreationToDeletion() async throws {
        let server = try TestServer()
        let client = try await LiveClient(server)
        _ = try await server.create("Book", ["title": "Dawn", "year": 1987])
        #expect(try await client.subscribe("Book", where: ["year": ["$gt": 1980]])["op"] == "subscribed")
        let id = try await server.create("Book", ["title": "Fledgling", "year": 2005])
        try await client.expect("create 1 Fledgling")
        let other = try await server.create("Book", ["title": "Kindred", "year": 1979])
        // Once this event has arrived, so have any before it.
        _ = try await server.create("Book", ["title": "Imago", "year": 1989])
        try await client.expect("create 1 Imago")
        try await server.send("PUT", "/classes/Book/\(other)", ["year": 1981])
        try await client.expect("enter 1 Kindred")
        try await server.send("PUT", "/classes/Book/\(id)", ["title": "The Fledgling"])
        try await client.expect("update 1 The Fledgling")
        try await server.send("PUT", "/classes/Book/\(other)", ["year": 1979])
        try await client.expect("leave 1 Kindred")
        try await server.send("PUT", "/classes/Book/\(other)", ["year": 1990])
        try await client.expect("enter 1 Kindred")
        try await server.send("DELETE", "/classes/Book/\(id)")
        try await client.expect("delete 1 \(id)", by: "objectId")
    }

    @Test func eventsShowObjectsAsQueriesDo() async throws {
        let server = try TestServer()
        let client = try await LiveClient(server)
        try await client.subscribe("Book")
        let author = try await server.create("Author", ["name": "Butler"])
        let id = try await server.create(
            "Book", ["title": "Kindred", "tags": ["time"], "author": pointer("Author", author)])
        let event = try await client.next()
        let clientID = try #require(event["clientId"]?.string)
        #expect(!clientID.isEmpty && event["position"]?.string != nil)
        var object = try #require(event["object"]?.object)
        #expect(object.removeValue(forKey: "className") == "Book")
        #expect(JSONValue.object(object) == (try await server.get("Book", id)))
    }

    @Test func eachQueryHasItsOwnKeysIncludesAndWatchedFields() async throws {
        let server = try TestServer()
        let client = try await LiveClient(server)
        let author = try await server.create("Author", ["name": "Butler"])
        let id = try await server.create(
            "Book", ["title": "Kindred", "year": 1979, "author": pointer("Author", author)])
        try await client.subscribe("Book", id: 1, ["fields": ["title"], "watch": ["title"]])
        try await client.subscribe("Book", id: 2, ["keys": ["author"], "include": ["author"], "watch": "year"])
        try await server.send("PUT", "/classes/Book/\(id)", ["year": 1980])
        let second = try await client.next()
        #expect(second["requestId"] == 2 && second["object"]?["author"]?["name"] == "Butler")
        #expect(second["object"]?["title"] == nil)
        try await server.send("PUT", "/classes/Book/\(id)", ["title": "The Kindred"])
        let first = try await client.next()
        #expect(first["requestId"] == 1 && first["object"]?["title"] == "The Kindred")
        #expect(first["object"]?["year"] == nil && first["object"]?["author"] == nil)
    }

    @Test func severalQueriesOfAClientAreSeparate() async throws {
        let server = try TestServer()
        let client = try await LiveClient(server)
        _ = try await server.create("Book", ["title": "Imago"])
        try await client.subscribe("Book", where: ["title": "Dawn"], id: 1)
        try await client.subscribe("Book", where: ["title": "Kindred"], id: 2)
        _ = try await server.create("Book", ["title": "Kindred"])
        try await client.expect("create 2 Kindred")
        _ = try await server.create("Book", ["title": "Dawn"])
        try await client.expect("create 1 Dawn")
        await client.say(["op": "unsubscribe", "requestId": 1])
        #expect(try await client.next()["op"] == "unsubscribed")
        _ = try await server.create("Book", ["title": "Dawn"])
        _ = try await server.create("Book", ["title": "Kindred"])
        try await client.expect("create 2 Kindred")
    }

    @Test func aQueryIsReplacedByAnother() async throws {
        let server = try TestServer()
        let client = try await LiveClient(server)
        _ = try await server.create("Book", ["title": "Imago"])
        try await client.subscribe("Book", where: ["title": "Dawn"])
        await client.say([
            "op": "update", "requestId": 1, "query": ["className": "Book", "where": ["title": "Kindred"]],
        ])
        #expect(try await client.next()["op"] == "subscribed")
        _ = try await server.create("Book", ["title": "Dawn"])
        _ = try await server.create("Book", ["title": "Kindred"])
        try await client.expect("create 1 Kindred")
    }

    @Test func aClassCanBeCreatedAfterTheQuery() async throws {
        let server = try TestServer()
        let client = try await LiveClient(server)
        try await client.subscribe("Book", where: ["title": "Kindred"])
        // An object that creates a class or field may exist already when the query is read again: it is new all the same.
        _ = try await server.create("Book", ["title": "Kindred"])
        try await client.expect("create 1 Kindred")
        _ = try await server.create("Book", ["title": "Kindred", "year": 1979])
        try await client.expect("create 1 Kindred")
        _ = try await server.create("Book", ["title": "Kindred"])
        try await client.expect("create 1 Kindred")
    }

    @Test func watchedFieldsAreCheckedOnceTheClassExists() async throws {
        let server = try TestServer()
        let client = try await LiveClient(server)
        try await client.subscribe("Book", id: 1, ["watch": ["title"]])
        try await client.subscribe("Book", id: 2, ["watch": ["year"]])
        _ = try await server.create("Book", ["title": "Kindred"])
        let messages = [try await client.next(), try await client.next()]
        let error = try #require(messages.first { $0["requestId"] == 2 })
        #expect(error["op"] == "error" && error["code"] == 102, "\(messages)")
        let event = try #require(messages.first { $0["requestId"] == 1 })
        #expect(event["object"]?["title"] == "Kindred", "\(messages)")
    }

    @Test func aBatchCausesAnEventForEachObject() async throws {
        let server = try TestServer()
        let client = try await LiveClient(server)
        try await client.subscribe("Book")
        _ = try await server.create("Book", ["title": "0"])
        #expect(try await client.event().hasSuffix(" 1 0"))
        let requests = (1...40).map { number -> JSONValue in
            ["method": "POST", "path": "/parse/classes/Book", "body": ["title": .string("\(number)")]]
        }
        try await server.send("POST", "/batch", ["requests": .array(requests)])
        var titles: Set<String> = []
        for _ in 1...40 { titles.insert(try await client.event()) }
        #expect(titles == Set((1...40).map { "create 1 \($0)" }))
    }

    // MARK: Conditions on other objects

    @Test func anObjectEntersWhenTheTargetOfItsPointerChanges() async throws {
        let server = try TestServer()
        let client = try await LiveClient(server)
        let author = try await server.create("Author", ["name": "O. Butler"])
        _ = try await server.create("Book", ["title": "Kindred", "author": pointer("Author", author)])
        try await client.subscribe(
            "Book", where: ["author": ["$inQuery": ["className": "Author", "where": ["name": "Butler"]]]])
        try await server.send("PUT", "/classes/Author/\(author)", ["name": "Butler"])
        try await client.expect("enter 1 Kindred")
        try await server.send("PUT", "/classes/Author/\(author)", ["name": "Octavia"])
        try await client.expect("leave 1 Kindred")
    }

    @Test func theObjectsOfARelationAreFollowed() async throws {
        let server = try TestServer()
        let client = try await LiveClient(server)
        let book = try await server.create("Book", ["title": "Kindred"])
        let shelf = try await server.create(
            "Shelf", ["name": "A", "books": ["__op": "AddRelation", "objects": [pointer("Book", book)]]])
        try await client.subscribe(
            "Book", where: ["$relatedTo": ["object": pointer("Shelf", shelf), "key": "books"]], ["results": true])
        #expect(try await client.next()["objects"]?.array?.count == 1)
        let other = try await server.create("Book", ["title": "Dawn"])
        let change = ["__op": "AddRelation", "objects": [pointer("Book", other)]] as JSONValue
        try await server.send("PUT", "/classes/Shelf/\(shelf)", ["books": change])
        // The relation may be visible in the book's own event, or after it.
        try await client.expect("enter 1 Dawn", "create 1 Dawn")
        let back = ["__op": "RemoveRelation", "objects": [pointer("Book", book)]] as JSONValue
        try await server.send("PUT", "/classes/Shelf/\(shelf)", ["books": back])
        try await client.expect("leave 1 Kindred")
        try await server.send("DELETE", "/classes/Shelf/\(shelf)")
        try await client.expect("leave 1 Dawn")
    }

    @Test func conditionsCanBeOnArraysAndTexts() async throws {
        let server = try TestServer()
        let client = try await LiveClient(server)
        let id = try await server.create("Book", ["title": "Kindred", "tags": ["time"]])
        try await client.subscribe("Book", where: ["tags": "travel"], id: 1)
        try await client.subscribe("Book", where: ["title": ["$regex": "^The"]], id: 2)
        let change = ["__op": "Add", "objects": ["travel"]] as JSONValue
        try await server.send("PUT", "/classes/Book/\(id)", ["tags": change])
        try await client.expect("enter 1 Kindred")
        try await server.send("PUT", "/classes/Book/\(id)", ["title": "The Kindred", "tags": []])
        #expect(Set([try await client.event(), try await client.event("objectId")]).count == 2)
    }

    // MARK: Starting and resuming

    @Test func existingObjectsAreSentFirstIfRequested() async throws {
        let server = try TestServer()
        let client = try await LiveClient(server)
        for title in ["Dawn", "Kindred"] { _ = try await server.create("Book", ["title": .string(title)]) }
        try await client.subscribe("Book", ["results": true])
        let results = try await client.next()
        #expect(results["op"] == "results" && results["requestId"] == 1)
        let titles = (results["objects"]?.array ?? []).compactMap { $0["title"]?.string }.sorted()
        #expect(titles == ["Dawn", "Kindred"] && results["objects"]?.array?.first?["className"] == "Book")
        _ = try await server.create("Book", ["title": "Fledgling"])
        try await client.expect("create 1 Fledgling")
    }

    @Test func aReturningClientGetsTheMissedEvents() async throws {
        let server = try TestServer()
        var client = try await LiveClient(server)
        let kept = try await server.create("Book", ["title": "Dawn"])
        let gone = try await server.create("Book", ["title": "Imago"])
        let start = try await client.subscribe("Book")
        let first = try #require(start["position"]?.string)
        let seen = try await server.create("Book", ["title": "Kindred"])
        let position = try #require(try await client.next()["position"]?.string)
        await client.connection.close()

        let fence = try await LiveClient(server)
        try await fence.subscribe("Book", id: 7)
        _ = try await server.create("Book", ["title": "Fledgling"])
        try await server.send("PUT", "/classes/Book/\(kept)", ["title": "The Dawn"])
        try await server.send("DELETE", "/classes/Book/\(gone)")
        for _ in 1...3 { _ = try await fence.next() }

        client = try await LiveClient(server)
        let back = try await client.subscribe("Book", message: ["after": .string(position)])
        #expect(back["resumed"] == true)
        try await client.expect("create 1 Fledgling")
        try await client.expect("update 1 The Dawn")
        try await client.expect("delete 1 \(gone)", by: "objectId")
        // From an earlier position, there are more events. A position of another process is useless here.
        let other = try await client.subscribe("Book", id: 2, message: ["after": .string(first)])
        #expect(other["resumed"] == true)
        try await client.expect("create 2 \(seen)", by: "objectId")
        for _ in 1...3 { _ = try await client.next() }
        for strange in ["abc-1", "", "abc", first.replacingOccurrences(of: "-1-", with: "-900-")] where strange != first
        {
            let number = Int64(strange.utf8.count) + 10
            let anew = try await client.subscribe(
                "Book", where: ["title": "Kindred"], id: number, ["results": true], message: ["after": .string(strange)]
            )
            #expect(anew["resumed"] == false)
            #expect(try await client.next()["objects"]?.array?.count == 1)
        }
    }

    @Test func eventsAreForgottenIfNoClientReturns() async throws {
        var options = ParseService.Options()
        options.liveResumeTime = 0
        let server = try TestServer(options: options)
        var client = try await LiveClient(server)
        _ = try await server.create("Book", ["title": "Dawn"])
        let position = try #require(try await client.subscribe("Book")["position"])
        await client.connection.close()
        let deadline = ContinuousClock.now + .seconds(60)
        while await server.service.liveQueries.feed != nil, .now < deadline { await Task.yield() }
        #expect(await server.service.liveQueries.feed == nil)
        client = try await LiveClient(server)
        #expect(try await client.subscribe("Book", message: ["after": position])["resumed"] == false)
    }

    // MARK: Invalid messages

    @Test func anInvalidMessageIsAnsweredAndTheConnectionContinues() async throws {
        let server = try TestServer()
        let connection = await server.service.connectLiveQueries()
        func answer(_ text: String) async throws -> JSONValue {
            await connection.receive(text)
            return try JSONParser.parse(try #require(await connection.next()))
        }
        #expect(try await answer("{")["code"] == 1)
        #expect(try await answer("[]")["code"] == 1)
        #expect(try await answer(#"{"op":"dance"}"#)["code"] == 3)
        let subscription = #"{"op":"subscribe","requestId":1,"query":{"className":"Book","where":{}}}"#
        #expect(try await answer(subscription)["code"] == 2)
        #expect(try await answer(#"{"op":"unsubscribe","requestId":1}"#)["code"] == 2)
        #expect(try await answer(#"{"op":"connect","applicationId":"other"}"#)["code"] == 4)
        #expect(try await answer(#"{"op":"connect","applicationId":"app","masterKey":"x"}"#)["code"] == 4)
        #expect(try await answer(#"{"op":"connect","applicationId":7}"#)["code"] == 1)
        #expect(try await answer(#"{"op":"connect","applicationId":"app","sessionToken":"r:x"}"#)["code"] == 209)
        #expect(await connection.isConnected == false)
        #expect(try await answer(#"{"op":"connect","applicationId":"app"}"#)["op"] == "connected")
        #expect(try await answer(#"{"op":"connect","applicationId":"app"}"#)["code"] == 1)
        #expect(try await answer(#"{"op":"subscribe","query":{"className":"Book"}}"#)["code"] == 1)
        #expect(try await answer(subscription)["op"] == "subscribed")
        #expect(try await answer(subscription)["code"] == 1)
        _ = try await server.create("Book", ["title": "Kindred"])
        #expect(try JSONParser.parse(try #require(await connection.next()))["object"]?["title"] == "Kindred")
    }

    @Test(
        arguments: [
            (["className": "Book", "where": ["at": ["$gt": ["$relativeTime": "1 day ago"]]]], 102),
            (["className": "Book", "where": [:], "limit": 10], 102),
            (["className": "Book", "where": [:], "order": "title"], 102),
            (["className": "Book", "where": ["title": ["$near": 1]]], 102),
            (["className": "Book", "where": ["title": ["$dance": 1]]], 102),
            (["className": "Book", "where": ["$dance": 1]], 105),
            (["className": "Book", "where": []], 102),
            (["where": [:]], 102), (["className": "no such class", "where": [:]], 103),
            (["className": "_AccessList", "where": [:]], 103),
        ] as [(JSONValue, Int64)])
    func unsupportedQueriesAreRefused(query: JSONValue, code: Int64) async throws {
        let server = try TestServer()
        let client = try await LiveClient(server)
        _ = try await server.create("Book", ["title": "Kindred"])
        await client.say(["op": "subscribe", "requestId": 5, "query": query])
        let error = try await client.next()
        #expect(error["op"] == "error" && error["requestId"] == 5 && error["reconnect"] == false)
        let expected = code == 102 ? [102, 107] : [code]
        #expect(expected.contains(error["code"]?.integer ?? 0), "\(error)")
    }

    @Test(
        arguments: [
            #"{"className":5}"#, #"{"className":"Book","where":"title"}"#, #"{"className":"Book","keys":5}"#,
            #"{"className":"Book","keys":["title",5]}"#, #"{"className":"Book","fields":5}"#,
            #"{"className":"Book","keys":"title","fields":["year"]}"#, #"{"className":"Book","excludeKeys":{}}"#,
            #"{"className":"Book","include":true}"#, #"{"className":"Book","includeAll":"all"}"#,
            #"{"className":"Book","watch":5}"#, #"{"className":"Book","watch":{"title":true}}"#,
            #"{"className":"Book","wach":["title"]}"#, #"{"className":"Book","results":"maybe"}"#,
            #"{"className":"Book","after":"a-1-a"}"#,
        ])
    func queriesWithOtherMembersAreRefused(query: String) async throws {
        let server = try TestServer()
        let client = try await LiveClient(server)
        await client.connection.receive(#"{"op":"subscribe","requestId":5,"query":\#(query)}"#)
        let error = try await client.next()
        #expect(error["op"] == "error" && error["code"] == 102 && error["requestId"] == 5, "\(error)")
    }

    @Test func membersOfOtherTypesAreRefused() async throws {
        let server = try TestServer()
        let client = try await LiveClient(server)
        let strange: [JSONValue] = [.integer(5), .integer(-5), .integer(.max), .bool(true), .array([]), .object([:])]
        let others: [JSONValue] = [.string("1"), .bool(true), .null, .array([]), .object([:])]
        for name in ["after", "sessionToken"] {
            for value in strange {
                let error = try await client.subscribe("Book", id: 5, message: [name: value])
                #expect(error["op"] == "error" && error["code"] == 1, "\(name) \(value) \(error)")
                #expect(error["requestId"] == 5 && error["error"]?.string == "\(name) must be text")
            }
            let reply = try await client.subscribe("Book", id: 5, message: [name: .null])
            #expect(reply["op"] == "subscribed" && reply["resumed"] == nil, "\(name) \(reply)")
            await client.say(["op": "unsubscribe", "requestId": 5])
            #expect(try await client.next()["op"] == "unsubscribed")
        }
        #expect(try await client.subscribe("Book", message: ["results": true])["code"] == 102)
        for operation in ["subscribe", "update", "unsubscribe"] {
            for value in others {
                let message: JSONObject = ["op": .string(operation), "requestId": value, "query": Self.books]
                await client.say(.object(message))
                #expect(try await client.next()["code"] == 1, "\(message)")
            }
            for number in ["1.5", "99999999999999999999"] {
                await client.connection.receive(
                    #"{"op":"\#(operation)","requestId":\#(number),"query":{"className":"Book"}}"#)
                #expect(try await client.next()["code"] == 1, "\(operation) \(number)")
            }
        }
        for operation in [JSONValue.integer(5), .null, .array([])] {
            await client.say(["op": operation, "requestId": 1, "query": Self.books])
            #expect(try await client.next()["code"] == 3, "\(operation)")
        }
    }

    private static let books: JSONValue = ["className": "Book"]

    @Test func theNumberOfAClientsQueriesIsLimited() async throws {
        var options = ParseService.Options()
        (options.maximumLiveQueries, options.maximumLiveObjects) = (2, 3)
        let server = try TestServer(options: options)
        let client = try await LiveClient(server)
        for title in ["1", "2", "3", "4"] { _ = try await server.create("Book", ["title": .string(title)]) }
        #expect(try await client.subscribe("Book", id: 9)["code"] == 102)
        #expect(try await client.subscribe("Book", where: ["title": "1"], id: 1)["op"] == "subscribed")
        #expect(try await client.subscribe("Book", where: ["title": ["$gt": "1"]], id: 2)["code"] == 155)
        #expect(try await client.subscribe("Book", where: ["title": "2"], id: 2)["op"] == "subscribed")
        #expect(try await client.subscribe("Book", where: ["title": "3"], id: 3)["code"] == 155)
    }

    @Test func aClientThatReadsNothingIsDisconnectedWithoutDelayingOthers() async throws {
        var options = ParseService.Options()
        options.maximumLiveBacklog = 20_000
        let server = try TestServer(options: options)
        let (slow, other) = (try await LiveClient(server), try await LiveClient(server))
        try await slow.subscribe("Book")
        try await other.subscribe("Book")
        for number in 0..<100 {
            _ = try await server.create(
                "Book", ["title": .string("\(number)"), "text": .string(String(repeating: "x", count: 500))])
            #expect(try await other.event().hasSuffix(" 1 \(number)"))
        }
        let end = try await slow.next()
        #expect(end["op"] == "error" && end["code"] == 155 && end["reconnect"] == true)
        #expect(await slow.connection.next() == nil)
    }
}
