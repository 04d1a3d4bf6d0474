import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// A file that Relata didn't make is used as it is, or refused and left alone.
@Suite struct OtherProgramsFileTests {
    private let schema = """
        CREATE TABLE Genre (id INTEGER PRIMARY KEY AUTOINCREMENT, name NVARCHAR(20) NOT NULL CHECK (name <> ''));
        CREATE TABLE Book (
            id INTEGER PRIMARY KEY, title VARCHAR NOT NULL COLLATE NOCASE, price DECIMAL(10,2), seen DATETIME,
            genreId INTEGER REFERENCES Genre, other TEXT);
        INSERT INTO Genre VALUES (5, 'Novel');
        INSERT INTO Book VALUES (1, 'Emma', 3.5, '2026-01-01', 5, 'x');
        """
    private let models = [
        book(
            .attribute("title"), .attribute("price", .decimal, isOptional: true),
            .attribute("seen", .date(.iso8601), isOptional: true), .toOne("genre", "Genre")),
        Entity(name: "Genre", properties: [.id(), .attribute("name")]),
    ]

    @Test func matchingTablesAreUsedUnchanged() throws {
        let connection = try database(schema)
        let before = try connection.lines("SELECT sql FROM sqlite_master ORDER BY name")
        for _ in 0..<2 {
            let plan = try Migrator.migrate(connection, schema: try Schema(models))
            #expect(plan.isEmpty, "\(plan.changes)")
        }
        let after = try connection.lines(
            "SELECT sql FROM sqlite_master WHERE tbl_name <> 'relata_metadata' ORDER BY name")
        #expect(after == before)
        // Once it is adopted, additions apply.
        var more = models
        more[0].properties.append(.attribute("note", isOptional: true))
        try Migrator.migrate(
            connection, schema: try Schema(more), steps: [MigrationStep("adopt", taking: .adopting)])
        #expect(try connection.lines("SELECT note FROM Book") == ["NULL"])
        #expect(try connection.lines("SELECT on_delete FROM pragma_foreign_key_list('Book')") == ["NO ACTION"])
    }

    @Test func missingAndConflictingTablesAreRefused() throws {
        let connection = try database(schema)
        let before = try connection.lines("SELECT * FROM sqlite_master")
        let models = [
            book(
                .attribute("title", .integer), .attribute("pages", .integer, default: 1), .attribute("other"),
                uniques: [["title"]]),
            Entity(name: "Author", properties: [.id()]),
        ]
        do {
            try Migrator.migrate(connection, schema: try Schema(models))
            Issue.record("it opened")
        } catch RelataError.schemaMismatch(let problems) {
            let lines = problems.map(\.description)
            #expect(lines.count == 4, "\(lines)")
            #expect(lines.contains { $0.hasPrefix("Author: the file was made by another program and lacks the table") })
            #expect(lines.contains { $0.hasPrefix("Book.pages: the file was made by another program and lacks") })
            #expect(lines.contains { $0.hasPrefix("Book.title: its values in the file are VARCHAR") })
            #expect(
                lines.contains { $0.hasPrefix("Book.title: the file was made by another program and lacks a unique") })
        }
        #expect(try connection.lines("SELECT * FROM sqlite_master") == before)
    }

    @Test func foreignKeyActionsThatContradictTheRulesAreRefused() throws {
        let connection = try database(
            schema.replacingOccurrences(of: "REFERENCES Genre", with: "REFERENCES Genre ON DELETE CASCADE"))
        #expect(throws: RelataError.self) {
            try Migrator.migrate(connection, schema: try Schema(models))
        }
        var cascade = models
        cascade[0].properties[4] = .toOne("genre", "Genre", onTargetDelete: .cascade)
        #expect(try Migrator.migrate(connection, schema: try Schema(cascade)).isEmpty)
    }

    @Test func aKeyThatPointsElsewhereIsRefused() throws {
        let connection = try database(schema + "CREATE TABLE Kind (id INTEGER PRIMARY KEY)")
        var other = models + [Entity(name: "Kind", properties: [.id()])]
        other[0].properties[4] = .relationship(
            Relationship("genre", target: "Kind", kind: .toOne(isOptional: true, columns: ["genreId"])))
        do {
            try Migrator.migrate(connection, schema: try Schema(other))
            Issue.record("it opened")
        } catch RelataError.schemaMismatch(let problems) {
            #expect(
                problems.map(\.description).first?.hasPrefix("Book.genre: its key points at Genre in the file") == true)
        }
    }

    @Test func openingAgainAddsNothing() throws {
        let connection = try database(schema)
        try Migrator.migrate(connection, schema: try Schema(models))
        let more = models + [Entity(name: "Author", properties: [.id()])]
        let before = try connection.lines("SELECT sql FROM sqlite_master ORDER BY name")
        for _ in 0..<2 {
            do {
                try Migrator.migrate(connection, schema: try Schema(more))
                Issue.record("it opened")
            } catch RelataError.schemaMismatch(let problems) {
                let lines = problems.map(\.description)
                #expect(lines.count == 1)
                #expect(lines[0].hasPrefix("Author: the file was made by another program and lacks the table Author"))
            }
            // Models that fit can still be opened.
            try Migrator.migrate(connection, schema: try Schema([models[1]]))
        }
        #expect(try connection.lines("SELECT sql FROM sqlite_master ORDER BY name") == before)
        try Migrator.migrate(
            connection, schema: try Schema(more), steps: [MigrationStep("adopt", taking: .adopting)])
        // From then on, the file counts as Relata's.
        let most = more + [Entity(name: "Shelf", properties: [.id()])]
        #expect(try Migrator.migrate(connection, schema: try Schema(most)).changes.count == 1)
    }

    @Test func aStepAdoptsTheFile() throws {
        let connection = try database(schema)
        var more = models + [Entity(name: "Author", properties: [.id()])]
        more[0].properties.append(.attribute("pages", .integer, default: 1))
        let plan = try Migrator.migrate(
            connection, schema: try Schema(more), steps: [MigrationStep("adopt", taking: .adopting)])
        #expect(plan.changes.map(\.description).contains("Author: a new table"))
        #expect(try connection.lines("SELECT title, pages FROM Book") == ["Emma|1"])
    }

    @Test func undeclaredForeignKeysSurviveARebuild() throws {
        let connection = try database(
            """
            CREATE TABLE Log (message TEXT, level TEXT);
            INSERT INTO Log VALUES ('a', 'x'), ('b', 'x'), ('c', 'x');
            DELETE FROM Log WHERE message = 'b';
            """)
        let log = Entity(
            name: "Log",
            properties: [.attribute("id", .integer, column: "rowid"), .attribute("message", isOptional: true)],
            isKeyAssigned: true)
        let plan = try Migrator.migrate(
            connection, schema: try Schema([log]), steps: [MigrationStep("levels", taking: .dropping("Log.level"))])
        #expect(!plan.isEmpty)
        #expect(try connection.lines("SELECT name FROM pragma_table_info('Log')") == ["message"])
        #expect(try connection.lines("SELECT rowid, message FROM Log") == ["1|a", "3|c"])
    }

    @Test func declaredEntitiesAreReadBackIfTheyMatch() throws {
        let connection = try database()
        let declared = [
            book(.attribute("title"), .manyToMany("authors", "Author", order: .stored)),
            Entity(name: "Author", properties: [.id(), .attribute("seen", .date(.microseconds))]),
        ]
        try Migrator.migrate(connection, schema: try Schema(declared))
        #expect(try Introspection.entities(of: connection) == declared)
        try connection.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, authorId INTEGER REFERENCES Author)")
        let more = try Introspection.entities(of: connection)
        #expect(Array(more.prefix(2)) == declared)
        #expect(more.last?.relationship("author")?.target == "Author")
        try connection.execute("ALTER TABLE Book DROP COLUMN title")
        #expect(try Introspection.entities(of: connection).map(\.name) == ["Book", "Author", "note"])
        #expect(try Introspection.entities(of: connection) != more)
    }

    @Test(.enabled(if: SharedData.chinook != nil, "chinook.sqlite isn't beside the project"))
    func introspectedSchemasMatchTheirFile() throws {
        let connection = try Connection(path: SharedData.chinook, isReadOnly: true)
        let schema = try Schema(try Introspection.entities(of: connection))
        let plan = try Migrator.prepare(connection, schema: schema)
        #expect(plan.isEmpty, "\(plan.changes)")
        #expect(try Migrator.migrate(connection, schema: schema).isEmpty)
    }

    @Test func aReadOnlyFileIsReadButNotMigrated() throws {
        let file = try TemporaryFile()
        let writer = try Connection(path: file.path)
        try Migrator.migrate(writer, schema: try Schema([genre]))
        let reader = try Connection(path: file.path, isReadOnly: true)
        #expect(try Migrator.migrate(reader, schema: try Schema([genre])).isEmpty)
        var more = genre
        more.properties.append(.attribute("note", isOptional: true))
        #expect { try Migrator.migrate(reader, schema: try Schema([more])) } throws: { error in
            if case .readOnly? = error as? RelataError { true } else { false }
        }
    }
}
