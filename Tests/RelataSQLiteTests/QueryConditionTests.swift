import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// Conditions on an object's own attributes and on those of its to-ones.
struct QueryConditionTests {
    let library: QueryLibrary

    init() throws { library = try .small() }

    @Test func comparisonsFindValues() throws {
        #expect(try library.keys("Book", the("year") == 1974) == [2])
        #expect(try library.keys("Book", the("year") < 1974) == [1])
        #expect(try library.keys("Book", the("year") >= 1974) == [2, 4])
        #expect(try library.keys("Book", .comparison(.less, .value(1974), the("year"), [])) == [4])
        #expect(try library.keys("Book", .between(the("year"), .value(1968), .value(1974))) == [1, 2])
        #expect(try library.keys("Book", the("isGood")) == [1, 2])
        #expect(try library.keys("Book", .not(the("isGood"))) == [3, 4])
    }

    @Test func unsetValuesDifferFromAllSetValues() throws {
        #expect(try library.keys("Book", the("year") != 1974) == [1, 3, 4])
        #expect(try library.keys("Book", .not(the("year") == 1974)) == [1, 3, 4])
        #expect(try library.keys("Book", .not(the("year") < 1974)) == [2, 3, 4])
        #expect(try library.keys("Book", the("year") == nil) == [3])
        #expect(try library.keys("Book", the("year") != nil) == [1, 2, 4])
        #expect(try library.keys("Book", .isNull(the("year"))) == [3])
        #expect(try library.keys("Book", .not(.isNull(the("year")))) == [1, 2, 4])
        #expect(try library.keys("Book", the("year") < nil) == [])
        // Two unset values are the same.
        #expect(try library.keys("Book", .comparison(.equal, the("added"), the("printed"), [])) == [2, 3, 4])
        #expect(try library.keys("Book", .comparison(.notEqual, the("added"), the("printed"), [])) == [1])
    }

    @Test func listsOfAnyLengthAreOneParameter() throws {
        #expect(try library.keys("Book", .valueIn(the("year"), [1968, 2001], [])) == [1, 4])
        #expect(try library.keys("Book", .valueIn(the("year"), [1968, nil], [])) == [1, 3])
        #expect(try library.keys("Book", .valueIn(the("year"), [], [])) == [])
        #expect(try library.keys("Book", .not(.valueIn(the("year"), [1968, 2001], []))) == [2, 3])
        #expect(try library.keys("Book", .not(.valueIn(the("year"), [], []))) == [1, 2, 3, 4])
        let many = (2...100_001).map { Value.integer(Int64($0)) }
        #expect(try library.keys("Book", .valueIn(the("id"), many, [])) == [2, 3, 4])
        let query = try library.compiler.select(QueryPlan(entity: "Book", condition: .valueIn(the("id"), many, [])))
        #expect(query.statement.parameters.count == 1)
        #expect(try library.keys("Book", .keyIn(the(""), [KeyValue(4), KeyValue(1), KeyValue(9)])) == [1, 4])
        #expect(try library.keys("Book", .valueIn(the("title"), ["EARTHSEA", "x"], .caseInsensitive)) == [1])
        #expect(try library.keys("Book", .valueIn(the("price"), ["9.9", "100.00"], [])) == [1, 3])
    }

    @Test func keysOfToOnesNeedNoJoin() throws {
        #expect(try library.keys("Book", .keyIn(the("genre"), [KeyValue(1)])) == [1, 2])
        #expect(try library.keys("Book", .not(.keyIn(the("genre"), [KeyValue(1)]))) == [3, 4])
        #expect(try library.keys("Book", .keyIn(the("genre"), [KeyValue(1), KeyValue(2)])) == [1, 2, 3])
        #expect(try library.keys("Book", .isNull(the("genre"))) == [4])
        #expect(try library.keys("Book", the("genre") == nil) == [4])
        #expect(try library.keys("Book", the("genre") == 2) == [3])
        let query = try library.compiler.select(QueryPlan(entity: "Book", condition: the("genre.id") == 1))
        #expect(try !library.explain(query.statement).contains("Genre"))
        #expect(try library.run(query).count == 2)
    }

    @Test func pathsFollowToOnes() throws {
        #expect(try library.keys("Book", the("genre.name") == "Fantasy") == [1, 2])
        #expect(try library.keys("Book", the("genre.name") != "Fantasy") == [3, 4])
        #expect(try library.keys("Book", .isNull(the("genre.name"))) == [4])
        #expect(try library.keys("Review", the("book.genre.name") == "Essay") == [4])
        #expect(try library.keys("Book", the("isbn.value") == "978-2") == [3])
        #expect(try library.keys("Book", .isNull(the("isbn"))) == [2, 4])
        #expect(try library.keys("ISBN", .comparison(.equal, the("book.isbn"), the(""), [])) == [1, 2])
        #expect(try library.keys("Person", the("mother.mother.name") == "Ada") == [3])
    }

    @Test func aDanglingReferenceHasAKeyButNoObject() throws {
        #expect(try library.keys("Person", .isNull(the("mother"))) == [1])
        #expect(try library.keys("Person", the("mother") == 99) == [4])
        #expect(try library.keys("Person", .and([the("mother") == 99, .isNull(the("mother.name"))])) == [4])
        #expect(try library.keys("Person", .and([the("mother.id") == 99, the("mother.name") != "x"])) == [4])
    }

    @Test func keysOfSeveralColumnsAreCompared() throws {
        let math = KeyValue([1, "math"])
        #expect(try library.keys("Note", .keyIn(the("enrolment"), [math])) == [1])
        #expect(try library.keys("Note", .keyIn(the("enrolment"), [math, KeyValue([2, "math"])])) == [1, 2])
        #expect(try library.keys("Note", .not(.keyIn(the("enrolment"), [math]))) == [2, 3])
        #expect(try library.keys("Note", .isNull(the("enrolment"))) == [3])
        #expect(try library.keys("Note", the("enrolment.mark") == 9) == [2])
        #expect(try library.keys("Note", the("enrolment.course") == "math") == [1, 2])
        #expect(try library.keys("Enrolment", .keyIn(the(""), [math])) == [1])
        #expect(try library.keys("Note", .comparison(.equal, the("enrolment"), the("enrolment"), [])) == [1, 2, 3])
        #expect(throws: RelataError.self) { try library.keys("Note", the("enrolment") == 1) }
        #expect(throws: RelataError.self) { try library.keys("Note", .keyIn(the("enrolment"), [KeyValue(1)])) }
    }

    @Test func decimalsCompareByNumber() throws {
        #expect(try library.keys("Book", the("price") > "9.9") == [2, 3])
        #expect(try library.keys("Book", the("price") == "9.90") == [1])
        #expect(try library.keys("Book", the("price") == 100) == [3])
        #expect(try library.keys("Book", the("price") < 10.6) == [1, 2])
        #expect(try library.keys("Book", .comparison(.less, the("price"), the("year"), [])) == [1, 2])
        let doubled = ExpressionNode.arithmetic(.multiply, the("price"), .value(2))
        #expect(try library.keys("Book", doubled == "19.8") == [1])
        #expect(try library.keys("Book", .arithmetic(.add, the("price"), .value("0.1")) == 10) == [1])
    }

    @Test func datesCompareInAnyEncoding() throws {
        try library.insert(
            "Book",
            [
                [
                    "id": 5, "title": "d", "isGood": 0, "added": 1_700_000_000_123_456,
                    "printed": 1_700_000_000_123_456,
                    "loaned": 1_700_000_000_500_000,
                ]
            ])
        let moment: Value = 1_700_000_000_123_456
        for name in ["added", "printed"] {
            #expect(try library.keys("Book", the(name) == moment) == [5])
            #expect(try library.keys("Book", .valueIn(the(name), [moment, 7], [])) == [5])
        }
        #expect(try library.keys("Book", the("loaned") > moment) == [5])
        #expect(try library.keys("Book", the("loaned") == 1_000_000) == [2])
        #expect(try library.keys("Book", the("printed") == "1970-01-01T00:00:00.000000Z") == [1])
        let same = ExpressionNode.comparison(.equal, the("added"), the("printed"), [])
        #expect(try library.keys("Book", .and([same, the("added") != nil])) == [5])
        #expect(try library.keys("Book", .comparison(.less, the("printed"), the("loaned"), [])) == [5])
    }

    @Test func partsOfDatesAreRoundedDown() throws {
        let before1970: Value = -1
        try library.insert(
            "Book",
            [["id": 6, "title": "d", "isGood": 0, "added": before1970, "printed": before1970, "loaned": before1970]])
        for name in ["added", "printed", "loaned"] {
            let parts: [(DatePart, Value)] = [
                (.year, 1969), (.month, 12), (.day, 31), (.hour, 23), (.minute, 59), (.second, 59), (.weekday, 3),
            ]
            for (part, expected) in parts {
                let condition = ExpressionNode.function(.datePart(part), [the(name)]) == expected
                #expect(try library.keys("Book", .and([condition, the("id") == 6])) == [6], "\(part) of \(name)")
            }
        }
    }

    @Test func uuidsCompareInAnyEncoding() throws {
        let uuid = UUID()
        try library.insert(
            "Book", [["id": 7, "title": "u", "isGood": 0, "code": .uuid(uuid), "tag": .uuid(uuid)]])
        for name in ["code", "tag"] {
            #expect(try library.keys("Book", the(name) == .uuid(uuid)) == [7])
            #expect(try library.keys("Book", the(name) == .text(uuid.uuidString)) == [7])
            #expect(try library.keys("Book", .valueIn(the(name), [.uuid(uuid), .uuid(UUID())], [])) == [7])
        }
        let same = ExpressionNode.comparison(.equal, the("code"), the("tag"), [])
        #expect(try library.keys("Book", .and([same, the("tag") != nil])) == [7])
    }

    @Test func arithmeticAndFunctionsWork() throws {
        #expect(try library.keys("Book", .arithmetic(.remainder, the("year"), .value(10)) == 4) == [2])
        #expect(try library.keys("Book", .arithmetic(.divide, the("year"), .value(0)) == nil) == [1, 2, 3, 4])
        #expect(try library.keys("Book", .negated(the("year")) == -1968) == [1])
        #expect(try library.keys("Book", .function(.absolute, [.negated(the("year"))]) == 1968) == [1])
        #expect(try library.keys("Book", .function(.coalesce, [the("year"), .value(7)]) == 7) == [3])
        #expect(try library.keys("Book", .function(.length, [the("title")]) == 8) == [1])
        #expect(try library.keys("Book", .function(.uppercased, [the("title")]) == "EARTHSEA") == [1])
        #expect(try library.keys("Genre", .function(.lowercased, [the("name")]) == "éssai") == [3])
        let joined = ExpressionNode.function(.concatenate, [the("title"), the("genre.name")])
        #expect(try library.keys("Book", joined == "EarthseaFantasy") == [1])
        try library.insert("Genre", [["id": 9, "name": " \t\u{00A0}x\n"]])
        #expect(try library.keys("Genre", .function(.trimmed, [the("name")]) == "x") == [9])
    }

    @Test func conditionsAreValuesToo() throws {
        let recent = the("year") > 1970
        #expect(try library.keys("Book", .comparison(.equal, recent, the("isGood"), [])) == [2, 3])
        #expect(try library.keys("Book", .comparison(.equal, .not(recent), .value(1), [])) == [1, 3])
        #expect(try library.keys("Book", .and([])) == [1, 2, 3, 4])
        #expect(try library.keys("Book", .or([])) == [])
        #expect(try library.keys("Book", .not(.and([]))) == [])
    }

    @Test func rawSQLCombinesWithConditions() throws {
        let condition = ExpressionNode.sql([
            .text("length("), .node(the("genre.name")), .text(") > "), .node(.value(5)), .text(" OR "),
            .node(the("id")), .text(" = 4"),
        ])
        #expect(try library.keys("Book", .and([condition, the("isGood") == 1])) == [1, 2])
        #expect(try library.keys("Book", .not(condition)) == [3])
    }

    @Test func thousandsOfConditionsFit() throws {
        let many = (0..<5000).map { the("id") == .integer(Int64($0)) }
        #expect(try library.keys("Book", .or(many)) == [1, 2, 3, 4])
        let chain = many.dropFirst().reduce(many[0]) { .or([$0, $1]) }
        #expect(try library.keys("Book", chain) == [1, 2, 3, 4])
        #expect(try library.keys("Book", .and((0..<5000).map { the("id") != .integer(Int64($0 + 2)) })) == [1])
        var deep = the("id") == 1
        for _ in 0..<200 { deep = .not(.and([deep, the("id") != 9])) }
        #expect(throws: RelataError.self) { try library.keys("Book", deep) }
    }

    /// SQLite's own limits on nesting, whose messages are obscure, never come to light.
    @Test func deepNestingRunsOrIsRefused() throws {
        let other = the("id") != 99
        let steps: [(String, String, (ExpressionNode, Int) -> ExpressionNode)] = [
            ("Book", "left", { node, _ in .not(.and([node, other])) }),
            ("Book", "right", { node, _ in .not(.and([other, node])) }),
            ("Book", "or", { node, _ in .or([other, .and([other, node])]) }),
            ("Book", "sum", { node, _ in .arithmetic(.add, .value(1), .arithmetic(.multiply, node, .value(2))) }),
            ("Book", "call", { node, _ in .function(.coalesce, [the("year"), node]) }),
            ("Book", "value", { node, _ in .comparison(.equal, .value(1), node, []) }),
            (
                "Person", "none",
                { node, depth in .quantified(.none, set("friends", 100 - depth), condition: .and([node, other])) }
            ),
            (
                "Person", "any",
                { node, depth in
                    .quantified(
                        .any, set("friends", 100 - depth), condition: .keyIn(the("", 101 - depth), [KeyValue(1)]))
                }
            ),
            (
                "Person", "count",
                { node, depth in
                    .aggregate(.count, set("friends.mother.friends", 100 - depth), of: nil, filter: node > 0)
                }
            ),
        ]
        for (entity, name, step) in steps {
            var wasRefused = false
            for depth in 1...60 {
                let isNumber = ["sum", "call", "count"].contains(name)
                var node = isNumber ? ExpressionNode.value(1) : .isNull(.value(1))
                for level in 1...depth { node = step(node, level + 100 - depth) }
                do {
                    _ = try library.keys(entity, isNumber ? node > 0 : node)
                } catch RelataError.invalidUse(let message) {
                    #expect(message.contains("nested too deeply"))
                    wasRefused = true
                }
            }
            #expect(wasRefused || name == "any", "\(name)")
        }
    }

    @Test func wrongNamesAndTypesAreErrors() throws {
        func message(_ entity: String, _ condition: ExpressionNode) -> String {
            do {
                return "found \(try library.keys(entity, condition))"
            } catch { return "\(error)" }
        }
        #expect(message("Boook", the("year") == 1).contains("did you mean Book?"))
        #expect(message("Book", the("yaer") == 1).contains("Book has no property yaer: did you mean year?"))
        #expect(message("Book", the("genre.nam") == "x").contains("Genre has no property nam: did you mean name?"))
        #expect(message("Book", the("title.x") == "x").contains("Book.title is an attribute"))
        #expect(message("Book", the("reviews.stars") == 1).contains("Book.reviews is a to-many"))
        #expect(message("Book", the("year") == "x").contains("Book.year is an integer"))
        #expect(message("Book", the("title") > 5).contains("Book.title is text"))
        #expect(message("Book", .text(.contains, the("year"), .value("1"), [])).contains("contains searches text only"))
        #expect(message("Book", .comparison(.less, the("title"), the("year"), [])).contains("can't be compared"))
        #expect(message("Book", the("notes") < "x").contains("no order"))
        #expect(message("Book", the("title")).contains("not a condition"))
        #expect(message("Book", .comparison(.equal, the("genre"), the("isbn"), [])).contains("different entities"))
        #expect(message("Book", .arithmetic(.add, the("title"), .value(1)) == 2).contains("is for numbers"))
        #expect(message("Book", .invalid("a reason")).contains("a reason"))
        #expect(message("Book", .groupAggregate(.count, of: nil, isDistinct: false) == 1).contains("group"))
        #expect(message("Book", .text(.matches, the("title"), .value("("), [])).contains("regular expression"))
    }
}
