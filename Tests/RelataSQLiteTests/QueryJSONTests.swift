import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// Conditions on JSON columns.
struct QueryJSONTests {
    let library: QueryLibrary

    init() throws {
        library = try QueryLibrary()
        let notes: [Value] = [
            #"{"n":5,"s":"five","deep":{"list":[1,"two",true,null,{"k":1}]},"t":true,"z":null}"#,
            #"[5,"5",[1,2],true]"#, #"{"n":"5","t":1,"a b.c[0]":7}"#, "{broken", .null, "[]",
        ]
        try library.insert(
            "Book",
            notes.enumerated().map { ["id": .integer(Int64($0 + 1)), "title": "x", "isGood": 0, "notes": $1] })
    }

    private func at(_ path: String..., as kind: JSONKind) -> ExpressionNode {
        .function(.json(kind, path.map { name in Int(name).map { .index($0) } ?? .member(name) }), [the("notes")])
    }

    private func books(_ condition: ExpressionNode) throws -> [Value] { try library.keys("Book", condition) }

    private func anyOf(_ path: [JSONStep], _ condition: ExpressionNode) -> ExpressionNode {
        .anyElement(JSONElements(of: the("notes"), at: path, scope: 1), condition: condition)
    }

    private func anyOf(_ condition: ExpressionNode) -> ExpressionNode { anyOf([], condition) }

    @Test func jsonPathsAreReadAsOneKind() throws {
        #expect(try books(at("n", as: .number) == 5) == [1])
        #expect(try books(at("n", as: .text) == "5") == [3])
        #expect(try books(at("n", as: .number) > 4.5) == [1])
        #expect(try books(at("t", as: .boolean) == true) == [1])
        #expect(try books(at("t", as: .number) == 1) == [3])
        #expect(try books(at("a b.c[0]", as: .number) == 7) == [3])
        #expect(try books(at("deep", "list", "1", as: .text) == "two") == [1])
        #expect(try books(at("deep", "list", "4", as: .compound) == #"{"k":1}"#) == [1])
        #expect(try books(.not(.isNull(at("z", as: .any)))) == [])
        #expect(try books(.not(.isNull(at("t", as: .any)))) == [1, 3])
        #expect(try books(.isNull(at("n", as: .number))) == [2, 3, 4, 5, 6])
    }

    @Test func anElementIsFoundByKindAndValue() throws {
        #expect(try books(anyOf(.element(scope: 1, .number) == 5)) == [2])
        #expect(try books(anyOf(.element(scope: 1, .text) == "5")) == [2])
        #expect(try books(anyOf(.element(scope: 1, .number) == 1)) == [])
        #expect(try books(anyOf(.element(scope: 1, .boolean) == true)) == [2])
        #expect(try books(anyOf(.element(scope: 1, .compound) == "[1,2]")) == [2])
        let list: [JSONStep] = [.member("deep"), .member("list")]
        #expect(try books(anyOf(list, .element(scope: 1, .number) == 1)) == [1])
        #expect(try books(anyOf(list, .valueIn(.element(scope: 1, .text), ["two", "three"], []))) == [1])
        #expect(try books(anyOf(list, .isNull(.element(scope: 1, .any)))) == [1])
        #expect(
            try books(anyOf(list, .function(.json(.number, [.member("k")]), [.element(scope: 1, .compound)]) == 1)) == [
                1
            ]
        )
        #expect(try books(.not(anyOf(.element(scope: 1, .number) == 5))) == [1, 3, 4, 5, 6])
        #expect(try books(anyOf([.member("deep")], .not(.isNull(.element(scope: 1, .any))))) == [])
    }

    @Test func valuesAtAPathAreReadAsJSON() throws {
        func texts(_ path: String...) throws -> [Value] {
            let node = ExpressionNode.function(.json(.json, path.map { .member($0) }), [the("notes")])
            let query = try library.compiler.select(
                QueryPlan(entity: "Book", condition: the("id") < 4, limit: 9), columns: .expressions([node]))
            return try library.run(query).map { $0[0] }
        }
        #expect(try texts("n") == ["5", .null, "\"5\""])
        #expect(try texts("t") == ["true", .null, "1"])
        #expect(try texts("z") == [.null, .null, .null])
        #expect(try texts("deep", "list") == [#"[1,"two",true,null,{"k":1}]"#, .null, .null])
        #expect(try books(anyOf(.element(scope: 1, .json) == "\"5\"")) == [2])
        #expect(try books(anyOf(.element(scope: 1, .json) == "true")) == [2])
        #expect(try books(anyOf(.element(scope: 1, .json) == "[1,2]")) == [2])
    }

    @Test func elementsAreComparedWithOuterValues() throws {
        try library.connection.execute("UPDATE Book SET title = '5' WHERE id = 2")
        #expect(try books(anyOf(.comparison(.equal, .element(scope: 1, .text), the("title"), []))) == [2])
    }

    @Test func objectsAreOrderedByAJSONPath() throws {
        try library.connection.execute(
            "UPDATE Book SET notes = '{\"n\":' || (10 - id) || '}' WHERE id < 4; DELETE FROM Book WHERE id > 3")
        #expect(try library.keys("Book", .and([]), sort: [SortTerm(at("n", as: .number))]) == [3, 2, 1])
    }

    @Test func namesThatAPathCannotContainAreRefused() throws {
        for name in ["a\"b", "a\\b", "a\nb"] {
            #expect(throws: RelataError.self) { try books(at(name, as: .any) == 1) }
        }
    }

    @Test func elementsBelongToTheirCondition() throws {
        #expect(throws: RelataError.self) { try books(.element(scope: 1, .number) == 1) }
        #expect(throws: RelataError.self) { try books(anyOf(.element(scope: 2, .number) == 1)) }
        #expect(throws: RelataError.self) {
            try library.keys("Book", .anyElement(JSONElements(of: the("year"), scope: 1), condition: .and([])))
        }
    }
}
