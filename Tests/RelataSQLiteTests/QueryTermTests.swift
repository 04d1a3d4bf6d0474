import Foundation
import RelataCore
import RelataEngine
import Testing

/// Terms that may be unset, conditions of an app's own, and the limits on a query's size.
struct QueryTermTests {
    let library: QueryLibrary

    init() throws { library = try .small() }

    @Test func concatenationWithUnsetTextIsUnset() throws {
        let after = ExpressionNode.arithmetic(.add, the("title"), the("genre.name"))
        #expect(try library.keys("Book", after == "EarthseaFantasy") == [1])
        #expect(try library.keys("Book", after != "EarthseaFantasy") == [2, 3, 4])
        let before = ExpressionNode.arithmetic(.add, the("genre.name"), the("title"))
        #expect(try library.keys("Book", before != "FantasyEarthsea") == [2, 3, 4])
    }

    @Test func floatsAreFoundByTheirWrittenValue() throws {
        var single = Attribute("single", type: .real)
        single.valueType = ValueType(Float?.self)
        var double = Attribute("double", type: .real)
        double.valueType = ValueType(Double.self)
        let id = Attribute("id", type: .integer)
        let library = try QueryLibrary([
            Entity(name: "Number", properties: [.attribute(id), .attribute(single), .attribute(double)])
        ])
        try library.insert("Number", [["id": 1, "single": .real(Double(Float(0.1))), "double": .real(0.1)]])
        #expect(try library.keys("Number", the("single") == .real(0.1)) == [1])
        #expect(try library.keys("Number", the("double") == .real(0.1)) == [1])
    }

    @Test func theLengthOfDataIsInBytes() throws {
        try library.connection.execute("UPDATE Book SET cover = x'0102' WHERE id = 1")
        try library.connection.execute("UPDATE Book SET cover = x'000203' WHERE id = 2")
        #expect(try library.keys("Book", .function(.length, [the("cover")]) > 2) == [2])
        #expect(try library.keys("Book", .function(.length, [the("cover")]) == 2) == [1])
    }

    @Test func coalescingOnlyUnsetValuesIsUnset() throws {
        let first = ExpressionNode.function(.coalesce, [the("year"), the("weight")])
        #expect(try library.keys("Book", first == 1968) == [1])
        #expect(try library.keys("Book", first != 1968) == [2, 3, 4])
        let always = ExpressionNode.function(.coalesce, [the("year"), the("id")])
        #expect(try library.keys("Book", always == 3) == [3])
        #expect(try library.keys("Book", always != 1968) == [2, 3, 4])
    }

    @Test func nonzeroNumbersOfRawSQLAreTrue() throws {
        let condition = ExpressionNode.sql([.node(the("id")), .text(" - 2")])
        #expect(try library.keys("Book", condition) == [1, 3, 4])
        #expect(try library.keys("Book", .not(condition)) == [2])
    }

    @Test func repeatedPathsJoinATableOnce() throws {
        let plan = QueryPlan(
            entity: "Book", condition: .and([the("genre.name") != "x", the("genre.name") != "y"]),
            sort: [SortTerm(the("genre.name"))])
        #expect(try library.keys(plan) == [4, 3, 1, 2])
        let explained = try library.explain(library.compiler.select(plan).statement)
        let tables = explained.components(separatedBy: "; ").filter { $0.contains("SEARCH") }
        #expect(tables.count == 1, "\(explained)")
    }

    @Test func aQueryOfTooManyValuesIsRefusedBeforeSQLiteDoes() throws {
        let many = (0..<30_000).map { the("id") == .integer(Int64($0)) }
        #expect(throws: RelataError.self) { try library.compiler.keys(QueryPlan(entity: "Book", condition: .or(many))) }
        #expect(throws: Never.self) {
            try library.compiler.keys(QueryPlan(entity: "Book", condition: .or(Array(many.dropLast()))))
        }
    }
}
