import RelataCore
import Testing

/// The operands of a comparison in text: numbers, dates, elements of JSON, and parts in parentheses.
@Suite struct PredicateOperandTests: PredicateParsing {
    let schema: Schema

    init() throws { schema = try Schema(MusicEntities.all) }

    @Test func numbersMayHaveExponents() throws {
        #expect(try parse("price > 25e-1") != parse("price > 25e1"))
        #expect(try parse("price > 25e-1 AND id = 1") == .and([parse("price > 25e-1"), parse("id = 1")]))
        #expect(throws: RelataError.self) { try parse("price > 25e-") }
    }

    @Test func lengthsOfTimeMoveDates() throws {
        let later = ExpressionNode.function(.addingTime(.days(3)), [path("released")])
        #expect(
            try parse("released + days(3) > '1970-01-02'")
                == .comparison(.greater, later, .value(86_400_000_000), []))
        #expect(
            try parse("released > '1970-01-02' - hours(12) AND id = 1")
                == .and([compare(.greater, "released", "1970-01-01T12:00:00.000000Z"), compare(.equal, "id", 1)]))
        #expect(throws: RelataError.self) { try parse("released + days(3 > '1970-01-02'") }
        #expect(throws: RelataError.self) { try parse("released + days('x') > '1970-01-02'") }
    }

    @Test func fiftyLevelsOfNestingAreRead() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "(", count: levels) + "id = 1" + String(repeating: ")", count: levels)
        }
        #expect(try parse(nested(50)) == compare(.equal, "id", 1))
        #expect(throws: RelataError.self) { try parse(nested(51)) }
    }

    @Test func elementsOfAJSONArrayAreCounted() throws {
        let schema = try Schema([
            Entity(name: "Note", properties: [.id(), .attribute(Attribute("tags", type: .json)), .text("title")])
        ])
        func parse(_ text: String) throws(RelataError) -> ExpressionNode {
            try PredicateFormat.parse(text, arguments: [], entity: "Note", schema: schema)
        }
        #expect(
            try parse("tags.@count > 2")
                == .comparison(.greater, .function(.elementCount, [path("tags")]), .value(2), []))
        for text in ["tags.@count.title > 2", "title.@count > 2", "tags.@max > 2"] {
            #expect(throws: RelataError.self, "\(text)") { try parse(text) }
        }
    }

    @Test func aListForAKeyOfAnyTypeHoldsEachReading() throws {
        var key = Attribute("id", type: .integer)
        key.holdsOtherTypes = true
        let schema = try Schema([Entity(name: "Part", properties: [.attribute(key)])])
        #expect(
            try PredicateFormat.parse("id IN {7, 'x'}", arguments: [], entity: "Part", schema: schema)
                == .valueIn(path("id"), [7, "7", "x"], []))
    }
}
