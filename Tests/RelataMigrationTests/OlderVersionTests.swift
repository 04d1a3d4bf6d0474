import Foundation
import RelataCore
import TestSupport
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// Versions of models that open a file after a newer version renamed something in it.
@Suite struct OlderVersionTests {
    private let labelled = book(.attribute("label", default: ""))
    private let named = book(.attribute("name", default: "", originalName: "label"))

    @Test(arguments: TestEngine.all) func anOlderVersionIsRefusedAfterAColumnWasRenamed(on engine: TestEngine) throws {
        let file = try Evolution(on: engine, labelled, filledBy: "INSERT INTO Book VALUES (1, 'Emma')")
        try file.open(named)
        #expect(
            try file.refusals(labelled) == [
                "Book.label: newer models renamed the column label to name, which now holds the values: use those models, "
                    + "or declare `originalName: \"name\"` to rename it back, or drop that column by a migration step with "
                    + "`.dropping(\"Book.name\")`"
            ])
        #expect(try file.open(named) == [])
        #expect(try file.lines("SELECT name FROM Book") == ["Emma"])
    }

    @Test(arguments: TestEngine.all) func anOlderVersionIsRefusedForAFileOfANewerOne(on engine: TestEngine) throws {
        let file = try Evolution(on: engine, named)
        #expect(try file.refusals(labelled).count == 1)
    }

    @Test(arguments: TestEngine.all) func anOlderVersionIsRefusedForAReadOnlyFileAndInAPreparation(
        on engine: TestEngine
    ) throws {
        let file = try Evolution(on: engine, named)
        #expect(try Migrator.prepare(file.connection, schema: try Schema([labelled])).refusals.count == 1)
        try engine.refuseWriting(file.connection)
        #expect(throws: RelataError.self) {
            try Migrator.migrate(file.connection, schema: try Schema([labelled]))
        }
    }

    @Test(arguments: TestEngine.all) func aRequiredColumnUnderItsNewNameIsNotReportedTwice(on engine: TestEngine) throws
    {
        let file = try Evolution(on: engine, book(.attribute("label")), filledBy: "INSERT INTO Book VALUES (1, 'Emma')")
        try file.open(book(.attribute("name", originalName: "label")))
        #expect(try file.refusals(book(.attribute("label"))).count == 1)
    }

    @Test(arguments: TestEngine.all) func theRenameIsRememberedWhenTheModelsNoLongerDeclareIt(on engine: TestEngine)
        throws
    {
        let file = try Evolution(on: engine, labelled)
        try file.open(named)
        try file.open(book(.attribute("name", default: "")))
        #expect(try file.refusals(labelled).count == 1)
    }

    @Test(arguments: TestEngine.all) func anOlderVersionIsRefusedAfterATableWasRenamed(on engine: TestEngine) throws {
        let file = try Evolution(on: engine, labelled, filledBy: "INSERT INTO Book VALUES (1, 'Emma')")
        let volume = Entity(
            name: "Volume", originalTable: "Book", properties: [.id(), .attribute("label", default: "")])
        try file.open(volume)
        #expect(
            try file.refusals(labelled) == [
                "Book: newer models renamed the table Book to Volume, which now holds the objects: use those models, or "
                    + "declare `originalTable: \"Volume\"` to rename it back"
            ])
        let back = Entity(
            name: "Book", originalTable: "Volume", properties: [.id(), .attribute("label", default: "")])
        #expect(try file.open(back) == ["Book: the table is renamed from Volume"])
        #expect(try file.open(labelled) == [])
        #expect(try file.lines("SELECT label FROM Book") == ["Emma"])
    }

    @Test(arguments: TestEngine.all) func anOlderVersionIsRefusedAfterALinkOrAListWasRenamed(on engine: TestEngine)
        throws
    {
        let first = book(.toOne("kind", "Genre"), .manyToMany("writers", "Genre"))
        let file = try Evolution(
            on: engine, first, genre,
            filledBy: """
                INSERT INTO Genre VALUES (5, 'Novel'); INSERT INTO Book VALUES (1, 5);
                INSERT INTO Book_writers VALUES (1, 5);
                """)
        let second = book(
            .toOne("sort", "Genre", originalName: "kind"), .manyToMany("authors", "Genre", originalName: "writers"))
        try file.open(second, genre)
        let refusals = try file.refusals(first, genre)
        #expect(refusals.count == 2)
        #expect(refusals.contains { $0.hasPrefix("Book.writers: newer models renamed the join table Book_writers to") })
        #expect(refusals.contains { $0.hasPrefix("Book.kind: newer models renamed the column kindId to sortId") })
        #expect(try file.open(second, genre) == [])
        #expect(try file.lines("SELECT sortId FROM Book") == ["5"])
        #expect(try file.lines("SELECT * FROM Book_authors") == ["1|5"])
    }

    @Test(arguments: TestEngine.all) func anOlderVersionIsRefusedAfterAPositionWasRenamed(on engine: TestEngine) throws
    {
        func models(_ name: String, originalName: OriginalNames? = nil) -> (Entity, Entity) {
            let link = Relationship(
                name, target: "Genre", kind: .toOne(isOptional: true, columns: ["genreId"]), originalName: originalName)
            return (
                book(.relationship(link)),
                Entity(name: "Genre", properties: [.id(), .toMany("books", "Book", inverse: name, order: .stored)])
            )
        }
        let (old, oldGenre) = models("genre")
        let file = try Evolution(
            on: engine, old, oldGenre,
            filledBy: "INSERT INTO Genre VALUES (5); INSERT INTO Book (id, genreId, genrePosition) VALUES (1, 5, 77)")
        let (new, newGenre) = models("kind", originalName: "genre")
        try file.open(new, newGenre)
        #expect(
            try file.refusals(old, oldGenre).map { $0.prefix(60) }
                == ["Book.genre: newer models renamed the column genrePosition to"])
    }

    @Test(arguments: TestEngine.all) func anOlderVersionIsRefusedAfterAToOneBecameAToMany(on engine: TestEngine) throws
    {
        let old = book(.toOne("genre", "Genre"))
        let file = try Evolution(
            on: engine, old, genre, filledBy: "INSERT INTO Genre VALUES (5, 'Novel'); INSERT INTO Book VALUES (1, 5)")
        try file.open(book(.manyToMany("genres", "Genre")), genre)
        #expect(
            try file.refusals(old, genre) == [
                "Book.genre: newer models keep the values of the column genreId in the table Book_genres: use those models"
            ])
        // A new to-one besides the list is another link.
        try file.open(book(.manyToMany("genres", "Genre"), .toOne("genre", "Genre")), genre)
    }

    @Test(arguments: TestEngine.all) func aChainOfRenamesIsRememberedAsAWhole(on engine: TestEngine) throws {
        let third = book(.attribute("title", default: "", originalName: ["name", "label"]))
        let file = try Evolution(on: engine, labelled, filledBy: "INSERT INTO Book VALUES (1, 'Emma')")
        try file.open(named)
        try file.open(third)
        #expect(try file.refusals(labelled).first?.contains("the column label to title") == true)
        #expect(try file.refusals(named).first?.contains("the column name to title") == true)
        #expect(try file.lines("SELECT title FROM Book") == ["Emma"])
    }

    @Test(arguments: TestEngine.all, [["label"], ["label", "name"]])
    func versionsMayBeSkipped(on engine: TestEngine, _ versions: [String]) throws {
        let file = try Evolution(on: engine, labelled, filledBy: "INSERT INTO Book VALUES (1, 'Emma')")
        if versions.contains("name") { try file.open(named) }
        let changes = try file.open(book(.attribute("title", default: "", originalName: ["name", "label"])))
        #expect(changes == ["Book.title: the column is renamed from \(versions.last ?? "")"])
        #expect(try file.lines("SELECT title FROM Book") == ["Emma"])
    }

    @Test(arguments: TestEngine.all, ["Book", "Volume"])
    func tablesJoinsAndTheirColumnsFindAnyOfSeveralNames(on engine: TestEngine, _ table: String) throws {
        let file = try Evolution(
            on: engine, Entity(name: table, properties: [.id(), .manyToMany("writers", "Genre")]), genre,
            filledBy: """
                INSERT INTO Genre VALUES (5, 'Novel'); INSERT INTO \(table) VALUES (1);
                INSERT INTO \(table)_writers VALUES (1, 5);
                """)
        try file.open(
            Entity(
                name: "Tome", originalTable: ["Volume", "Book"],
                properties: [.id(), .manyToMany("authors", "Genre", originalName: ["makers", "writers"])]), genre)
        #expect(try file.lines("SELECT tomeId, genreId FROM Tome_authors") == ["1|5"])
    }

    @Test(arguments: TestEngine.all) func renamesCanBeReverted(on engine: TestEngine) throws {
        let file = try Evolution(on: engine, labelled, filledBy: "INSERT INTO Book VALUES (1, 'Emma')")
        try file.open(named)
        let back = book(.attribute("label", default: "", originalName: "name"))
        #expect(try file.open(back) == ["Book.label: the column is renamed from name"])
        // The first version now fits as well as the third, and the second finds the column by its declaration.
        #expect(try file.open(labelled) == [])
        #expect(try file.open(named) == ["Book.name: the column is renamed from label"])
        #expect(try file.refusals(book(.attribute("label", default: ""))).count == 1)
        #expect(try file.lines("SELECT name FROM Book") == ["Emma"])
    }

    @Test(arguments: TestEngine.all) func reusedNamesMeanSomethingNew(on engine: TestEngine) throws {
        let file = try Evolution(on: engine, labelled, filledBy: "INSERT INTO Book VALUES (1, 'Emma')")
        let reusing = book(
            .attribute("title", default: "", originalName: "label"), .attribute("label", default: "new"))
        let changes = try file.open(reusing)
        #expect(
            changes == ["Book.title: the column is renamed from label", "Book.label: a new column label"], "\(changes)")
        #expect(try file.lines("SELECT title, label FROM Book") == ["Emma|new"])
        #expect(try file.refusals(labelled).count == 1)
        #expect(try file.open(reusing) == [])
        #expect(try file.lines("SELECT title, label FROM Book") == ["Emma|new"])
    }

    @Test(arguments: TestEngine.all) func reusedTableNamesMeanSomethingNew(on engine: TestEngine) throws {
        let first = book(.attribute("label", default: ""), .manyToMany("genres", "Genre"))
        let file = try Evolution(
            on: engine, first, genre,
            filledBy: """
                INSERT INTO Genre VALUES (5, 'Novel'); INSERT INTO Book VALUES (1, 'Emma');
                INSERT INTO Book_genres VALUES (1, 5);
                """)
        let volume = Entity(
            name: "Volume", originalTable: "Book",
            properties: [.id(), .attribute("label", default: ""), .manyToMany("genres", "Genre")])
        try file.open(first, volume, genre)
        #expect(try file.lines("SELECT * FROM Volume") == ["1|Emma"])
        #expect(try file.lines("SELECT * FROM Volume_genres") == ["1|5"])
        #expect(try file.lines("SELECT * FROM Book") == [])
        #expect(try file.lines("SELECT * FROM Book_genres") == [])
        #expect(try file.refusals(first, genre).first?.hasPrefix("Book: newer models renamed the table") == true)
        #expect(try file.open(first, volume, genre) == [])
    }

    @Test(arguments: TestEngine.all) func shiftedNamesAreAllRenamed(on engine: TestEngine) throws {
        let file = try Evolution(
            on: engine, book(.attribute("a", default: ""), .attribute("b", default: "")),
            filledBy: "INSERT INTO Book VALUES (1, 'x', 'y')")
        let moved = book(
            .attribute("b", default: "", originalName: "a"), .attribute("c", default: "", originalName: "b"))
        #expect(
            try file.open(moved) == [
                "Book.b: the column is renamed from a", "Book.c: the column is renamed from b",
            ])
        #expect(try file.lines("SELECT b, c FROM Book") == ["x|y"])
        #expect(try file.refusals(book(.attribute("a", default: ""), .attribute("b", default: ""))).count == 1)
        #expect(try file.open(book(.attribute("b", default: ""), .attribute("c", default: ""))) == [])
    }

    @Test(arguments: TestEngine.all) func swappedNamesAreSwappedOnce(on engine: TestEngine) throws {
        let first = book(.attribute("a", isOptional: true), .attribute("b", isOptional: true))
        let second = book(
            .attribute("a", isOptional: true, originalName: "b"), .attribute("b", isOptional: true, originalName: "a"))
        let file = try Evolution(on: engine, first, filledBy: "INSERT INTO Book VALUES (1, 'x', 'y')")
        try file.open(second)
        #expect(try file.lines("SELECT a, b FROM Book") == ["y|x"])
        #expect(try file.open(second) == [])
        #expect(try file.refusals(first).first?.contains("newer models exchanged the columns a and b") == true)
        #expect(try file.lines("SELECT a, b FROM Book") == ["y|x"])
    }

    @Test(arguments: TestEngine.all, [["a", "b"], ["b", "a"]])
    func namesWithAHistoryAreSwappedLikeOthers(on engine: TestEngine, _ order: [String]) throws {
        func models(_ originals: [String: OriginalNames]) -> Entity {
            Entity(
                name: "Book",
                properties: [.id()]
                    + order.map { .attribute($0, isOptional: true, originalName: originals[$0]) })
        }
        let file = try Evolution(
            on: engine, book(.attribute("a", isOptional: true), .attribute("x", isOptional: true)),
            filledBy: "INSERT INTO Book VALUES (1, 'x', 'y')")
        let second = models(["b": "x"])
        try file.open(second)
        let third = models(["a": "b", "b": "a"])
        try file.open(third)
        #expect(try file.lines("SELECT a, b FROM Book") == ["y|x"])
        #expect(try file.open(third) == [])
        #expect(try file.refusals(second).first?.contains("newer models exchanged the columns") == true)
        #expect(try file.lines("SELECT a, b FROM Book") == ["y|x"])
    }

    @Test(arguments: TestEngine.all) func aReusedColumnIsNotRenamedAgain(on engine: TestEngine) throws {
        let file = try Evolution(on: engine, labelled, filledBy: "INSERT INTO Book VALUES (1, 'Emma')")
        let name = Property.attribute("name", isOptional: true, originalName: "label")
        try file.open(book(name))
        try file.open(book(name, .attribute("label", default: "other")))
        let changes = try file.open(book(name, .attribute("title", isOptional: true, originalName: "name")))
        #expect(
            changes == ["Book.title: the column is renamed from name", "Book.name: a new column name"], "\(changes)")
        #expect(try file.lines("SELECT title, name, label FROM Book") == ["Emma|NULL|other"])
    }

    @Test(arguments: TestEngine.all) func swappedTablesAreSwappedOnce(on engine: TestEngine) throws {
        let first = [Entity(name: "A", properties: [.id()]), Entity(name: "B", properties: [.id()])]
        let file = try Evolution(
            on: engine, first[0], first[1], filledBy: "INSERT INTO A VALUES (1); INSERT INTO B VALUES (2)")
        let second = [
            Entity(name: "A", originalTable: "B", properties: [.id()]),
            Entity(name: "B", originalTable: "A", properties: [.id()]),
        ]
        try file.open(second[0], second[1])
        #expect(try file.lines("SELECT A.id, B.id FROM A, B") == ["2|1"])
        #expect(try file.open(second[0], second[1]) == [])
        #expect(try file.refusals(first[0], first[1]).count == 2)
    }

    @Test(arguments: TestEngine.all) func twoClaimsOfOneNameAreRefused(on engine: TestEngine) throws {
        let file = try Evolution(on: engine, labelled, filledBy: "INSERT INTO Book VALUES (1, 'Emma')")
        let refusals = try file.refusals(
            book(
                .attribute("name", default: "", originalName: "label"),
                .attribute("nick", default: "", originalName: "label")))
        #expect(refusals.first?.hasPrefix("Book.nick: its original name label is also that of Book.name") == true)
    }

    @Test(arguments: TestEngine.all) func aStepThatDropsTheNewColumnFreesTheName(on engine: TestEngine) throws {
        let file = try Evolution(on: engine, labelled, filledBy: "INSERT INTO Book VALUES (1, 'Emma')")
        try file.open(named)
        try file.open(labelled, steps: [MigrationStep("anew", taking: .dropping("Book.name"))])
        #expect(try file.lines("SELECT * FROM Book") == ["1|"])
        #expect(try file.open(labelled) == [])
    }

    @Test(arguments: TestEngine.all) func filesOfEarlierVersionsLearnNamesFromTheModels(
        on engine: TestEngine
    ) throws {
        let file = try Evolution(on: engine, labelled)
        try file.open(named)
        try file.execute("DELETE FROM relata_metadata WHERE name = 'renames'")
        #expect(try file.refusals(labelled).count == 1)
    }

    @Test(arguments: TestEngine.all) func aRenameHistoryInANewerFormatIsRefused(on engine: TestEngine) throws {
        let file = try Evolution(on: engine, labelled)
        try file.open(named)
        try file.execute("UPDATE relata_metadata SET value = '[later]' WHERE name = 'renames'")
        #expect { try file.open(labelled) } throws: { "\($0)".contains("open it with the newer version") }
    }

    @Test(arguments: TestEngine.all) func openingOtherModelsKeepsTheRenameHistory(on engine: TestEngine) throws {
        let file = try Evolution(on: engine, labelled, genre)
        try file.open(named, genre)
        try file.open(genre)
        #expect(try file.refusals(labelled, genre).count == 1)
    }

    @Test(arguments: TestEngine.all) func tablesWithANewNameAreRenamed(on engine: TestEngine) throws {
        let file = try Evolution(on: engine, labelled, filledBy: "INSERT INTO Book VALUES (1, 'Emma')")
        let other = Entity(name: "Book", table: "books", properties: [.id(), .attribute("label", default: "")])
        #expect(try file.open(other) == ["Book: the table is renamed from Book"])
        #expect(try file.lines("SELECT label FROM books") == ["Emma"])
    }

}
