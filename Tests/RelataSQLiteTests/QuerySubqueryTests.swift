import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// Values that are looked for in the results of another query.
struct QuerySubqueryTests {
    let library: QueryLibrary

    init() throws { library = try .small() }

    private func genres(_ condition: ExpressionNode, limit: Int? = nil, sort: [SortTerm] = []) -> QueryPlan {
        QueryPlan(entity: "Genre", condition: condition, sort: sort, limit: limit)
    }

    @Test func toOnesAreComparedWithASubqueryOfKeys() throws {
        let isFantasy = ExpressionNode.inQuery(the("genre"), genres(the("name") == "Fantasy"), selecting: nil)
        #expect(try library.keys("Book", isFantasy) == [1, 2])
        #expect(try library.keys("Book", .not(isFantasy)) == [3, 4])
    }

    @Test func valuesAreComparedWithASubquery() throws {
        let years = QueryPlan(entity: "Book", condition: .not(.isNull(the("year"))))
        try library.connection.execute("UPDATE Review SET stars = 1974 WHERE id = 2")
        #expect(
            try library.keys("Review", .inQuery(the("stars"), years, selecting: the("year"))) == [2])
        // The selected values may be unset: such a value is equal to nothing, and leaves no comparison undecided.
        let all = QueryPlan(entity: "Book")
        #expect(try library.keys("Review", .not(.inQuery(the("stars"), all, selecting: the("year")))) == [1, 3, 4])
    }

    @Test func aPathIsSelected() throws {
        let names = QueryPlan(entity: "Book", condition: the("title") == "Earthsea")
        #expect(try library.keys("Genre", .inQuery(the("name"), names, selecting: the("genre.name"))) == [1])
    }

    @Test func limitAndOrderCount() throws {
        let last = genres(.and([]), limit: 1, sort: [SortTerm(the("name"), isAscending: false)])
        try library.connection.execute("UPDATE Book SET genreId = 3 WHERE id = 4")
        #expect(try library.keys("Book", .inQuery(the("genre"), last, selecting: nil)) == [4])
        var second = genres(.and([]), limit: 1)
        second.offset = 1
        #expect(try library.keys("Book", .inQuery(the("genre"), second, selecting: nil)) == [3])
    }

    @Test func keysOfSeveralPartsAreOneValue() throws {
        let best = QueryPlan(entity: "Enrolment", condition: the("mark") > 6)
        #expect(try library.keys("Note", .inQuery(the("enrolment"), best, selecting: nil)) == [2])
        #expect(throws: RelataError.self) {
            try library.keys("Note", .inQuery(the("enrolment"), best, selecting: the("mark")))
        }
    }

    @Test func subqueriesNestAndCombineWithParameters() throws {
        let inner = QueryPlan(
            entity: "Book",
            condition: .and([
                the("year") > 1960, .inQuery(the("genre"), genres(the("name") == "Fantasy"), selecting: nil),
                the("title") != "Earthsea",
            ]))
        let condition = ExpressionNode.and([
            the("stars") >= 1, .inQuery(the("book"), inner, selecting: nil), the("text") == "good",
        ])
        #expect(try library.keys("Review", condition) == [3])
    }

    @Test func datesOfDifferentEncodingsAreComparable() throws {
        try library.connection.execute("UPDATE Book SET printed = '1970-01-01T00:00:01.000000Z' WHERE id = 1")
        let loaned = QueryPlan(entity: "Book", condition: .not(.isNull(the("loaned"))))
        #expect(try library.keys("Book", .inQuery(the("printed"), loaned, selecting: the("loaned"))) == [1])
    }

    @Test func relatedObjectsAreFoundBySubqueries() throws {
        let named = QueryPlan(entity: "Author", condition: the("name") == "China Miéville")
        let condition = ExpressionNode.quantified(
            .any, set("authors"), condition: .inQuery(the("", 1), named, selecting: nil))
        #expect(try library.keys("Book", condition) == [2, 3])
        #expect(try library.keys("Book", .not(condition)) == [1, 4])
        let related = QueryPlan(
            entity: "Author", relatedTo: RelatedOwner(entity: "Book", relationship: "authors", key: KeyValue(2)))
        #expect(try library.keys("Author", .inQuery(the(""), related, selecting: nil)) == ["le", "mi"])
    }

    @Test func tooDeeplyNestedQueriesAreRefused() throws {
        var plan = QueryPlan(entity: "Person")
        for _ in 0..<30 {
            plan = QueryPlan(entity: "Person", condition: .inQuery(the("mother"), plan, selecting: nil))
        }
        #expect {
            try library.keys(plan)
        } throws: { error in
            if case RelataError.invalidUse(let message) = error { message.contains("too deeply") } else { false }
        }
        var shallow = QueryPlan(entity: "Person")
        for _ in 0..<6 {
            shallow = QueryPlan(entity: "Person", condition: .inQuery(the("mother"), shallow, selecting: nil))
        }
        #expect(try library.keys(shallow) == [])
    }
}
