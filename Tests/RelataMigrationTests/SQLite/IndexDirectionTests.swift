import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// The index of a reference that may be unset begins with the largest key, so that rows without a target come last.
@Suite struct IndexDirectionTests {
    /// A book with a key that isn't the row's number.
    private func book(_ properties: Property..., indexes: [[String]] = []) -> Entity {
        Entity(name: "Book", properties: [.id(.text)] + properties, indexes: indexes)
    }

    private func indexes(_ file: Evolution, of table: String = "Book") throws -> [String] {
        try Introspection.tables(of: file.connection).filter { $0.name == table }.flatMap(\.indexes).map {
            "\($0.columns.joined(separator: ","))\($0.isDescending ? " descending" : "")"
        }.sorted()
    }

    @Test func onlyIndexesOfOptionalReferencesAreDescending() throws {
        let shelf = Entity(
            name: "Shelf", properties: [.id(), .toMany("books", "Book", inverse: "shelf", order: .stored)])
        let file = try Evolution(
            on: .sqlite,
            book(
                .attribute("year", .integer, isOptional: true), .toOne("genre", "Genre"),
                .toOne("first", "Genre", isOptional: false), .toOne("shelf", "Shelf"), indexes: [["year"]]),
            genre, shelf)
        #expect(try indexes(file) == ["firstId", "genreId descending", "shelfId,shelfPosition", "year"])
    }

    /// The number of a row is a part of every index, in its order.
    @Test func sortingByReferenceAndKeyNeedsNoSortStep() throws {
        let file = try Evolution(
            on: .sqlite, Entity(name: "Book", properties: [.id(), .toOne("genre", "Genre")]), genre)
        #expect(try indexes(file) == ["genreId"])
        let plan = try file.lines("EXPLAIN QUERY PLAN SELECT id FROM Book ORDER BY genreId, id")
        #expect(!plan.joined().contains("TEMP B-TREE"), "\(plan)")
    }

    @Test func rowsWithAndWithoutATargetAreFoundByTheIndex() throws {
        let file = try Evolution(
            on: .sqlite, book(.toOne("genre", "Genre")), genre,
            filledBy:
                "INSERT INTO Genre VALUES (5, 'Novel'); INSERT INTO Book VALUES ('a', 5), ('b', NULL), ('c', NULL)")
        for (condition, rows) in [("IS NULL", ["b", "c"]), ("= 5", ["a"]), ("IN (5, 6)", ["a"])] {
            let query = "SELECT id FROM Book WHERE genreId \(condition)"
            let plan = try file.lines("EXPLAIN QUERY PLAN \(query)").joined()
            #expect(plan.contains("SEARCH Book USING INDEX"), "\(plan)")
            #expect(try file.lines(query) == rows)
        }
    }

    @Test func anIndexInTheOtherDirectionIsUsedToo() throws {
        let entities = (book(.toOne("genre", "Genre")), genre)
        let file = try Evolution(on: .sqlite, entities.0, entities.1)
        let name = try file.lines("SELECT name FROM sqlite_master WHERE type = 'index' AND sql NOT NULL")[0]
        try file.connection.execute("DROP INDEX \(name); CREATE INDEX \(name) ON Book (genreId)")
        #expect(try file.open(entities.0, entities.1) == [])
        #expect(try indexes(file) == ["genreId"])
    }

    @Test func descendingIndexesSurviveARenamedAndRebuiltTable() throws {
        let file = try Evolution(
            on: .sqlite, book(.toOne("genre", "Genre", onTargetDelete: .nullify)), genre,
            filledBy: "INSERT INTO Genre VALUES (5, 'Novel'); INSERT INTO Book VALUES ('a', 5), ('b', NULL)")
        try file.open(
            Entity(
                name: "Volume", originalTable: "Book",
                properties: [.id(.text), .toOne("sort", "Genre", onTargetDelete: .cascade, originalName: "genre")]),
            genre)
        #expect(try file.lines("SELECT id, sortId FROM Volume ORDER BY id") == ["a|5", "b|NULL"])
        #expect(try indexes(file, of: "Volume") == ["sortId descending"])
    }
}
