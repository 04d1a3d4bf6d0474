import RelataParse
import TestEngines
import Testing

/// Queries on texts and places.
@Suite(.onEveryEngine) struct TextAndPlaceTests {
    let server: TestServer

    init() async throws {
        server = try TestServer()
        try await server.save(
            "Shop",
            ["name": "Coffee\nHouse", "at": place(52.5, 13.4), "words": "The best Café in town"],
            ["name": "coffee bar", "at": place(48.9, 2.4), "words": "coffee shop, open late"],
            ["name": "Tea (room)", "at": place(-10, 170), "words": "no such thing"],
            ["name": "a.b*c"])
        try await server.save(
            "Zone", ["name": "square", "area": polygon([[0, 0], [0, 10], [10, 10], [10, 0]])],
            ["name": "triangle", "area": polygon([[0, 0], [0, 10], [10, 0]])], ["name": "none"])
    }

    private func polygon(_ corners: [[Int64]]) -> JSONValue {
        ["__type": "Polygon", "coordinates": .array(corners.map { .array($0.map { .integer($0) }) })]
    }

    private func found(_ pattern: String, _ options: String? = nil) async throws -> [String] {
        var condition: JSONObject = ["$regex": .string(pattern)]
        condition["$options"] = options.map { .string($0) }
        return try await server.names("Shop", ["name": .object(condition)])
    }

    @Test func aPartOfTheTextMatches() async throws {
        #expect(try await found("offee") == ["Coffee\nHouse", "coffee bar"])
        #expect(try await found("^coffee") == ["coffee bar"])
        #expect(try await found("^coffee", "i") == ["Coffee\nHouse", "coffee bar"])
        #expect(try await found("^House") == [])
        #expect(try await found("^House", "m") == ["Coffee\nHouse"])
        #expect(try await found("Coffee.House") == [])
        #expect(try await found("Coffee.House", "s") == ["Coffee\nHouse"])
        #expect(try await found("c o f f e e # a comment", "ix") == ["Coffee\nHouse", "coffee bar"])
        #expect(try await found("\\QTea (\\E") == ["Tea (room)"])
        #expect(try await found("^\\Qa.b*\\E") == ["a.b*c"])
        #expect(try await found("^\\Qa.\\E\\\\E\\Qb\\E") == [])
        #expect(try await found("\\QEA (\\E", "i") == ["Tea (room)"])
        #expect(try await server.names("Shop", ["at": ["$regex": "5"]]) == [])
        #expect(try await server.names("Shop", ["name": ["$not": ["$regex": "e"]]]) == ["a.b*c"])
        for (pattern, options) in [("(", nil), ("a", "q"), ("[", "i"), (String(repeating: "a", count: 10_001), nil)] {
            var condition: JSONObject = ["$regex": .string(pattern)]
            condition["$options"] = options.map { .string($0) }
            #expect(try await server.error("Shop", ["name": .object(condition)]).code == (options == "q" ? 107 : 102))
        }
    }

    @Test(.onSQLite) func aPatternThatTakesTooLongIsAnError() async throws {
        try await server.save("Shop", ["name": .string(String(repeating: "a", count: 50) + "!")])
        let error = try await server.error("Shop", ["name": ["$regex": "^(a|a)*$"]])
        #expect(error.code == 102 && error.message.contains("took too long"), "\(error)")
        #expect(try await found("^a+!$").count == 1)
    }

    @Test(.onSQLite) func patternsThatTheEngineAbandonsAreErrors() async throws {
        try await server.save("Shop", ["name": .string(String(repeating: "a", count: 2_000_000) + "!")])
        let error = try await server.error("Shop", ["name": ["$regex": "^(a|a)*$"]])
        #expect(error.code == 102 && error.message.contains("took too long"), "\(error)")
    }

    @Test func wordsAreSearched() async throws {
        func search(_ term: String, _ more: JSONObject = [:]) async throws -> [String] {
            var search = more
            search["$term"] = .string(term)
            return try await server.names("Shop", ["words": ["$text": ["$search": .object(search)]]])
        }
        #expect(try await search("coffee") == ["coffee bar"])
        #expect(try await search("CAFE late") == ["Coffee\nHouse", "coffee bar"])
        #expect(try await search("CAFE", ["$caseSensitive": true]) == [])
        #expect(try await search("cafe", ["$diacriticSensitive": true]) == [])
        #expect(try await search("café", ["$diacriticSensitive": true, "$language": "fr"]) == ["Coffee\nHouse"])
        #expect(try await search("\"open late\"") == ["coffee bar"])
        #expect(try await search("best thing -town") == ["Tea (room)"])
        for search: JSONValue in [
            1, ["$search": "x"], ["$search": ["$term": 1]], ["$search": ["$term": "x", "$caseSensitive": 1]],
        ] {
            #expect(try await server.error("Shop", ["words": ["$text": search]]).code == 107)
        }
    }

    /// With a text index, the same objects are found, and the index is used.
    @Test func aTextIndexFindsTheSame() async throws {
        let terms = [
            "coffee", "CAFE late", "\"open late\"", "best thing -town", "coffee shop -open", "\"coffee shop\" absent",
            "-x",
            "bar", "no such",
        ]
        func answers() async throws -> [[String]] {
            var answers: [[String]] = []
            for term in terms {
                for more: JSONObject in [[:], ["$caseSensitive": true], ["$diacriticSensitive": true]] {
                    var search = more
                    search["$term"] = .string(term)
                    answers.append(try await server.names("Shop", ["words": ["$text": ["$search": .object(search)]]]))
                }
            }
            return answers
        }
        let before = try await answers()
        let index: JSONValue = ["indexes": ["search": ["words": "text"]]]
        let reply = try await server.send("PUT", "/schemas/Shop", index)
        #expect(reply.status == 200 && reply["indexes"]?["search"] == ["words": "text"], "\(reply.json)")
        #expect(try await answers() == before)
        try await server.save("Shop", ["name": "new", "words": "coffee again"])
        #expect(
            try await server.names("Shop", ["words": ["$text": ["$search": ["$term": "coffee"]]]])
                == ["coffee bar", "new"])
        #expect(try await server.send("PUT", "/schemas/Shop", ["indexes": ["b": ["name": "text"]]]).code == 102)
        #expect(try await server.send("PUT", "/schemas/Shop", ["indexes": ["b": ["at": "text"]]]).code == 102)
        #expect(
            try await server.send("PUT", "/schemas/Shop", ["indexes": ["b": ["name": "text", "words": 1]]]).code == 108)
        let gone = try await server.send("PUT", "/schemas/Shop", ["indexes": ["search": ["__op": "Delete"]]])
        #expect(gone.status == 200)
        #expect(try await server.names("Shop", ["words": ["$text": ["$search": ["$term": "again"]]]]) == ["new"])
    }

    @Test func searchResultsHaveAScore() async throws {
        try await server.save(
            "Note", ["name": "one", "text": "Alpha", "score": 50], ["name": "three", "text": "alpha beta alpha"],
            ["name": "none", "text": "gamma"], ["name": "two", "text": "beta, alpha", "score": 7], ["name": "unset"])
        let search: JSONValue = ["$text": ["$search": ["$term": "alpha beta"]]]
        for order in ["$score", "-$score", "$score,name"] {
            let found = try await server.find("Note", ["text": search], ["order": .string(order)])
            #expect(found.map { $0["name"] } == ["three", "two", "one"], "\(order)")
            #expect(found.map { $0["score"] } == [nil, 7, 50])
        }
        let scored = try await server.find("Note", ["text": search], ["order": "$score", "keys": "name,$score"])
        #expect(scored.map { $0["score"] } == [3, 2, 1])
        let names: Set = ["objectId", "createdAt", "updatedAt", "name", "score"]
        #expect(Set(scored[0].object?.keys.map { $0 } ?? []) == names)
        let only = try await server.find("Note", ["text": search], ["keys": ["$score"]])
        #expect(only.allSatisfy { $0["name"] == nil && $0["score"] != nil } && only.count == 3)
        let phrase: JSONValue = ["$text": ["$search": ["$term": "\"beta alpha\" alpha"]]]
        #expect(
            try await server.find("Note", ["text": phrase], ["order": "$score", "keys": "$score"])
                .map { $0["score"] } == [3, 2])
        let either: JSONValue = ["$or": [["text": search], ["name": ["$text": ["$search": ["$term": "none one"]]]]]]
        #expect(
            try await server.find("Note", either, ["order": "$score,name", "keys": "name,$score"])
                .map { $0["name"] } == ["three", "one", "two", "none"])
        for options: JSONObject in [["order": "$score"], ["keys": "$score"]] {
            #expect(try await server.error("Note", ["name": "one"], options).code == 102)
        }
        try await server.save("Link", ["note": pointer("Note", try #require(only[0]["objectId"]?.string))])
        let inner: JSONValue = ["className": "Note", "where": ["text": search], "order": "$score", "limit": 1]
        #expect(try await server.error("Link", ["note": ["$inQuery": inner]]).code == 102)
    }

    @Test func placesComeNearestFirst() async throws {
        func near(_ point: JSONValue, _ more: JSONObject = [:], _ options: JSONObject = [:])
            async throws -> [JSONValue?]
        {
            var condition = more
            condition["$nearSphere"] = point
            return try await server.find("Shop", ["at": .object(condition)], options).map { $0["name"] }
        }
        #expect(try await near(place(48.8, 2.3)) == ["coffee bar", "Coffee\nHouse", "Tea (room)"])
        #expect(try await near(place(-10, -170)) == ["Tea (room)", "Coffee\nHouse", "coffee bar"])
        #expect(
            try await near(place(48.8, 2.3), [:], ["order": "-name"]) == ["coffee bar", "Tea (room)", "Coffee\nHouse"])
        #expect(try await near(place(48.8, 2.3), ["$maxDistance": 0.01]) == ["coffee bar"])
        #expect(try await near(place(48.8, 2.3), ["$maxDistanceInKilometers": 900]) == ["coffee bar", "Coffee\nHouse"])
        #expect(try await near(place(48.8, 2.3), ["$maxDistanceInKilometers": 500]) == ["coffee bar"])
        #expect(try await near(place(48.8, 2.3), ["$maxDistanceInMiles": 560]) == ["coffee bar", "Coffee\nHouse"])
        #expect(try await near(place(-10, -179.5), ["$maxDistanceInRadians": 0.2]) == ["Tea (room)"])
        #expect(try await server.error("Shop", ["at": ["$maxDistance": 1]]).code == 107)
        #expect(try await server.error("Shop", ["at": ["$nearSphere": 1]]).code == 107)
        #expect(try await server.error("Shop", ["at": ["$nearSphere": place(91, 0)]]).code == 107)
        #expect(try await server.error("Shop", ["at": ["$nearSphere": place(1, 0), "$maxDistance": -1]]).code == 107)
        #expect(try await server.names("Shop", ["name": ["$nearSphere": place(0, 0)]]) == [])
    }

    @Test func placesLieInAreas() async throws {
        func within(_ area: JSONValue) async throws -> [String] { try await server.names("Shop", ["at": area]) }
        #expect(try await within(["$within": ["$box": [place(40, 0), place(50, 10)]]]) == ["coffee bar"])
        // Any two opposite corners define the box.
        #expect(try await within(["$within": ["$box": [place(50, 0), place(40, 10)]]]) == ["coffee bar"])
        #expect(try await within(["$within": ["$box": [place(50, 10), place(40, 0)]]]) == ["coffee bar"])
        #expect(try await within(["$within": ["$box": [place(37.71, -122.53), place(30.82, -122.37)]]]) == [])
        let triangle: JSONValue = [place(40, 0), place(60, 0), place(52, 20)]
        #expect(try await within(["$geoWithin": ["$polygon": triangle]]) == ["Coffee\nHouse", "coffee bar"])
        #expect(
            try await within(["$geoWithin": ["$polygon": polygon([[0, 40], [0, 60], [20, 60]])]]) == ["coffee bar"])
        #expect(try await within(["$geoWithin": ["$polygon": [[0, 40], [0, 60], [20, 60]]]]) == ["coffee bar"])
        #expect(try await within(["$geoWithin": ["$centerSphere": [place(52, 13), 0.05]]]) == ["Coffee\nHouse"])
        #expect(
            try await within(["$geoWithin": ["$centerSphere": [[13, 52], 0.2]]]) == ["Coffee\nHouse", "coffee bar"])
        #expect(try await within(place(52.5, 13.4)) == ["Coffee\nHouse"])
        #expect(try await within(["$exists": false]) == ["a.b*c"])
        #expect(try await within(["$ne": place(52.5, 13.4)]).count == 3)
        for area: JSONValue in [
            ["$within": 1], ["$within": ["$box": [place(1, 1)]]], ["$geoWithin": [:]],
            ["$geoWithin": ["$polygon": [place(1, 1), place(2, 2)]]], ["$geoWithin": ["$centerSphere": [place(1, 1)]]],
            ["$geoWithin": ["$centerSphere": [place(1, 1), -1]]], ["$geoWithin": ["$polygon": [1, 2, 3]]],
        ] {
            #expect(try await server.error("Shop", ["at": area]).code == 107)
        }
    }

    @Test func areasHoldPlaces() async throws {
        func holding(_ latitude: Double, _ longitude: Double) async throws -> [String] {
            try await server.names("Zone", ["area": ["$geoIntersects": ["$point": place(latitude, longitude)]]])
        }
        #expect(try await holding(2, 2) == ["square", "triangle"])
        #expect(try await holding(8, 8) == ["square"])
        #expect(try await holding(0, 5) == ["square", "triangle"])
        #expect(try await holding(-1, 5) == [])
        #expect(try await server.error("Zone", ["area": ["$geoIntersects": ["$point": 5]]]).code == 107)
        #expect(try await server.names("Zone", ["area": polygon([[0, 0], [0, 10], [10, 0]])]) == ["triangle"])
    }

    @Test func anEmptyExpressionMatchesEveryText() async throws {
        let server = try TestServer()
        _ = try await server.create("Book", ["title": "A", "n": 1])
        _ = try await server.create("Book", ["n": 2])
        for condition in [["$regex": ""], ["$regex": "", "$options": "i"], ["$regex": "", "$options": ""]]
            as [JSONValue]
        {
            #expect(try await server.find("Book", where: ["title": condition]).map { $0["n"] } == [1])
        }
    }
}
