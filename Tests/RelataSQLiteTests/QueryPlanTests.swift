import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// Generated SQL has the form that SQLite's indexes serve.
struct QueryPlanTests {
    let library: QueryLibrary

    init() throws { library = try .small() }

    private func plan(_ entity: String, _ condition: ExpressionNode, sort: [SortTerm] = []) throws -> String {
        try library.explain(
            library.compiler.select(QueryPlan(entity: entity, condition: condition, sort: sort)).statement)
    }

    @Test func keysAndIndexedAttributesUseIndexes() throws {
        let two = [KeyValue(1), KeyValue(2)]
        let searches: [(String, ExpressionNode)] = [
            ("Book", the("id") == 1), ("Book", .keyIn(the(""), two)), ("Book", the("title") == "x"),
            ("Book", .text(.beginsWith, the("title"), .value("Ea"), [])),
            ("Book", .text(.like, the("title"), .value("Ea*"), [])),
            ("Book", .valueIn(the("year"), [1, 2, 3], [])), ("Book", .between(the("year"), .value(1), .value(2))),
            ("Book", the("year") == nil), ("Book", the("genre") == 1), ("Book", the("genre") == nil),
            ("Book", .keyIn(the("genre"), two)),
            ("Author", the("id") == "x"), ("Enrolment", .keyIn(the(""), [KeyValue([1, "a"]), KeyValue([2, "b"])])),
            ("Note", .keyIn(the("enrolment"), [KeyValue([1, "a"])])),
            ("Book", .quantified(.any, set("authors"), condition: .keyIn(the("", 1), [KeyValue("le")]))),
            ("Book", .quantified(.any, set("reviews"), condition: the("id", 1) == 3)),
            ("Author", .quantified(.any, set("books"), condition: the("title", 1) == "Earthsea")),
            ("Genre", .quantified(.any, set("books.authors"), condition: the("id", 1) == "le")),
        ]
        for (entity, condition) in searches {
            let plan = try plan(entity, condition)
            #expect(!plan.replacing(/SCAN (temp\.)?relata_values/, with: "").contains("SCAN"), "\(condition): \(plan)")
        }
    }

    @Test func subqueriesUseIndexes() throws {
        let conditions: [ExpressionNode] = [
            .quantified(.all, set("reviews"), condition: the("stars", 1) > 3),
            .quantified(.none, set("authors"), condition: the("name", 1) == "x"),
            .aggregate(.count, set("authors"), of: nil, filter: nil) > 2,
        ]
        for condition in conditions {
            let plan = try plan("Book", condition)
            #expect(plan.components("SCAN") == 1, "\(condition): \(plan)")
        }
    }

    @Test func pagesUseTheIndexOfTheirFirstKey() throws {
        let plan = QueryPlan(entity: "Book", sort: [SortTerm(the("title"))], limit: 10)
        let page = try library.compiler.select(plan, after: PagePosition(["Earthsea", 1]))
        #expect(try library.explain(page.statement).contains("SEARCH"))
        #expect(try !library.explain(page.statement).contains("TEMP B-TREE"))
    }
}

extension String {
    fileprivate func components(_ word: String) -> Int { ranges(of: word).count }
}
