import RelataParse
import TestEngines
import Testing

/// Errors in conditions have Parse Server's messages, whether or not the class exists.
@Suite(.onEveryEngine) struct ConditionCheckTests {
    private let server: TestServer

    init() async throws {
        server = try TestServer()
        try await server.save(
            "Book",
            ["name": "a", "n": 1, "tags": ["the", "lazy", "fox"], "at": place(1, 2), "day": date("2020-01-01")])
    }

    private static let refused: [(condition: JSONValue, code: Int64, message: String)] = [
        (["n": ["$in": 5]], 107, "bad $in value"), (["n": ["$nin": 5]], 107, "bad $nin value"),
        (["tags": ["$all": "x"]], 107, "bad $all value"),
        (["tags": ["$containedBy": 5]], 107, "bad $containedBy: should be an array"),
        (["name": ["$regex": 5]], 107, "bad regex: 5"), (["n": ["$foo": 1]], 107, "bad constraint: $foo"),
        (["name": ["$text": ["$search": "x"]]], 107, "bad $text: $search, should be object"),
        (["name": ["$text": [:]]], 107, "bad $text: $search, should be object"),
        (["name": ["$text": ["$search": ["$term": 1]]]], 107, "bad $text: $term, should be string"),
        (
            ["name": ["$text": ["$search": ["$term": "x", "$language": 1]]]], 107,
            "bad $text: $language, should be string"
        ),
        (
            ["name": ["$text": ["$search": ["$term": "x", "$caseSensitive": "no"]]]], 107,
            "bad $text: $caseSensitive, should be boolean"
        ),
        (
            ["name": ["$text": ["$search": ["$term": "x", "$diacriticSensitive": "no"]]]], 107,
            "bad $text: $diacriticSensitive, should be boolean"
        ),
        (["at": ["$within": ["$box": [1]]]], 107, "malformatted $within arg"),
        (
            ["at": ["$geoWithin": ["$centerSphere": 5]]], 107,
            "bad $geoWithin value; $centerSphere should be an array of Parse.GeoPoint and distance"
        ),
        (
            ["at": ["$geoWithin": ["$centerSphere": [5, 1]]]], 107,
            "bad $geoWithin value; $centerSphere geo point invalid"
        ),
        (
            ["at": ["$geoWithin": ["$centerSphere": [[1, 1], -1]]]], 107,
            "bad $geoWithin value; $centerSphere distance invalid"
        ),
        (["at": ["$geoIntersects": ["$point": 5]]], 107, "bad $geoIntersect value; $point should be GeoPoint"),
        (["n": ["$in": [["$foo": 1]]]], 107, "bad atom: {\"$foo\":1}"),
        (["n": ["$eq": ["$foo": 1]]], 107, "bad atom: {\"$foo\":1}"),
        (
            ["tags": ["$all": [["$regex": "^\\Qthe\\E"], "lazy"]]], 107,
            "All $all values must be of regex type or none: [{\"$regex\":\"^\\\\Qthe\\\\E\"},\"lazy\"]"
        ),
        (["tags": ["$all": [["$foo": "x"]]]], 107, "bad atom: {\"$foo\":\"x\"}"),
        (["name": ["$in": [["$regex": "^a", "$foo": 1]]]], 107, "bad constraint: $foo"),
        (["name": ["$nin": [["$regex": "^a", "$foo": 1]]]], 107, "bad constraint: $foo"),
        (["tags": ["$all": [["$regex": "^a", "$foo": 1]]]], 107, "bad constraint: $foo"),
        (["tags": ["$all": [["$regex": "^a", "length": 1]]]], 107, "bad constraint: length"),
        (["name": ["$text": ["$search": ["$term": "x"], "$foo": 1]]], 107, "bad constraint: $foo"),
        (["name": ["$text": ["$search": ["$term": "x", "$foo": 1]]]], 107, "bad constraint: $foo"),
        (["day": ["$lt": ["$relativeTime": "now", "$foo": 1]]], 107, "bad constraint: $foo"),
        (["at": ["$within": ["$box": [[1, 1], [2, 2]], "$foo": 1]]], 107, "bad constraint: $foo"),
        (
            ["at": ["$geoWithin": ["$polygon": [[1, 1], [2, 2], [3, 1]], "$foo": 1]]], 107,
            "bad constraint: $foo"
        ),
        (["at": ["$geoWithin": ["$centerSphere": [[1, 1], 1], "$foo": 1]]], 107, "bad constraint: $foo"),
        (
            ["at": ["$geoWithin": ["$centerSphere": [[1, 1], 1], "$polygon": [[1, 1], [2, 2], [3, 1]]]]], 107,
            "bad constraint: $centerSphere"
        ),
        (["at": ["$geoIntersects": ["$point": [1, 1], "$foo": 1]]], 107, "bad constraint: $foo"),
        (["$or": 5], 102, "Bad $or format - use an array value."), (["$foo": 1], 105, "Invalid key name: $foo"),
        (["bad name": 1], 105, "Invalid key name: bad name"), (["ACL": 1], 102, "Cannot query on ACL."),
    ]

    @Test(arguments: ["Book", "Nothing"]) func aMalformedConditionIsRefused(className: String) async throws {
        for (condition, code, message) in Self.refused {
            let error = try await server.error(className, condition)
            #expect(error.code == code && error.message == message, "\(condition): \(error)")
        }
        #expect(try await server.error(className, [:], ["order": "bad name"]).code == 105)
        #expect(try await server.error(className, [:], ["keys": "$score"]).code == 102)
        #expect(try await server.find("Nothing", ["any.thing": 1, "n": ["$gt": 1]], ["order": "x.y"]).isEmpty)
    }

    @Test func conditionsOnAMissingClassAreCheckedWithinOthersToo() async throws {
        for (condition, code, _) in Self.refused where condition["$or"] == nil {
            let inner: JSONValue = ["className": "Nothing", "where": condition]
            #expect(try await server.error("Book", ["name": ["$inQuery": inner]]).code == code, "\(condition)")
            let selected: JSONValue = ["$dontSelect": ["key": "x", "query": inner]]
            #expect(try await server.error("Book", ["name": selected]).code == code, "\(condition)")
        }
        for member in ["limit", "skip"] {
            let inner: JSONValue = .object(["className": "Nothing", "where": [:], member: -1])
            #expect(try await server.error("Book", ["name": ["$inQuery": inner]]).code == 102)
        }
        #expect(try await server.names("Book", ["name": ["$inQuery": ["className": "Nothing", "where": [:]]]]) == [])
        let none: JSONValue = ["$dontSelect": ["key": "x", "query": ["className": "Nothing"]]]
        #expect(try await server.names("Book", ["name": none]) == ["a"])
        for stages: JSONValue in [
            [["$match": ["n": ["$in": 5]]]], [["$limit": 1], ["$match": ["n": ["$in": 5]]]],
            [["$match": ["bad name": 1]]],
        ] {
            for name in ["Book", "Nothing"] {
                let reply = try await server.send("POST", "/aggregate/\(name)", ["pipeline": stages, "_method": "GET"])
                #expect((reply.code ?? 0) >= 102, "\(name) \(stages): \(reply.json)")
            }
        }
        #expect(try await server.aggregate("Nothing", [["$group": ["objectId": "$x"]]]) == [])
        #expect(try await server.send("GET", "/aggregate/Nothing?distinct=x").results == [])
        #expect(try await server.send("GET", "/aggregate/Nothing?distinct=bad%20name").code == 105)
    }

    @Test func anOperatorWithinAValueOrASubqueryIsRefused() async throws {
        let subquery: JSONValue = ["className": "Book", "$foo": 1]
        for condition: JSONValue in [
            ["day": ["$lt": ["__type": "Date", "iso": "2020-01-01T00:00:00.000Z", "$foo": 1]]],
            ["at": ["$nearSphere": ["latitude": 1, "longitude": 1, "$foo": 1]]],
            ["name": ["$inQuery": ["className": "Book", "where": [:], "$foo": 1]]],
            ["name": ["$select": ["key": "n", "query": ["className": "Book"], "$foo": 1]]],
            ["name": ["$dontSelect": ["key": "n", "query": subquery]]],
            ["$relatedTo": ["object": pointer("Book", "x"), "key": "n", "$foo": 1]],
        ] {
            let error = try await server.error("Book", condition)
            #expect(error.code == 107 && error.message.hasPrefix("bad atom: {"), "\(condition): \(error)")
        }
        let stages: JSONValue = [["$limit": 1], ["$match": ["name": ["$options": "i", "$eq": "a"]]]]
        let reply = try await server.send("POST", "/aggregate/Book", ["pipeline": stages, "_method": "GET"])
        #expect(reply.code == 107, "\(reply.json)")
    }

    @Test func aMisusedSubqueryIsNamedInTheError() async throws {
        for (name, operand) in [
            ("$inQuery", ["className": "Book"]), ("$notInQuery", 1), ("$select", ["key": "n"]), ("$dontSelect", [:]),
        ] as [(String, JSONValue)] {
            let error = try await server.error("Book", ["name": .object([name: operand])])
            #expect(error.code == 102 && error.message.hasPrefix("improper usage of \(name)"), "\(error)")
        }
    }

    @Test func allAndInAcceptRegularExpressions() async throws {
        func found(_ condition: JSONValue) async throws -> [String] {
            try await server.names("Book", ["tags": condition])
        }
        let (the, fox, dog): (JSONValue, JSONValue, JSONValue) = (
            ["$regex": "^\\Qthe\\E"], ["$regex": "^FO", "$options": "i"], ["$regex": "^dog"]
        )
        #expect(try await found(["$all": [the, fox]]) == ["a"])
        #expect(try await found(["$all": [the, dog]]) == [])
        #expect(try await found(["$in": [dog, fox]]) == ["a"])
        #expect(try await found(["$in": [dog, "lazy"]]) == ["a"])
        #expect(try await found(["$in": [dog]]) == [])
        #expect(try await found(["$nin": [fox]]) == [])
        #expect(try await found(["$nin": [dog, "x"]]) == ["a"])
        #expect(try await server.names("Book", ["name": ["$in": [dog, .null]]]) == [])
    }

    @Test func relativeTimeNeedsADate() async throws {
        let past: JSONValue = ["$relativeTime": "1 day ago"]
        #expect(try await server.names("Book", ["day": ["$lt": past]]) == ["a"])
        #expect(try await server.names("Book", ["createdAt": ["$gt": past]]) == ["a"])
        #expect(try await server.names("Book", ["missing": ["$gt": past]]) == [])
        #expect(try await server.names("Book", ["at.when": ["$gt": past]]) == [])
        for key in ["n", "name", "tags", "at", "objectId"] {
            let error = try await server.error("Book", .object([key: ["$lt": past]]))
            #expect(error.code == 107 && error.message == "$relativeTime can only be used with Date field", "\(key)")
        }
        for name in ["$eq", "$ne"] {
            let error = try await server.error("Book", ["day": .object([name: past])])
            #expect(error.code == 107)
            #expect(
                error.message == "$relativeTime can only be used with the $lt, $lte, $gt, and $gte operators")
        }
        let error = try await server.error("Book", ["day": ["$lt": ["$relativeTime": "-1 weeks ago in"]]])
        #expect(error.code == 107 && error.message.hasPrefix("bad $relativeTime ($lt) value."))
    }

    // MARK: Selected arrays

    @Test func theElementsOfAnArrayAreSelected() async throws {
        let ids = try await server.save(
            "Person", ["name": "ann", "nick": "x"], ["name": "bob", "nick": "y"], ["name": "cy"])
        let people = ids.map { pointer("Person", $0) }
        try await server.save(
            "Team", ["name": "one", "people": [people[0], people[1], 5], "nicks": ["x", "z"], "lead": people[0]],
            ["name": "two", "people": [people[1]], "info": ["people": [people[2]]]],
            ["name": "three", "people": [pointer("Other", ids[2])]])
        func select(_ key: String, _ condition: JSONValue = [:], _ more: JSONObject = [:]) -> JSONValue {
            var query: JSONObject = ["className": "Team", "where": condition]
            query.merge(more)
            return ["key": .string(key), "query": .object(query)]
        }
        try await server.save(
            "Seat", ["name": "a", "who": people[0], "all": [people[2], people[0]]],
            ["name": "b", "who": people[1], "all": [people[1]]], ["name": "c", "who": people[2], "nick": "z"])
        func seats(_ field: String, _ condition: JSONValue) async throws -> [String] {
            try await server.names("Seat", .object([field: condition]))
        }
        #expect(try await seats("who", ["$select": select("people")]) == ["a", "b"])
        #expect(try await seats("who", ["$select": select("people", ["name": "two"])]) == ["b"])
        #expect(try await seats("who", ["$dontSelect": select("people", ["name": "two"])]) == ["a", "c"])
        #expect(try await seats("who", ["$select": select("people", [:], ["order": "-name", "limit": 1])]) == ["b"])
        #expect(try await seats("who", ["$select": select("info.people")]) == ["c"])
        #expect(try await seats("all", ["$select": select("people", ["name": "one"])]) == ["a", "b"])
        #expect(try await seats("all", ["$select": select("lead")]) == ["a"])
        #expect(try await seats("all", ["$dontSelect": select("people", ["name": "one"])]) == ["c"])
        #expect(try await seats("nick", ["$select": select("nicks")]) == ["c"])
        let ann: JSONValue = ["nick": ["$select": select("nicks")]]
        #expect(try await server.names("Person", ann) == ["ann"])
    }
}
