import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import RelataTesting
import TestEngines
import Testing

@testable import RelataParse

/// Every request soon gets an error of Parse's form or a correct answer, and no part of it becomes SQL.
@Suite(.onEveryEngine) struct HostileQueryTests {
    /// A word in every hostile text, by which it would be found in SQL.
    private static let mark = "zq9"

    private static let texts = [
        "zq9' OR '1'='1", "zq9\"; DROP TABLE Item; --", "zq9') UNION SELECT sql FROM sqlite_master --", "zq9\\",
        "zq9\u{0}x",
        "zq9%_*?", "zq9\u{1F600}\u{301}", "zq9\n\r\t", "zq9?1", "zq9]\"`", "$zq9", "zq9.zq9", "zq9.\"'", "zq9/**/",
        "{zq9",
        "[\"zq9\"]", "zq9)))", "(?i)zq9", "\\Qzq9\\E'", "zq9$.\"a\"",
    ]

    private func server(_ log: SQLStatements? = nil) async throws -> TestServer {
        let server = try TestServer(trace: log)
        let id = try await server.create("Other", ["name": "o"])
        try await server.save(
            "Item",
            [
                "name": "a", "n": 1, "tags": ["x"], "info": ["k": "v"], "p": pointer("Other", id), "at": place(1, 1),
                "r": adding(pointer("Other", id)), "day": date("2020-01-01T00:00:00.000Z"),
            ])
        return server
    }

    private func state(_ server: TestServer) async throws -> [[Value]] {
        try await server.store.read(as: .master) { transaction in
            let connection = transaction.connection
            return try Introspection.tables(of: connection, hidesReserved: false).map { [.text("\($0)")] }
                + connection.values(SQLStatement("SELECT * FROM \"Item\""))
        }
    }

    /// Conditions with a text in every possible place.
    private func conditions(_ text: String) -> [JSONValue] {
        let value = JSONValue.string(text)
        var conditions: [JSONValue] = [
            [text: 1], ["info.\(text)": 1], ["tags.\(text)": 1], ["p.\(text)": 1], ["r.\(text)": 1], ["$\(text)": 1],
            ["name": ["$\(text)": 1]], ["name": ["$regex": value]], ["name": ["$regex": "a", "$options": value]],
            ["name": ["$text": ["$search": ["$term": value]]]], ["info": [text: value]], ["tags": [[text: value]]],
            ["$relatedTo": ["object": pointer(text, text), "key": value]],
            ["$relatedTo": ["object": pointer("Item", text), "key": "r"]],
            ["p": ["$inQuery": ["className": value, "where": [:]]]],
            ["p": ["$inQuery": ["className": "Other", "where": ["name": value]]]],
            ["p": ["$inQuery": ["className": "Other", "where": [:], "order": value]]],
            ["name": ["$select": ["key": value, "query": ["className": "Other", "where": [:]]]]],
            ["name": ["$select": ["key": "name", "query": ["className": value, "where": ["name": value]]]]],
            ["day": ["$lt": ["$relativeTime": value]]], ["day": date(text)], ["at": ["$nearSphere": value]],
            ["at": ["$geoWithin": ["$polygon": [value, value, value]]]], ["name": ["__type": value]],
        ]
        for field in [
            "name", "n", "tags", "info", "info.k", "p", "r", "p.name", "r.name", "objectId", "createdAt", "nope",
        ] {
            conditions.append([field: value])
            for name in ["$eq", "$ne", "$lt", "$gte"] { conditions.append([field: [name: value]]) }
            for name in ["$in", "$nin", "$all", "$containedBy"] {
                conditions.append([field: [name: [value, pointer(text, text)]]])
            }
        }
        return conditions
    }

    @Test func noPartOfARequestBecomesSQL() async throws {
        let log = SQLStatements()
        let server = try await server(log)
        let before = try await state(server)
        log.removeAll()
        for text in Self.texts {
            for condition in conditions(text) {
                let reply = try await server.query("Item", condition)
                #expect(reply.status == 200 || reply.status == 400, "\(condition): \(reply.json)")
                if reply.status == 400 { #expect(reply.code != nil && reply["error"]?.string != nil) }
                _ = try await server.send(
                    "POST", "/aggregate/Item",
                    ["pipeline": [["$match": condition], ["$group": ["_id": .string("$" + text)]]], "_method": "GET"])
            }
            for name in ["order", "include", "keys", "excludeKeys", "limit", "skip", "hint", text] {
                let reply = try await server.query("Item", [:], [name: .string(text)])
                #expect(reply.status == 200 || reply.status == 400, "\(name) \(text): \(reply.json)")
            }
            let address = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            for path in [
                "/classes/\(address)", "/classes/Item/\(address)", "/aggregate/Item?distinct=\(address)",
                "/aggregate/\(address)",
            ] {
                #expect(try await server.send("GET", path).status != 500, "\(path)")
            }
            for stage: JSONValue in [
                ["$project": [text: 1]], ["$sort": [text: 1]], ["$unwind": .string("$" + text)],
                ["$count": .string(text)],
                ["$group": ["_id": [text: "$n"], text: ["$sum": .string("$" + text)]]], ["$set": [text: "$n"]],
            ] {
                let reply = try await server.send("POST", "/aggregate/Item", ["pipeline": [stage], "_method": "GET"])
                #expect(reply.status == 200 || reply.status == 400, "\(stage): \(reply.json)")
            }
        }
        #expect(!log.all.contains { $0.contains(Self.mark) })
        #expect(try await state(server) == before)
    }

    @Test func hostileTextsAreFoundAsTheyWereStored() async throws {
        let server = try await server()
        // PostgreSQL's text can't hold U+0000.
        let texts = Self.texts.filter { TestEngine.current == .sqlite || !$0.contains("\0") }
        for text in texts {
            try await server.save(
                "Text", ["name": .string(text), "tags": [.string(text)], "info": ["k": .string(text)]])
        }
        for text in texts {
            let value = JSONValue.string(text)
            for condition: JSONValue in [
                ["name": value], ["name": ["$in": [value]]], ["tags": value], ["info.k": value], ["info": ["k": value]],
                ["name": ["$gte": value, "$lte": value]], ["tags": [value]],
                ["name": ["$regex": .string("^" + NSRegularExpression.escapedPattern(for: text) + "$")]],
            ] {
                // SQLite's JSON functions end a text at U+0000.
                if text.contains("\0"), condition["tags"] != nil || condition["info.k"] != nil { continue }
                #expect(try await server.values(of: "name", "Text", condition) == [value], "\(condition)")
            }
        }
    }

    // MARK: Shapes

    @Test func requestsOfAnyShapeAreAnswered() async throws {
        let server = try await server()
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SampleRandom(seed: seed)
        for round in 0..<600 {
            let condition = Self.json(depth: 4, &generator)
            let reply = try await server.query("Item", condition)
            #expect(
                reply.status == 200 || reply.status == 400 && reply.code != nil,
                "seed \(seed), round \(round): \(JSONWriter.text(condition)) \(reply.json)")
            let pipeline = try await server.send(
                "POST", "/aggregate/Item", ["pipeline": Self.json(depth: 4, &generator), "_method": "GET"])
            #expect(pipeline.status == 200 || pipeline.status == 400, "seed \(seed), round \(round): \(pipeline.json)")
        }
    }

    private static let names = [
        "name", "n", "tags", "info", "info.k", "p", "r", "p.name", "at", "day", "objectId", "createdAt", "nope", "$eq",
        "$ne",
        "$lt", "$gt", "$in", "$nin", "$all", "$containedBy", "$exists", "$regex", "$options", "$text", "$search",
        "$term",
        "$inQuery", "$notInQuery", "$select", "$dontSelect", "$or", "$and", "$nor", "$not", "$relatedTo", "$nearSphere",
        "$maxDistance", "$within", "$box", "$geoWithin", "$polygon", "$centerSphere", "$geoIntersects", "$point",
        "where",
        "className", "key", "query", "object", "__type", "iso", "latitude", "longitude", "limit", "order",
        "$relativeTime",
        "$match", "$group", "_id", "$sum", "$project", "$sort", "$limit", "$skip", "$unwind", "$count", "$addFields",
        "$add",
        "$cond", "$year",
    ]
    private static let words = [
        "Item", "Other", "name", "Pointer", "Date", "GeoPoint", "Polygon", "r", "$n", "$tags",
        "2020-01-01T00:00:00.000Z", "",
    ]

    private static func json(depth: Int, _ generator: inout SampleRandom) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 12 : 6), using: &generator) {
        case 0: return [.null, true, false].randomElement(using: &generator) ?? .null
        case 1: return .integer([0, 1, -1, .max, .min, 5].randomElement(using: &generator) ?? 0)
        case 2: return .double([1e308, -1e308, .leastNonzeroMagnitude, 0.5].randomElement(using: &generator) ?? 0)
        case 3...5: return .string(words.randomElement(using: &generator) ?? "")
        case 6...7:
            return .array(
                (0..<Int.random(in: 0..<4, using: &generator)).map { _ in json(depth: depth - 1, &generator) })
        default:
            var members: JSONObject = [:]
            for _ in 0..<Int.random(in: 0..<4, using: &generator) {
                members[names.randomElement(using: &generator) ?? ""] = json(depth: depth - 1, &generator)
            }
            return .object(members)
        }
    }

    @Test func depthsAndNumbersAreLimited() async throws {
        let server = try await server()
        let parent = try await server.create("Item", ["name": "parent"])
        _ = try await server.create("Item", ["name": "child", "parent": pointer("Item", parent)])
        for depth in [5, 15, 25, 28] {
            var nested: JSONValue = ["name": "a"]
            for _ in 0..<depth { nested = ["$or": [nested]] }
            let reply = try await server.query("Item", nested)
            let isRefused = reply.code == 102 && reply["error"]?.string?.contains("nested too deeply") == true
            #expect(reply.status == 200 && reply.results.count == 1 || depth > 20 && isRefused, "\(reply.json)")
            var query: JSONValue = ["name": "a"]
            for _ in 0..<depth / 2 { query = ["p": ["$inQuery": ["className": "Other", "where": query]]] }
            #expect([nil, 102].contains(try await server.query("Item", query).code))
            // A pointer to the same class can be followed without end.
            var own: JSONValue = ["name": "a"]
            for _ in 0..<depth / 2 { own = ["parent": ["$inQuery": ["className": "Item", "where": own]]] }
            #expect([nil, 102].contains(try await server.query("Item", own).code), "\(depth)")
        }
        var deep: JSONValue = 1
        for _ in 0..<200 { deep = ["a": deep] }
        #expect(try await server.query("Item", ["info": deep]).code == 107)
        let many = JSONValue.array((0..<3000).map { ["n": .integer($0)] })
        #expect(try await server.error("Item", ["$or": many]).code == 102)
        #expect(
            try await server.query("Item", ["$or": .array((0..<400).map { ["n": .integer($0)] })]).results.count == 1)
        let list = JSONValue.array((0..<300_000).map { .string("x\($0)") })
        for field in ["name", "tags", "p", "objectId", "info.k"] {
            #expect(try await server.query("Item", [field: ["$in": list]]).results.isEmpty)
        }
        #expect(try await server.query("Item", ["tags": ["$all": list]]).code == 102)
        #expect(
            try await server.query("Item", ["name": ["$regex": .string(String(repeating: "(", count: 9000))]]).code
                == 102)
    }

    @Test func tooManyPointersInOneQueryAreRefused() async throws {
        let server = try await server()
        let id = try #require(try await server.find("Other", [:]).first?["objectId"]?.string)
        var fields: JSONObject = [:]
        for number in 0..<90 { fields["q\(number)"] = pointer("Other", id) }
        try await server.save("Wide", .object(fields))
        let few = JSONValue.array((0..<30).map { ["q\($0).name": "o"] })
        #expect(try await server.query("Wide", ["$and": few]).results.count == 1)
        let many = JSONValue.array((0..<90).map { ["q\($0).name": "o"] })
        #expect(try await server.query("Wide", ["$and": many]).code == 102)
    }

    /// No stored value is that deep, and finding all meanings of a longer key would take minutes.
    @Test(arguments: ["info", "p", "tags", "tags.0", "nope"])
    func keysOfTooManyNamesAreRefused(field: String) async throws {
        let server = try await server()
        let key = field + String(repeating: ".a", count: 64)
        let selected: JSONValue = ["key": .string(key), "query": ["className": "Item", "where": [:]]]
        for condition: JSONValue in [[key: 1], [key: ["$exists": true]], ["name": ["$select": selected]]] {
            let error = try await server.error("Item", condition)
            #expect(error.code == 105 && error.message.contains("64 names"), "\(error)")
        }
        #expect(try await server.error("Item", [:], ["order": .string(key)]).code == 105)
        #expect(try await server.send("GET", "/aggregate/Item?distinct=\(key)").code == 105)
        // A number in a key has two meanings.
        let longest = field + String(repeating: ".a.1", count: 31)
        #expect([nil, 102].contains(try await server.query("Item", [longest: 1]).code))
    }

    @Test(arguments: ["include", "keys", "excludeKeys"])
    func listsOfTooManyNamesAreRefused(parameter: String) async throws {
        let server = try await server()
        let names = (0...1000).map { "f\($0).g" }
        #expect(
            try await server.find("Item", [:], [parameter: .array(names.dropLast().map { .string($0) })]).count == 1)
        for list in [JSONValue.array(names.map { .string($0) }), .string(names.joined(separator: ","))] {
            let error = try await server.error("Item", [:], [parameter: list])
            #expect(error.code == 102 && error.message.contains("\(parameter) has 1001 names"), "\(error)")
        }
    }

    @Test func largeSelectionsAndOrdersAreNotCached() async throws {
        let server = try await server()
        let classes = server.store.currentClasses
        let item = try #require(classes["Item"])
        var (few, long, many) = (Selection(), Selection(), Selection())
        few.keys = ["name", "info"]
        long.excluded = [String(repeating: "x", count: 100_000)]
        for number in 0..<1000 { many.include(["p\(number)", "q"]) }
        for (selection, isKept) in [(Selection(), true), (few, true), (long, false), (many, false)] {
            let first = classes.prepared.fetch(of: item, selection, naming: .nothing, in: classes, under: .everything)
            let second = classes.prepared.fetch(of: item, selection, naming: .nothing, in: classes, under: .everything)
            #expect((first === second) == isKept)
        }
        let prepared = classes.prepared.fetch(of: item, Selection(), naming: .nothing, in: classes, under: .everything)
        let fields = (0..<9).map { "-info.m\($0)" }.joined(separator: ",")
        for (order, kept) in [("name", 1), ("-n,name", 2), ("info.k", 2), (fields, 2), ("name", 2)] {
            #expect(try await server.send("GET", "/classes/Item?order=\(order)").results.count == 1)
            #expect(prepared.keptLists == kept, "\(order)")
        }
    }

    /// Parse Server has a separate code for operands of the wrong type.
    @Test func invalidOperandsGetParseErrorCodes() async throws {
        let server = try TestServer()
        _ = try await server.create(
            "Book", ["title": "A", "n": 1, "place": ["__type": "GeoPoint", "latitude": 1, "longitude": 1]])
        let refused: [(JSONValue, Int64)] = [
            (["n": ["$in": 5]], 107), (["n": ["$nin": 2]], 107), (["n": ["$all": "x"]], 107),
            (["n": ["$containedBy": "a"]], 107), (["title": ["$regex": 1]], 107),
            (["title": ["$text": ["$search": [:]]]], 107),
            (["place": ["$within": ["$box": [[1, 2]]]]], 107),
            (["place": ["$geoWithin": ["$polygon": [[1, 2]]]]], 107),
            (["place": ["$geoIntersects": [:]]], 107), (["n": ["$foo": 1]], 107), (["$foo": 1], 105),
            (["n": ["$lt": ["$relativeTime": "in 100000 years"]]], 107), (["n": ["$inQuery": 1]], 102),
            (["n": ["$select": 1]], 102),
            (["$or": 1], 102), (["title": ["$regex": "("]], 102),
        ]
        for (condition, code) in refused {
            let reply = try await server.send("POST", "/classes/Book", ["_method": "GET", "where": condition])
            #expect(reply.code == code, "\(condition): \(reply.json)")
        }
    }

    @Test func anOperatorCountsForEachMeaningOfItsKey() async throws {
        let server = try TestServer()
        _ = try await server.create("Book", ["o": ["a": 1]])
        let texts = JSONValue.array((0..<99).map { .string("text \($0)") })
        let key = "o." + (0..<10).map { "k\($0)" }.joined(separator: ".")
        let reply = try await server.send(
            "POST", "/classes/Book", ["_method": "GET", "where": .object([key: ["$all": texts]])])
        #expect(reply.code == 102, "\(reply.json)")
        #expect(try await server.find("Book", where: .object([key: ["$all": ["x"]]])).isEmpty)
    }
}
