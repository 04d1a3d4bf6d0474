import Testing

@testable import RelataParse

/// Queries on fields that contain arrays and objects.
@Suite(.onEveryEngine) struct JSONFieldTests {
    let server: TestServer

    init() async throws {
        server = try TestServer()
        try await server.save(
            "Item",
            [
                "name": "a", "tags": ["x", "y", 1, true],
                "info": ["city": "Berlin", "n": 5, "deep": ["list": [1, 2]]],
            ],
            ["name": "b", "tags": ["y", "5", [1, 2], ["k": 1]], "info": ["city": "Paris", "n": "5"]],
            ["name": "c", "tags": [], "info": [:]],
            ["name": "d"])
    }

    @Test func aValueIsFoundAmongTheElements() async throws {
        #expect(try await server.names("Item", ["tags": "x"]) == ["a"])
        #expect(try await server.names("Item", ["tags": "y"]) == ["a", "b"])
        #expect(try await server.names("Item", ["tags": 1]) == ["a"])
        #expect(try await server.names("Item", ["tags": 5]) == [])
        #expect(try await server.names("Item", ["tags": true]) == ["a"])
        #expect(try await server.names("Item", ["tags": ["k": 1]]) == ["b"])
        #expect(try await server.names("Item", ["tags": ["$ne": "x"]]) == ["b", "c", "d"])
        #expect(try await server.names("Item", ["tags": ["$in": ["x", "5"]]]) == ["a", "b"])
        #expect(try await server.names("Item", ["tags": ["$nin": ["x", "5"]]]) == ["c", "d"])
        #expect(try await server.names("Item", ["tags": ["$gt": "x"]]) == ["a", "b"])
        #expect(try await server.names("Item", ["tags": ["$regex": "^[5x]$"]]) == ["a", "b"])
    }

    @Test func aWholeArrayIsFound() async throws {
        #expect(try await server.names("Item", ["tags": ["x", "y", 1, true]]) == ["a"])
        #expect(try await server.names("Item", ["tags": []]) == ["c"])
        #expect(try await server.names("Item", ["tags": ["x", "y"]]) == [])
        #expect(try await server.names("Item", ["tags": ["$eq": [1, 2]]]) == ["b"])
        #expect(try await server.names("Item", ["tags": .null]) == ["d"])
        #expect(try await server.names("Item", ["tags": ["$exists": true]]) == ["a", "b", "c"])
    }

    @Test func arraysAreFoundByAllOrOnlySomeElements() async throws {
        #expect(try await server.names("Item", ["tags": ["$all": ["y", "x"]]]) == ["a"])
        #expect(try await server.names("Item", ["tags": ["$all": ["y"]]]) == ["a", "b"])
        #expect(try await server.names("Item", ["tags": ["$all": []]]) == [])
        #expect(try await server.names("Item", ["tags": ["$all": [["$regex": "^x"], ["$regex": "^y"]]]]) == ["a"])
        #expect(try await server.names("Item", ["name": ["$all": ["a"]]]) == ["a"])
        #expect(try await server.names("Item", ["tags": ["$containedBy": ["x", "y", 1, true, 7]]]) == ["a", "c"])
        #expect(try await server.names("Item", ["tags": ["$containedBy": []]]) == ["c"])
        #expect(try await server.names("Item", ["name": ["$containedBy": ["a"]]]) == [])
    }

    @Test func elementsHavePositionsAndMembers() async throws {
        try await server.save("Shop", ["name": "s", "lines": [["sku": "p", "n": 2], ["sku": "q", "list": ["z"]]]])
        #expect(try await server.names("Item", ["tags.0": "x"]) == ["a"])
        #expect(try await server.names("Item", ["tags.0": ["$exists": true]]) == ["a", "b"])
        #expect(try await server.names("Shop", ["lines.sku": "q"]) == ["s"])
        #expect(try await server.names("Shop", ["lines.sku": ["$ne": "q"]]) == [])
        #expect(try await server.names("Shop", ["lines.sku": ["$in": ["a", "p"]]]) == ["s"])
        #expect(try await server.names("Shop", ["lines.n": ["$gte": 2]]) == ["s"])
        #expect(try await server.names("Shop", ["lines.list": "z"]) == ["s"])
        #expect(try await server.names("Shop", ["lines.1.sku": "q"]) == ["s"])
        #expect(try await server.names("Shop", ["lines.1.sku": "p"]) == [])
    }

    @Test func membersOfObjectsAreFound() async throws {
        #expect(try await server.names("Item", ["info.city": "Berlin"]) == ["a"])
        #expect(try await server.names("Item", ["info.n": 5]) == ["a"])
        #expect(try await server.names("Item", ["info.n": "5"]) == ["b"])
        #expect(try await server.names("Item", ["info.n": ["$gt": 4]]) == ["a"])
        #expect(try await server.names("Item", ["info.n": ["$ne": 5]]) == ["b", "c", "d"])
        #expect(try await server.names("Item", ["info.city": ["$exists": false]]) == ["c", "d"])
        #expect(try await server.names("Item", ["info.city": ["$in": ["Paris", .null]]]) == ["b", "c", "d"])
        #expect(try await server.names("Item", ["info.deep.list": 2]) == ["a"])
        #expect(try await server.names("Item", ["info.deep.list": [1, 2]]) == ["a"])
        #expect(try await server.names("Item", ["info.deep": ["list": [1, 2]]]) == ["a"])
        #expect(try await server.names("Item", ["info.deep.list": ["$containedBy": [1, 2, 3]]]) == ["a"])
        #expect(try await server.names("Item", ["info": ["n": "5", "city": "Paris"]]) == ["b"])
        #expect(try await server.names("Item", ["info.city": ["$regex": "^P"]]) == ["b"])
        #expect(try await server.names("Item", ["info.no body": .null]) == ["a", "b", "c", "d"])
    }

    @Test func arraysWithinObjectsHavePositionsAndElements() async throws {
        try await server.save(
            "Deep", ["name": "a", "o": ["arr": [1, 2], "v": [["k": 5]], "y": ["2020": [7]]]],
            ["name": "b", "o": ["arr": [["k": 2], ["k": 3, "in": [["n": 9]]]], "v": ["0": ["k": 6]]]],
            [
                "name": "c", "o": ["arr": 1], "list": [["subs": [["k": 1], ["k": 2]], "n": [[4]]]],
            ])
        #expect(try await server.names("Deep", ["o.arr.0": 1]) == ["a"])
        #expect(try await server.names("Deep", ["o.arr.1": 2]) == ["a"])
        #expect(try await server.names("Deep", ["o.arr.1": 1]) == [])
        #expect(try await server.names("Deep", ["o.arr.0": ["$exists": true]]) == ["a", "b"])
        #expect(try await server.names("Deep", ["o.arr.0": ["$exists": false]]) == ["c"])
        #expect(try await server.names("Deep", ["o.arr.0": ["$ne": 1]]) == ["b", "c"])
        #expect(try await server.names("Deep", ["o.arr.0.k": 2]) == ["b"])
        #expect(try await server.names("Deep", ["o.arr.k": 3]) == ["b"])
        #expect(try await server.names("Deep", ["o.arr.k": ["$gt": 2]]) == ["b"])
        #expect(try await server.names("Deep", ["o.arr.k": ["$in": [1, 2]]]) == ["b"])
        #expect(try await server.names("Deep", ["o.arr.k": ["$all": [2, 3]]]) == ["b"])
        #expect(try await server.names("Deep", ["o.arr.k": ["$ne": 2]]) == ["a", "c"])
        #expect(try await server.names("Deep", ["o.arr.in.n": 9]) == ["b"])
        #expect(try await server.names("Deep", ["o.v.0.k": ["$gte": 5]]) == ["a", "b"])
        #expect(try await server.names("Deep", ["o.v.k": 5]) == ["a"])
        #expect(try await server.names("Deep", ["o.y.2020": 7]) == ["a"])
        #expect(try await server.names("Deep", ["o.y.2020.0": 7]) == ["a"])
        #expect(try await server.names("Deep", ["list.subs.k": 2]) == ["c"])
        #expect(try await server.names("Deep", ["list.0.subs.k": 2]) == ["c"])
        #expect(try await server.names("Deep", ["list.0.subs.1.k": 1]) == [])
        #expect(try await server.names("Deep", ["list.n.0": 4]) == ["c"])
        #expect(try await server.names("Deep", ["list.subs.0.k": 1]) == ["c"])
        #expect(try await server.names("Deep", ["o.v.0.k": ["$exists": true]], ["order": "-o.v.0.k"]) == ["b", "a"])
    }

    @Test func onlyNumbersFromZeroUpArePositions() async throws {
        for key in ["tags.-1", "tags.+1", "tags.01", "tags.99999999999", "tags.4294967296", "info.deep.list.-1"] {
            #expect(try await server.names("Item", [key: "x"]) == [], "\(key)")
            #expect(try await server.names("Item", [key: ["$exists": false]]) == ["a", "b", "c", "d"], "\(key)")
            let reply = try await server.query("Item", [:], ["order": .string(key)])
            #expect(reply.status == 200 || reply.code == 102, "\(key): \(reply.json)")
        }
        let long = (["info"] + Array(repeating: "1", count: 60)).joined(separator: ".")
        let reply = try await server.query("Item", [long: 1])
        #expect(reply.json == ["results": []] || reply.code == 102, "\(reply.json)")
    }

    @Test func objectsAreSortedByMembers() async throws {
        #expect(try await server.names("Item", [:], ["order": "-info.city"]).prefix(2) == ["b", "a"])
        #expect(try await server.error("Item", [:], ["order": "info"]).code == 102)
        #expect(try await server.error("Item", [:], ["order": "tags"]).code == 102)
    }

    @Test func datesAndPointersInJSONAreValues() async throws {
        let id = try await server.create("Author", ["name": "le"])
        try await server.save(
            "Event", ["name": "e", "dates": [date("2020-01-01T00:00:00.000Z")], "people": [pointer("Author", id)]],
            ["name": "f", "meta": ["when": date("2022-01-01T00:00:00.000Z")]])
        #expect(try await server.names("Event", ["dates": ["$lt": date("2021-01-01T00:00:00.000Z")]]) == ["e"])
        #expect(try await server.names("Event", ["dates": ["$gt": date("2021-01-01T00:00:00.000Z")]]) == [])
        #expect(try await server.names("Event", ["meta.when": ["$gt": date("2021-01-01T00:00:00.000Z")]]) == ["f"])
        #expect(try await server.names("Event", ["people": pointer("Author", id)]) == ["e"])
        #expect(try await server.names("Event", ["people": ["$in": [pointer("Author", id)]]]) == ["e"])
        let query: JSONValue = ["$inQuery": ["className": "Author", "where": ["name": "le"]]]
        #expect(try await server.names("Event", ["people": query]) == ["e"])
        #expect(
            try await server.names("Event", ["people": ["$inQuery": ["className": "Author", "where": ["name": "x"]]]])
                == [])
    }

    @Test(.onSQLite) func invalidJSONMatchesNothing() async throws {
        try await server.store.pool.write { connection in
            try connection.execute("UPDATE Item SET tags = '[broken', info = 'x' WHERE name = 'a'")
        }
        #expect(try await server.names("Item", ["tags": "y"], ["keys": "name"]) == ["b"])
        let others = try await server.names("Item", ["info.city": ["$ne": "Paris"]], ["keys": "name"])
        #expect(others == ["a", "c", "d"])
    }
}
