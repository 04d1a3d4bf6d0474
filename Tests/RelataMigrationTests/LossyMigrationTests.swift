import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// Changes that lose something are refused, each by name, unless a step takes them over.
@Suite struct LossyMigrationTests {
    private func filled(_ engine: TestEngine) throws -> Evolution {
        try Evolution(
            on: engine,
            book(
                .attribute("title", isOptional: true), .attribute("price"), .attribute("subtitle"),
                .toOne("genre", "Genre")),
            genre,
            filledBy: """
                INSERT INTO Genre VALUES (5, 'Novel');
                INSERT INTO Book VALUES (1, 'Emma', '3.5', 'A', 5), (2, 'Emma', '4', 'B', NULL), (3, NULL, '5', 'C', 5);
                """)
    }

    @Test(arguments: TestEngine.all) func everyLossIsNamed(on engine: TestEngine) throws {
        let file = try filled(engine)
        let refused = try file.refusals(
            book(
                .attribute("title"), .attribute("price", .integer), .attribute("isbn"), .toOne("genre", "Genre"),
                uniques: [["title"]]),
            genre)
        #expect(refused.count == 5, "\(refused)")
        #expect(refused.contains { $0.hasPrefix("Book.title: it is required, and some rows have no value") })
        #expect(refused.contains { $0.hasPrefix("Book.title: it is unique now, and several rows have the same title") })
        #expect(refused.contains { $0.hasPrefix("Book.price: its values in the file are of type text, not integer") })
        #expect(refused.contains { $0.hasPrefix("Book.isbn: it is new and required") })
        #expect(refused.contains { $0.hasPrefix("Book.subtitle: the models don't have it") })
        #expect(refused.allSatisfy { $0.contains("or add a migration step with `.") })
    }

    @Test(arguments: TestEngine.all) func stepsPreserveDataThatWouldBeLost(on engine: TestEngine) throws {
        let file = try filled(engine)
        let steps = [
            MigrationStep("titles", taking: .changing("Book.title")) { tx in
                try tx.execute("UPDATE \"Book\" SET title = coalesce(title, 'Untitled') || ' ' || id")
            },
            MigrationStep(
                "the rest", taking: .changing("book.PRICE"), .changing("Book.isbn"), .dropping("Book.subtitle")
            ) {
                tx in
                try tx.execute(
                    "UPDATE \"Book\" SET price = CAST(CAST(price AS NUMERIC) * 100 AS INTEGER), isbn = subtitle || '-' || id"
                )
            },
        ]
        let new = book(
            .attribute("title"), .attribute("price", .integer), .attribute("isbn"), .toOne("genre", "Genre"),
            uniques: [["title"]])
        let prepared = try Migrator.prepare(file.connection, schema: try Schema([new, genre]), steps: steps)
        #expect(prepared.steps == ["titles", "the rest"])
        #expect(prepared.refusals.isEmpty)
        #expect(prepared.changes.filter { $0.kind == .lossy }.count == 5)
        try file.open(new, genre, steps: steps)
        #expect(
            try file.connection.values(
                SQLStatement("SELECT id, title, price, isbn, \"genreId\" FROM \"Book\" ORDER BY id"))
                == [
                    [.integer(1), "Emma 1", .integer(350), "A-1", .integer(5)],
                    [.integer(2), "Emma 2", .integer(400), "B-2", .null],
                    [.integer(3), "Untitled 3", .integer(500), "C-3", .integer(5)],
                ])
        #expect(try file.table("Book").column("subtitle") == nil)
        #expect(try file.table("Book").column("isbn")?.isRequired == true)
        try Migrator.migrate(file.connection, schema: try Schema([new, genre]), steps: steps)
        #expect(try file.lines("SELECT price FROM Book WHERE id = 1") == ["350"], "a step runs once")
    }

    @Test(arguments: TestEngine.all) func anIncompleteStepLeavesTheFileUnchanged(on engine: TestEngine) throws {
        let file = try filled(engine)
        let new = book(.attribute("title"), .attribute("price", .integer), .toOne("genre", "Genre"))
        let idle = [
            MigrationStep("all", taking: .changing("Book.title"), .changing("Book.price"), .dropping("Book.subtitle"))
        ]
        #expect(
            try file.refusals(new, genre, steps: idle).map { $0.prefix(47) }
                == ["Book.title: rows have no value after the steps:"])
        let half = [
            MigrationStep("all", taking: .changing("Book.title"), .changing("Book.price"), .dropping("Book.subtitle")) {
                try $0.execute("UPDATE \"Book\" SET title = 'x', price = 'much'")
            }
        ]
        #expect(
            try file.refusals(new, genre, steps: half).first?.hasPrefix("Book.price: rows have values of another type")
                == true)
    }

    @Test(arguments: TestEngine.all) func stepsReadRowsAsTheyAreStored(on engine: TestEngine) throws {
        let file = try filled(engine)
        let step = MigrationStep("titles", taking: .dropping("Book.subtitle")) { tx in
            let (rest, end) = (3, "!")
            for row in try tx.rows("SELECT id, subtitle, title FROM \"Book\" WHERE id < \(rest) ORDER BY id") {
                guard row.count == 3, case .text(let subtitle) = row[1] else { continue }
                try tx.execute("UPDATE \"Book\" SET title = \(subtitle + end) WHERE id = \(row[0])")
            }
            #expect(try tx.rows("SELECT id, title FROM \"Book\" WHERE id = 3") == [[.integer(3), .null]])
        }
        try file.open(
            book(.attribute("title", isOptional: true), .attribute("price"), .toOne("genre", "Genre")), genre,
            steps: [step])
        #expect(
            try file.connection.values(SQLStatement("SELECT id, title FROM \"Book\" ORDER BY id"))
                == [[.integer(1), "A!"], [.integer(2), "B!"], [.integer(3), .null]])
    }

    @Test(arguments: TestEngine.all, ["COMMIT", "ROLLBACK", "BEGIN", "DELETE FROM Book; COMMIT"])
    func aStepCannotEndTheTransaction(on engine: TestEngine, sql: String) throws {
        let file = try filled(engine)
        let before = try file.contents()
        let step = MigrationStep("bad", taking: .dropping("Book.subtitle")) { tx in
            try tx.execute("DELETE FROM \"Book\"")
            try tx.execute(SQL(stringLiteral: sql))
        }
        let schema = try Schema([
            book(.attribute("title", isOptional: true), .attribute("price"), .toOne("genre", "Genre")), genre,
        ])
        let error = #expect(throws: RelataError.self) {
            try Migrator.migrate(file.connection, schema: schema, steps: [step])
        }
        let text = error.map { "\($0)" } ?? ""
        #expect(
            text.contains("the store ends transactions itself") || text.contains("SQL must be one statement"), "\(text)"
        )
        #expect(try file.contents() == before)
    }

    @Test(arguments: TestEngine.all) func aStepThatThrowsLeavesTheFileUnchanged(on engine: TestEngine) throws {
        let file = try filled(engine)
        let before = try file.contents()
        let step = MigrationStep("bad", taking: .dropping("Book.subtitle")) { connection in
            try connection.execute("DELETE FROM \"Book\"")
            throw RelataError.invalidUse("no")
        }
        let schema = try Schema([
            book(.attribute("title", isOptional: true), .attribute("price"), .toOne("genre", "Genre")), genre,
        ])
        #expect(throws: RelataError.self) { try Migrator.migrate(file.connection, schema: schema, steps: [step]) }
        #expect(try file.contents() == before)
        try engine.checkIsSound(file.connection)
        #expect(!file.connection.isInTransaction)
    }

    @Test(arguments: TestEngine.all) func aStepThatLeavesDanglingReferencesIsRefused(on engine: TestEngine) throws {
        let file = try filled(engine)
        let step = MigrationStep("bad") { try $0.execute("DELETE FROM \"Genre\"") }
        let same = book(
            .attribute("title", isOptional: true), .attribute("price"), .attribute("subtitle"), .toOne("genre", "Genre")
        )
        #expect(
            try file.refusals(same, genre, steps: [step]) == [
                engine == .sqlite
                    ? "Book: the migration left 2 reference(s) to missing rows of Genre: unset or fix them in a step"
                    : "Book.genre: the migration left references to missing rows of Genre: unset or fix them in a step"
            ])
    }

    @Test(arguments: TestEngine.all) func duplicatesThatAStepLeavesInAUniqueColumnAreNamed(on engine: TestEngine)
        throws
    {
        let old = book(.attribute("title"))
        let file = try Evolution(on: engine, old, filledBy: "INSERT INTO Book VALUES (1, 'Emma'), (2, 'Persuasion')")
        let setting = { (column: String) in
            [MigrationStep("equal") { try $0.execute("UPDATE \"Book\" SET \(name: column) = 'x'") }]
        }
        #expect(
            try file.refusals(
                book(.attribute("title"), .attribute("isbn", isOptional: true), uniques: [["isbn"]]),
                steps: setting("isbn")) == [
                    "Book.isbn: several rows have the same isbn after the steps (x): make them differ there"
                ])
        #expect(
            try file.refusals(book(.attribute("title"), uniques: [["title"]]), steps: setting("title")) == [
                "Book.title: several rows have the same title after the steps (x): make them differ there"
            ])
        let pair = book(
            .attribute("title"), .attribute("year", .integer, isOptional: true), uniques: [["title", "year"]])
        let both = MigrationStep("equal") { try $0.execute("UPDATE \"Book\" SET title = 'x', year = 7") }
        #expect(
            try file.refusals(pair, steps: [both]) == [
                "Book.title: several rows have the same title, year after the steps (x, 7): make them differ there"
            ])
        let named = Entity(name: "Genre", properties: [.id(), .attribute("name", default: "")], uniques: [["name"]])
        let filled = MigrationStep("genres") { try $0.execute("INSERT INTO \"Genre\" VALUES (1, 'x'), (2, 'x')") }
        #expect(
            try file.refusals(old, named, steps: [filled]) == [
                "Genre.name: several rows have the same name after the steps (x): make them differ there"
            ])
        // Rows that differ, or whose values are unset, are unique.
        try file.open(
            pair, named,
            steps: [
                MigrationStep("years") { tx in
                    try tx.execute("UPDATE \"Book\" SET title = 'x'")
                    try tx.execute("UPDATE \"Book\" SET year = id")
                }
            ])
    }

    @Test(arguments: TestEngine.all) func stepsRunOnlyInExistingFiles(on engine: TestEngine)
        throws
    {
        let connection = try engine.connection()
        let schema = try Schema([genre])
        let fill = MigrationStep("fill") { try $0.execute("INSERT INTO \"Genre\" VALUES (1, 'x')") }
        try Migrator.migrate(connection, schema: schema, steps: [fill])
        #expect(try connection.lines("SELECT name FROM \"Genre\"") == [])
        let more = MigrationStep("more") { try $0.execute("INSERT INTO \"Genre\" VALUES (2, 'y')") }
        for _ in 0..<2 { try Migrator.migrate(connection, schema: schema, steps: [fill, more]) }
        #expect(try connection.lines("SELECT name FROM \"Genre\"") == ["y"])
    }

    @Test(arguments: TestEngine.all) func tablesAreDroppedOnlyByAStep(on engine: TestEngine) throws {
        let file = try Evolution(
            on: engine, book(.attribute("title")), genre, filledBy: "INSERT INTO Genre VALUES (1, 'x')")
        #expect(try file.open(book(.attribute("title"))) == [])
        #expect(try file.lines("SELECT name FROM Genre") == ["x"])
        let changes = try file.open(
            book(.attribute("title")), steps: [MigrationStep("no genres", taking: .dropping("Genre"))])
        #expect(changes == ["Genre: the table is dropped"])
        #expect(try file.tableNames() == ["Book"])
    }

    @Test(arguments: TestEngine.all) func optionalColumnsAreDroppedByAStep(on engine: TestEngine) throws {
        let file = try filled(engine)
        try file.open(
            book(.attribute("price"), .attribute("subtitle"), .toOne("genre", "Genre")), genre,
            steps: [MigrationStep("no titles", taking: .dropping("Book.title"))])
        #expect(try file.lines("SELECT * FROM Book WHERE id = 1") == ["1|3.5|A|5"])
    }

    @Test(arguments: TestEngine.all) func aToOneThatBecomesAViewOfAKeyOnTheOtherSideNeedsAStep(on engine: TestEngine)
        throws
    {
        let file = try Evolution(
            on: engine, book(.toOne("genre", "Genre")), genre,
            filledBy: "INSERT INTO Genre VALUES (5, 'Novel'), (6, 'Play'); INSERT INTO Book VALUES (1, 5), (2, NULL)")
        let newBook = book(.hasOne("genre", "Genre", inverse: "book"))
        let newGenre = Entity(
            name: "Genre", properties: [.id(), .attribute("name", default: ""), .toOne("book", "Book")])
        #expect(
            try file.refusals(newBook, newGenre) == [
                "Book.genre: it was a to-one and is the view of Genre.book now, and rows have keys in genreId: "
                    + "keep it a to-one; or add a migration step with `.dropping(\"Book.genre\")`"
            ])
        let step = MigrationStep("turn", taking: .dropping("Book.genre")) {
            try $0.execute(
                "UPDATE \"Genre\" SET \"bookId\" = (SELECT id FROM \"Book\" WHERE \"genreId\" = \"Genre\".id)")
        }
        try file.open(newBook, newGenre, steps: [step])
        #expect(try file.lines("SELECT id, bookId FROM Genre ORDER BY id") == ["5|1", "6|NULL"])
        #expect(try file.columns(of: "Book") == ["id"])
    }

    @Test(arguments: TestEngine.all) func aToOneWithoutKeysBecomesAViewByItself(on engine: TestEngine) throws {
        let file = try Evolution(
            on: engine, book(.toOne("genre", "Genre")), genre, filledBy: "INSERT INTO Book VALUES (1, NULL)")
        try file.open(
            book(.toMany("genre", "Genre", inverse: "book")),
            Entity(name: "Genre", properties: [.id(), .attribute("name", default: ""), .toOne("book", "Book")]))
        #expect(try file.lines("SELECT id FROM Book") == ["1"])
    }

    @Test(arguments: TestEngine.all) func danglingKeysPreventAReference(on engine: TestEngine) throws {
        let file = try Evolution(
            on: engine, book(.attribute("genreId", .integer, isOptional: true)), genre,
            filledBy: "INSERT INTO Book VALUES (1, 5)")
        let new = book(.toOne("genre", "Genre"))
        #expect(try file.refusals(new, genre).first?.hasPrefix("Book.genre: rows of the file have keys") == true)
        try file.open(
            new, genre,
            steps: [
                MigrationStep("fix", taking: .changing("Book.genre")) {
                    try $0.execute(
                        "UPDATE \"Book\" SET \"genreId\" = NULL WHERE \"genreId\" NOT IN (SELECT id FROM \"Genre\")")
                }
            ])
        #expect(try file.lines("SELECT * FROM Book") == ["1|NULL"])
    }

    @Test(arguments: TestEngine.all) func changingTheKeyNeedsAStep(on engine: TestEngine) throws {
        let file = try Evolution(
            on: engine, book(.attribute("isbn")), filledBy: "INSERT INTO Book VALUES (1, 'a'), (2, 'b')")
        let new = Entity(name: "Book", properties: [.attribute("isbn")], key: ["isbn"])
        let refused = try file.refusals(new)
        #expect(refused.first?.hasPrefix("Book: its primary key is (isbn), that of the file (id)") == true)
        try file.open(new, steps: [MigrationStep("key", taking: .changing("Book"), .dropping("Book.id"))])
        #expect(try file.lines("SELECT * FROM Book") == ["a", "b"])
    }
    @Test(arguments: TestEngine.all) func aNewKeyColumnNeedsValues(on engine: TestEngine) throws {
        let file = try Evolution(
            on: engine, book(.attribute("title")), filledBy: "INSERT INTO Book VALUES (1, 'a'), (2, 'b')")
        let new = Entity(name: "Book", properties: [.attribute("isbn"), .attribute("title")], key: ["isbn"])
        let refused = try file.refusals(new)
        #expect(refused.contains { $0.hasPrefix("Book.isbn: it is new and required") }, "\(refused)")
        #expect(refused.contains { $0.hasPrefix("Book: its primary key is (isbn)") }, "\(refused)")
        let step = MigrationStep(
            "key", taking: .changing("Book"), .changing("Book.isbn"), .dropping("Book.id")
        ) { try $0.execute("UPDATE \"Book\" SET isbn = 'x' || id") }
        try file.open(new, steps: [step])
        #expect(try file.lines("SELECT isbn, title FROM Book ORDER BY isbn") == ["x1|a", "x2|b"])
        #expect(try file.table("Book").primaryKey == ["isbn"])
    }
}
