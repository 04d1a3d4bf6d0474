import Foundation
import RelataTesting
import Synchronization
import TestEngines
import Testing

@testable import RelataParse

/// The number of answered requests.
@Suite(.onEveryEngine)
struct RateLimitTests {
    private func server(_ limits: RateLimit...) throws -> TestServer {
        try TestServer.withUsers { options in
            options.rateLimits = limits
            options.code.function("hello") { _ in "hello" }
        }
    }

    /// The status of a request from an address.
    private func status(
        _ server: TestServer, _ method: String, _ path: String, from address: String? = "10.0.0.1",
        headers: [String: String] = [:], _ body: JSONValue? = nil
    ) async -> Int {
        await reply(server, method, path, from: address, headers: headers, body).status
    }

    private func reply(
        _ server: TestServer, _ method: String, _ path: String, from address: String? = "10.0.0.1",
        headers: [String: String] = [:], _ body: JSONValue? = nil
    ) async -> WireReply {
        let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
        var request = WireRequest(
            method: method, path: parts[0], query: parts.count > 1 ? parts[1] : "",
            headers: headers.merging(["x-parse-application-id": "app"]) { $1 },
            body: body.map { Array(JSONWriter.text($0).utf8) } ?? [])
        request.address = address
        return await server.service.respond(to: request)
    }

    @Test func limitedRequestsGetTheTimeToWait() async throws {
        let server = try server(RateLimit("/functions/*", count: 2, seconds: 60))
        for _ in 0..<2 { #expect(await status(server, "POST", "/functions/hello", [:]) == 200) }
        let refused = await reply(server, "POST", "/functions/hello", [:])
        #expect(refused.status == 429)
        let json = try JSONParser.parse(refused.body)
        #expect(json["code"] == 155 && json["error"] == "Too many requests.")
        let seconds = try #require(refused.headers["retry-after"].flatMap { Int($0) })
        #expect((1...60).contains(seconds))
        #expect(await status(server, "POST", "/functions/hello", from: "10.0.0.2", [:]) == 200)
        #expect(await status(server, "GET", "/classes/Book") == 200)
        let master = ["x-parse-master-key": "master"]
        #expect(await status(server, "POST", "/functions/hello", headers: master, [:]) == 200)
    }

    @Test func clientsWithoutAForwardedAddressShareACount() async throws {
        let server = try server(RateLimit("/classes/*", count: 1, seconds: 60))
        let proxies = try AddressRanges(["192.0.2.1", "192.0.2.2"])
        func status(_ proxy: String, _ field: String) async -> Int {
            await self.status(
                server, "GET", "/classes/Book", from: proxies.client(of: proxy, forwarded: field))
        }
        #expect(await status("192.0.2.1", "unknown") == 200)
        #expect(await status("192.0.2.1", "garbage") == 429)
        #expect(await status("192.0.2.2", "garbage") == 200)
        #expect(await status("192.0.2.1", "10.0.0.1") == 200)
        #expect(await status("192.0.2.1", "10.0.0.1:55") == 429)
    }

    @Test func allKindsOfRequestsShareABudget() async throws {
        let doors: [(String, String, JSONValue?)] = [
            ("GET", "/classes/Book", nil), ("GET", "/classes/Book/", nil),
            ("GET", "//classes//Book", nil),
            ("GET", "/classes/%42ook", nil), ("POST", "/classes/Book", ["_method": "GET"]),
            ("POST", "/batch", ["requests": [["method": "GET", "path": "/classes/Book"]]]),
            ("POST", "/batch", ["requests": [["method": "get", "path": "/parse/classes/Book?limit=1"]]]),
            // The question mark forms one character with the next code point.
            ("POST", "/batch", ["requests": [["method": "GET", "path": "/classes/Book?\u{301}=1"]]]),
        ]
        for (method, path, body) in doors {
            var limit = RateLimit("/classes/Book", count: 1, seconds: 60)
            limit.methods = ["GET"]
            let server = try server(limit)
            #expect(await status(server, "GET", "/classes/Book") == 200)
            #expect(await status(server, method, path, body) == 429, "\(method) \(path)")
            #expect(await status(server, "POST", "/classes/Book", [:]) == 201)
        }
    }

    @Test func uploadsAndDownloadsCountLikeOtherRequests() async throws {
        let server = try TestServer.withFiles {
            $0.allowsPublicUploads = true
        } options: {
            $0.rateLimits = [RateLimit("/files/*", count: 3, seconds: 60)]
        }
        let made = try await server.upload("a.txt", "hello", isMaster: false)
        let name = try #require(made["name"]?.string, "\(made.json)")
        #expect(try await server.download(name).status == 200)
        #expect(try await server.download(name, headers: ["range": "bytes=0-1"]).status == 206)
        #expect(try await server.download(name).status == 429)
        #expect(try await server.upload("a.txt", "hello", isMaster: false).status == 429)
    }

    @Test func eachRequestOfABatchCounts() async throws {
        let server = try server(RateLimit("/classes/*", count: 5, seconds: 60))
        func batch(_ count: Int) -> JSONValue {
            [
                "requests": .array(
                    Array(repeating: ["method": "POST", "path": "/classes/Book", "body": [:]], count: count))
            ]
        }
        #expect(await status(server, "POST", "/batch", batch(3)) == 200)
        // Nothing of the batch is done, and nothing of it counts.
        #expect(await status(server, "POST", "/batch", batch(3)) == 429)
        #expect(try await server.find("Book").count == 3)
        #expect(await status(server, "POST", "/batch", batch(2)) == 200)
        #expect(await status(server, "POST", "/classes/Book", [:]) == 429)
        #expect(try await server.find("Book").count == 5)
    }

    @Test func pathsOfUsersAndTheirClassShareABudget() async throws {
        let server = try server(
            RateLimit("/users", count: 1, seconds: 60), RateLimit("/login", count: 2, seconds: 60))
        let body: JSONValue = ["username": "mei", "password": "secret"]
        #expect(await status(server, "POST", "/users", body) == 201)
        #expect(
            await status(server, "POST", "/classes/_User", ["username": "sam", "password": "x"]) == 429)
        #expect(await status(server, "POST", "/login", body) == 200)
        #expect(await status(server, "GET", "/verifyPassword?username=mei&password=secret") == 200)
        #expect(await status(server, "GET", "/login?username=mei&password=secret") == 429)
        #expect(await status(server, "POST", "/verifyPassword", body) == 429)
    }

    @Test func requestsAreCountedByUserOrSession() async throws {
        for zone in [RateLimit.Zone.user, .session] {
            let server = try server(RateLimit("/classes/*", count: 2, seconds: 60, zone: zone))
            let mei = try await server.signUp("mei")
            let again = try await server.send(
                "POST", "/login", ["username": "mei", "password": "secret of mei"], isMaster: false)
            let other = ["x-parse-session-token": try #require(again["sessionToken"]?.string)]
            for address in ["10.0.0.1", "10.0.0.2"] {
                #expect(
                    await status(server, "GET", "/classes/Book", from: address, headers: mei.headers) == 200)
            }
            #expect(
                await status(server, "GET", "/classes/Book", from: "10.0.0.3", headers: mei.headers) == 429)
            let inOther = await status(server, "GET", "/classes/Book", from: "10.0.0.3", headers: other)
            #expect(inOther == (zone == .user ? 429 : 200))
            // Invented tokens have no budgets of their own.
            for number in 0..<3 {
                let status = await status(
                    server, "GET", "/classes/Book", from: "10.0.0.9",
                    headers: ["x-parse-session-token": "r:\(number)"])
                #expect(status == (number < 2 ? 400 : 429))
            }
        }
    }

    @Test func aNetworkOfIPv6IsOneClient() async throws {
        let server = try server(RateLimit("/*", count: 1, seconds: 60))
        #expect(await status(server, "GET", "/classes/Book", from: "2001:db8::1") == 200)
        #expect(await status(server, "GET", "/classes/Book", from: "2001:db8::ffff:1") == 429)
        #expect(await status(server, "GET", "/classes/Book", from: "2001:db8:0:1::1") == 200)
        #expect(await status(server, "GET", "/classes/Book", from: nil) == 200)
        #expect(await status(server, "GET", "/classes/Book", from: nil) == 429)
    }

    @Test func allClientsCanShareALimitAndTheMasterKeyCanCount() async throws {
        var limit = RateLimit("/config", count: 1, seconds: 60, zone: .everyone)
        limit.includesMasterKey = true
        limit.message = "Later, please."
        let server = try server(limit)
        let master = ["x-parse-master-key": "master"]
        #expect(await status(server, "GET", "/config", headers: master) == 200)
        let refused = await reply(server, "GET", "/config", from: "10.0.0.2")
        #expect(try JSONParser.parse(refused.body)["error"] == "Later, please.")
    }

    @Test func messagesOfLiveQueriesCount() async throws {
        let server = try server(
            RateLimit("/classes/Book", count: 2, seconds: 60), RateLimit("/live", count: 6, seconds: 60))
        #expect(await status(server, "GET", "/classes/Book") == 200)
        let connection = await server.service.connectLiveQueries(from: "10.0.0.1")
        await connection.receive(#"{"op":"connect","applicationId":"app"}"#)
        #expect(await connection.next()?.contains("connected") == true)
        func subscribe(_ name: String, _ number: Int) async -> String {
            await connection.receive(
                #"{"op":"subscribe","requestId":\#(number),"query":{"className":"\#(name)","where":{}}}"#)
            return await connection.next() ?? ""
        }
        #expect(await subscribe("Book", 1).contains("subscribed"))
        #expect(await subscribe("Book", 2).contains(#""code":155"#))
        #expect(await status(server, "GET", "/classes/Book") == 429)
        for number in 3...5 { #expect(await subscribe("Author", number).contains("subscribed")) }
        #expect(await subscribe("Author", 6).contains("subscribed"))
        #expect(await subscribe("Author", 7).contains(#""code":155"#))
        await connection.receive("junk")
        #expect(await connection.next()?.contains(#""code":155"#) == true)
        await connection.close()
    }
}

/// The counts behind rate limits.
struct RateCounterTests {
    private final class Clock: Sendable {
        private let time = Mutex<Int64>(0)
        var now: Int64 { time.withLock { $0 } }
        func advance(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }
    }

    private func demand(_ key: UInt64, _ count: Int = 1, rule: Int = 0) -> RateCounter.Demand {
        RateCounter.Demand(rule: rule, key: key, count: count)
    }

    @Test func aBudgetIsFullAgainAfterItsTime() {
        let clock = Clock()
        let counter = RateCounter([RateLimit("/a", count: 2, seconds: 10)]) { clock.now }
        #expect(counter.take([demand(1)]) == nil)
        clock.advance(4000)
        #expect(counter.take([demand(1)]) == nil)
        #expect(counter.take([demand(1)]) == .init(rule: 0, milliseconds: 6000))
        clock.advance(5999)
        #expect(counter.take([demand(1)]) == .init(rule: 0, milliseconds: 1))
        clock.advance(1)
        #expect(counter.take([demand(1)]) == nil)
        // Each client's period begins with its first request, not at the same time for all.
        clock.advance(7000)
        #expect(counter.take([demand(2, 2)]) == nil)
        clock.advance(4000)
        #expect(counter.take([demand(2)]) != nil)
        #expect(counter.take([demand(1, 2)]) == nil)
    }

    @Test func aReachedLimitDoesNotAffectOthers() {
        let clock = Clock()
        let counter = RateCounter([
            RateLimit("/a", count: 2, seconds: 10), RateLimit("/b", count: 1, seconds: 10),
        ]) { clock.now }
        #expect(counter.take([demand(1), demand(1, rule: 1)]) == nil)
        #expect(counter.take([demand(1), demand(1, rule: 1)])?.rule == 1)
        #expect(counter.take([demand(1)]) == nil)
        #expect(counter.take([demand(1)])?.rule == 0)
    }

    @Test func manyClientsNeitherFillTheMemoryNorOpenALimit() {
        let clock = Clock()
        let counter = RateCounter([RateLimit("/a", count: 1, seconds: 10)], clients: 100) { clock.now }
        #expect(counter.take([demand(7)]) == nil)
        for key in 1000..<20_000 { _ = counter.take([demand(UInt64(key))]) }
        #expect(counter.clientCount <= 200)
        #expect(counter.take([demand(7)]) != nil)
        // Clients that came too late for their own count share one.
        #expect(counter.take([demand(30_000)]) != nil)
        clock.advance(10_000)
        #expect(counter.take([demand(30_000)]) == nil)
        clock.advance(20_000)
        #expect(counter.take([demand(1)]) == nil)
        #expect(counter.clientCount == 1)
    }

    @Test func aKnownClientKeepsItsCountWhenThereIsNoRoomForMore() {
        let clock = Clock()
        let counter = RateCounter([RateLimit("/a", count: 3, seconds: 10)], clients: 100) { clock.now }
        // The client becomes known shortly before a new generation of counts begins, in which other clients then take
        // all places.
        _ = counter.take([demand(1)])
        clock.advance(9000)
        #expect(counter.take([demand(7)]) == nil)
        clock.advance(1500)
        for key in 1000..<2000 { _ = counter.take([demand(UInt64(key))]) }
        #expect(counter.take([demand(7)]) == nil && counter.take([demand(7)]) == nil)
        for _ in 0..<10 { #expect(counter.take([demand(7)]) == .init(rule: 0, milliseconds: 8500)) }
    }

    @Test func aClientThatSharedACountGetsNoSecondOne() {
        let clock = Clock()
        let counter = RateCounter([RateLimit("/a", count: 2, seconds: 10)], clients: 100) { clock.now }
        for key in 1000..<1100 { _ = counter.take([demand(UInt64(key))]) }
        clock.advance(9000)
        #expect(counter.take([demand(7, 2)]) == nil)
        // Places are free again, but the client's period isn't over.
        clock.advance(1500)
        #expect(counter.take([demand(7)]) == .init(rule: 0, milliseconds: 8500))
        #expect(counter.take([demand(8)]) == nil)
        clock.advance(8500)
        #expect(counter.take([demand(7, 2)]) == nil)
    }

    /// With any number of clients at any time: nobody gets more than the limit in a period that begins with a request,
    /// and while there is room for all, exactly the limit.
    @Test func nobodyGetsMoreThanTheLimit() {
        let first = UInt64.random(in: 0..<UInt64.max / 2)
        for seed in first..<first + 300 {
            var random = SampleRandom(seed: seed)
            let (clock, maximum) = (Clock(), Int.random(in: 1...4, using: &random))
            let places = Bool.random(using: &random) ? Int.random(in: 1...8, using: &random) : 24
            let counter = RateCounter([RateLimit("/a", count: maximum, seconds: 0.1)], clients: places) { clock.now }
            // Some keys share a count when there are no free places.
            let keys = (0..<24).map { UInt64($0 % 5) + UInt64($0 / 5) * 1024 }
            var times: [UInt64: (end: Int64, count: Int)] = [:]
            let pace = Int64.random(in: 0...40, using: &random)
            for _ in 0..<400 {
                let pause = Int.random(in: 0..<60, using: &random) == 0 ? 250 : pace
                clock.advance(Int64.random(in: 0...pause, using: &random))
                let key = keys[Int.random(in: 0..<keys.count, using: &random)]
                let count = Int.random(in: 1...min(maximum, 2), using: &random)
                var time = times[key] ?? (0, 0)
                if time.end <= clock.now { time = (clock.now + 100, 0) }
                let isAllowed = time.count + count <= maximum
                let isTaken = counter.take([demand(key, count)]) == nil
                guard isAllowed || !isTaken, isTaken || !isAllowed || places < keys.count else {
                    Issue.record("seed \(seed): a request of \(key) is \(isTaken ? "taken" : "refused")")
                    return
                }
                time.count += count
                if isTaken { times[key] = time }
            }
            #expect(counter.clientCount <= 2 * places, "seed \(seed)")
        }
    }

    @Test func impossibleLimitsAreRefused() {
        for limit in [
            RateLimit("a", count: 1, seconds: 1), RateLimit("/a", count: 0, seconds: 1),
            RateLimit("/a", count: 1, seconds: 0), RateLimit("/a?b", count: 1, seconds: 1),
        ] {
            #expect(throws: (any Error).self) { try limit.check() }
        }
        var limit = RateLimit("/a", count: 1, seconds: 1)
        limit.methods = ["PATCH"]
        #expect(throws: (any Error).self) { try limit.check() }
    }
}
