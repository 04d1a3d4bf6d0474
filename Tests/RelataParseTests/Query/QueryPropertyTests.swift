import Foundation
import RelataTesting
import TestEngines
import Testing

@testable import RelataParse

/// Random objects and random conditions: the results must follow Parse's rules.
@Suite(.onEveryEngine) struct QueryPropertyTests {
    @Test func randomConditionsFollowTheRules() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SampleRandom(seed: seed)
        let server = try TestServer()
        let world = try await World.make(on: server, &generator)
        for round in 0..<500 {
            let className = Bool.random(using: &generator) ? "Thing" : "Other"
            let condition = world.condition(className, depth: 2, &generator)
            let reply = try await server.query(className, condition, ["limit": 1000, "keys": "objectId"])
            let found = reply.results.compactMap { $0["objectId"]?.string }
            // SQLite limits the depth of expressions. The error says so.
            if reply["error"]?.string?.contains("nested too deeply") == true { continue }
            #expect(reply.status == 200, "\(reply.json)")
            #expect(found.count == Set(found).count)
            #expect(
                Set(found) == world.oracle.ids(className, condition),
                "seed \(seed), round \(round): \(JSONWriter.text(condition))")
            let count = try await server.query(className, condition, ["limit": 0, "count": 1])["count"]
            #expect(count == .integer(Int64(found.count)), "seed \(seed), round \(round)")
        }
    }
}

/// Objects of two classes with fields of every type, and conditions on them.
private struct World {
    var oracle = QueryOracle()
    var ids: [String: [String]] = [:]

    static let strings: [JSONValue] = ["", "a", "ab", "b", "A", "1", "é", "'", "x\"y"]
    static let numbers: [JSONValue] = [0, 1, -1, 1.5, 2, 1_000_000_007]
    static let dates: [JSONValue] = ["2020-01-01T00:00:00.000Z", "2021-06-01T12:30:00.250Z"].map { date($0) }

    static func make(on server: TestServer, _ generator: inout SampleRandom) async throws -> World {
        var world = World()
        world.oracle.arrays = ["Thing.a", "Other.a"]
        world.oracle.targets = ["Thing.p": "Other", "Thing.r": "Other", "Other.up": "Other"]
        world.oracle.relations["Thing.r"] = [:]
        // All fields exist before the first query.
        var other: JSONObject = ["s": "a", "n": 1, "a": [], "o": [:]]
        let first = try await world.save("Other", other, server)
        other["up"] = pointer("Other", first)
        for _ in 0..<12 { _ = try await world.save("Other", world.fields(of: "Other", &generator), server) }
        _ = try await world.save("Other", other, server)
        _ = try await world.save(
            "Thing",
            [
                "s": "a", "n": 1, "b": true, "d": dates[0], "a": [], "o": [:], "p": pointer("Other", first),
                "r": adding(pointer("Other", first)),
            ], server)
        for _ in 0..<40 { _ = try await world.save("Thing", world.fields(of: "Thing", &generator), server) }
        return world
    }

    private mutating func save(
        _ className: String, _ fields: JSONObject, _ server: TestServer
    ) async throws -> String {
        let id = try await server.create(className, .object(fields))
        ids[className, default: []].append(id)
        var plain = fields
        if let members = plain.removeValue(forKey: "r")?["objects"]?.array {
            oracle.relations["Thing.r"]?[id] = members.compactMap { Pointer($0)?.objectID }
        }
        oracle.objects[className, default: [:]][id] = plain
        return id
    }

    // MARK: Values

    private func fields(of className: String, _ generator: inout SampleRandom) -> JSONObject {
        let names = className == "Thing" ? ["s", "n", "b", "d", "a", "o", "p", "r"] : ["s", "n", "a", "o", "up"]
        var fields: JSONObject = [:]
        for name in names where Int.random(in: 0..<4, using: &generator) > 0 {
            if name == "r" {
                let members = Set(
                    (0..<Int.random(in: 0..<3, using: &generator)).map { _ in self.id("Other", &generator) })
                fields[name] = ["__op": "AddRelation", "objects": .array(members.map { pointer("Other", $0) })]
            } else {
                fields[name] = value(of: name, &generator)
            }
        }
        return fields
    }

    private func id(_ className: String, _ generator: inout SampleRandom) -> String {
        ids[className]?.randomElement(using: &generator) ?? "nobody"
    }

    private func value(of name: String, _ generator: inout SampleRandom) -> JSONValue {
        switch name {
        case "s": Self.strings.randomElement(using: &generator) ?? ""
        case "n": Self.numbers.randomElement(using: &generator) ?? 0
        case "b": .bool(.random(using: &generator))
        case "d": Self.dates.randomElement(using: &generator) ?? 0
        case "a": .array((0..<Int.random(in: 0..<4, using: &generator)).map { _ in any(&generator) })
        case "o":
            .object(
                ([
                    "x": element(&generator), "y": ["z": element(&generator)], "w x": element(&generator),
                ] as JSONObject).filter { _ in Int.random(in: 0..<3, using: &generator) > 0 })
        default: pointer("Other", id("Other", &generator))
        }
    }

    /// An element of an array or a member of an object.
    private func element(_ generator: inout SampleRandom) -> JSONValue {
        switch Int.random(in: 0..<9, using: &generator) {
        case 0...1: value(of: "s", &generator)
        case 2...3: value(of: "n", &generator)
        case 4: value(of: "b", &generator)
        case 5: value(of: "d", &generator)
        case 6: ["x": value(of: "n", &generator)]
        case 7: [value(of: "s", &generator), value(of: "n", &generator)]
        default: pointer("Other", id("Other", &generator))
        }
    }

    private func any(_ generator: inout SampleRandom) -> JSONValue {
        Int.random(in: 0..<8, using: &generator) == 0 ? .null : element(&generator)
    }

    // MARK: Conditions

    func condition(_ className: String, depth: Int, _ generator: inout SampleRandom) -> JSONValue {
        var members: JSONObject = [:]
        for _ in 0..<Int.random(in: 1..<3, using: &generator) {
            let choice = Int.random(in: 0..<12, using: &generator)
            if depth > 0, choice < 3 {
                members[["$or", "$and", "$nor"][choice]] = .array(
                    (0..<Int.random(in: choice == 2 ? 1..<3 : 0..<3, using: &generator)).map { _ in
                        condition(className, depth: depth - 1, &generator)
                    })
            } else if choice == 3, className == "Other" {
                members["$relatedTo"] = ["object": pointer("Thing", id("Thing", &generator)), "key": "r"]
            } else {
                let key = key(className, &generator)
                members[key] = constraint(key, depth: depth, &generator)
            }
        }
        return .object(members)
    }

    private func key(_ className: String, _ generator: inout SampleRandom) -> String {
        let own =
            className == "Thing"
            ? [
                "s", "n", "b", "d", "a", "o", "p", "r", "o.x", "o.y.z", "o.w x", "a.0", "a.x", "p.s", "p.n", "p.a",
                "p.o.x", "p.up.n", "r.s", "r.a", "r.up", "r.up.s", "p.objectId", "nope", "s.deeper", "p.nope.x",
            ] : ["s", "n", "a", "o.x", "up", "up.s", "up.up.n", "a.1", "a.x", "objectId", "nope"]
        return own.randomElement(using: &generator) ?? "s"
    }

    /// A value that often matches.
    private func operand(_ key: String, _ generator: inout SampleRandom) -> JSONValue {
        let last = key.split(separator: ".").last.map(String.init) ?? key
        switch (last, Int.random(in: 0..<5, using: &generator)) {
        case (_, 0): return any(&generator)
        case ("objectId", _): return .string(id("Other", &generator))
        case ("p", _), ("r", _), ("up", _): return pointer("Other", id("Other", &generator))
        case ("s", _), ("n", _), ("b", _), ("d", _): return value(of: last, &generator)
        case ("a", 1), ("o", 1): return value(of: last, &generator)
        default: return element(&generator)
        }
    }

    private func constraint(_ key: String, depth: Int, _ generator: inout SampleRandom) -> JSONValue {
        let list = JSONValue.array((0..<Int.random(in: 0..<4, using: &generator)).map { _ in operand(key, &generator) })
        switch Int.random(in: 0..<14, using: &generator) {
        case 0: return operand(key, &generator)
        case 1: return ["$eq": operand(key, &generator)]
        case 2: return ["$ne": operand(key, &generator)]
        case 3: return ["$in": list]
        case 4: return ["$nin": list]
        case 5: return ["$exists": .bool(.random(using: &generator))]
        case 6: return ["$all": list]
        case 7:
            return [
                "$regex": .string(["a", "^a", "b$", "[a-z]{2}", "é|1", "'"].randomElement(using: &generator) ?? "a")
            ]
        case 8: return ["$not": ["$in": list]]
        case 9...10 where depth > 0:
            let query: JSONValue = [
                "className": .string(["Other", "Other", "Thing"].randomElement(using: &generator) ?? "Other"),
                "where": condition("Other", depth: depth - 1, &generator),
            ]
            return [Bool.random(using: &generator) ? "$inQuery" : "$notInQuery": query]
        default:
            var members: JSONObject = [:]
            for name in ["$lt", "$lte", "$gt", "$gte"] where Int.random(in: 0..<2, using: &generator) == 0 {
                members[name] = comparable(key, &generator)
            }
            return members.isEmpty ? ["$gt": 1] : .object(members)
        }
    }

    /// A value with an order.
    private func comparable(_ key: String, _ generator: inout SampleRandom) -> JSONValue {
        for _ in 0..<10 {
            let value = operand(key, &generator)
            switch value {
            case .null, .array: continue
            case .object where value["__type"] != "Date": continue
            default: return value
            }
        }
        return 1
    }
}
