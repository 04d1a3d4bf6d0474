import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// Order, limits, pages, chosen columns and aggregates of whole queries.
struct QueryOrderTests {
    let library: QueryLibrary

    init() throws { library = try .small() }

    private func books(_ sort: SortTerm...) throws -> [Value] {
        try library.keys(QueryPlan(entity: "Book", sort: sort))
    }

    @Test func unsetValuesAreSortedAsRequested() throws {
        #expect(try books(SortTerm(the("year"))) == [3, 1, 2, 4])
        #expect(try books(SortTerm(the("year"), isAscending: false)) == [4, 2, 1, 3])
        #expect(try books(SortTerm(the("year"), nullsFirst: false)) == [1, 2, 4, 3])
        #expect(try books(SortTerm(the("year"), isAscending: false, nullsFirst: true)) == [3, 4, 2, 1])
    }

    @Test func ordersFollowTheMeaningOfValues() throws {
        #expect(try books(SortTerm(the("price"), nullsFirst: false)) == [1, 2, 3, 4])
        #expect(try books(SortTerm(the("title"))) == [3, 1, 2, 4])
        #expect(try books(SortTerm(the("title"), options: .caseInsensitive)) == [3, 1, 4, 2])
        #expect(try books(SortTerm(the("genre.name")), SortTerm(the("year"), isAscending: false)) == [4, 3, 2, 1])
        #expect(try books(SortTerm(the("genre"))) == [4, 1, 2, 3])
        #expect(
            try books(SortTerm(.aggregate(.count, set("reviews"), of: nil, filter: nil), isAscending: false)) == [
                1, 2, 3, 4,
            ])
        #expect(try books(SortTerm(the("isGood")), SortTerm(the("id"), isAscending: false)) == [4, 3, 2, 1])
        #expect(throws: RelataError.self) { try books(SortTerm(the("notes"))) }
    }

    @Test func limitsAndOffsetsCountRows() throws {
        func keys(_ limit: Int?, _ offset: Int?) throws -> [Value] {
            try library.keys(QueryPlan(entity: "Book", limit: limit, offset: offset))
        }
        #expect(try keys(2, nil) == [1, 2])
        #expect(try keys(2, 1) == [2, 3])
        #expect(try keys(nil, 3) == [4])
        #expect(try keys(0, nil) == [])
        #expect(throws: RelataError.self) { try keys(-1, nil) }
        #expect(throws: RelataError.self) { try keys(nil, -1) }
        let plan = QueryPlan(entity: "Book", limit: 2, offset: 3)
        #expect(try library.connection.value(library.compiler.count(plan)) == 1)
        #expect(try library.connection.value(library.compiler.exists(plan)) == 1)
        #expect(try library.connection.value(library.compiler.exists(QueryPlan(entity: "Book", offset: 4))) == 0)
    }

    @Test func allColumnsComeInTheOrderOfTheTable() throws {
        let rows = try library.run(
            library.compiler.select(QueryPlan(entity: "Book", condition: the("genre.name") == "Essay")))
        #expect(rows.count == 1)
        #expect(rows[0].count == library.schema["Book"]?.columns.count)
        #expect(rows[0][0...5] == [3, "100% wool_", nil, "100", nil, 0])
        #expect(rows[0].last == 2)
    }

    @Test func pagesCoverAnyOrderOnceAndStayRight() throws {
        let sorts: [[SortTerm]] = [
            [], [SortTerm(the("year"))], [SortTerm(the("year"), isAscending: false)],
            [SortTerm(the("year"), nullsFirst: false), SortTerm(the("title"), isAscending: false)],
            [
                SortTerm(the("isGood"), isAscending: false), SortTerm(the("genre.name"), nullsFirst: false),
                SortTerm(the("price")),
            ],
            [SortTerm(the("title"), options: .caseInsensitive)], [SortTerm(the("loaned")), SortTerm(the("printed"))],
            [SortTerm(the("genre"), isAscending: false, nullsFirst: true)],
        ]
        for number in 5...40 {
            let number = Int64(number)
            try library.insert(
                "Book",
                [
                    [
                        "id": .integer(number), "title": .text(["a", "A", "b", "é"][Int(number % 4)]),
                        "isGood": .integer(number % 2),
                        "year": number % 3 == 0 ? nil : .integer(2000 + number % 5),
                        "price": number % 7 == 0 ? nil : .integer(number % 4),
                        "genreId": number % 5 == 0 ? nil : .integer(1 + number % 3),
                        "loaned": number % 2 == 0 ? nil : .integer(number % 6 * 1_500_000),
                    ]
                ])
        }
        for sort in sorts {
            for relation in [nil, RelatedOwner(entity: "Genre", relationship: "books", key: KeyValue(1))] {
                let plan = QueryPlan(entity: "Book", sort: sort, relatedTo: relation)
                let expected = try library.keys(plan)
                #expect(try pages(of: plan, size: 3) == expected)
            }
        }
        var songs = QueryPlan(
            entity: "Song", relatedTo: RelatedOwner(entity: "Setlist", relationship: "songs", key: KeyValue("tour")))
        #expect(try pages(of: songs, size: 1) == [2, 1, 1])
        songs.sort = [SortTerm(the("title"))]
        #expect(try pages(of: songs, size: 1) == [1, 1, 2])
        #expect(throws: RelataError.self) {
            try library.compiler.select(songs, after: PagePosition([1]))
        }
    }

    private func pages(of plan: QueryPlan, size: Int) throws -> [Value] {
        var plan = plan
        plan.limit = size
        var keys: [Value] = []
        var place: PagePosition?
        while true {
            let query = try library.compiler.select(plan, after: place, tellsPlace: true)
            let rows = try library.run(query)
            keys += rows.map { $0[0] }
            guard let last = rows.last, keys.count < 1000 else { return keys }
            place = PagePosition(Array(last.suffix(query.placeColumns)))
        }
    }

    @Test func selectedColumnsMayBeDistinct() throws {
        var plan = QueryPlan(entity: "Book", sort: [SortTerm(the("genre.name"))], isDistinct: true)
        let query = try library.compiler.select(plan, columns: .expressions([the("genre.name"), the("isGood")]))
        #expect(try library.run(query) == [[nil, 0], ["Essay", 0], ["Fantasy", 1]])
        plan = QueryPlan(entity: "Note", sort: [SortTerm(the("id"))])
        let keys = try library.compiler.select(plan, columns: .expressions([the("enrolment"), .value("x"), the("")]))
        #expect(try library.run(keys)[0] == [1, "math", "x", 1])
        plan = QueryPlan(entity: "Enrolment", sort: [SortTerm(the("mark"))])
        let parts = try library.compiler.select(plan, columns: .parts([.key(path: []), .expression(the("mark"))]))
        #expect(try library.run(parts) == [[1, "math", 5], [1, "art", 7], [2, "math", 9]])
        #expect(parts.partColumns == [0, 2, 3])
    }

    @Test func groupsHaveFiguresAndConditions() throws {
        let count = ExpressionNode.groupAggregate(.count, of: nil, isDistinct: false)
        let plan = QueryPlan(
            entity: "Review", sort: [SortTerm(count, isAscending: false), SortTerm(the("book.title"))])
        let query = try library.compiler.grouped(
            plan, by: [the("book.title")],
            columns: [the("book.title"), count, .groupAggregate(.sum, of: the("stars"), isDistinct: false)])
        #expect(try library.run(query) == [["Earthsea", 2, 8], ["100% wool_", 1, 0], ["The Dispossessed", 1, 4]])
        let few = try library.compiler.grouped(
            plan, by: [the("book.title")], columns: [the("book.title")], having: count > 1)
        #expect(try library.run(few) == [["Earthsea"]])
        #expect(throws: RelataError.self) {
            try library.compiler.grouped(plan, by: [the("book.title")], columns: [the("stars")])
        }
        // A group may be formed by an expression on a property; other expressions on that property still have no single
        // value.
        let turned = ExpressionNode.negated(the("stars"))
        #expect(
            try library.run(
                library.compiler.grouped(
                    QueryPlan(entity: "Review", sort: [SortTerm(turned)]), by: [turned], columns: [turned]))
                == [[nil], [-5], [-4], [-3]])
        #expect(throws: RelataError.self) {
            try library.compiler.grouped(QueryPlan(entity: "Review"), by: [turned], columns: [turned, the("text")])
        }
    }

    @Test func totalsCoverTheRowsOfTheQuery() throws {
        let figures: [ExpressionNode] = [
            .groupAggregate(.count, of: nil, isDistinct: false),
            .groupAggregate(.sum, of: the("price"), isDistinct: false),
            .groupAggregate(.average, of: the("year"), isDistinct: false),
            .groupAggregate(.maximum, of: the("price"), isDistinct: false),
            .groupAggregate(.count, of: the("isGood"), isDistinct: true),
            .groupAggregate(.minimum, of: the("genre.name"), isDistinct: false),
        ]
        var plan = QueryPlan(entity: "Book")
        #expect(try library.run(library.compiler.totals(plan, figures)) == [[4, "120.4", 1981.0, "100", 2, "Essay"]])
        plan.sort = [SortTerm(the("id"))]
        plan.limit = 2
        #expect(try library.run(library.compiler.totals(plan, figures)) == [[2, "20.4", 1971.0, "10.5", 1, "Fantasy"]])
        #expect(try library.run(library.compiler.totals(plan, [figures[0]])) == [[2]])
        plan = QueryPlan(entity: "Book", condition: the("id") > 100)
        #expect(try library.run(library.compiler.totals(plan, figures)) == [[0, "0", nil, nil, 0, nil]])
        #expect(throws: RelataError.self) { try library.compiler.totals(plan, [the("year")]) }
    }
}
