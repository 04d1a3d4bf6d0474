import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// A condition as text finds the same as that condition in Swift.
struct QueryFormatTests {
    let library: QueryLibrary

    init() throws { library = try .small() }

    private func find(_ entity: String, _ text: String, _ arguments: PredicateArgument...) throws -> [Value] {
        let node = try PredicateFormat.parse(text, arguments: arguments, entity: entity, schema: library.schema)
        return try library.keys(entity, node)
    }

    @Test func predicateTextFollowsRelationships() throws {
        #expect(
            try find("Book", "genre.name == %@ AND ANY authors.name BEGINSWITH %@", .value("Fantasy"), .value("China"))
                == [2])
        #expect(try find("Book", "NONE reviews.stars == nil AND title CONTAINS[c] 'EARTH'") == [1, 4])
        #expect(try find("Book", "reviews.@count > 1 OR authors.@count > 1") == [1, 2])
        #expect(try find("Book", "reviews.@avg.stars == 4") == [1, 2])
        #expect(try find("Book", "price BETWEEN {9.9, 10.5} AND year != 1968") == [2])
        #expect(try find("Book", "price * 2 > 100") == [3])
        #expect(try find("Book", "genre = %@", .keys([KeyValue(2), KeyValue(3)])) == [3])
        #expect(try find("Book", "%@ IN authors", .key(KeyValue("mi"))) == [2, 3])
        #expect(try find("Book", "isbn.value LIKE '*-2'") == [3])
        #expect(try find("Book", "printed >= '1970-01-01' AND printed < '1970-01-02'") == [1])
        #expect(try find("Book", "year(loaned) = 1970") == [2])
        #expect(try find("Genre", "ANY books.reviews.@max.stars = 5") == [1])
        #expect(try find("Genre", "name ==[cd] 'ESSAI'") == [3])
        #expect(try find("Genre", "books.authors.@count = 3") == [1])
        #expect(try find("Note", "enrolment = %@", .key(KeyValue([2, "math"]))) == [2])
        #expect(try find("Person", "ANY friends.mother.name = 'Bea'") == [1])
        #expect(try find("Book", "title MATCHES '.*[%_]'") == [3])
    }
}
