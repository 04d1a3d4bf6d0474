import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

@Suite struct IntegrityCheckTests {
    private let shelf = Entity(
        name: "Shelf",
        properties: [
            .attribute(Attribute("id", type: .integer)),
            .relationship(
                Relationship(
                    "books", target: "Book", kind: .toMany(inverse: "shelf"), order: .stored, minimumCount: 1,
                    maximumCount: 2)),
            .relationship(Relationship("tags", target: "Tag", kind: .manyToMany(), maximumCount: 1)),
        ])
    private let book = Entity(
        name: "Book",
        properties: [
            .attribute(Attribute("id", type: .integer)), .attribute(Attribute("isbn", type: .text, isOptional: true)),
            .relationship(Relationship("shelf", target: "Shelf", kind: .toOne(isOptional: true))),
            .relationship(
                Relationship("lender", target: "Tag", kind: .toOne(isOptional: true), onTargetDelete: .noAction)),
        ], uniques: [["isbn"]])
    private let tag = Entity(name: "Tag", properties: [.attribute(Attribute("id", type: .text))])

    /// Checks of a database whose constraints no longer protect it.
    private func findings(_ sql: String) throws -> [IntegrityFinding] {
        let (connection, schema) = try library(sql)
        return try IntegrityCheck.run(connection, schema: schema)
    }

    private func library(_ sql: String) throws -> (Connection, Schema) {
        let schema = try Schema([shelf, book, tag])
        let connection = try database()
        for statement in SchemaDDL.creation(of: schema, dialect: .sqlite) { try connection.execute(statement) }
        let indexes = try connection.values(
            SQLStatement("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"))
        for index in indexes { try connection.execute("DROP INDEX \(Dialect.sqlite.quote(index[0].description))") }
        try connection.execute("PRAGMA foreign_keys = OFF; " + sql)
        return (connection, schema)
    }

    @Test func countsOutOfBoundsAreFound() throws {
        let findings = try findings(
            """
            INSERT INTO Shelf (id) VALUES (1), (2), (3);
            INSERT INTO Book (id, shelfId, shelfPosition) VALUES (1, 1, 1), (2, 2, 1), (3, 2, 2), (4, 2, 3);
            INSERT INTO Tag VALUES ('a'), ('b');
            INSERT INTO Shelf_tags VALUES (1, 'a'), (1, 'b'), (2, 'a');
            """)
        #expect(findings.map(\.kind) == [.count, .count])
        #expect(
            findings.map(\.description) == [
                "Shelf.books: 1 to 2 objects are declared, but Shelf 2 has 3, Shelf 3 has 0",
                "Shelf.tags: at most 1 object is declared, but Shelf 1 has 2",
            ])
        #expect(findings.map(\.count) == [2, 1])
    }

    @Test func duplicatePositionsAreFound() throws {
        let findings = try findings(
            """
            INSERT INTO Shelf (id) VALUES (1), (2);
            INSERT INTO Book (id, shelfId, shelfPosition) VALUES (1, 1, 7), (2, 1, 7), (3, 2, NULL), (4, NULL, NULL);
            """)
        // An object that was never placed comes last, which is valid.
        #expect(findings.map(\.description) == ["Shelf.books: some members have the same position (Shelf 1: 2 at 7)"])
    }

    @Test func uniquenessIsCheckedWithoutAnIndex() throws {
        let findings = try findings(
            "INSERT INTO Book (id, isbn) VALUES (1, 'x'), (2, 'x'), (3, NULL), (4, NULL), (5, 'y')")
        #expect(
            findings.map(\.description) == [
                "Book.isbn: 1 value that should be unique is there several times (x: 2 times)"
            ])
    }

    /// One of two foreign keys of a column is the relationship, and the other isn't hidden behind it.
    @Test func aSecondForeignKeyToTheSameTableIsChecked() throws {
        let connection = try database()
        try connection.execute(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY, code INTEGER UNIQUE);
            CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p (id) REFERENCES p (code));
            PRAGMA foreign_keys = OFF;
            INSERT INTO p VALUES (1, 5), (2, 2); INSERT INTO c VALUES (1, 1), (2, 2), (3, 5);
            """)
        let schema = try Schema(Introspection.entities(of: connection))
        let findings = try IntegrityCheck.run(connection, schema: schema)
        #expect(
            findings.map(\.count) == [1, 1] && findings.allSatisfy { $0.kind == .danglingReference }, "\(findings)")
        #expect(Set(findings.map(\.subject)) == ["c.p"])
    }

    @Test func invalidBooleansAreFound() throws {
        let connection = try database()
        try connection.execute(
            """
            CREATE TABLE c (id INTEGER PRIMARY KEY, b BOOLEAN);
            INSERT INTO c VALUES (1, 1), (2, 'yes'), (3, NULL), (4, 2.5);
            """)
        let schema = try Schema(Introspection.entities(of: connection))
        let findings = try IntegrityCheck.run(connection, schema: schema)
        #expect(findings.map(\.count) == [2] && findings.first?.message.contains("neither true nor false") == true)
    }

    @Test func allowedDanglingReferencesAreNotFindings() throws {
        #expect(try findings("INSERT INTO Book (id, lenderId) VALUES (1, 'gone'), (2, NULL)") == [])
        let found = try findings("INSERT INTO Book (id, shelfId, shelfPosition) VALUES (1, 9, 1)")
        #expect(found.map(\.description) == ["Book.shelf: 1 reference to Shelf leads nowhere (Book 1 → 9)"])
    }

    @Test func positionsInAttributesAreNotChecked() throws {
        let list = Entity(
            name: "List",
            properties: [
                .attribute(Attribute("id", type: .integer)),
                .relationship(
                    Relationship("items", target: "Item", kind: .toMany(inverse: "list"), order: .attribute("place"))),
            ])
        let item = Entity(
            name: "Item",
            properties: [
                .attribute(Attribute("id", type: .integer)),
                .attribute(Attribute("place", type: .integer, isOptional: true)),
                .relationship(Relationship("list", target: "List", kind: .toOne(isOptional: false))),
            ])
        let schema = try Schema([list, item])
        let connection = try database()
        for statement in SchemaDDL.creation(of: schema, dialect: .sqlite) { try connection.execute(statement) }
        try connection.execute(
            "INSERT INTO List VALUES (1); INSERT INTO Item (id, place, listId) VALUES (1, 0, 1), (2, 0, 1), (3, NULL, 1)"
        )
        #expect(try IntegrityCheck.run(connection, schema: schema) == [])
    }

    @Test func objectsWithoutAKeyAreFound() throws {
        // SQLite lets a key of text be NULL.
        let connection = try database(
            "CREATE TABLE a (code TEXT PRIMARY KEY); INSERT INTO a VALUES (NULL), ('x'), (NULL)")
        let schema = try Schema(try Introspection.entities(of: connection))
        let findings = try IntegrityCheck.run(connection, schema: schema)
        #expect(findings.map(\.description) == ["a.code: 2 objects have no key"])
    }

    // MARK: Repairs

    private func repair(
        _ connection: Connection, _ schema: Schema, _ findings: [IntegrityFinding]? = nil
    ) throws -> IntegrityRepairReport {
        let findings = try findings ?? IntegrityCheck.run(connection, schema: schema)
        return try connection.transaction {
            try RepairRun.run(findings, on: connection) { try IntegrityCheck.run(connection, schema: schema) }
        }
    }

    @Test func aRepairThatWorsensAnotherFindingIsRolledBack() throws {
        // Without its only book, even a missing one, the shelf would have too few.
        let (connection, schema) = try library(
            """
            INSERT INTO Shelf (id) VALUES (1), (2);
            INSERT INTO Book (id, shelfId, shelfPosition) VALUES (1, 1, 1), (2, 2, 1), (3, 9, 1);
            INSERT INTO Tag VALUES ('a'), ('b');
            INSERT INTO Shelf_tags VALUES (1, 'a'), (1, 'gone');
            """)
        // A trigger writes invalid data.
        try connection.execute(
            "CREATE TRIGGER t AFTER DELETE ON Shelf_tags BEGIN DELETE FROM Book WHERE id = 2; END")
        let report = try repair(connection, schema)
        #expect(report.repaired.map(\.subject) == ["Book.shelf"])
        #expect(report.refused.map(\.finding.subject) == ["Shelf.tags"])
        #expect(report.refused.first?.reason.contains("Shelf.books") == true, "\(report.refused)")
        #expect(report.remaining.map(\.subject) == ["Shelf.tags", "Shelf.tags"], "\(report.remaining)")
        #expect(try connection.value(SQLStatement("SELECT count(*) FROM Shelf_tags")) == .integer(2))
        #expect(try connection.value(SQLStatement("SELECT count(*) FROM Book")) == .integer(3))
        #expect(try connection.value(SQLStatement("SELECT shelfId FROM Book WHERE id = 3")) == .null)
    }

    @Test func onlyListsWithWrongPositionsAreRenumbered() throws {
        let (connection, schema) = try library(
            """
            INSERT INTO Shelf (id) VALUES (1), (2);
            INSERT INTO Book (id, shelfId, shelfPosition) VALUES (1, 1, 7), (2, 1, 7), (3, 2, 5), (4, 2, 6);
            """)
        let report = try repair(connection, schema)
        #expect(report.repaired.map(\.kind) == [.position] && report.remaining.isEmpty && report.refused.isEmpty)
        let places = try connection.values(SQLStatement("SELECT shelfPosition FROM Book ORDER BY id")).map { $0[0] }
        #expect(places == [.integer(1024), .integer(2048), .integer(5), .integer(6)])
    }

    @Test func objectsChangedSinceTheCheckAreNotRepaired() throws {
        let (connection, schema) = try library("INSERT INTO Book (id, shelfId, shelfPosition) VALUES (1, 9, 1)")
        let findings = try IntegrityCheck.run(connection, schema: schema)
        try connection.execute("INSERT INTO Book (id, shelfId, shelfPosition) VALUES (2, 8, 1)")
        #expect {
            try repair(connection, schema, findings)
        } throws: { error in
            if case RelataError.busy(let message) = error { message.contains("Book.shelf") } else { false }
        }
        #expect(try connection.value(SQLStatement("SELECT count(shelfId) FROM Book")) == .integer(2))
    }

    @Test func unsettingAReferenceIncrementsTheRevision() throws {
        let entity = Entity(
            name: "Page",
            properties: [
                .attribute(Attribute("id", type: .integer)), .attribute(Attribute("revision", type: .integer)),
                .attribute(Attribute("updated", type: .date(.microseconds))),
                .relationship(Relationship("parent", target: "Page", kind: .toOne(isOptional: true))),
            ], revision: "revision", updatedAt: "updated")
        let schema = try Schema([entity])
        let connection = try database()
        for statement in SchemaDDL.creation(of: schema, dialect: .sqlite) { try connection.execute(statement) }
        try connection.execute(
            """
            PRAGMA foreign_keys = OFF;
            INSERT INTO Page (id, revision, updated, parentId) VALUES (1, 4, 5, 9), (2, 6, 7, 1);
            """)
        #expect(try repair(connection, schema).remaining.isEmpty)
        let rows = try connection.values(
            SQLStatement("SELECT revision, updated > 1000, parentId FROM Page ORDER BY id"))
        #expect(rows == [[.integer(5), .integer(1), .null], [.integer(6), .integer(0), .integer(1)]])
    }
}
