import Foundation
import RelataCore
import Relata
@testable import RelataParse
import RelataEngine
import RelataSQLite
import TestEngines
import Testing

/// Whole numbers that a floating-point number can't represent.
@Suite(.onEveryEngine) struct LargeNumberTests {
    private let server: TestServer

    init() throws { server = try TestServer() }

    private static let numbers: [Int64] = [.max, .min, .max - 1, 9_007_199_254_740_993, -9_007_199_254_740_993, 7]

    @Test(arguments: numbers) func aNumberIsReturnedAsItWasSent(_ number: Int64) async throws {
        let id = try await server.create(
            "Item", ["n": .integer(number), "list": [.integer(number)], "info": ["n": .integer(number)]])
        let item = try await server.get("Item", id)
        #expect(item["n"] == .integer(number))
        #expect(item["list"] == [.integer(number)] && item["info"]?["n"] == .integer(number))
        // PostgreSQL keeps numbers in JSON exactly too, and compares them as floating-point numbers.
        for key in TestEngine.current == .sqlite ? ["n", "list", "info.n"] : ["n"] {
            #expect(try await server.find("Item", where: .object([key: .integer(number)])).count == 1, "\(key)")
            let near: JSONValue = .integer(number == .max ? number - 1 : number + 1)
            #expect(try await server.find("Item", where: .object([key: near])).isEmpty, "\(key)")
        }
        #expect(try await server.send("PUT", "/classes/Item/\(id)", ["n": 1]).status == 200)
        #expect(try await server.send("PUT", "/classes/Item/\(id)", ["n": .integer(number)]).status == 200)
        #expect(try await server.get("Item", id)["n"] == .integer(number))
    }

    @Test func fractionsAndLargeNumbersShareAField() async throws {
        try await server.save("Item", ["n": 0.5], ["n": .integer(.max)], ["n": 1e300], ["n": 3], ["n": -2.25])
        let numbers = try await server.values(of: "n", "Item")
        #expect(numbers == [-2.25, 0.5, 3, .integer(.max), 1e300])
        let half = try await server.find("Item", where: ["n": ["$lt": 1, "$gt": 0]])
        #expect(half.map { $0["n"] } == [0.5])
        // Beyond 64 bits, numbers are floating-point numbers.
        let id = try await server.create("Item", ["n": 1e19])
        #expect(try await server.get("Item", id)["n"] == 1e19)
    }

    @Test func incrementsAreExact() async throws {
        let id = try await server.create("Item", ["n": 9_007_199_254_740_992, "info": ["n": 9_007_199_254_740_992]])
        let one: JSONValue = ["__op": "Increment", "amount": 1]
        let reply = try await server.send("PUT", "/classes/Item/\(id)", ["n": one, "info.n": one, "fresh": one])
        #expect(reply["n"] == 9_007_199_254_740_993, "\(reply.json)")
        let item = try await server.get("Item", id)
        #expect(item["n"] == 9_007_199_254_740_993 && item["info"]?["n"] == 9_007_199_254_740_993)
        #expect(item["fresh"] == 1)
        let large: JSONValue = ["__op": "Increment", "amount": .integer(.max)]
        #expect(try await server.send("PUT", "/classes/Item/\(id)", ["new": large]).status == 200)
        #expect(try await server.get("Item", id)["new"] == .integer(.max))
        // A sum beyond 64 bits becomes the nearest floating-point number.
        let over = try await server.send("PUT", "/classes/Item/\(id)", ["new": one])
        #expect(over.status == 200 && over["new"] == .double(9_223_372_036_854_775_808), "\(over.json)")
    }

    @Test func comparisonsAreExact() async throws {
        let base: Int64 = 9_007_199_254_740_992
        try await server.save("Item", ["n": .integer(base)], ["n": .integer(base + 1)], ["n": .integer(base + 2)])
        func found(_ condition: JSONValue) async throws -> [JSONValue] {
            try await server.values(of: "n", "Item", ["n": condition])
        }
        let middle = JSONValue.integer(base + 1)
        #expect(try await found(["$gt": middle]) == [.integer(base + 2)])
        #expect(try await found(["$gte": middle]) == [middle, .integer(base + 2)])
        #expect(try await found(["$lt": middle]) == [.integer(base)])
        #expect(try await found(["$in": [middle]]) == [middle])
        #expect(try await found(["$ne": middle]) == [.integer(base), .integer(base + 2)])
        #expect(try await server.values(of: "n", "Item", [:], ["order": "-n"]).first == .integer(base + 2))
    }

    @Test func figuresAreExact() async throws {
        let base: Int64 = 9_007_199_254_740_992
        try await server.save(
            "Item", ["n": .integer(base), "k": 1], ["n": .integer(base + 1), "k": 1], ["n": 0.5, "k": 2])
        let figures: JSONValue = [
            "objectId": "$k", "sum": ["$sum": "$n"], "min": ["$min": "$n"], "max": ["$max": "$n"],
        ]
        let groups = try await server.aggregate("Item", [["$group": figures]])
        #expect(
            groups == [
                ["objectId": 1, "sum": .integer(2 * base + 1), "min": .integer(base), "max": .integer(base + 1)],
                ["objectId": 2, "sum": 0.5, "min": 0.5, "max": 0.5],
            ], "\(groups)")
        let distinct = try await server.send("GET", "/aggregate/Item?distinct=n")
        #expect(distinct.results == [0.5, .integer(base), .integer(base + 1)])
        let made = try await server.aggregate(
            "Item",
            [
                ["$match": ["k": 1]], ["$sort": ["n": 1]], ["$skip": 1],
                [
                    "$project": [
                        "more": ["$add": ["$n", 2]], "less": ["$subtract": ["$n", 1]],
                        "twice": ["$multiply": ["$n", 2]],
                        "part": ["$mod": ["$n", 10]], "same": ["$abs": "$n"],
                    ]
                ],
            ])
        let one = try #require(made.first)
        #expect(one["more"] == .integer(base + 3) && one["less"] == .integer(base))
        #expect(one["twice"] == .integer(2 * base + 2) && one["part"] == 3 && one["same"] == .integer(base + 1))
    }

    @Test func anOverflowingSumIsAFloatingPointNumber() async throws {
        try await server.save("Item", ["n": .integer(.max)], ["n": .integer(.max)])
        let groups = try await server.aggregate("Item", [["$group": ["objectId": .null, "sum": ["$sum": "$n"]]]])
        #expect(groups == [["objectId": .null, "sum": 18_446_744_073_709_551_616.0]], "\(groups)")
    }

    @Test func aFieldOfNumbersIsSortedGroupedAndIndexedExactly() async throws {
        let base: Int64 = 9_007_199_254_740_992
        let fields: JSONValue = ["n": ["type": "Number"], "k": ["type": "Number"]]
        let indexes: JSONValue = ["byNumber": ["n": 1]]
        let made = try await server.send("POST", "/schemas/Item", ["fields": fields, "indexes": indexes])
        #expect(made.status == 200, "\(made.json)")
        var creations: [JSONValue] = []
        for number in 0..<250 {
            let (whole, fraction) = (base + Int64(number % 5), Double(number % 5) / 10)
            let body: JSONValue = ["n": .integer(whole), "k": .double(fraction)]
            creations.append(["method": "POST", "path": "/parse/classes/Item", "body": body])
        }
        for start in stride(from: 0, to: creations.count, by: 50) {
            let requests = JSONValue.array(Array(creations[start..<start + 50]))
            #expect(try await server.send("POST", "/batch", ["requests": requests]).status == 200)
        }
        let groups = try await server.aggregate(
            "Item", [["$group": ["objectId": "$n", "count": ["$sum": 1], "k": ["$avg": "$k"]]]])
        let ids: [JSONValue?] = (0..<5).map { JSONValue.integer(base + $0) }
        #expect(groups.map { $0["objectId"] } == ids, "\(groups)")
        #expect(groups.allSatisfy { $0["count"] == 50 })
        let averages = groups.compactMap { $0["k"]?.number }
        #expect(averages.count == 5 && averages.allSatisfy { $0 < 0.5 }, "\(groups)")
        let between: JSONValue = ["n": ["$gte": .integer(base + 1), "$lte": .integer(base + 1)]]
        #expect(try await server.find("Item", where: between, "limit=1000").count == 50)
        let last = try await server.find("Item", "order=-n&limit=1")
        #expect(last.first?["n"] == .integer(base + 4))
    }

    /// A fraction is the floating-point number that was sent.
    @Test(arguments: [0.1, 0.30000000000000004, 1e-7, -1e300, .leastNonzeroMagnitude, 1.7976931348623157e308, 1e22])
    func aFractionIsReturnedAsItWasSent(_ number: Double) async throws {
        let id = try await server.create("Item", ["n": .double(number)])
        #expect(try await server.get("Item", id)["n"]?.number == number)
        #expect(try await server.find("Item", where: ["n": .double(number)]).count == 1)
        #expect(try await server.find("Item", where: ["n": .double(number.nextDown)]).isEmpty)
        try await server.send("PUT", "/classes/Item/\(id)", ["n": ["__op": "Increment", "amount": 0.25]])
        #expect(try await server.get("Item", id)["n"]?.number == number + 0.25)
    }

    /// Columns in files of earlier versions round numbers.
    @Test(.onSQLite) func aFieldOfAnEarlierVersionIsWidenedIfNecessary() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite").path
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let before = try TestServer(path: path)
        let first = try await before.create("Item", ["n": 1.5, "k": 2])
        try before.store.close()
        let connection = try Connection(path: path)
        // As an earlier version created the column and recorded its type.
        for table in try connection.values(SQLStatement("SELECT name FROM sqlite_master WHERE name LIKE 'relata%'")) {
            guard let name = table.first?.description, !name.contains("index") else { continue }
            for column in try connection.values(SQLStatement("SELECT name FROM pragma_table_info('\(name)')")) {
                let column = column[0].description
                try? connection.execute(
                    "UPDATE \"\(name)\" SET \"\(column)\" = replace(\"\(column)\", '\"keepsIntegers\":true', '\"ignored\":true')"
                )
            }
        }
        try connection.execute("PRAGMA writable_schema = ON")
        try connection.execute("UPDATE sqlite_master SET sql = replace(sql, 'NUMERIC', 'REAL') WHERE name = 'Item'")
        try connection.close()

        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        func type() async throws -> String? {
            try await server.store.read(as: .master) { transaction in
                try transaction.connection.value(
                    SQLStatement("SELECT type FROM pragma_table_info('Item') WHERE name = 'n'"))?.description
            }
        }
        let second = try await server.create("Item", ["n": 9_007_199_254_740_992])
        #expect(try await type() == "REAL")
        let third = try await server.create("Item", ["n": .integer(.max)])
        #expect(try await type() == "NUMERIC")
        #expect(try await server.get("Item", first)["n"] == 1.5)
        #expect(try await server.get("Item", second)["n"] == 9_007_199_254_740_992)
        #expect(try await server.get("Item", third)["n"] == .integer(.max))
    }

    @Test(.onSQLite) func theTypeOfAnotherProgramsColumnDecidesAboutLargeNumbers() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite").path
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let connection = try Connection(path: path)
        try connection.execute("CREATE TABLE thing (id TEXT PRIMARY KEY, n NUMERIC, r REAL)")
        try connection.close()
        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        let id = try await server.create("thing", ["n": .integer(.max), "r": 9_007_199_254_740_993])
        let thing = try await server.get("thing", id)
        #expect(thing["n"] == .integer(.max) && thing["r"] == 9_007_199_254_740_992)
    }
}
