import RelataParse
import TestEngines
import Testing

/// The operators that compare a field with values.
@Suite(.onEveryEngine) struct ComparisonTests {
    let server: TestServer

    init() async throws {
        server = try TestServer()
        try await server.save(
            "Item",
            [
                "name": "a", "n": 1, "flag": true, "at": date("2020-01-01T00:00:00.000Z"), "text": "x",
                "raw": bytes("AQI="),
            ],
            ["name": "b", "n": 2.5, "flag": false, "at": date("2021-06-01T12:00:00.000Z"), "text": "y"],
            ["name": "c", "n": -3, "text": "Y"],
            ["name": "d"])
    }

    @Test func equalityDistinguishesTypes() async throws {
        #expect(try await server.names("Item", ["n": 1]) == ["a"])
        #expect(try await server.names("Item", ["n": ["$eq": 2.5]]) == ["b"])
        #expect(try await server.names("Item", ["n": "1"]) == [])
        #expect(try await server.names("Item", ["n": true]) == [])
        #expect(try await server.names("Item", ["flag": true]) == ["a"])
        #expect(try await server.names("Item", ["flag": 1]) == [])
        #expect(try await server.names("Item", ["text": "y"]) == ["b"])
        #expect(try await server.names("Item", ["at": date("2020-01-01T00:00:00.000Z")]) == ["a"])
        #expect(try await server.names("Item", ["at": "2020-01-01T00:00:00.000Z"]) == [])
        #expect(try await server.names("Item", ["raw": bytes("AQI=")]) == ["a"])
        #expect(try await server.names("Item", ["text": ["some": "object"]]) == [])
        #expect(try await server.names("Item", ["n": 1, "text": "y"]) == [])
    }

    @Test func anUnsetFieldDiffersFromEveryValue() async throws {
        #expect(try await server.names("Item", ["n": ["$ne": 1]]) == ["b", "c", "d"])
        #expect(try await server.names("Item", ["flag": ["$ne": true]]) == ["b", "c", "d"])
        #expect(try await server.names("Item", ["n": ["$ne": "1"]]) == ["a", "b", "c", "d"])
        #expect(try await server.names("Item", ["n": .null]) == ["d"])
        #expect(try await server.names("Item", ["at": ["$eq": .null]]) == ["c", "d"])
        #expect(try await server.names("Item", ["at": ["$ne": .null]]) == ["a", "b"])
        #expect(try await server.names("Item", ["n": ["$exists": true]]) == ["a", "b", "c"])
        #expect(try await server.names("Item", ["n": ["$exists": false]]) == ["d"])
    }

    @Test func unknownFieldsAreUnset() async throws {
        let all = ["a", "b", "c", "d"]
        #expect(try await server.names("Item", ["nope": 1]) == [])
        #expect(try await server.names("Item", ["nope": .null]) == all)
        #expect(try await server.names("Item", ["nope": ["$ne": 1]]) == all)
        #expect(try await server.names("Item", ["nope": ["$exists": false]]) == all)
        #expect(try await server.names("Item", ["nope.deeper": ["$exists": true]]) == [])
        #expect(try await server.names("Item", ["nope": ["$gt": 1]]) == [])
        #expect(try await server.names("Item", ["nope": ["$nin": [1]]]) == all)
        #expect(try await server.names("Item", ["n.deeper": .null]) == all)
        #expect(try await server.names("Missing", ["n": 1]) == [])
    }

    @Test func orderComparesOnlyValuesOfOneKind() async throws {
        #expect(try await server.names("Item", ["n": ["$gt": 0]]) == ["a", "b"])
        #expect(try await server.names("Item", ["n": ["$gte": 1, "$lt": 2.5]]) == ["a"])
        #expect(try await server.names("Item", ["n": ["$lte": -3]]) == ["c"])
        #expect(try await server.names("Item", ["n": ["$lt": "9"]]) == [])
        #expect(try await server.names("Item", ["text": ["$gt": "Y"]]) == ["a", "b"])
        #expect(try await server.names("Item", ["at": ["$lt": date("2020-12-31T00:00:00.000Z")]]) == ["a"])
        #expect(try await server.names("Item", ["flag": ["$gt": false]]) == ["a"])
    }

    @Test func listsCanContainValuesOfAnyKind() async throws {
        #expect(try await server.names("Item", ["n": ["$in": [1, -3, "x", true]]]) == ["a", "c"])
        #expect(try await server.names("Item", ["n": ["$in": []]]) == [])
        #expect(try await server.names("Item", ["n": ["$in": [.null, 1]]]) == ["a", "d"])
        #expect(try await server.names("Item", ["n": ["$in": [[1, 2.5], -3]]]) == ["a", "b", "c"])
        #expect(try await server.names("Item", ["n": ["$nin": [1, -3]]]) == ["b", "d"])
        #expect(try await server.names("Item", ["n": ["$nin": [.null]]]) == ["a", "b", "c"])
        #expect(try await server.names("Item", ["n": ["$nin": []]]) == ["a", "b", "c", "d"])
        let many = JSONValue.array((0..<100_000).map { .integer($0) })
        #expect(try await server.names("Item", ["n": ["$in": many]]) == ["a"])
    }

    @Test func conditionsAreCombined() async throws {
        #expect(try await server.names("Item", ["$or": [["n": 1], ["text": "y"]]]) == ["a", "b"])
        #expect(try await server.names("Item", ["$or": []]) == [])
        #expect(try await server.names("Item", ["$and": [["n": ["$gt": 0]], ["flag": false]]]) == ["b"])
        #expect(try await server.names("Item", ["$and": []]) == ["a", "b", "c", "d"])
        #expect(try await server.names("Item", ["$nor": [["n": 1], ["n": 2.5]]]) == ["c", "d"])
        #expect(
            try await server.names("Item", ["$or": [["n": 1], ["$and": [["n": -3], ["text": "Y"]]]]]) == ["a", "c"])
        #expect(try await server.names("Item", ["n": ["$not": ["$gt": 0]]]) == ["c", "d"])
        #expect(try await server.names("Item", ["n": ["$not": ["$in": [1], "$exists": true]]]) == ["b", "c", "d"])
    }

    @Test func idsAndStampsAreFields() async throws {
        let objects = try await server.find("Item", [:], ["order": "name"])
        let ids = objects.compactMap { $0["objectId"]?.string }
        #expect(try await server.names("Item", ["objectId": .string(ids[1])]) == ["b"])
        #expect(
            try await server.names("Item", ["objectId": ["$in": .array(ids.prefix(2).map { .string($0) })]]) == [
                "a", "b",
            ])
        #expect(try await server.names("Item", ["objectId": ["$ne": .string(ids[0])]]) == ["b", "c", "d"])
        #expect(try await server.names("Item", ["objectId": 5]) == [])
        let later = try await server.values(of: "objectId", "Item", ["objectId": ["$gt": .string(ids.sorted()[1])]])
        #expect(later.compactMap(\.string) == Array(ids.sorted()[2...]))
        let created = try #require(objects[0]["createdAt"]?.string)
        #expect(try await server.names("Item", ["createdAt": ["$gte": .string(created)]]).contains("a"))
        #expect(try await server.names("Item", ["createdAt": ["$lt": date(created)]]) == [])
        #expect(try await server.names("Item", ["updatedAt": ["$gt": date("1970-01-01T00:00:00.000Z")]]).count == 4)
    }

    @Test func timeIsRelativeToTheRequest() async throws {
        #expect(try await server.names("Item", ["createdAt": ["$gt": ["$relativeTime": "10 minutes ago"]]]).count == 4)
        #expect(try await server.names("Item", ["createdAt": ["$gt": ["$relativeTime": "in 1 hr 5 mins"]]]) == [])
        #expect(try await server.names("Item", ["at": ["$lt": ["$relativeTime": "now"]]]) == ["a", "b"])
        #expect(try await server.error("Item", ["at": ["$lt": ["$relativeTime": "soon"]]]).code == 107)
    }

    @Test func plainValuesCanBeCombinedWithOperators() async throws {
        #expect(
            try await server.names(
                "Item", ["at": ["__type": "Date", "iso": "2020-01-01T00:00:00.000Z", "$exists": true]])
                == ["a"])
    }

    @Test func anErrorNamesTheOperator() async throws {
        let wrong: [(JSONValue, String)] = [
            (["n": ["$in": 1]], "bad $in value"), (["n": ["$nin": "x"]], "bad $nin value"),
            (["n": ["$exists": 1]], "n: $exists"),
            (["n": ["$gt": ["a": 1]]], "n: $gt"), (["n": ["$gt": .null]], "n: $gt"), (["n": ["$gt": [1]]], "n: $gt"),
            (["text": ["$regex": 5]], "bad regex: 5"), (["text": ["$options": "i"]], "text: $options"),
            (["n": ["$foo": 1]], "bad constraint: $foo"), (["$where": "1"], "Invalid key name: $where"),
            (["$or": 1], "Bad $or format"), (["$or": [1]], "JSON object"), (["n": ["$all": 1]], "bad $all value"),
            (["n": ["$not": 1]], "n: $not"),
        ]
        for (condition, part) in wrong {
            let error = try await server.error("Item", condition)
            let code: Int64 =
                condition["$where"] != nil ? 105 : condition["$or"] != nil ? 102 : 107
            #expect(error.code == code, "\(condition)")
            #expect(error.message.contains(part), "\(error.message)")
        }
        for name in ["a b", "1x", "_rperm", "a\"b", "", "n..x", "é"] {
            #expect(try await server.error("Item", [name: 1]).code == 105)
        }
        #expect(try await server.error("Item", [1]).code == 102)
        #expect(try await server.error("Item", [:], ["nonsense": 1]).code == 102)
    }

    private func bytes(_ base64: String) -> JSONValue { ["__type": "Bytes", "base64": .string(base64)] }
}
