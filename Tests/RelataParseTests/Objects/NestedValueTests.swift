import RelataParse
import TestEngines
import Testing

/// Values within objects and arrays.
@Suite(.onEveryEngine) struct NestedValueTests {
    private let server: TestServer

    init() throws { server = try TestServer() }

    @Test func namesWithDollarsAndDotsAreRefused() async throws {
        let id = try await server.create("Item", ["o": ["k": 1], "list": [1]])
        let refused: [JSONValue] = [
            ["o": ["a.b": 1]], ["o": ["$a": 1]], ["o": ["k": ["a$": 1]]], ["o": ["k": [["a.b": 1]]]],
            ["list": [["a.b": 1]]], ["list": ["__op": "Add", "objects": [["$k": 1]]]],
            ["list": ["__op": "AddUnique", "objects": [["k": ["a.b": 1]]]]], ["o.k": ["a.b": 1]], ["o.$k": 1],
        ]
        for body in refused {
            let reply = try await server.send("PUT", "/classes/Item/\(id)", body)
            #expect(reply.code == 121, "\(body): \(reply.json)")
            #expect(reply["error"] == "Nested keys should not contain the '$' or '.' characters")
        }
        #expect(try await server.send("POST", "/classes/Item", ["o": ["a.b": 1]]).code == 121)
        let item = try await server.get("Item", id)
        #expect(item["o"] == ["k": 1] && item["list"] == [1])
    }

    @Test func manyOperationsOnOneFieldAreDoneInOrder() async throws {
        let id = try await server.create("Item", ["o": ["k": 1, "gone": true], "list": [1]])
        let members: [(String, JSONValue)] =
            (0..<900).map { ("o.m\($0)", .integer($0)) } + [
                ("o.gone", ["__op": "Delete"]), ("o.k", ["__op": "Increment", "amount": 2]),
                ("o.deep.er", ["__op": "Add", "objects": ["x"]]),
            ]
        let additions = (0..<500).map { JSONValue.object(["__op": "Add", "objects": [.integer($0)]]) }
        let removal: JSONValue = ["__op": "Remove", "objects": [1]]
        let reply = try await server.send(
            "PUT", "/classes/Item/\(id)",
            .object(JSONObject(members + [("list", ["__op": "Batch", "ops": .array([removal] + additions)])])))
        #expect(reply.status == 200, "\(reply.json)")
        let item = try await server.get("Item", id)
        let object = try #require(item["o"]?.object)
        #expect(object.count == 902 && object["m899"] == 899 && object["gone"] == nil && object["k"] == 3)
        #expect(object["deep"] == ["er": ["x"]])
        #expect(item["list"] == .array((0..<500).map { .integer($0) }))
        #expect(reply["o"] == item["o"] && reply["list"] == item["list"])
    }

    @Test func operationsAfterASetApplyToTheNewValue() async throws {
        let id = try await server.create("Item", ["o": ["k": 1], "list": [1]])
        // Sorted by name, the object itself precedes its members.
        let reply = try await server.send("PUT", "/classes/Item/\(id)", ["o.a": 5, "o": ["b": 6]])
        #expect(reply.status == 200)
        #expect(try await server.get("Item", id)["o"] == ["a": 5, "b": 6])
        let operations: JSONValue = [
            ["__op": "Add", "objects": [2]], ["__op": "Delete"], ["__op": "Add", "objects": [3]],
        ]
        _ = try await server.send("PUT", "/classes/Item/\(id)", ["list": ["__op": "Batch", "ops": operations]])
        #expect(try await server.get("Item", id)["list"] == [3])
    }

    @Test func operationsOfOneKindAreCombined() async throws {
        let id = try await server.create("Item", ["list": [1, 2, 3], "set": [1]])
        func batch(_ operation: JSONValue, _ range: Range<Int>) -> JSONValue {
            let operations = range.map {
                JSONValue.object(["__op": operation, "objects": [.integer(Int64($0 % 700))]])
            }
            return ["__op": "Batch", "ops": .array(operations)]
        }
        let reply = try await server.send(
            "PUT", "/classes/Item/\(id)", ["list": batch("Remove", 2..<2000), "set": batch("AddUnique", 0..<2000)])
        #expect(reply.status == 200, "\(reply.json)")
        let item = try await server.get("Item", id)
        #expect(item["list"] == [1] || item["list"] == [], "\(item)")
        #expect(item["set"] == .array([1, 0] + (2..<700).map { .integer($0) }))
    }

    @Test func aFieldThatIsUnsetInTheEndIsNotInTheReply() async throws {
        let id = try await server.create("Item", ["n": 1, "list": [1]])
        let operations: JSONValue = [["__op": "Increment", "amount": 1], ["__op": "Delete"]]
        let reply = try await server.send(
            "PUT", "/classes/Item/\(id)", ["n": ["__op": "Batch", "ops": operations]])
        #expect(reply.status == 200 && reply["n"] == nil)
        #expect(try await server.get("Item", id)["n"] == nil)
    }

    @Test func contradictoryOperationsCreateNoField() async throws {
        let operations: JSONValue = [["__op": "Add", "objects": [1]], ["__op": "Increment", "amount": 1]]
        for body in [["tags": ["__op": "Batch", "ops": operations]], ["info": "x", "info.a": 1]] as [JSONValue] {
            #expect(try await server.send("POST", "/classes/Untouched", body).code == 111)
        }
        #expect(try await server.send("GET", "/schemas/Untouched").code == 103)
    }

    @Test func tooManyOperationsOnAFieldAreRefused() async throws {
        let id = try await server.create("Item", ["o": ["k": 1], "list": [1]])
        let members = JSONObject((0..<1001).map { ("o.m\($0)", JSONValue.integer($0)) })
        let operations = (0..<1001).map { number in
            JSONValue.object(["__op": number % 2 == 0 ? "Add" : "Remove", "objects": [.integer(Int64(number))]])
        }
        for body in [.object(members), ["list": ["__op": "Batch", "ops": .array(operations)]]] as [JSONValue] {
            let reply = try await server.send("PUT", "/classes/Item/\(id)", body)
            #expect(reply.code == 107)
            #expect(reply["error"]?.string?.contains("1001 operations on one field") == true, "\(reply.json)")
        }
        let item = try await server.get("Item", id)
        #expect(item["o"] == ["k": 1] && item["list"] == [1])
    }

    @Test func operationsWithinValuesBecomeTheirResults() async throws {
        let body: JSONValue = [
            "o": [
                "n": ["__op": "Increment", "amount": 2], "list": ["__op": "Add", "objects": [1, 1]],
                "set": ["__op": "AddUnique", "objects": ["x"]], "none": ["__op": "Remove", "objects": ["x"]],
                "gone": ["__op": "Delete"], "deep": [["k": ["__op": "Increment", "amount": 0.5]]],
            ],
            "list": [["__op": "Increment", "amount": 1], 5],
        ]
        let id = try await server.create("Item", body)
        let item = try await server.get("Item", id)
        #expect(
            item["o"] == ["n": 2, "list": [1, 1], "set": ["x"], "none": [], "deep": [["k": 0.5]]], "\(item)")
        #expect(item["list"] == [1, 5])
        let refused: [(JSONValue, Int64)] = [
            (["o": ["k": ["__op": "Explode"]]], 108), (["o": ["k": ["__op": "Increment", "amount": "1"]]], 107),
            (["o": ["k": ["__op": "Add", "objects": 1]]], 107), (["o": ["k": ["__op": "AddRelation"]]], 107),
        ]
        for (body, code) in refused {
            let reply = try await server.send("PUT", "/classes/Item/\(id)", body)
            #expect(reply.code == code, "\(body): \(reply.json)")
        }
        #expect(try await server.get("Item", id)["o"] == item["o"])
    }

    @Test func datesWithinValuesAreComparedAsTimes() async throws {
        try await server.save(
            "Event", ["name": "a", "o": ["at": date("2020-01-01T00:00:00Z")], "days": [date("2020-01-01")]],
            ["name": "b", "o": ["at": date("2020-01-01T02:00:00.000456+02:00")]],
            ["name": "c", "o": ["at": date("2020-01-01T00:30:00.000-01:00")], "days": []])
        #expect(try await server.find("Event", ["name": "b"])[0]["o"] == ["at": date("2020-01-01T00:00:00.000Z")])
        for text in ["2020-01-01T00:00:00.000Z", "2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00"] {
            let date = date(text)
            #expect(try await server.names("Event", ["o.at": date]) == ["a", "b"], "\(text)")
            #expect(try await server.names("Event", ["o.at": ["$gt": date]]) == ["c"], "\(text)")
            #expect(try await server.names("Event", ["o.at": ["$lte": date]]) == ["a", "b"], "\(text)")
            #expect(try await server.names("Event", ["o.at": ["$in": [date]]]) == ["a", "b"], "\(text)")
            #expect(try await server.names("Event", ["o": ["at": date]]) == ["a", "b"], "\(text)")
            #expect(try await server.names("Event", ["days": date]) == ["a"], "\(text)")
            #expect(try await server.names("Event", ["days": ["$all": [date]]]) == ["a"], "\(text)")
        }
    }

    @Test func anArrayFindsADateInAnyForm() async throws {
        let id = try await server.create("Event", ["days": [date("2020-01-01T00:00:00Z")]])
        func change(_ operation: String, _ text: String) async throws -> JSONValue? {
            let body: JSONValue = ["days": ["__op": .string(operation), "objects": [date(text)]]]
            return try await server.send("PUT", "/classes/Event/\(id)", body)["days"]
        }
        let stored: JSONValue = [date("2020-01-01T00:00:00.000Z")]
        #expect(try await change("AddUnique", "2020-01-01T01:00:00+01:00") == stored)
        #expect(try await change("Remove", "2020-01-01T00:00Z") == [])
        #expect(try await change("Add", "not a date") == [date("not a date")])
    }

    @Test func valuesTooDeepToBeReadAgainAreRefused() async throws {
        func nested(_ depth: Int) -> JSONValue { (0..<depth).reduce(1) { value, _ in ["k": value] } }
        let id = try await server.create("Item", ["o": nested(10)])
        let path = (["o"] + Array(repeating: "x", count: 60)).joined(separator: ".")
        let reply = try await server.send("PUT", "/classes/Item/\(id)", [path: nested(50)])
        #expect(reply.code == 107, "\(reply.json)")
        #expect(reply["error"]?.string?.contains("deep") == true)
        #expect(try await server.send("PUT", "/classes/Item/\(id)", [path: nested(3)]).status == 200)
        #expect(try await server.send("PUT", "/classes/Item/\(id)", ["o.y": 1]).status == 200)
        let object = try await server.get("Item", id, "include=o.k")["o"]
        #expect(object?["y"] == 1 && object?["k"] != nil)
        #expect(try await server.aggregate("Item", [["$project": ["o": 1]], ["$count": "n"]]) == [["n": 1]])
        #expect(try await server.send("PUT", "/classes/Item/\(id)", ["o": object ?? .null]).status == 200)
    }

    /// Changing the object once for each deletion would take minutes.
    @Test(.timeLimit(.minutes(20)))
    func manyDeletionsWithinAnObjectAreDoneTogether() async throws {
        var members: JSONObject = ["first": 1]
        for number in 0..<20_000 { members["k\(number)"] = ["__op": "Delete"] }
        members["last"] = 2
        let id = try await server.create("Item", ["o": .object(members)])
        #expect(try await server.get("Item", id)["o"] == ["first": 1, "last": 2])
    }

    @Test func keysReferToElementsOfArrays() async throws {
        let id = try await server.create("Item", ["o": ["list": [1, 2]], "lines": [["k": 1], ["k": 2]]])
        let reply = try await server.send(
            "PUT", "/classes/Item/\(id)",
            [
                "o.list.0": 5, "o.list.2": ["x": 1], "lines.0.k": 7,
                "lines.1.k": ["__op": "Increment", "amount": 3], "lines.2": ["k": 9], "new.0": "first",
            ])
        #expect(reply.status == 200, "\(reply.json)")
        let item = try await server.get("Item", id)
        #expect(item["o"] == ["list": [5, 2, ["x": 1]]])
        #expect(item["lines"] == [["k": 7], ["k": 5], ["k": 9]] && item["new"] == ["first"])
        _ = try await server.send("PUT", "/classes/Item/\(id)", ["lines.1": ["__op": "Delete"], "o.list.1": 0])
        let changed = try await server.get("Item", id)
        #expect(changed["lines"] == [["k": 7], .null, ["k": 9]] && changed["o"] == ["list": [5, 0, ["x": 1]]])
        let refused: [(JSONValue, String)] = [
            (["o.list.9": 1], "o.list has 3 elements: one can be added at its end, not at 9"),
            (["o.list.99999999999999999999": 1], "o.list is an array, so it has no member 99999999999999999999"),
            (["o.list.a": 1], "o.list is an array, so it has no member a"),
            (["lines.0.k.z": 1], "lines.0.k isn't an object, so it has no member z"),
        ]
        for (body, message) in refused {
            let reply = try await server.send("PUT", "/classes/Item/\(id)", body)
            #expect(reply.code == 111 && reply["error"]?.string == message, "\(body): \(reply.json)")
        }
        #expect(try await server.get("Item", id)["o"] == changed["o"])
        // Missing elements needn't be removed.
        let gone = try await server.send(
            "PUT", "/classes/Item/\(id)", ["lines.7": ["__op": "Delete"], "lines.3": .null])
        #expect(gone["lines"] == changed["lines"], "\(gone.json)")
    }

    @Test func theNameOfAMemberCanBeANumber() async throws {
        let id = try await server.create("Item", ["o": ["0": "a"], "list": [1]])
        let reply = try await server.send(
            "PUT", "/classes/Item/\(id)", ["o.0": "b", "o.2024": 1, "o.k": 2, "list.0": 5, "list.1": 6, "more": true])
        #expect(reply.status == 200, "\(reply.json)")
        let item = try await server.get("Item", id)
        #expect(item["o"] == ["0": "b", "2024": 1, "k": 2] && item["list"] == [5, 6])
    }

    /// If an object is refused for its values, its class stays unchanged.
    @Test func anInvalidElementCreatesNoField() async throws {
        for body: JSONValue in [["scores.2024": 1], ["h.0": adding(pointer("Item", "x"))], ["f.0": 1, "f.2": 1]] {
            #expect(try await server.send("POST", "/classes/Untouched", body).status == 400, "\(body)")
        }
        #expect(try await server.send("GET", "/schemas/Untouched").code == 103)
        #expect(try await server.send("POST", "/classes/Touched", ["f.0": 1, "f.1": 2]).status == 201)
    }

    @Test func anIncrementNeedsAnAmount() async throws {
        let id = try await server.create("Item", ["n": 1])
        for amount: JSONValue in [["__op": "Increment"], ["__op": "Increment", "amount": .null]] {
            #expect(try await server.send("PUT", "/classes/Item/\(id)", ["n": amount]).code == 107)
        }
        #expect(try await server.get("Item", id)["n"] == 1)
    }
}
