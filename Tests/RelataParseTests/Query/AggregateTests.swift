import Testing

@testable import RelataParse

/// Figures of a class's objects, and the distinct values of a field.
@Suite(.onEveryEngine) struct AggregateTests {
    let server: TestServer
    let log: SQLStatements
    let genres: [String]

    init() async throws {
        log = SQLStatements()
        server = try TestServer(trace: log)
        genres = try await server.save("Genre", ["name": "sf"], ["name": "essay"])
        let (sf, essay) = (pointer("Genre", genres[0]), pointer("Genre", genres[1]))
        try await server.save(
            "Book",
            ["t": "a", "n": 1, "price": 2.5, "genre": sf, "tags": ["x", "y"], "at": date("2020-01-05T10:00:00.000Z")],
            ["t": "b", "n": 2, "price": 7.5, "genre": sf, "tags": ["y"], "at": date("2020-02-05T11:30:15.250Z")],
            ["t": "c", "n": 3, "genre": essay, "good": true, "info": ["k": 5], "at": date("2021-01-03T10:00:00.000Z")],
            ["t": "d", "n": 3, "tags": []])
    }

    private func distinct(_ query: String) async throws -> JSONValue {
        try await server.send("GET", "/aggregate/Book?\(query)").json["results"] ?? .null
    }

    @Test func theDistinctValuesOfAFieldAreListed() async throws {
        #expect(try await distinct("distinct=%22n%22") == [1, 2, 3])
        #expect(try await distinct("distinct=t") == ["a", "b", "c", "d"])
        #expect(try await distinct("distinct=tags") == ["x", "y"])
        #expect(try await distinct("distinct=good") == [true])
        #expect(try await distinct("distinct=genre.name") == ["essay", "sf"])
        #expect(try await distinct("distinct=info.k") == [5])
        #expect(try await distinct("distinct=nope") == [])
        #expect(try await distinct("distinct=n&where=%7B%22t%22%3A%22a%22%7D") == [1])
        let found = try #require(try await distinct("distinct=genre").array)
        #expect(Set(found) == Set(genres.map { pointer("Genre", $0) }))
        #expect(try await server.send("GET", "/aggregate/Nope?distinct=n").json == ["results": []])
    }

    @Test func aggregatesNeedTheMasterKey() async throws {
        #expect(try await server.send("GET", "/aggregate/Book?distinct=n", isMaster: false).status == 403)
    }

    @Test func groupsNeedOneStatement() async throws {
        var results: [JSONValue] = []
        let queries = try await log.queries {
            results = try await server.aggregate(
                "Book",
                [
                    ["$match": ["n": ["$gte": 1]]],
                    [
                        "$group": [
                            "objectId": "$genre", "count": ["$sum": 1], "twice": ["$sum": 2], "sum": ["$sum": "$n"],
                            "price": ["$avg": "$price"], "low": ["$min": "$t"], "high": ["$max": "$at"],
                            "all": ["$count": [:]],
                        ]
                    ],
                ])
        }
        #expect(queries.count == 1)
        #expect(queries[0].contains("GROUP BY"))
        let sf = try #require(results.first { $0["objectId"] == .string(genres[0]) })
        #expect(
            sf == [
                "objectId": .string(genres[0]), "count": 2, "twice": 4, "sum": 3, "price": 5, "low": "a",
                "high": date("2020-02-05T11:30:15.250Z"), "all": 2,
            ])
        let none = try #require(results.first { $0["objectId"] == .some(.null) })
        #expect(none["price"] == .some(.null))
        #expect(none["count"] == 1)
    }

    @Test func groupsCanHaveKeysOfSeveralKinds() async throws {
        func group(_ id: JSONValue) async throws -> [JSONValue: JSONValue] {
            let results = try await server.aggregate("Book", [["$group": ["_id": id, "n": ["$sum": 1]]]])
            return Dictionary(uniqueKeysWithValues: results.map { ($0["objectId"] ?? .null, $0["n"] ?? .null) })
        }
        #expect(try await group(.null) == [.null: 4])
        #expect(try await group("$n") == [1: 1, 2: 1, 3: 2])
        #expect(try await group("$good") == [true: 1, .null: 3])
        #expect(try await group(["$year": "$at"]) == [2020: 2, 2021: 1, .null: 1])
        #expect(try await group(["$dayOfWeek": "$at"]) == [1: 2, 4: 1, .null: 1])
        #expect(try await group(["$dayOfYear": "$at"]) == [5: 1, 36: 1, 3: 1, .null: 1])
        #expect(try await group(["y": ["$year": "$at"], "m": ["$month": "$at"]])[["y": 2020, "m": 2]] == 1)
        #expect(try await group(["$dateToString": ["format": "%Y-%m", "date": "$at"]])["2020-01"] == 1)
        #expect(try await group("$genre.name") == ["sf": 2, "essay": 1, .null: 1])
        #expect(try await group("$info.k") == [5: 1, .null: 3])
        #expect(try await group("$tags")[["y"]] == 1)
        #expect(try await group(["g": "$genre"])[["g": pointer("Genre", genres[1])]] == 1)
        #expect(try await server.aggregate("Nope", [["$group": ["_id": .null, "n": ["$sum": 1]]]]) == [])
        #expect(
            try await server.aggregate("Book", [["$match": ["n": 99]], ["$group": ["_id": .null, "n": ["$sum": 1]]]])
                == [])
    }

    @Test func figuresAreTheSameInSQLAndInMemory() async throws {
        // The list of titles must be computed in memory, so all other aggregates are, too.
        let figures: JSONObject = [
            "sum": ["$sum": "$price"], "count": ["$sum": 1], "avg": ["$avg": "$n"], "min": ["$min": "$at"],
            "max": ["$max": "$price"], "text": ["$sum": "$t"],
        ]
        let ids: [JSONValue] = [.null, "$n", "$genre", ["$month": "$at"], ["a": "$n", "b": "$good"], "$createdAt"]
        for id in ids {
            let quick = try await server.aggregate(
                "Book", [["$group": .object(figures.merging(["_id": id]))]])
            let slow = try await server.aggregate(
                "Book", [["$group": .object(figures.merging(["_id": id, "list": ["$push": "$t"]]))]])
            let rest = slow.map { group -> JSONValue in
                var members = group.object ?? [:]
                members["list"] = nil
                return .object(members)
            }
            #expect(Set(quick) == Set(rest), "\(id)")
        }
    }

    @Test func accumulatorsTakeValuesInOrder() async throws {
        let results = try await server.aggregate(
            "Book",
            [
                ["$sort": ["t": -1]],
                [
                    "$group": [
                        "_id": .null, "first": ["$first": "$t"], "last": ["$last": "$t"], "all": ["$push": "$t"],
                        "set": ["$addToSet": "$n"], "double": ["$sum": ["$multiply": ["$n", 2]]],
                    ]
                ],
            ])
        #expect(
            results == [
                [
                    "objectId": .null, "first": "d", "last": "a", "all": ["d", "c", "b", "a"], "set": [1, 2, 3],
                    "double": 18,
                ]
            ])
    }

    @Test func stagesRunInOrder() async throws {
        func titles(_ stages: JSONValue) async throws -> [JSONValue?] {
            try await server.aggregate("Book", stages).map { $0["t"] }
        }
        #expect(try await titles([["$sort": ["t": 1]], ["$skip": 1], ["$limit": 2]]) == ["b", "c"])
        #expect(try await titles([["$sort": ["t": 1]], ["$limit": 2], ["$skip": 1]]) == ["b"])
        #expect(try await titles([["$sort": ["t": 1]], ["$limit": 2], ["$match": ["t": "c"]]]) == [])
        #expect(try await titles([["$sort": [["n": -1], ["t": -1]]]]) == ["d", "c", "b", "a"])
        #expect(try await titles([["$unwind": "$tags"], ["$sort": ["t": 1]]]) == ["a", "a", "b"])
        #expect(
            try await titles([["$unwind": ["path": "$tags", "preserveNullAndEmptyArrays": true]], ["$sort": ["t": 1]]])
                == ["a", "a", "b", "c", "d"])
        #expect(try await server.aggregate("Book", [["$match": ["n": 3]], ["$count": "how"]]) == [["how": 2]])
        #expect(try await server.aggregate("Book", [["$limit": 3], ["$count": "how"]]) == [["how": 3]])
        #expect(try await server.aggregate("Book", [["$match": ["n": 9]], ["$count": "how"]]) == [])
        #expect(try await server.aggregate("Book", [["$limit": 0]]) == [])
    }

    @Test func documentsAreReshaped() async throws {
        func first(_ stages: JSONValue...) async throws -> JSONValue {
            try await server.aggregate("Book", .array([["$match": ["t": "a"]]] + stages))[0]
        }
        #expect(try await first(["$project": ["t": 1, "objectId": 0]]) == ["t": "a"])
        let both = try await first([
            "$project": ["t": 1, "double": ["$multiply": ["$n", 2]], "up": ["$toUpper": "$t"]]
        ])
        #expect(both["double"] == 2 && both["up"] == "A" && both["objectId"] != nil && both["price"] == nil)
        let hidden = try await first(["$project": ["t": 0, "price": 0]])
        #expect(hidden["t"] == nil && hidden["n"] == 1)
        let added = try await first(["$addFields": ["total": ["$add": ["$n", "$price"]], "deep.x": "$t"]])
        #expect(added["total"] == 3.5 && added["deep"] == ["x": "a"] && added["t"] == "a")
        #expect(try await first(["$set": ["t": ["$literal": "$x"]]])["t"] == "$x")
        #expect(try await first(["$unset": "t"])["t"] == nil)
        #expect(try await first(["$set": ["c": ["$cond": [["$gt": ["$n", 0]], "yes", "no"]]]])["c"] == "yes")
        #expect(try await first(["$set": ["c": ["$ifNull": ["$nope", "none"]]]])["c"] == "none")
        #expect(try await first(["$set": ["c": ["$size": "$tags"]]])["c"] == 2)
        let whole = try await first()
        #expect(whole["createdAt"]?.string != nil)
        #expect(whole["genre"] == pointer("Genre", genres[0]))
        #expect(whole["at"] == date("2020-01-05T10:00:00.000Z"))
    }

    @Test func groupsCanBeFilteredByConditions() async throws {
        let grouped: JSONValue = ["$group": ["_id": "$n", "count": ["$sum": 1]]]
        func ids(_ condition: JSONValue) async throws -> [JSONValue?] {
            try await server.aggregate("Book", [grouped, ["$match": condition], ["$sort": ["objectId": 1]]]).map {
                $0["objectId"]
            }
        }
        #expect(try await ids(["count": ["$gt": 1]]) == [3])
        #expect(try await ids(["count": 1]) == [1, 2])
        #expect(try await ids(["_id": ["$in": [1, 3]]]) == [1, 3])
        #expect(try await ids(["$or": [["count": 2], ["objectId": 1]]]) == [1, 3])
        #expect(try await ids(["count": ["$exists": false]]) == [])
    }

    @Test func datesInConditionsCanBeText() async throws {
        let stages: JSONValue = [["$match": ["at": ["$gte": "2021-01-01T00:00:00.000Z"]]], ["$count": "n"]]
        #expect(try await server.aggregate("Book", stages) == [["n": 1]])
    }

    @Test func anErrorNamesTheStage() async throws {
        let wrong: [(pipeline: JSONValue, part: String)] = [
            ([["$lookup": [:]]], "$lookup"), ([["$group": ["x": ["$sum": 1]]]], "objectId"),
            ([["$group": ["_id": .null, "x": ["$stdDevPop": "$n"]]]], "$stdDevPop"), ([["$limit": -1]], "$limit"),
            ([["$match": 1]], "$match"), ([["$sort": ["a": 1, "b": 2]]], "$sort"),
            ([["$match": [:], "$limit": 1]], "only have one key"), ([["$project": ["a": ["$foo": 1]]]], "$foo"),
            ([["$unwind": "tags"]], "$unwind"), ([["$count": ""]], "$count"),
            ([["$project": ["a": 1, "b": 0]]], "$project"), (5, "pipeline"), ([["$set": ["a": "$$NOW"]]], "$$NOW"),
        ]
        for (pipeline, part) in wrong {
            let reply = try await server.send("POST", "/aggregate/Book", ["pipeline": pipeline, "_method": "GET"])
            #expect(reply.code == 102, "\(pipeline)")
            let message = try #require(reply["error"]?.string)
            #expect(message.contains(part), "\(message)")
        }
    }
}
