import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// Tables of SQLite that are made again, and values whose types SQLite leaves to each row.
@Suite struct RemadeTableTests {
    @Test func aStepMustNotAddDanglingReferences() throws {
        let book = book(.toOne("genre", "Genre"), .toOne("other", "Genre"))
        let file = try Evolution(
            on: .sqlite, book, genre,
            filledBy: """
                INSERT INTO Genre VALUES (5, 'Novel');
                PRAGMA foreign_keys = OFF;
                INSERT INTO Book (id, genreId, otherId) VALUES (1, 5, 98);
                PRAGMA foreign_keys = ON;
                """)
        let step = MigrationStep("bad") { try $0.execute("UPDATE Book SET genreId = 99") }
        #expect(
            try file.refusals(book, genre, steps: [step]) == [
                "Book: the migration left 1 reference(s) to missing rows of Genre: unset or fix them in a step"
            ])
        try file.open(book, genre, steps: [MigrationStep("good") { try $0.execute("UPDATE Book SET otherId = 97") }])
    }

    @Test func renamesThatARebuildCannotFollowAreRefused() throws {
        let old = book(.attribute("title"), .attribute("year", .integer, isOptional: true))
        let renamed = { (isOptional: Bool) in
            book(.attribute("name", originalName: "title"), .attribute("year", .integer, isOptional: isOptional))
        }
        let file = try Evolution(
            on: .sqlite, old,
            filledBy: """
                CREATE INDEX recent ON Book (title) WHERE year > 2000;
                CREATE INDEX titles ON Book (title COLLATE NOCASE);
                CREATE TRIGGER filled AFTER INSERT ON Book BEGIN
                    UPDATE Book SET title = 'Untitled' WHERE id = new.id AND title = '';
                END;
                INSERT INTO Book VALUES (1, 'Emma', 1815);
                """)
        let refused = try file.refusals(renamed(false))
        #expect(refused.count == 1, "\(refused)")
        let message = refused.first ?? ""
        #expect(message.hasPrefix("Book: the table has to be rebuilt after a rename, and would lose "))
        for lost in ["the index recent", "the index titles", "its triggers"] {
            #expect(message.contains(lost), "\(message)")
        }
        // If the changes are made in two versions, nothing is lost.
        try file.open(renamed(true))
        try file.open(renamed(false))
        try file.connection.execute("INSERT INTO Book (id, name, year) VALUES (2, '', 2001)")
        #expect(try file.lines("SELECT name FROM Book") == ["Emma", "Untitled"])
        #expect(
            try file.lines("SELECT name FROM pragma_index_list('Book') ORDER BY name") == ["recent", "titles"])
    }

    @Test func changesOfMeaningAreRefused() throws {
        let file = try Evolution(
            on: .sqlite, book(.attribute("seen", .integer), .attribute("key"), .attribute("flag", .boolean)),
            filledBy: "INSERT INTO Book VALUES (1, 7, 'x', 1)")
        let refused = try file.refusals(
            book(
                .attribute("seen", .date(.microseconds)), .attribute("key", .uuid(.text)), .attribute("flag", .integer))
        )
        #expect(refused.count == 2, "\(refused)")
        #expect(try file.open(book(.attribute("seen", .real), .attribute("key"), .attribute("flag", .integer))) == [])
    }

    @Test(arguments: [
        (DateEncoding.microseconds, DateEncoding.seconds), (.seconds, .microseconds), (.microseconds, .iso8601),
        (.iso8601, .microseconds), (.iso8601, .seconds), (.seconds, .iso8601),
    ])
    func changingTheDateEncodingNeedsAStep(from old: DateEncoding, to new: DateEncoding) throws {
        let file = try Evolution(
            on: .sqlite, book(.attribute("seen", .date(old))), filledBy: "INSERT INTO Book VALUES (1, 0), (2, 7)")
        let refused = try file.refusals(book(.attribute("seen", .date(new))))
        #expect(refused.count == 1 && refused[0].contains("or add a migration step with `.changing(\"Book.seen\")`"))
        #expect(refused[0].hasPrefix("Book.seen: its values in the file are of type"), "\(refused)")
        let value = new == .iso8601 ? Value.text("1970-01-01T00:00:00Z") : 5
        try file.open(
            book(.attribute("seen", .date(new))),
            steps: [
                MigrationStep("dates", taking: .changing("Book.seen")) {
                    try $0.execute("UPDATE Book SET seen = \(value)")
                }
            ])
        #expect(try file.lines("SELECT count(DISTINCT seen) FROM Book") == ["1"])
    }

    @Test func droppingCustomConstraintsIsRefused() throws {
        let file = try Evolution(
            on: .sqlite, genre,
            filledBy: """
                DROP TABLE Genre;
                CREATE TABLE Genre (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT '' CHECK (name <> 'check'));
                """)
        let new = Entity(name: "Genre", properties: [.id(), .attribute("name", isOptional: true)])
        #expect(try file.refusals(new).first?.contains("would lose what CHECK says") == true)
        // A step may say that they are dropped.
        try file.open(new, steps: [MigrationStep("unchecked", taking: .changing("Genre"))])
        try file.connection.execute("INSERT INTO Genre VALUES (1, NULL), (2, 'check')")
        #expect(try file.lines("SELECT name FROM Genre ORDER BY id") == ["NULL", "check"])
    }

    @Test func rebuiltTablesKeepTriggersIndexesAndUndeclaredColumns() throws {
        let file = try Evolution(
            on: .sqlite, book(.attribute("title")),
            filledBy: """
                INSERT INTO Book VALUES (1, 'Emma');
                ALTER TABLE Book ADD COLUMN extra TEXT DEFAULT 'x';
                CREATE TABLE Log (title TEXT);
                CREATE INDEX mine ON Book (extra) WHERE extra <> '';
                CREATE TRIGGER logged AFTER INSERT ON Book BEGIN INSERT INTO Log VALUES (new.title); END;
                CREATE VIEW titles AS SELECT title FROM Book;
                """)
        try file.open(book(.attribute("title", isOptional: true)))
        try file.connection.execute("INSERT INTO Book (id, title) VALUES (2, 'Persuasion')")
        #expect(try file.lines("SELECT * FROM Book") == ["1|Emma|x", "2|Persuasion|x"])
        #expect(try file.lines("SELECT * FROM Log") == ["Persuasion"])
        #expect(try file.lines("SELECT * FROM titles") == ["Emma", "Persuasion"])
        #expect(try file.lines("SELECT name FROM sqlite_master WHERE name = 'mine'") == ["mine"])
    }
}
