import RelataParse
import Testing

@Suite struct JSONObjectTests {
    @Test func membersKeepTheirOrder() throws {
        let text = #"{"b":1,"a":{"z":[],"y":{}},"c":null}"#
        let value = try JSONParser.parse(text)
        #expect(JSONWriter.text(value) == text)
        #expect(JSONWriter.canonicalText(value) == #"{"a":{"y":{},"z":[]},"b":1,"c":null}"#)
        #expect(value.object.map { Array($0.keys) } == ["b", "a", "c"])
    }

    @Test func objectsWithTheSameMembersAreEqual() throws {
        let left: JSONValue = ["a": 1, "b": ["c": 2, "d": 3]]
        let right: JSONValue = ["b": ["d": 3, "c": 2], "a": 1]
        #expect(left == right && Set([left, right]).count == 1)
        #expect(left != ["a": 1, "b": ["c": 2, "d": 4]] && left != ["a": 1] && left != ["a": 1, "c": .null])
    }

    /// Small objects are searched linearly; large ones have an index.
    @Test(arguments: [3, 16, 17, 500])
    func membersAreFoundChangedAndRemoved(count: Int) throws {
        let names = (0..<count).map { "name\(($0 * 7919) % count)_\($0)" }
        var object = JSONObject()
        for (place, name) in names.enumerated() { object[name] = .integer(Int64(place)) }
        #expect(Array(object.keys) == names)
        for (place, name) in names.enumerated() { #expect(object[name] == .integer(Int64(place))) }
        #expect(object["other"] == nil)
        object[names[1]] = "new"
        #expect(object.removeValue(forKey: names[0]) == 0 && object.removeValue(forKey: names[0]) == nil)
        object["other"] = .null
        object[names[2]] = nil
        #expect(object.count == count - 1 && object[names[1]] == "new" && object[names[2]] == nil)
        #expect(Array(object.keys) == [names[1]] + names[3...] + ["other"])
        let again = JSONObject(object.map { ($0, $1) }.reversed())
        #expect(again == object && again.hashValue == object.hashValue)
    }

    @Test(arguments: [0, 40])
    func aNameCanOccurOnlyOnce(others: Int) throws {
        let members = (0..<others).map { "\"n\($0)\":0," }.joined()
        #expect(throws: ParseError.self) { try JSONParser.parse("{\(members)\"a\":1,\"a\":2}") }
        #expect(throws: ParseError.self) { try JSONParser.parse("{\"a\":1,\(members)\"\\u0061\":2}") }
    }

    /// Swift considers these texts equal; JSON and SQLite don't.
    @Test func textsAreComparedByTheirBytes() throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(JSONValue.string(composed) != .string(decomposed))
        #expect(Set([JSONValue.string(composed), .string(decomposed)]).count == 2)
        // These two have the same number of bytes.
        #expect(JSONValue.string("a\u{323}\u{307}") != .string("a\u{307}\u{323}"))
        let both = try JSONParser.parse("{\"\(composed)\":1,\"\(decomposed)\":2}")
        #expect(both[composed] == 1 && both[decomposed] == 2)
        let long = String(repeating: "x", count: 40)
        #expect(JSONValue.string(long + composed) != .string(long + decomposed))
        #expect(JSONValue.string(long + composed) == .string(long + "\u{E9}"))
    }

    /// After any removals and additions, members are found at their positions.
    @Test func positionsStayRightAfterRemovals() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var state = seed
        func random(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        var object = JSONObject()
        var expected: [(String, Int64)] = []
        for step in 0..<2000 {
            let name = "n\(random(60))"
            let place = expected.firstIndex { $0.0 == name }
            if random(5) < (step / 500 % 2 == 0 ? 2 : 4) {
                #expect(object.removeValue(forKey: name) == place.map { .integer(expected[$0].1) }, "seed \(seed)")
                if let place { expected.remove(at: place) }
            } else {
                object[name] = .integer(Int64(step))
                if let place { expected[place].1 = Int64(step) } else { expected.append((name, Int64(step))) }
            }
            #expect(object.elementsEqual(expected) { $0.key == $1.0 && $0.value == .integer($1.1) }, "seed \(seed)")
            for (name, value) in expected where object[name] != .integer(value) {
                Issue.record("seed \(seed): \(name)")
            }
        }
    }
}
