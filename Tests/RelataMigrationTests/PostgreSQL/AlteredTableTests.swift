#if PostgreSQL
import Foundation
import RelataCore
import RelataEngine
import TestSupport
import Testing

/// Tables that PostgreSQL alters in place.
@Suite(.enabled(if: TestEngine.hasPostgres, TestEngine.missing)) struct AlteredTableTests {
    @Test func columnsAreWidenedAutomatically() throws {
        let file = try Evolution(
            on: .postgres,
            book(.attribute("seen", .integer), .attribute("flag", .boolean), .attribute("id2", .uuid(.text))),
            filledBy: "INSERT INTO Book VALUES (1, 7, true, 'x')")
        let changes = try file.open(
            book(.attribute("seen", .real), .attribute("flag", .integer), .attribute("id2", .text)))
        #expect(
            changes == [
                "Book.seen: its column is double precision now", "Book.flag: its column is bigint now",
            ])
        #expect(
            try file.connection.values(SQLStatement("SELECT seen, flag, id2 FROM \"Book\"")) == [
                [.real(7), .integer(1), "x"]
            ])
    }

    @Test func modelsAndRecordsShareNumericColumns() throws {
        let numbers = { (keepsIntegers: Bool) in
            book(.attribute(Attribute("n", type: .real, isOptional: true, keepsIntegers: keepsIntegers)))
        }
        let file = try Evolution(
            on: .postgres, numbers(false), filledBy: "INSERT INTO Book VALUES (1, 0.1), (2, 1e300), (3, NULL)")
        let query = SQLStatement("SELECT n FROM \"Book\" ORDER BY id")
        let before = try file.connection.values(query, types: [.real])
        #expect(try file.open(numbers(true)) == ["Book.n: its column keeps whole numbers now"])
        #expect(try file.table("Book").column("n")?.type == "numeric")
        #expect(try file.connection.values(query, types: [.real]) == before)
        #expect(try file.open(numbers(true)).isEmpty)

        try file.execute("UPDATE Book SET n = 9007199254740993 WHERE id = 3")
        let refusals = try file.refusals(numbers(false))
        #expect(refusals.count == 1 && refusals[0].contains("too large for a Double"), "\(refusals)")
        #expect(try file.connection.values(query, types: [.real])[2] == [.integer(9_007_199_254_740_993)])
        try file.execute("UPDATE Book SET n = NULL WHERE id = 3")
        #expect(try file.open(numbers(false)) == ["Book.n: its column is double precision now"])
        #expect(try file.connection.values(query) == before)
    }

    @Test(arguments: [
        (AttributeType.text, AttributeType.integer, "'12'", "12"), (.integer, .text, "12", "12"),
        (.real, .integer, "12", "12"), (.text, .decimal, "'1.50'", "1.5"), (.integer, .boolean, "2", "1"),
        (.text, .date(.microseconds), "'1970-01-01T00:00:01Z'", "1000000"),
        (.date(.microseconds), .integer, "'1970-01-01T00:00:01Z'", "1000000"),
        (.date(.microseconds), .date(.iso8601), "'1970-01-01T00:00:01Z'", "1970-01-01T00:00:01.000000Z"),
        (.date(.seconds), .date(.microseconds), "1.5", "1500000"),
        (.uuid(.blob), .text, "'00000000-0000-0000-0000-00000000000a'", "00000000-0000-0000-0000-00000000000a"),
        (.text, .uuid(.blob), "'00000000-0000-0000-0000-00000000000a'", "00000000-0000-0000-0000-00000000000a"),
        (.text, .json, "'[1]'", "[1]"),
    ])
    func aStepIsEnoughToConvertValues(from old: AttributeType, to new: AttributeType, value: String, result: String)
        throws
    {
        let file = try Evolution(
            on: .postgres, book(.attribute("value", old)), filledBy: "INSERT INTO Book VALUES (1, \(value))")
        #expect(try file.refusals(book(.attribute("value", new))).count == 1)
        try file.open(
            book(.attribute("value", new)), steps: [MigrationStep("convert", taking: .changing("Book.value"))])
        let converted = try file.lines("SELECT value FROM Book")
        #expect(converted == [result], "\(converted)")
    }

    @Test(arguments: [(AttributeType.text, "'much'"), (.real, "1.5"), (.real, "1e30")])
    func aValueThatCannotBeConvertedIsNamed(from old: AttributeType, value: String) throws {
        let file = try Evolution(
            on: .postgres, book(.attribute("value", old)), filledBy: "INSERT INTO Book VALUES (1, \(value))")
        let step = MigrationStep("convert", taking: .changing("Book.value"))
        #expect(
            try file.refusals(book(.attribute("value", .integer)), steps: [step]) == [
                "Book.value: rows have values of another type than integer after the steps: convert them there"
            ])
    }

    @Test func additionsOfAnotherProgramStay() throws {
        let file = try Evolution(
            on: .postgres, book(.attribute("title")),
            filledBy: """
                INSERT INTO Book VALUES (1, 'Emma');
                ALTER TABLE Book ADD COLUMN extra text DEFAULT 'x' CHECK (extra <> 'no');
                CREATE INDEX mine ON Book (lower(title)) WHERE extra <> '';
                CREATE VIEW titles AS SELECT title FROM Book;
                CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql
                    AS $$ BEGIN new.title := upper(new.title); RETURN new; END $$;
                CREATE TRIGGER shouting BEFORE INSERT ON Book FOR EACH ROW EXECUTE FUNCTION shout();
                """)
        try file.open(book(.attribute("name", isOptional: true, originalName: "title")))
        try #require(throws: RelataError.self) { try file.execute("INSERT INTO Book VALUES (2, 'a', 'no')") }
        #expect(try file.lines("SELECT * FROM Book") == ["1|Emma|x"])
        #expect(try file.lines("SELECT * FROM titles") == ["Emma"])
        #expect(try file.table("Book").indexes.map(\.name) == ["mine"])
        #expect(try file.table("Book").triggers.count == 1)
    }

    @Test func referencesFollowTheTypeOfAChangedKey() throws {
        let models = { (type: AttributeType) in
            [
                book(.toOne("genre", "Genre"), .manyToMany("others", "Genre")),
                Entity(name: "Genre", properties: [.id(type)]),
            ]
        }
        let (old, new) = (models(.integer), models(.text))
        let file = try Evolution(
            on: .postgres, old[0], old[1],
            filledBy: """
                INSERT INTO Genre VALUES (5); INSERT INTO Book VALUES (1, 5); INSERT INTO Book_others VALUES (1, 5)
                """)
        let refused = try file.refusals(new[0], new[1])
        #expect(refused.count == 3, "\(refused)")
        try file.open(
            new[0], new[1],
            steps: [
                MigrationStep(
                    "keys", taking: .changing("Genre.id"), .changing("Book.genre"), .changing("Book.others"))
            ])
        #expect(try file.lines("SELECT genreId FROM Book UNION SELECT genreId FROM Book_others") == ["5"])
        #expect(try file.deleteActions(of: "Book") == ["Genre SET NULL"])
        #expect(throws: RelataError.self) { try file.execute("UPDATE Book SET genreId = 'x'") }
    }

    @Test func newlyAssignedKeysStartAfterExistingOnes() throws {
        let file = try Evolution(on: .postgres, book(.attribute("title")), filledBy: "INSERT INTO Book VALUES (7, 'a')")
        let assigned = Entity(
            name: "Book", properties: [.attribute("id", .integer, isOptional: true), .attribute("title")], key: ["id"],
            isKeyAssigned: true)
        #expect(try file.open(assigned) == ["Book: the database assigns its key now"])
        try file.execute("INSERT INTO Book (title) VALUES ('b')")
        #expect(try file.lines("SELECT id FROM Book ORDER BY id") == ["7", "8"])
        // Objects may have their own keys again.
        #expect(try file.open(book(.attribute("title"))) == [])
    }

    @Test func assignedKeysCanBecomeTexts() throws {
        let assigned = Entity(
            name: "Book", properties: [.attribute("id", .integer, isOptional: true), .attribute("title")], key: ["id"],
            isKeyAssigned: true)
        let file = try Evolution(on: .postgres, assigned, filledBy: "INSERT INTO Book (title) VALUES ('a')")
        let named = Entity(name: "Book", properties: [.id(.text), .attribute("title")])
        try file.open(named, steps: [MigrationStep("names", taking: .changing("Book.id"))])
        try file.execute("INSERT INTO Book VALUES ('x', 'b')")
        #expect(try file.lines("SELECT * FROM Book ORDER BY id") == ["1|a", "x|b"])
        #expect(throws: RelataError.self) { try file.execute("INSERT INTO Book (title) VALUES ('c')") }
    }

    @Test func referencesAreNotEnforcedWhileStepsRun() throws {
        let file = try Evolution(
            on: .postgres, book(.attribute("title"), .toOne("genre", "Genre", onTargetDelete: .cascade)), genre,
            filledBy: "INSERT INTO Genre VALUES (5, 'Novel'); INSERT INTO Book VALUES (1, 'Emma', 5)")
        let step = MigrationStep("anew") { tx in
            try tx.execute("DELETE FROM \"Genre\"")
            try tx.execute("INSERT INTO \"Genre\" VALUES (5, 'Tale')")
        }
        try file.open(
            book(.attribute("title"), .toOne("genre", "Genre", onTargetDelete: .cascade)), genre, steps: [step])
        #expect(try file.lines("SELECT title, name FROM Book JOIN Genre ON Genre.id = genreId") == ["Emma|Tale"])
    }

    @Test func namesThatDifferInCaseAreRenamed() throws {
        let file = try Evolution(on: .postgres, book(.attribute("title")), filledBy: "INSERT INTO Book VALUES (1, 'a')")
        let other = Entity(
            name: "Book", table: "book", properties: [.id(), .attribute("title", column: "Title")])
        #expect(
            try file.open(other) == [
                "Book: the table is renamed from Book", "Book.title: the column is renamed from title",
            ])
        #expect(try file.connection.lines("SELECT \"Title\" FROM book") == ["a"])
    }

    @Test func tablesOfOtherProgramsThatDifferInCaseAreUntouched() throws {
        let file = try Evolution(on: .postgres, genre)
        try file.connection.execute(
            """
            CREATE TABLE book (id bigint PRIMARY KEY, title text);
            CREATE INDEX "Book_title" ON book (title); INSERT INTO book VALUES (1, 'Emma')
            """)
        #expect(
            try file.open(genre, book(.attribute("title"), uniques: [["title"]], indexes: [["title"]])) == [
                "Book: a new table"
            ])
        try file.execute("INSERT INTO Book VALUES (2, 'Persuasion')")
        #expect(try file.lines("SELECT * FROM Book") == ["2|Persuasion"])
        #expect(try file.connection.lines("SELECT * FROM book") == ["1|Emma"])
        #expect(try Introspection.entities(of: file.connection).contains { $0.name == "Book" })
        // The models' own table is renamed, and the other one stays.
        let renamed = Entity(
            name: "Book", table: "BOOK", properties: [.id(), .attribute("title")], uniques: [["title"]],
            indexes: [["title"]])
        #expect(try file.open(genre, renamed) == ["Book: the table is renamed from Book"])
        #expect(
            try file.connection.lines("SELECT title FROM \"BOOK\" UNION ALL SELECT title FROM book") == [
                "Persuasion", "Emma",
            ])
    }

    @Test func columnsOfOtherProgramsThatDifferInCaseAreUntouched() throws {
        let file = try Evolution(on: .postgres, genre, filledBy: "INSERT INTO Genre VALUES (1, 'Novel')")
        try file.connection.execute(
            """
            ALTER TABLE "Genre" ADD COLUMN "Size" text DEFAULT 'big'; CREATE INDEX mine ON "Genre" ("Size")
            """)
        let sized = Entity(
            name: "Genre",
            properties: [.id(), .attribute("name", default: ""), .attribute("size", .integer, default: 7)],
            indexes: [["size"]])
        let changes = try file.open(sized)
        #expect(changes.contains { $0.hasPrefix("Genre.size: a new ") }, "\(changes)")
        #expect(try file.connection.lines("SELECT name, \"Size\", size FROM \"Genre\"") == ["Novel|big|7"])
        #expect(try file.table("Genre").indexes.map(\.columns).sorted { $0[0] < $1[0] } == [["Size"], ["size"]])
    }

    @Test func openingRestoresManuallyDroppedObjects() throws {
        let models = [
            book(.attribute("title"), .toOne("genre", "Genre"), uniques: [["title"]], indexes: [["genre"]]), genre,
        ]
        let file = try Evolution(on: .postgres, models[0], models[1])
        let dropped =
            try file.connection.values(
                SQLStatement(
                    """
                    SELECT 'ALTER TABLE "Book" DROP CONSTRAINT ' || quote_ident(conname) FROM pg_constraint
                    WHERE contype = 'f' AND connamespace = current_schema()::regnamespace
                    """))
            + file.table("Book").indexes.map { [.text("DROP INDEX \"\($0.name)\"")] }
        #expect(dropped.count == 3)
        for statement in dropped {
            let before = try file.engine.shape(of: file.connection)
            try file.connection.execute(statement[0].description)
            #expect(try file.engine.shape(of: file.connection) != before)
            try Migrator.migrate(file.connection, schema: try Schema(models))
            #expect(try file.table("Book").foreignKeys.count == 1, "\(statement)")
            #expect(try file.table("Book").indexes.count == 2, "\(statement)")
        }
    }

    @Test func namesThatWouldBeTruncatedAreRefused() throws {
        let long = String(repeating: "ä", count: 32)
        let connection = try TestEngine.postgres.connection()
        let entity = Entity(
            name: "Long", table: long, properties: [.id(), .attribute("a", column: long + "b")])
        let error = #expect(throws: RelataError.self) {
            try Migrator.migrate(connection, schema: try Schema([entity]))
        }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("the table name \(long) has more than 63 bytes"), "\(text)")
        #expect(text.contains("the column name \(long)b has more than 63 bytes"), "\(text)")
        #expect(try Introspection.tables(of: connection).isEmpty)
        // Names of indexes are shortened.
        let short = String(repeating: "ä", count: 31)
        let fine = Entity(
            name: "Fine", table: short, properties: [.id(), .attribute("a", column: short + "b")], indexes: [["a"]])
        try Migrator.migrate(connection, schema: try Schema([fine]))
        #expect(try Introspection.tables(of: connection)[0].indexes.map(\.columns) == [[short + "b"]])
        #expect(try Introspection.tables(of: connection)[0].indexes[0].name.utf8.count <= 63)
    }

    @Test func anotherProgramsTablesAreUsedAsTheyAre() throws {
        let connection = try TestEngine.postgres.connection()
        try connection.execute(
            """
            CREATE TABLE "Genre" (id serial PRIMARY KEY, name varchar(40) NOT NULL);
            CREATE TABLE "Book" (id integer PRIMARY KEY, title text, pages smallint,
                "genreId" integer REFERENCES "Genre" ON UPDATE CASCADE ON DELETE SET NULL);
            INSERT INTO "Genre" (name) VALUES ('Novel'); INSERT INTO "Book" VALUES (1, 'Emma', 400, 1);
            """)
        let before = try TestEngine.postgres.shape(of: connection)
        let models = try Schema([
            book(
                .attribute("title", isOptional: true), .attribute("pages", .integer, isOptional: true),
                .toOne("genre", "Genre")),
            Entity(
                name: "Genre", properties: [.attribute("id", .integer, isOptional: true), .attribute("name")],
                key: ["id"], isKeyAssigned: true),
        ])
        var more = models.tables.map(\.entity)
        more[0].properties.append(.attribute("year", .integer, default: 0))
        #expect {
            try Migrator.migrate(connection, schema: try Schema(more))
        } throws: {
            "\($0)".contains("Book.year: the file was made by another program and lacks")
        }
        #expect(try TestEngine.postgres.shape(of: connection) == before)
        #expect(try Migrator.migrate(connection, schema: models).isEmpty)
        let after = try TestEngine.postgres.shape(of: connection).filter { !$0.contains("relata_metadata") }
        #expect(after == before)
        // A later opening changes nothing either, unless a step adopts the database.
        #expect(throws: RelataError.self) { try Migrator.migrate(connection, schema: try Schema(more)) }
        try Migrator.migrate(
            connection, schema: try Schema(more), steps: [MigrationStep("adopt", taking: .adopting)])
        #expect(try connection.lines("SELECT title, year FROM \"Book\"") == ["Emma|0"])
    }
}
#endif
