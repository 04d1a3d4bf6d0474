import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// Whole databases copied into others.
@Suite struct DatabaseCopyTests {
    @Test(arguments: TestEngine.all) func allRowsArriveAndReferencesHoldAgain(on engine: TestEngine) throws {
        let (source, destination) = (try music(), try engine.connection())
        let outcomes = try DatabaseCopy.run(from: source, to: destination)
        #expect(
            outcomes.map { "\($0.name) \($0.rows)" }.sorted() == [
                "Album 3", "Album.tags 3", "Artist 3", "Fact 2", "One 1", "Other 1", "Tag 2",
            ])
        try engine.checkIsSound(destination)
        #expect(try !destination.hasTable("relata_copy"))
        let file = CopiedDatabase(engine, destination)
        #expect(
            try file.lines("SELECT id, title, artistId, sequelId FROM Album ORDER BY id") == [
                "1|Sketches|1|3", "2|Kind of Blue|1|NULL", "3|Tutu|7|2",
            ])
        #expect(throws: RelataError.self) { try file.execute("UPDATE Album SET artistId = 99 WHERE id = 1") }
        try file.execute("DELETE FROM Artist WHERE id = 7")
        #expect(try file.lines("SELECT id FROM Album ORDER BY id") == ["1", "2"])
    }

    @Test(arguments: TestEngine.all) func theFactsOfAServersClassesArrive(on engine: TestEngine) throws {
        let (source, destination) = (try music(), try engine.connection())
        try source.execute(
            """
            \(ClassOptionsTable.creation);
            INSERT INTO \(ClassOptionsTable.quotedName) VALUES ('Tag', '{"b":[1,null],"a":"ä''s"}'), ('Album', '{}')
            """)
        let outcomes = try DatabaseCopy.run(from: source, to: destination)
        #expect(!outcomes.contains { $0.name == ClassOptionsTable.name })
        #expect(
            try destination.lines("SELECT name, options FROM \(ClassOptionsTable.quotedName) ORDER BY name") == [
                "Album|{}", #"Tag|{"b":[1,null],"a":"ä's"}"#,
            ])
        // A copy of the copy has them, too.
        let again = try Connection(path: nil)
        try DatabaseCopy.run(from: destination, to: again)
        #expect(try again.lines("SELECT count(*) FROM \(ClassOptionsTable.quotedName)") == ["2"])
    }

    @Test(arguments: TestEngine.all) func assignedKeysAreNeverReused(on engine: TestEngine) throws {
        let (source, destination) = (try music(), try engine.connection())
        try DatabaseCopy.run(from: source, to: destination)
        let file = CopiedDatabase(engine, destination)
        try file.execute("INSERT INTO Artist (name, hidden) VALUES ('next', \(engine == .sqlite ? "0" : "false"))")
        #expect(try file.lines("SELECT max(id) FROM Artist") == ["9"], "8 was a row that is gone")
        try file.execute("INSERT INTO Album (title) VALUES ('next')")
        #expect(try file.lines("SELECT max(id) FROM Album") == ["4"])
    }

    @Test(arguments: TestEngine.all) func theCopyRemembersModelsStepsAndRenames(on engine: TestEngine) throws {
        let source = try database()
        try Migrator.migrate(source, schema: try Schema([book(.attribute("title"))]))
        try source.execute("INSERT INTO Book VALUES (1, 'Emma')")
        let renamed = book(.attribute("name", originalName: "title"))
        try Migrator.migrate(source, schema: try Schema([renamed]), steps: [MigrationStep("done")])
        let destination = try engine.connection()
        try DatabaseCopy.run(from: source, to: destination)
        let step = MigrationStep("done") { _ in throw RelataError.invalidUse("it ran again") }
        try Migrator.migrate(destination, schema: try Schema([renamed]), steps: [step])
        #expect {
            try Migrator.migrate(destination, schema: try Schema([book(.attribute("title"))]))
        } throws: {
            "\($0)".contains("newer models renamed the column title to name")
        }
    }

    @Test(arguments: TestEngine.all) func anInterruptedCopyContinues(on engine: TestEngine) throws {
        struct Stopped: Error {}
        let (source, destination, whole) = (try music(), try engine.connection(), try engine.connection())
        var batch = DatabaseCopy.BatchLimit()
        batch.rows = 2
        var (stops, isDone) = (0, false)
        // Stopped after each of its steps once.
        while !isDone, stops < 100 {
            do {
                try DatabaseCopy.run(from: source, to: destination, batch: batch) { progress in
                    guard case .copied = progress, stops % 3 != 2 else { return }
                    throw Stopped()
                }
                isDone = true
            } catch is Stopped {}
            stops += 1
        }
        #expect(isDone)
        try DatabaseCopy.run(from: source, to: whole)
        #expect(try contents(destination) == contents(whole))
        #expect(try !destination.hasTable("relata_copy"))
        try engine.checkIsSound(destination)
    }

    /// The copy has no such key, so that it would be a link that nothing keeps.
    @Test(arguments: TestEngine.all) func foreignKeysToUniqueColumnsAreNotLinksOfTheCopy(on engine: TestEngine) throws {
        let (source, destination) = (try Connection(path: nil), try engine.connection())
        try source.execute(
            """
            CREATE TABLE codes (id INTEGER PRIMARY KEY, k TEXT UNIQUE);
            CREATE TABLE items (id INTEGER PRIMARY KEY, code TEXT REFERENCES codes (k));
            INSERT INTO codes VALUES (1, 'a'); INSERT INTO items VALUES (1, 'a');
            """)
        try DatabaseCopy.run(from: source, to: destination)
        let stored = try #require(try Metadata.read(destination).entities)
        #expect(stored.map { $0.relationships.count } == [0, 0])
        let read = try Introspection.entities(of: destination, followsAllKeys: true)
        #expect(read.map { $0.relationships.count } == [0, 0])
    }

    @Test(arguments: TestEngine.all) func unfinishedCopiesCannotBeOpened(on engine: TestEngine) throws {
        struct Stopped: Error {}
        let (source, destination) = (try music(), try engine.connection())
        let models = try Schema(try Introspection.entities(of: source))
        #expect(throws: Stopped.self) {
            try DatabaseCopy.run(from: source, to: destination) { progress in
                if case .copied = progress { throw Stopped() }
            }
        }
        func isRefused(_ open: () throws -> Void) {
            #expect {
                try open()
            } throws: {
                "\($0)".contains("a copy into this database isn't finished")
            }
        }
        isRefused { _ = try Migrator.entities(migrating: destination, schema: models, steps: []) }
        isRefused { _ = try Migrator.prepare(destination, schema: models) }
        isRefused { _ = try Introspection.read(destination) }
        isRefused { try DatabaseCopy.run(from: destination, to: try engine.connection()) }
        try DatabaseCopy.run(from: source, to: destination)
        #expect(try Migrator.migrate(destination, schema: models).isEmpty)
    }

    @Test(arguments: TestEngine.all) func changesOfTheSourceDuringACopyAreDetected(on engine: TestEngine) throws {
        struct Stopped: Error {}
        let (source, destination) = (try music(), try engine.connection())
        #expect(throws: Stopped.self) {
            try DatabaseCopy.run(from: source, to: destination) { progress in
                if case .verifying = progress { throw Stopped() }
            }
        }
        try source.execute("UPDATE Artist SET name = 'other' WHERE id = 1; DELETE FROM Fact WHERE place = 1")
        #expect {
            try DatabaseCopy.run(from: source, to: destination)
        } throws: { error in
            let text = "\(error)"
            return text.contains("Artist: its 3 rows aren't the same")
                && text.contains("Fact: the source has 1 rows and the copy 2")
        }
    }

    @Test(arguments: TestEngine.all) func aDestinationWithOtherDataIsRefused(on engine: TestEngine) throws {
        let destination = try engine.connection()
        try destination.execute("CREATE TABLE mine (id INTEGER PRIMARY KEY)")
        #expect {
            try DatabaseCopy.run(from: try music(), to: destination)
        } throws: {
            "\($0)".contains("the destination has tables already (mine)")
        }
        #expect(try Introspection.tables(of: destination).map(\.name) == ["mine"])
    }

    @Test(arguments: TestEngine.all) func aPartOfAnotherCopyIsRefused(on engine: TestEngine) throws {
        struct Stopped: Error {}
        let destination = try engine.connection()
        #expect(throws: Stopped.self) {
            try DatabaseCopy.run(from: try music(), to: destination) { progress in
                if case .copied = progress { throw Stopped() }
            }
        }
        let other = try music()
        try other.execute("ALTER TABLE Tag ADD COLUMN more TEXT")
        #expect {
            try DatabaseCopy.run(from: other, to: destination)
        } throws: {
            "\($0)".contains("a part of a copy of another database")
        }
    }

    @Test(arguments: TestEngine.all) func valuesOfTheWrongTypeAreNamed(on engine: TestEngine) throws {
        for (change, expected) in [
            ("UPDATE Artist SET born = 1234 WHERE id = 2", "Artist 2: born holds 1234"),
            ("UPDATE Artist SET price = 'x' WHERE id = 2", "Artist 2: price holds x"),
            ("UPDATE Artist SET hidden = 2 WHERE id = 7", "Artist 7: hidden holds 2"),
        ] {
            let source = try music()
            try source.execute(change)
            #expect {
                try DatabaseCopy.run(from: source, to: try engine.connection())
            } throws: {
                "\($0)".contains(expected)
            }
        }
    }

    @Test func danglingReferencesAreRefusedBeforeCopying() throws {
        let (source, destination) = (try music(), try database())
        try source.execute("PRAGMA foreign_keys = OFF; DELETE FROM Artist WHERE id = 7")
        #expect {
            try DatabaseCopy.run(from: source, to: destination)
        } throws: {
            "\($0)".contains("1 reference(s) of Album lead to missing rows of Artist")
        }
        #expect(try Introspection.tables(of: destination).isEmpty)
    }

    @Test(arguments: TestEngine.all) func itemsThatAreNotCopiedAreReportedFirst(on engine: TestEngine) throws {
        let source = try music()
        try source.execute(
            """
            CREATE VIEW titles AS SELECT title FROM Album;
            CREATE TRIGGER shout AFTER INSERT ON Tag BEGIN SELECT 1; END;
            CREATE INDEX some ON Album (title) WHERE title <> '';
            CREATE TABLE Loose (
                id INTEGER PRIMARY KEY, text TEXT COLLATE NOCASE CHECK (text <> '') DEFAULT (1 + 1),
                upper TEXT GENERATED ALWAYS AS (upper(text)));
            CREATE TABLE relata_changes (id INTEGER PRIMARY KEY);
            """)
        var first: DatabaseCopy.Progress?
        try DatabaseCopy.run(from: source, to: try engine.connection()) { if first == nil { first = $0 } }
        guard case .leavingOut(let phrases)? = first else {
            Issue.record("\(String(describing: first))")
            return
        }
        for expected in [
            "titles, which is a view", "triggers of Tag: shout",
            "indexes of expressions or of some rows of Album: some",
            "conditions of Loose: CHECK", "columns without a property of Loose: upper",
            "defaults that aren't constants of Loose: text", "collations of Loose: text",
        ] {
            #expect(phrases.contains(expected), "\(expected): \(phrases)")
        }
        #expect(phrases.contains { $0.hasPrefix("the change log") })
    }

    @Test func aCopyReadsASnapshot() throws {
        let file = try TemporaryFile()
        let writer = try Connection(path: file.path)
        try writer.execute("PRAGMA journal_mode = WAL; \(Self.schema) \(Self.rows)")
        let (source, destination) = (try Connection(path: file.path, isReadOnly: true), try database())
        try DatabaseCopy.run(from: source, to: destination) { progress in
            if case .copied("Artist", _) = progress {
                try writer.execute("INSERT INTO Tag VALUES ('new'); UPDATE Album SET title = 'changed'")
            }
        }
        #expect(try destination.lines("SELECT count(*) FROM Tag") == ["2"])
        #expect(try destination.lines("SELECT count(*) FROM Album WHERE title = 'changed'") == ["0"])
        #expect(try writer.lines("SELECT count(*) FROM Tag") == ["3"])
    }

    @Test func copyTransactionsAreLimitedInSize() throws {
        let source = try database("CREATE TABLE Photo (id INTEGER PRIMARY KEY, data BLOB NOT NULL)")
        try source.execute(
            "WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) INSERT INTO Photo SELECT i, zeroblob(1000) FROM n"
        )
        var batch = DatabaseCopy.BatchLimit()
        batch.bytes = 4000
        var counts: [Int] = []
        try DatabaseCopy.run(from: source, to: try database(), batch: batch) { progress in
            if case .copied(_, let rows) = progress { counts.append(rows) }
        }
        #expect(counts == [4, 8, 12, 16, 20, 20])
    }

    // MARK: The example

    /// A file of another program: keys of several columns, without rowids and of text, cycles, and all kinds of values.
    static let schema = """
        CREATE TABLE Artist (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, born DATETIME, image BLOB,
            height REAL, price NUMERIC(10, 2), hidden BOOLEAN NOT NULL DEFAULT 0, more JSON);
        CREATE TABLE Album (id INTEGER PRIMARY KEY, title TEXT NOT NULL, artistId INTEGER REFERENCES Artist (id)
            ON DELETE CASCADE, sequelId INTEGER REFERENCES Album (id) ON DELETE SET NULL);
        CREATE TABLE Tag (code TEXT PRIMARY KEY NOT NULL);
        CREATE TABLE Album_tags (albumId INTEGER NOT NULL REFERENCES Album (id) ON DELETE CASCADE,
            tagCode TEXT NOT NULL REFERENCES Tag (code), PRIMARY KEY (albumId, tagCode));
        CREATE TABLE Fact (album INTEGER NOT NULL, place INTEGER NOT NULL, text TEXT, PRIMARY KEY (album, place))
            WITHOUT ROWID;
        CREATE TABLE One (id INTEGER PRIMARY KEY, otherId INTEGER REFERENCES Other (id));
        CREATE TABLE Other (id INTEGER PRIMARY KEY, oneId INTEGER REFERENCES One (id));

        """
    static let rows = """
        INSERT INTO Artist VALUES (1, 'Miles', '1926-05-26', x'00ff', 1.69, 9.9, 1, '{"b":[1,null],"a":"ä"}'),
            (2, 'Ünï', NULL, NULL, NULL, 3, 0, NULL), (7, '', '', x'', 0.1, -0.5, 0, '[]');
        INSERT INTO Artist (name) VALUES ('gone'); DELETE FROM Artist WHERE name = 'gone';
        INSERT INTO Album VALUES (2, 'Kind of Blue', 1, NULL), (3, 'Tutu', 7, 2), (1, 'Sketches', 1, 3);
        INSERT INTO Tag VALUES ('jazz'), ('Jazz');
        INSERT INTO Album_tags VALUES (1, 'jazz'), (1, 'Jazz'), (3, 'jazz');
        INSERT INTO Fact VALUES (1, 2, 'b'), (1, 1, 'a');
        INSERT INTO One VALUES (1, NULL); INSERT INTO Other VALUES (1, 1); UPDATE One SET otherId = 1;
        """

    private func music() throws -> Connection { try database(Self.schema + Self.rows) }
}

/// A copy, in which names needn't be quoted.
private struct CopiedDatabase {
    let engine: TestEngine
    let connection: Connection

    init(_ engine: TestEngine, _ connection: Connection) { (self.engine, self.connection) = (engine, connection) }

    func execute(_ sql: String) throws { try connection.execute(engine.quoting(sql)) }
    func lines(_ sql: String) throws -> [String] { try connection.lines(engine.quoting(sql)) }
}

/// The rows of all tables, in order.
func contents(_ connection: Connection) throws -> [String: [[Value]]] {
    var contents: [String: [[Value]]] = [:]
    let dialect = connection.dialect
    for table in try Introspection.tables(of: connection) {
        let names = dialect.list(table.columns.map(\.name).sorted())
        contents[table.name] = try connection.values(
            SQLStatement(
                "SELECT \(names) FROM \(dialect.quote(table.name)) ORDER BY \(dialect.list(table.primaryKey))"))
    }
    return contents
}
