import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// Updates by query, and keys inside other statements.
struct QueryUpdateTests {
    let library: QueryLibrary

    init() throws { library = try .small() }

    private func update(_ condition: ExpressionNode?, _ assignments: Assignment..., limit: Int? = nil) throws -> [Value]
    {
        let plan = QueryPlan(entity: "Book", condition: condition, limit: limit)
        let query = try library.compiler.update(plan, assignments, returnsKeys: true)
        return try library.run(query).map { $0[0] }
    }

    @Test func updatesMayUseTheObjectsOwnValues() throws {
        let next = ExpressionNode.arithmetic(.add, the("year"), .value(1))
        #expect(try update(the("year") > 1970, Assignment("year", next)) == [2, 4])
        #expect(try library.keys("Book", the("year") == 1975) == [2])
        #expect(
            try update(nil, Assignment("price", .arithmetic(.multiply, the("price"), .value("1.1")))) == [1, 2, 3, 4])
        #expect(try library.keys("Book", the("price") == "11.55") == [2])
        #expect(
            try update(
                the("id") == 1, Assignment("printed", .value(1_000_000)), Assignment("loaned", .value(2_500_000))) == [
                    1
                ])
        #expect(try library.keys("Book", .and([the("printed") == 1_000_000, the("loaned") == 2_500_000])) == [1])
    }

    @Test func updatesMayFollowRelationships() throws {
        #expect(try update(the("genre.name") == "Fantasy", Assignment("isGood", .value(0))) == [1, 2])
        let reviewed = ExpressionNode.quantified(.any, set("reviews"), condition: the("stars", 1) == 5)
        #expect(try update(reviewed, Assignment("title", the("genre.name"))) == [1])
        #expect(try library.keys("Book", the("title") == "Fantasy") == [1])
        let best = ExpressionNode.aggregate(.maximum, set("reviews"), of: the("stars", 1), filter: nil)
        #expect(try update(nil, Assignment("year", best)).count == 4)
        #expect(try library.keys("Book", the("year") == 5) == [1])
        #expect(try update(nil, Assignment("title", .value("first")), limit: 2) == [1, 2])
        var plan = QueryPlan(
            entity: "Book", relatedTo: RelatedOwner(entity: "Author", relationship: "books", key: KeyValue("mi")))
        plan.condition = the("id") > 2
        let query = try library.compiler.update(plan, [Assignment("title", .value("x"))])
        #expect(try library.connection.run(query.statement) == 1)
        #expect(try library.keys("Book", the("title") == "x") == [3])
    }

    @Test func toOnesAreSetToObjectsThatOthersLinkTo() throws {
        let plan = QueryPlan(entity: "Person", condition: the("id") == 3)
        let grandmother = try library.compiler.update(plan, [Assignment("mother", the("mother.mother"))])
        #expect(try library.connection.run(grandmother.statement) == 1)
        #expect(try library.keys("Person", the("mother.id") == 1) == [2, 3])
        let sameMark = QueryPlan(entity: "Note", condition: the("id") == 1)
        let own = try library.compiler.update(sameMark, [Assignment("enrolment", the("enrolment"))])
        #expect(try library.connection.run(own.statement) == 1)
        #expect(try library.keys("Note", the("enrolment.mark") == 5) == [1])
        // An object of another kind, and one with a key of two parts for an attribute.
        for (entity, assignment) in [
            ("Review", Assignment("book", the("book.genre"))), ("Note", Assignment("text", the("enrolment"))),
        ] {
            #expect(throws: RelataError.self) { try library.compiler.update(QueryPlan(entity: entity), [assignment]) }
        }
    }

    @Test func toOnesAreSetByKey() throws {
        #expect(try update(the("id") == 4, Assignment("genre", key: KeyValue(3))) == [4])
        #expect(try library.keys("Book", the("genre.name") == "Éssai") == [4])
        #expect(try update(the("id") == 4, Assignment("genre", key: nil)) == [4])
        #expect(try library.keys("Book", .isNull(the("genre"))) == [4])
        let query = try library.compiler.update(
            QueryPlan(entity: "Note", condition: the("id") == 3), [Assignment("enrolment", key: KeyValue([1, "art"]))])
        try library.connection.run(query.statement)
        #expect(try library.keys("Note", the("enrolment.mark") == 7) == [3])
    }

    @Test func unsettablePropertiesAreErrors() throws {
        #expect(throws: RelataError.self) { try update(nil, Assignment("id", .value(1))) }
        #expect(throws: RelataError.self) { try update(nil, Assignment("reviews", .value(1))) }
        #expect(throws: RelataError.self) { try update(nil, Assignment("tilte", .value("x"))) }
        #expect(throws: RelataError.self) { try update(nil, Assignment("title", .value(nil))) }
        #expect(throws: RelataError.self) { try update(nil, Assignment("title", .value(5))) }
        #expect(throws: RelataError.self) { try update(nil, Assignment("year", .value(1.5))) }
        #expect(throws: RelataError.self) { try update(nil, Assignment("year", the("title"))) }
        #expect(throws: RelataError.self) {
            try update(nil, Assignment("year", .value(1)), Assignment("year", .value(2)))
        }
        #expect(throws: RelataError.self) { try update(nil) }
    }

    @Test func keyQueriesNestInOtherStatements() throws {
        let plan = QueryPlan(
            entity: "Book", condition: the("genre.name") == "Fantasy",
            sort: [SortTerm(the("year"), isAscending: false)], limit: 1)
        let keys = try library.compiler.keys(plan, isOrdered: false, earlierParameters: 1)
        let sql = "UPDATE Book SET title = ?1 WHERE id IN (\(keys.statement.sql))"
        try library.connection.run(SQLStatement(sql, [.value("found")] + keys.statement.parameters))
        #expect(try library.keys("Book", the("title") == "found") == [2])
    }
}
