import RelataCore
import Testing

@Suite struct SchemaResolverTests {
    @Test func aToOneGetsTheTypeAndNumberOfItsTargetsKeyColumns() throws {
        let schema = try Schema([
            Entity(name: "Book", properties: [.id(), .toOne("genre", "Genre"), .text("title")]),
            Entity(name: "Genre", properties: [.id(.integer)]),
        ])
        let book = try #require(schema["Book"])
        #expect(book.columns.map(\.name) == ["id", "genreId", "title"])
        #expect(book.columns[1].type == .integer)
        #expect(book.columns[1].isOptional)
        #expect(book.columns[1].reference == 0)
        #expect(book.links["genre"] == .reference(0))
        #expect(schema.references[0].target == schema.index(of: "Genre"))
        #expect(schema.references[0].onTargetDelete == .nullify)
        #expect(schema.references[0].onSourceDelete == .nullify)
    }

    @Test func compositeKeysThatHoldToOnesAreFollowedToTheirColumns() throws {
        let schema = try Schema([
            Entity(
                name: "Mark",
                properties: [.id(), .toOne("enrolment", "Enrolment", isOptional: false), .toOne("seat", "Seat")]),
            Entity(
                name: "Enrolment",
                properties: [
                    .toOne("student", "Student", isOptional: false), .toOne("course", "Course", isOptional: false),
                ], key: ["student", "course"]),
            Entity(name: "Seat", properties: [.toOne("mark", "Enrolment", isOptional: false)], key: ["mark"]),
            Entity(name: "Student", properties: [.id(.integer)]),
            Entity(name: "Course", properties: [.text("code")], key: ["code"]),
        ])
        let mark = try #require(schema["Mark"])
        #expect(
            mark.columns.map(\.name) == [
                "id", "enrolmentStudent", "enrolmentCourse", "seatMarkStudent", "seatMarkCourse",
            ])
        #expect(mark.columns.map(\.type) == [.uuid(.blob), .integer, .text, .integer, .text])
        #expect(mark.columnIndexes(of: "enrolment") == [1, 2])
        #expect(schema["Seat"]?.keyColumnNames == ["markStudent", "markCourse"])
        #expect(schema.references.first { $0.property == "mark" }?.isUnique == true)
    }

    @Test func aKeyThatContainsItselfIsRefused() {
        let found = problems([
            Entity(name: "A", properties: [.toOne("b", "B", isOptional: false)], key: ["b"]),
            Entity(name: "B", properties: [.toOne("a", "A", isOptional: false)], key: ["a"]),
        ])
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("A: its primary key contains itself") == true)
    }

    @Test func aHasOneMakesItsReferenceUnique() throws {
        let schema = try Schema([
            Entity(
                name: "Book",
                properties: [
                    .id(), .hasOne("isbn", "ISBN", inverse: "book"),
                    .toMany("reviews", "Review", inverse: "book", deleteRule: .cascade, minimum: 1, maximum: 9),
                ]),
            Entity(name: "ISBN", properties: [.id(), .toOne("book", "Book", isOptional: false)]),
            Entity(name: "Review", properties: [.id(), .toOne("book", "Book", isOptional: false)]),
        ])
        let isbn = try #require(schema.references.first { schema.tables[$0.source].name == "ISBN" })
        let review = try #require(schema.references.first { schema.tables[$0.source].name == "Review" })
        #expect(isbn.isUnique && !review.isUnique)
        #expect(isbn.inverse == "isbn" && review.inverse == "reviews")
        #expect(isbn.onTargetDelete == .deny)
        #expect(review.onTargetDelete == .cascade)
        #expect(review.minimumCount == 1 && review.maximumCount == 9)
        #expect(schema["Book"]?.links["reviews"] == .inverse(review.index))
    }

    @Test func aUniqueToOneIsAOneToOne() throws {
        let schema = try Schema([
            Entity(name: "A", properties: [.id(), .toOne("b", "B"), .toOne("c", "B")], uniques: [["b"], ["b", "c"]]),
            Entity(name: "B", properties: [.id()]),
        ])
        #expect(schema.references.map(\.isUnique) == [true, false])
    }

    @Test(
        arguments: [
            (true, nil, nil, DeleteRule.nullify), (false, nil, nil, .deny), (true, .cascade, nil, .cascade),
            (false, nil, .cascade, .cascade), (true, .noAction, nil, .noAction), (true, .deny, .deny, .deny),
        ] as [(Bool, DeleteRule?, DeleteRule?, DeleteRule)])
    func theRuleOfTheViewWinsThenTheReferencesOwn(
        isOptional: Bool, view: DeleteRule?, own: DeleteRule?, expected: DeleteRule
    ) throws {
        let schema = try Schema([
            Entity(name: "S", properties: [.id(), .toMany("es", "E", inverse: "s", deleteRule: view)]),
            Entity(name: "E", properties: [.id(), .toOne("s", "S", isOptional: isOptional, onTargetDelete: own)]),
        ])
        #expect(schema.references[0].onTargetDelete == expected)
    }

    @Test func eachDirectionMayHaveItsOwnRule() throws {
        let schema = try Schema([
            Entity(name: "S", properties: [.id(), .toMany("es", "E", inverse: "s", deleteRule: .cascade)]),
            Entity(name: "E", properties: [.id(), .toOne("s", "S", deleteRule: .deny)]),
        ])
        #expect(schema.references[0].onTargetDelete == .cascade)
        #expect(schema.references[0].onSourceDelete == .deny)
    }

    @Test func twoRulesForOneDirectionAndNullifyOfARequiredKeyAreRefused() {
        let two = problems([
            Entity(name: "S", properties: [.id(), .toMany("es", "E", inverse: "s", deleteRule: .cascade)]),
            Entity(name: "E", properties: [.id(), .toOne("s", "S", onTargetDelete: .deny)]),
        ])
        #expect(two.count == 1)
        #expect(two.first?.contains("E.s: onTargetDelete says deny and the deleteRule of S.es says cascade") == true)
        let required = problems([
            Entity(name: "S", properties: [.id(), .toMany("es", "E", inverse: "s", deleteRule: .nullify)]),
            Entity(name: "E", properties: [.id(), .toOne("s", "S", isOptional: false)]),
        ])
        #expect(required.count == 1)
        #expect(required.first?.hasPrefix("S.es: nullify can't unset E.s, which is required") == true)
    }

    @Test func anOrderIsAnAttributeOfTheTargetOrAColumnTheStoreKeeps() throws {
        let schema = try Schema([
            Entity(
                name: "Setlist",
                properties: [
                    .id(), .toMany("items", "Item", inverse: "setlist", order: .attribute("position")),
                    .toMany("notes", "Note", inverse: "setlist", order: .stored),
                ]),
            Entity(
                name: "Item",
                properties: [
                    .id(), .toOne("setlist", "Setlist"),
                    .attribute(Attribute("position", column: "Place", type: .integer)),
                ]),
            Entity(name: "Note", properties: [.id(), .toOne("setlist", "Setlist")]),
        ])
        #expect(schema.references.map(\.orderColumn) == ["Place", "setlistPosition"])
        #expect(schema.references.map(\.isOrderStored) == [false, true])
        #expect(schema["Note"]?.columns.map(\.name) == ["id", "setlistId"])
    }

    @Test func aManyToManyHasAJoinTableSeenFromBothSides() throws {
        let schema = try Schema([
            Entity(
                name: "Library.Book",
                properties: [.id(), .manyToMany("authors", "Author", deleteRule: .deny, order: .stored)]),
            Entity(
                name: "Author",
                properties: [
                    .id(.integer),
                    .manyToManyInverse(
                        "books", "Library.Book", inverse: "authors", deleteRule: .cascade, order: .stored),
                ]),
        ])
        let join = schema.joins[0]
        #expect(join.table == "Book_authors")
        #expect(join.sourceColumns == ["bookId"] && join.targetColumns == ["authorId"])
        #expect(join.orderColumn == "position" && join.inverseOrderColumn == "inversePosition")
        #expect(join.onSourceDelete == .deny && join.onTargetDelete == .cascade)
        #expect(join.inverse == "books")
        #expect(schema["Author"]?.links["books"] == .join(0, isSource: false))
    }

    @Test func theColumnsOfASelfReferencingManyToManyHaveDifferentNames() throws {
        let schema = try Schema([
            Entity(
                name: "Person",
                properties: [.id(), .manyToMany("following", "Person"), .manyToMany("friends", "Person")])
        ])
        #expect(schema.joins.map(\.sourceColumns) == [["personId"], ["personId"]])
        #expect(schema.joins.map(\.targetColumns) == [["followingId"], ["friendId"]])
    }

    @Test func throughFollowsAToManyAndThenAToOne() throws {
        let setlist = Entity(
            name: "Setlist",
            properties: [
                .id(), .toMany("items", "Item", inverse: "setlist"), .through("songs", "Song", "items", "song"),
            ])
        let item = Entity(name: "Item", properties: [.id(), .toOne("setlist", "Setlist"), .toOne("song", "Song")])
        let song = Entity(name: "Song", properties: [.id()])
        let schema = try Schema([setlist, item, song])
        #expect(schema["Setlist"]?.links["songs"] == .through(inverse: 0, reference: 1))

        var wrong = setlist
        wrong.properties[2] = .through("songs", "Song", "items", "setlist")
        #expect(problems([wrong, item, song]).first?.contains("it leads to Setlist") == true)
        wrong.properties[2] = .through("songs", "Song", "items", "title")
        #expect(problems([wrong, item, song]).first?.contains("isn't a to-one") == true)
        wrong.properties[2] = .through("songs", "Song", "song", "items")
        #expect(problems([wrong, item, song]).first?.contains("isn't a to-many") == true)
    }
}
