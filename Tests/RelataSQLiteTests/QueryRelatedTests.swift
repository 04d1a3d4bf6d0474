import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// Conditions on sets of related objects.
struct QueryRelatedTests {
    let library: QueryLibrary

    init() throws { library = try .small() }

    private func any(_ path: String, _ condition: ExpressionNode) -> ExpressionNode {
        .quantified(.any, set(path), condition: condition)
    }

    private func figure(_ function: AggregateFunction, _ path: String, of value: ExpressionNode? = nil)
        -> ExpressionNode
    {
        .aggregate(function, set(path), of: value, filter: nil)
    }

    @Test func anyAllAndNoneOfAOneToMany() throws {
        #expect(try library.keys("Book", any("reviews", the("stars", 1) > 4)) == [1])
        #expect(try library.keys("Book", .not(any("reviews", the("stars", 1) > 4))) == [2, 3, 4])
        #expect(try library.keys("Book", .quantified(.all, set("reviews"), condition: the("stars", 1) > 3)) == [2, 4])
        #expect(
            try library.keys("Book", .quantified(.none, set("reviews"), condition: the("stars", 1) == nil)) == [
                1, 2, 4,
            ])
        #expect(try library.keys("Book", any("reviews", .and([]))) == [1, 2, 3])
    }

    @Test func anyOfAManyToManyFromBothSides() throws {
        #expect(try library.keys("Book", any("authors", the("name", 1) == "China Miéville")) == [2, 3])
        #expect(try library.keys("Book", any("authors", .keyIn(the("", 1), ["le"].map { KeyValue($0) }))) == [1, 2])
        #expect(try library.keys("Author", any("books", the("year", 1) < 1970)) == ["le"])
        #expect(try library.keys("Person", any("friends", the("name", 1) == "Bea")) == [1])
        #expect(try library.keys("Person", any("friends", any2("friends", the("name", 2) == "Cy"))) == [3])
    }

    @Test func repeatedObjectsAtTheEndOfAPathMayCountOnce() throws {
        let entities =
            [
                Entity(
                    name: "Band",
                    properties: [
                        .attribute(Attribute("id", type: .integer)),
                        .relationship(Relationship("setlists", target: "Setlist", kind: .toMany(inverse: "band"))),
                    ])
            ]
            + QueryLibrary.entities.map { entity in
                guard entity.name == "Setlist" else { return entity }
                var entity = entity
                entity.properties.append(
                    .relationship(Relationship("band", target: "Band", kind: .toOne(isOptional: true))))
                return entity
            }
        let library = try QueryLibrary(entities)
        try library.insert("Band", [["id": 1]])
        try library.insert("Setlist", [["id": "tour", "name": "Tour", "bandId": 1]])
        try library.insert("Song", [["id": 1, "title": "Alpha"], ["id": 2, "title": "Beta"]])
        try library.insert(
            "SetlistItem",
            [1, 2, 1].enumerated().map {
                ["id": .integer(Int64($0)), "position": 1, "setlistId": "tour", "songId": $1]
            })
        func figure(_ function: AggregateFunction, of value: ExpressionNode? = nil, isDistinct: Bool) -> ExpressionNode
        {
            var songs = set("setlists.songs")
            songs.isDistinct = isDistinct
            return .aggregate(function, songs, of: value, filter: nil)
        }
        #expect(try library.keys("Band", figure(.count, isDistinct: false) == 3) == [1])
        #expect(try library.keys("Band", figure(.count, isDistinct: true) == 2) == [1])
        #expect(try library.keys("Band", figure(.sum, of: the("id", 1), isDistinct: true) == 3) == [1])
    }

    private func any2(_ path: String, _ condition: ExpressionNode) -> ExpressionNode {
        .quantified(.any, set(path, 1), condition: condition)
    }

    @Test func innerConditionsCanUseTheOuterObject() throws {
        let same = ExpressionNode.comparison(.equal, the("year", 1), the("year"), [])
        let other = ExpressionNode.not(.comparison(.equal, the("", 1), the(""), []))
        try library.insert("Book", [["id": 5, "title": "x", "year": 1968, "genreId": 1, "isGood": 0]])
        #expect(try library.keys("Book", any("genre.books", .and([same, other]))) == [1, 5])
        // A path of the outer object that only the inner condition uses.
        let sameGenre = ExpressionNode.comparison(.equal, the("name", 1), the("genre.name"), [])
        #expect(try library.keys("Book", any("authors.books.genre", sameGenre)) == [1, 2, 3])
    }

    @Test func pathsFollowSeveralToManys() throws {
        #expect(try library.keys("Genre", any("books.authors", the("id", 1) == "mi")) == [1, 2])
        #expect(try library.keys("Genre", any("books.reviews", the("stars", 1) == 5)) == [1])
        #expect(try library.keys("Genre", any("books", any2("reviews", the("stars", 2) == 5))) == [1])
        #expect(
            try library.keys("Genre", .quantified(.none, set("books.authors"), condition: the("id", 1) == "le")) == [
                2, 3,
            ])
        #expect(try library.keys("Review", any("book.authors", the("id", 1) == "mi")) == [3, 4])
        #expect(try library.keys("Review", any("book.genre.books.reviews", the("stars", 1) == 4)) == [1, 2, 3])
    }

    @Test func countsAndFiguresOfRelatedSets() throws {
        #expect(try library.keys("Book", figure(.count, "reviews") == 2) == [1])
        #expect(try library.keys("Book", figure(.count, "reviews") == 0) == [4])
        #expect(try library.keys("Book", figure(.count, "authors") > 1) == [2])
        #expect(try library.keys("Book", figure(.sum, "reviews", of: the("stars", 1)) == 8) == [1])
        #expect(try library.keys("Book", figure(.sum, "reviews", of: the("stars", 1)) == 0) == [3, 4])
        #expect(try library.keys("Book", figure(.average, "reviews", of: the("stars", 1)) == 4.0) == [1, 2])
        #expect(try library.keys("Book", figure(.maximum, "reviews", of: the("stars", 1)) == nil) == [3, 4])
        #expect(try library.keys("Genre", figure(.maximum, "books", of: the("price", 1)) == "10.50") == [1])
        #expect(try library.keys("Genre", figure(.minimum, "books", of: the("price", 1)) > 50) == [2])
        #expect(try library.keys("Genre", figure(.sum, "books", of: the("price", 1)) == "20.4") == [1])
        #expect(try library.keys("Genre", figure(.average, "books", of: the("price", 1)) == "10.2") == [1])
        let good = ExpressionNode.aggregate(.count, set("reviews"), of: nil, filter: the("stars", 1) >= 4)
        #expect(try library.keys("Book", good == 1) == [1, 2])
    }

    @Test func aggregatesCountEveryPath() throws {
        // Fantasy has two books, both by Le Guin, one by Miéville too.
        #expect(try library.keys("Genre", figure(.count, "books.authors") == 3) == [1])
        #expect(try library.keys("Genre", figure(.count, "books.reviews") == 3) == [1])
        #expect(try library.keys("Setlist", figure(.count, "items.song") == 3) == ["tour"])
        #expect(try library.keys("Author", figure(.count, "books.genre") == 2) == ["le", "mi"])
    }

    @Test func aDistinctSetCountsEachObjectOnce() throws {
        func distinct(_ path: String) -> ExpressionNode {
            .aggregate(
                .count, RelatedSet(scope: 0, path: set(path).path, innerScope: 1, isDistinct: true), of: nil,
                filter: nil)
        }
        #expect(try library.keys("Genre", distinct("books.authors") == 2) == [1])
        #expect(try library.keys("Genre", distinct("books.reviews") == 3) == [1])
        #expect(try library.keys("Setlist", distinct("items.song") == 2) == ["tour"])
        #expect(try library.keys("Setlist", distinct("songs") == 2) == ["tour"])
        #expect(try library.keys("Author", distinct("books.genre") == 2) == ["mi"])
    }

    @Test func throughLinksCountEveryJoinRow() throws {
        #expect(try library.keys("Setlist", figure(.count, "songs") == 3) == ["tour"])
        #expect(try library.keys("Setlist", any("songs", the("title", 1) == "Beta")) == ["tour"])
        #expect(
            try library.keys("Setlist", .quantified(.all, set("songs"), condition: the("title", 1) == "Beta")) == [
                "empty"
            ])
    }

    @Test func setsOfKeysWithSeveralColumns() throws {
        #expect(try library.keys("Enrolment", any("notes", the("text", 1) == "y")) == [2])
        #expect(try library.keys("Enrolment", figure(.count, "notes") == 0) == [1])
        #expect(try library.keys("Note", any("enrolment.notes", the("text", 1) == "x")) == [1])
    }

    @Test func relatedObjectsFollowTheOrderOfTheRelationship() throws {
        func related(_ entity: String, _ owner: String, _ relationship: String, _ key: KeyValue) -> QueryPlan {
            QueryPlan(entity: entity, relatedTo: RelatedOwner(entity: owner, relationship: relationship, key: key))
        }
        let book2 = KeyValue(2)
        #expect(try library.keys(related("Author", "Book", "authors", book2)) == ["mi", "le"])
        #expect(try library.keys(related("Book", "Author", "books", KeyValue("mi"))) == [2, 3])
        #expect(try library.keys(related("Review", "Book", "reviews", KeyValue(1))) == [1, 2])
        #expect(try library.keys(related("Genre", "Book", "genre", book2)) == [1])
        #expect(try library.keys(related("ISBN", "Book", "isbn", KeyValue(3))) == [2])
        #expect(try library.keys(related("SetlistItem", "Setlist", "items", KeyValue("tour"))) == [2, 1, 3, 4])
        #expect(try library.keys(related("Note", "Enrolment", "notes", KeyValue([2, "math"]))) == [2])
        #expect(try library.keys(related("Enrolment", "Note", "enrolment", KeyValue(1))) == [1])
        let songs = related("Song", "Setlist", "songs", KeyValue("tour"))
        #expect(try library.keys(songs) == [2, 1, 1])
        #expect(try library.connection.value(library.compiler.count(songs)) == 3)

        var filtered = songs
        filtered.condition = the("title") == "Alpha"
        #expect(try library.keys(filtered) == [1, 1])
        filtered = songs
        filtered.isDistinct = true
        #expect(try library.keys(filtered) == [1, 2])
        filtered = related("Author", "Book", "authors", book2)
        filtered.sort = [SortTerm(the("name"), isAscending: false)]
        filtered.limit = 1
        #expect(try library.keys(filtered) == ["le"])
        #expect(throws: RelataError.self) { try library.keys(related("Song", "Book", "authors", book2)) }
        #expect(throws: RelataError.self) { try library.keys(related("Author", "Book", "autors", book2)) }
    }

    @Test func treesAreFollowedToTheLeavesAndCyclesOnce() throws {
        func all(_ relationship: String, _ key: Value, _ condition: ExpressionNode? = nil) throws -> [Value] {
            let owner = RelatedOwner(
                entity: "Person", relationship: relationship, key: KeyValue(key), isRecursive: true)
            return try library.keys(QueryPlan(entity: "Person", condition: condition, relatedTo: owner))
        }
        #expect(try all("children", 1) == [2, 3])
        #expect(try all("mother", 3) == [1, 2])
        #expect(try all("mother", 4) == [])
        #expect(try all("children", 1, the("name") == "Cy") == [3])
        // 1 → 2, 3 and 3 → 1: a cycle.
        #expect(try all("friends", 1) == [2, 3])
        #expect(try all("friends", 3) == [1, 2])
        let other = RelatedOwner(entity: "Book", relationship: "genre", key: KeyValue(1), isRecursive: true)
        #expect(throws: RelataError.self) { try library.keys(QueryPlan(entity: "Genre", relatedTo: other)) }
    }

    @Test func countingRelatedObjectsReadsTheJoinTableOnly() throws {
        let plan = QueryPlan(
            entity: "Author", relatedTo: RelatedOwner(entity: "Book", relationship: "authors", key: KeyValue(2)))
        let count = try library.compiler.count(plan)
        #expect(try library.connection.value(count) == 2)
        #expect(try !library.explain(count).contains("t1"))
    }
}
