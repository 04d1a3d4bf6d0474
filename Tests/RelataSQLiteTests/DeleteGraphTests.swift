import Foundation
import RelataCore
import TestSupport
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// Cascades that meet, cascades that end where they began, and conflicts that can only be judged at the end.
@Suite struct DeleteGraphTests {
    private let methods = [Connection.DeletionMethod.setBased, .closureFirst]

    @Test func denyIsCheckedAfterTheClosure() throws {
        // A borrower denies the deletion of a book, but is deleted with the library that also owns the book.
        let entities = [
            Describe.entity(
                "Library", Describe.toMany("books", "Book", inverse: "library", rule: .cascade),
                Describe.toMany("loans", "Loan", inverse: "library", rule: .cascade)),
            Describe.entity(
                "Book", Describe.toOne("library", "Library"),
                Describe.toMany("loans", "Loan", inverse: "book", rule: .deny)),
            Describe.entity(
                "Loan", Describe.toOne("book", "Book", required: true), Describe.toOne("library", "Library")),
        ]
        for method in methods {
            let database = try TestDatabase(entities)
            try database.insert("Library", [1], [2])
            try database.insert("Book", [10, 1], [11, 1])
            try database.insert("Loan", [20, 10, 1])
            #expect(throws: RelataError.self) { try database.delete("Book", 10, method: method) }
            try database.insert("Loan", [21, 11, 2])
            #expect(try database.plan("Library", 1).blockers.map(\.object.key) == [KeyValue(21)])
            #expect(throws: RelataError.self) { try database.delete("Library", 1, method: method) }
            #expect(try database.keys("Loan") == [20, 21])
            try database.delete("Loan", 21, method: method)
            #expect(try database.delete("Library", 1, method: method).deletedCount == 4)
        }
    }

    @Test func aDiamondDeletesItsBottomOnce() throws {
        let entities = [
            Describe.entity(
                "Top", Describe.toMany("lefts", "Left", inverse: "top", rule: .cascade),
                Describe.toMany("rights", "Right", inverse: "top", rule: .cascade)),
            Describe.entity(
                "Left", Describe.toOne("top", "Top"),
                Describe.toMany("feet", "Foot", inverse: "left", rule: .cascade)),
            Describe.entity(
                "Right", Describe.toOne("top", "Top"),
                Describe.toMany("feet", "Foot", inverse: "right", rule: .cascade)),
            Describe.entity("Foot", Describe.toOne("left", "Left"), Describe.toOne("right", "Right")),
        ]
        for method in methods {
            let database = try TestDatabase(entities)
            try database.insert("Top", [1], [2])
            try database.insert("Left", [10, 1], [11, 2])
            try database.insert("Right", [20, 1], [21, 2])
            try database.insert("Foot", [30, 10, 20], [31, 10, 21], [32, nil, 20], [33, 11, 21])
            let plan = try database.plan("Top", 1)
            let report = try database.delete("Top", 1, method: method)
            #expect(report.deletedKeys(of: "Foot") == .of(30, 31, 32))
            #expect(report == plan)
            #expect(try database.keys("Foot") == [33])
            #expect(
                report.lines() == [
                    "Top: 1 object (1)", "├─ Top.lefts → Left: 1 object (10)",
                    "│  └─ Left.feet → Foot: 3 objects (30, 31, 32)", "└─ Top.rights → Right: 1 object (20)",
                ])
        }
    }

    @Test func anObjectWithTwoOwnersIsDeletedWithTheFirst() throws {
        let database = try TestDatabase([
            Describe.entity("Artist", Describe.toMany("works", "Artwork", inverse: "artist", rule: .cascade)),
            Describe.entity("Museum", Describe.toMany("works", "Artwork", inverse: "museum", rule: .cascade)),
            Describe.entity("Artwork", Describe.toOne("artist", "Artist"), Describe.toOne("museum", "Museum")),
        ])
        try database.insert("Artist", [1])
        try database.insert("Museum", [2])
        try database.insert("Artwork", [10, 1, 2])
        #expect(try database.delete("Artist", 1).deletedCount == 2)
        #expect(try database.delete("Museum", 2).deletedCount == 1)
    }

    private let tree = [
        Describe.entity(
            "Node", Describe.toOne("parent", "Node"),
            Describe.toMany("children", "Node", inverse: "parent", rule: .cascade))
    ]

    @Test func aTreeIsDeletedWithItsRoot() throws {
        for method in methods {
            let database = try TestDatabase(tree)
            try database.insert("Node", [1, nil], [2, 1], [3, 1], [4, 2], [5, nil], [6, 5])
            let plan = try database.plan("Node", 1)
            let report = try database.delete("Node", 1, method: method)
            #expect(report.deleted == [DeletedObjects(entity: "Node", keys: .of(1, 2, 3, 4))])
            #expect(plan == report)
            #expect(try database.keys("Node") == [5, 6])
        }
    }

    @Test func aChainOfTenThousandIsDeleted() throws {
        for method in methods {
            let database = try TestDatabase(tree)
            try database.connection.execute(
                """
                WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
                INSERT INTO Node SELECT i, nullif(i - 1, 0) FROM n
                """)
            try database.connection.execute("INSERT INTO Node VALUES (20000, NULL)")
            let report = try database.delete("Node", 1, method: method)
            #expect(report.deletedCount == 10000)
            #expect(try database.keys("Node") == [20000])
            #expect(try database.connection.value(SQLStatement("PRAGMA defer_foreign_keys")) == 0)
        }
    }

    @Test func aChainOfRequiredReferencesIsDeleted() throws {
        let node = Describe.entity("Node", Describe.toOne("parent", "Node", required: true, whenTargetGoes: .cascade))
        for method in methods {
            let database = try TestDatabase([node])
            try database.connection.execute(
                """
                WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
                INSERT INTO Node SELECT i, max(i - 1, 1) FROM n
                """)
            #expect(try database.delete("Node", 1, method: method).deletedCount == 5000)
            #expect(try database.keys("Node").isEmpty)
        }
    }

    @Test func deletionsTerminateOnCycles() throws {
        let entities = [
            Describe.entity(
                "Hen", Describe.toOne("egg", "Egg"), Describe.toMany("eggs", "Egg", inverse: "hen", rule: .cascade)),
            Describe.entity(
                "Egg", Describe.toOne("hen", "Hen"), Describe.toMany("hens", "Hen", inverse: "egg", rule: .cascade)),
        ]
        for method in methods {
            let database = try TestDatabase(entities)
            try database.insert("Hen", [1, nil], [2, nil], [3, nil])
            try database.insert("Egg", [10, 1], [11, 2], [12, 3])
            try database.connection.execute(
                "UPDATE Hen SET eggId = 11 WHERE id = 1; UPDATE Hen SET eggId = 10 WHERE id = 2")
            let plan = try database.plan("Egg", 10)
            let report = try database.delete("Egg", 10, method: method)
            #expect(report.deletedKeys(of: "Hen") == .of(1, 2))
            #expect(report.deletedKeys(of: "Egg") == .of(10, 11))
            #expect(plan == report)
            #expect(try database.keys("Hen") == [3])
        }
    }

    @Test func aLongSpiralThroughTwoEntitiesIsDeleted() throws {
        let entities = [
            Describe.entity("Hen", Describe.toOne("egg", "Egg", whenTargetGoes: .cascade)),
            Describe.entity("Egg", Describe.toOne("hen", "Hen", required: true, whenTargetGoes: .cascade)),
        ]
        for method in methods {
            let database = try TestDatabase(entities)
            try database.connection.execute(
                """
                WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                INSERT INTO Hen SELECT i, NULL FROM n;
                INSERT INTO Egg SELECT id, id FROM Hen;
                UPDATE Hen SET eggId = id - 1 WHERE id > 1;
                """)
            let report = try database.delete("Hen", 1, method: method)
            #expect(report.deletedCount == 6000)
        }
    }

    @Test func keysOfDifferentTypesMayShareACycle() throws {
        let team = Entity(
            name: "Team",
            properties: [
                .attribute(Attribute("code", type: .text)), Describe.toOne("lead", "Person", whenTargetGoes: .cascade),
            ], key: ["code"])
        let person = Describe.entity("Person", Describe.toOne("team", "Team", whenTargetGoes: .cascade))
        for method in methods {
            let database = try TestDatabase([person, team])
            try database.insert("Team", ["007", nil], ["7", nil])
            try database.insert("Person", [7, "007"], [8, "7"])
            let report = try database.delete("Team", "7", method: method)
            #expect(report.deletedKeys(of: "Person") == .of(8))
            #expect(try database.keys("Team") == ["007"])
        }
    }

    @Test func objectsThatDenyEachOtherAreDeletedTogether() throws {
        // Neither row can be deleted first: the foreign keys are checked at the end of the deletion.
        let entities = [
            Describe.entity(
                "Pair", Describe.toMany("lefts", "Left", inverse: "pair", rule: .cascade),
                Describe.toMany("rights", "Right", inverse: "pair", rule: .cascade)),
            Describe.entity(
                "Left", Describe.toOne("pair", "Pair"), Describe.toOne("other", "Right", whenTargetGoes: .deny)),
            Describe.entity(
                "Right", Describe.toOne("pair", "Pair"),
                Describe.toOne("other", "Left", required: true, whenTargetGoes: .deny)),
        ]
        for method in methods {
            let database = try TestDatabase(entities)
            try database.insert("Pair", [1], [2])
            try database.insert("Left", [10, 1, nil], [11, 2, nil])
            try database.insert("Right", [20, 1, 10])
            try database.connection.execute("UPDATE Left SET otherId = 20 WHERE id = 10")
            #expect(throws: RelataError.self) { try database.delete("Left", 10, method: method) }
            #expect(try database.delete("Pair", 1, method: method).deletedCount == 3)
            #expect(try database.connection.value(SQLStatement("PRAGMA defer_foreign_keys")) == 0)
            try database.connection.execute("UPDATE Left SET otherId = NULL")
        }
    }

    @Test func staffThatDeniesItsBossIsDeletedWithTheCompany() throws {
        let entities = [
            Describe.entity("Company"),
            Describe.entity(
                "Employee", Describe.toOne("company", "Company", required: true, whenTargetGoes: .cascade),
                Describe.toOne("boss", "Employee", whenTargetGoes: .deny)),
        ]
        for method in methods {
            let database = try TestDatabase(entities)
            try database.insert("Company", [1])
            try database.insert("Employee", [10, 1, nil], [11, 1, 10], [12, 1, 11])
            #expect(try database.plan("Employee", 10).blockers.map(\.object.key) == [KeyValue(11)])
            #expect(throws: RelataError.self) { try database.delete("Employee", 10, method: method) }
            #expect(try database.plan("Employee", 10, 11, 12).isDenied == false)
            #expect(try database.delete("Company", 1, method: method).deletedCount == 4)
        }
    }

    @Test func rootsMayBeAQueryThatTheDeletionAffects() throws {
        let entities = [
            Describe.entity("Artist", Describe.toMany("albums", "Album", inverse: "artist", rule: .cascade)),
            Describe.entity("Album", Describe.toOne("artist", "Artist")),
        ]
        for method in methods {
            let database = try TestDatabase(entities)
            try database.insert("Artist", [1], [2], [3])
            try database.insert("Album", [10, 1], [11, 1], [12, 2])
            let busy = SQLStatement(
                "SELECT id FROM Artist WHERE (SELECT count(*) FROM Album WHERE artistId = Artist.id) > ?1",
                [.value(1)])
            let report = try database.delete("Artist", roots: .query(busy), method: method)
            #expect(report.deletedKeys(of: "Artist") == .of(1))
            #expect(report.deletedKeys(of: "Album") == .of(10, 11))
            let one = SQLStatement("SELECT id FROM Album ORDER BY id LIMIT ?1", [.value(1)])
            #expect(
                try database.delete("Album", roots: .query(one), method: method).deletedKeys(of: "Album") == .of(12))
        }
    }
}
