import RelataParse
import TestEngines
import Testing

/// Orders, limits, counts, and the two places of parameters.
@Suite(.onEveryEngine) struct PagingTests {
    let server: TestServer

    init() async throws {
        server = try TestServer()
        for number: Int64 in 0..<25 {
            try await server.save(
                "Item", ["name": .string("i\(number)"), "n": .integer(number % 5), "m": .integer(number)])
        }
        try await server.save("Item", ["name": "none"])
    }

    @Test func ordersCanHaveSeveralKeys() async throws {
        let first = try await server.find("Item", [:], ["order": "-n,m", "limit": 3])
        #expect(first.map { $0["m"] } == [4, 9, 14])
        let second = try await server.find("Item", [:], ["order": ["n", "-m"], "limit": 3])
        // Unset values come first.
        #expect(second.map { $0["m"] } == [nil, 20, 15])
        #expect(try await server.find("Item", [:], ["order": "nope,-m", "limit": 1]).map { $0["m"] } == [24])
        #expect(try await server.error("Item", [:], ["order": "a b"]).code == 105)
        #expect(try await server.error("Item", [:], ["order": "$score"]).code == 102)
    }

    @Test func pagesAreCompleteAndDontOverlap() async throws {
        var found: [JSONValue?] = []
        for page: Int64 in 0..<6 {
            let objects = try await server.find("Item", [:], ["order": "n", "limit": 5, "skip": .integer(page * 5)])
            found += objects.map { $0["objectId"] }
        }
        #expect(found.count == 26)
        #expect(Set(found).count == 26)
        let ids = try await server.values(of: "objectId", "Item", [:], ["order": "objectId"])
        #expect(ids == ids.sorted { ($0.string ?? "") < ($1.string ?? "") })
    }

    @Test func limitsAndCountsAreFollowed() async throws {
        #expect(try await server.find("Item", [:]).count == 26)
        let reply = try await server.query("Item", ["n": 1], ["limit": 0, "count": 1])
        #expect(reply.json == ["results": [], "count": 5])
        let page = try await server.query("Item", ["n": 1], ["limit": 2, "skip": 3, "count": true])
        #expect(page.results.count == 2)
        #expect(page["count"] == 5)
        #expect(try await server.query("Missing", [:], ["count": 1]).json == ["results": [], "count": 0])
        #expect(try await server.query("Missing").json == ["results": []])
        for (name, value) in [("limit", -1), ("skip", -1), ("limit", 1.5), ("limit", "x")] as [(String, JSONValue)] {
            #expect(try await server.error("Item", [:], [name: value]).code == 102)
        }
        for number: Int64 in 0..<80 { try await server.save("Item", ["m": .integer(number)]) }
        #expect(try await server.find("Item", [:]).count == 100)
        #expect(try await server.find("Item", [:], ["limit": 1000]).count == 106)
        var options = ParseService.Options()
        options.maximumLimit = 7
        #expect(try await TestServer(server.store, options: options).find("Item", [:], ["limit": 1000]).count == 7)
    }

    @Test func parametersAreReadFromTheURLOrTheBody() async throws {
        let address = "/classes/Item?where=%7B%22n%22%3A1%7D&order=-m&limit=2&keys=m"
        let reply = try await server.send("GET", address)
        #expect(reply.results.map { $0["m"] } == [21, 16])
        let body: JSONValue = ["_method": "GET", "where": "{\"n\":1}", "order": "-m", "limit": "2", "keys": ["m"]]
        #expect(try await server.send("POST", "/classes/Item", body).json == reply.json)
        #expect(try await server.send("GET", "/classes/Item?where=%7B").code == 107)
        #expect(try await server.send("GET", "/classes/Item?where=%5B%5D").code == 102)
    }
}
