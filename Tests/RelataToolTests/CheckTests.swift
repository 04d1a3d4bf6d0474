#if CommandLineTool
import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import Testing

@Suite struct CheckTests {
    /// The SQL of the fixes that a run proposes.
    private func fixes(_ run: ToolRun) -> [String] {
        run.lines.filter { $0.hasPrefix("  fix: ") }.compactMap { line in
            ["UPDATE ", "DELETE FROM "].lazy.compactMap { line.range(of: $0).map { String(line[$0.lowerBound...]) } }
                .first
        }
    }

    @Test func aSoundFileHasNoFindings() throws {
        let file = try SampleFile.library()
        let before = try file.bytes()
        let run = try file.run("check")
        #expect(run.exitCode == 0)
        #expect(run.output == "library.sqlite: no findings in 8 entities, 6 references, 1 join table\n")
        #expect(try file.bytes() == before)
    }

    @Test func valuesThatNoModelCouldReadAreFound() throws {
        let file = try SampleFile.library()
        let status = Attribute("status", type: .text, allowedValues: ["lent", "shelved"])
        let note = Attribute("note", type: .json, isOptional: true)
        // In Swift, the quote and the accent are one character.
        let mark = Attribute("mark", type: .text, isOptional: true, allowedValues: ["'\u{301}) OR 1 --"])
        let copy = Entity(
            name: "Copy",
            properties: [
                .attribute(Attribute("id", type: .integer)), .attribute(status), .attribute(note), .attribute(mark),
            ])
        let connection = try Connection(path: file.path)
        let entities = try Introspection.entities(of: connection) + [copy]
        try Migrator.migrate(
            connection, schema: try Schema(entities), steps: [MigrationStep("adopt", taking: .adopting)])
        try connection.execute(
            "INSERT INTO Copy VALUES (1, 'lent', '{}', '''\u{301}) OR 1 --'), "
                + "(2, 'lost', NULL, NULL), (3, 'shelved', 'x', 'y')")
        try connection.close()
        let run = try file.run("check")
        #expect(run.exitCode == 1)
        #expect(
            run.lines.contains("Copy.status: 1 object holds a value that its enum doesn't have (Copy 2 holds lost)"))
        #expect(run.lines.contains("Copy.note: 1 object holds invalid JSON (Copy 3 holds x)"))
        #expect(run.lines.contains("Copy.mark: 1 object holds a value that its enum doesn't have (Copy 3 holds y)"))
        let query = try #require(run.lines.first { $0.contains("SELECT * FROM \"Copy\" AS x WHERE x.\"status\"") })
        #expect(query.contains("NOT IN ('lent', 'shelved')"))
    }

    @Test func danglingReferencesAreFoundWithAWorkingFix() throws {
        let file = try SampleFile.library()
        try file.execute(
            """
            UPDATE Book SET genreId = 50 WHERE id IN (1, 2, 3, 4);
            DELETE FROM Reader WHERE id = 2;
            INSERT INTO Book_authors VALUES (1, 70), (80, 1);
            """)
        let run = try file.run("check")
        #expect(run.exitCode == 1)
        #expect(run.lines.first == "library.sqlite: 5 findings")
        #expect(
            run.lines.contains(
                "Book.genre: 4 references to Genre lead nowhere (Book 1 → 50, Book 2 → 50, Book 3 → 50, …)"))
        #expect(run.lines.contains("Card.reader: 1 reference to Reader leads nowhere (Card R-0108 → 2)"))
        #expect(run.lines.contains("Loan.reader: 1 reference to Reader leads nowhere (Loan 2 → 2)"))
        #expect(run.lines.contains("Book.authors: 1 row of Book_authors leads nowhere (Author 70)"))
        let fixes = fixes(run)
        #expect(fixes.count == 5)
        for sql in fixes { try file.execute(sql) }
        #expect(try file.run("check").exitCode == 0)
        #expect(try file.rows("SELECT count(*) FROM Book WHERE genreId IS NULL") == ["4"])
    }

    /// References that SQLite resolves by the rules of the target's column stay; dangling ones are fixed.
    @Test func repairsAffectOnlyDanglingReferences() throws {
        let file = try SampleFile(
            """
            CREATE TABLE n (code TEXT COLLATE NOCASE PRIMARY KEY);
            CREATE TABLE r (code TEXT COLLATE RTRIM PRIMARY KEY);
            CREATE TABLE t (id PRIMARY KEY);
            CREATE TABLE i (id INTEGER PRIMARY KEY);
            CREATE TABLE c (
                id INTEGER PRIMARY KEY, n TEXT REFERENCES n, r TEXT REFERENCES r, t REFERENCES t, tn INTEGER REFERENCES t,
                i TEXT REFERENCES i);
            CREATE TABLE d (id INTEGER PRIMARY KEY, n TEXT NOT NULL REFERENCES n, t NOT NULL REFERENCES t);
            INSERT INTO n VALUES ('Abc'), ('x'); INSERT INTO r VALUES ('a'), ('b ');
            INSERT INTO t VALUES (1), ('2'), (x'03'); INSERT INTO i VALUES (7), (8);
            INSERT INTO c VALUES
                (1, 'ABC', 'a  ', 1, 1, '7'), (2, 'abc', 'b', '2', NULL, '07'), (3, 'abd', 'c', '1', 2, 'seven'),
                (4, NULL, NULL, x'03', 3, '8.0'), (5, 'X ', ' a', 2, 1, '9'), (6, 'x', 'a', NULL, NULL, NULL);
            INSERT INTO d VALUES (1, 'ABC', 1), (2, 'gone', 1), (3, 'X', '1'), (4, 'x', '2');
            """)
        let columns = ["c": ["n", "r", "t", "tn", "i"], "d": ["n", "t"]]
        /// The references that are set, each with its value and type.
        func references() throws -> Set<String> {
            var found: Set<String> = []
            for (table, names) in columns {
                for name in names {
                    let sql = "SELECT id, quote(\(name)) FROM \(table) WHERE \(name) IS NOT NULL"
                    found.formUnion(try file.rows(sql).map { "\(table).\(name)|\($0)" })
                }
            }
            return found
        }
        /// The dangling references that SQLite itself finds, each as table, row and column.
        func dangling() throws -> Set<String> {
            Set(
                try file.rows(
                    """
                    SELECT c."table" || '.' || f."from" || '|' || c."rowid"
                    FROM pragma_foreign_key_check AS c JOIN pragma_foreign_key_list(c."table") AS f ON f.id = c.fkid
                    """))
        }
        let (before, wrong) = (try references(), try dangling())
        #expect(wrong.count == 12, "\(wrong)")
        let run = try file.run("check")
        #expect(run.exitCode == 1)
        for sql in fixes(run) { try file.execute(sql) }
        #expect(try dangling() == [])
        // A row with a required dangling reference is deleted, and with it its other reference.
        let gone = Set(wrong.filter { $0.hasPrefix("d.") }.map { $0.split(separator: "|")[1] })
        let expected = before.filter { reference in
            let parts = reference.split(separator: "|")
            return !wrong.contains("\(parts[0])|\(parts[1])") && !(reference.hasPrefix("d.") && gone.contains(parts[1]))
        }
        #expect(try references() == expected)
        #expect(try file.rows("SELECT count(*) FROM c") == ["6"])
        #expect(try file.run("check").exitCode == 0)
    }

    @Test func foreignKeysThatAreNoRelationshipsAreCheckedToo() throws {
        let file = try SampleFile(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY, code TEXT UNIQUE);
            CREATE TABLE b (id INTEGER PRIMARY KEY, code TEXT REFERENCES a (code), lost INTEGER REFERENCES nowhere (id));
            INSERT INTO a VALUES (1, 'x');
            INSERT INTO b VALUES (1, 'x', NULL), (2, 'y', NULL), (3, NULL, 4);
            """)
        let run = try file.run("check")
        #expect(run.exitCode == 1)
        #expect(run.lines.contains("b.code: 1 row refers to a, where there is no such row (y)"))
        #expect(run.lines.contains("b.lost: 1 row refers to nowhere, where there is no such row (4)"))
    }

    @Test func tablesWithReservedNamesAreReported() throws {
        let file = try SampleFile(
            """
            CREATE TABLE relata_x (id INTEGER PRIMARY KEY, c INTEGER REFERENCES c);
            CREATE TABLE c (id INTEGER PRIMARY KEY, r INTEGER REFERENCES relata_x);
            INSERT INTO relata_x VALUES (1, NULL);
            INSERT INTO c VALUES (1, 1);
            UPDATE relata_x SET c = 1;
            """)
        let sound = try file.run("check")
        #expect(sound.exitCode == 0, "\(sound.output)")
        try file.execute("PRAGMA foreign_keys = OFF; UPDATE c SET r = 2; UPDATE relata_x SET c = 3;")
        let run = try file.run("check")
        #expect(run.exitCode == 1)
        #expect(run.lines.contains("c.r: 1 row refers to relata_x, where there is no such row (2)"), "\(run.output)")
        #expect(run.lines.contains("relata_x.c: 1 row refers to c, where there is no such row (3)"), "\(run.output)")
        #expect(!run.output.contains("make the table"))
    }

    @Test func positionsOfJoinTablesAreChecked() throws {
        let file = try SampleFile(
            """
            CREATE TABLE List (id INTEGER PRIMARY KEY);
            CREATE TABLE Song (id INTEGER PRIMARY KEY);
            CREATE TABLE List_songs (listId INTEGER NOT NULL REFERENCES List ON DELETE CASCADE,
                songId INTEGER NOT NULL REFERENCES Song ON DELETE CASCADE, position INTEGER, PRIMARY KEY (listId, songId));
            INSERT INTO List VALUES (1), (2);
            INSERT INTO Song VALUES (1), (2), (3);
            INSERT INTO List_songs VALUES (1, 1, 5), (1, 2, 5), (1, 3, 6), (2, 1, NULL), (2, 2, 7);
            """)
        let run = try file.run("check")
        #expect(run.exitCode == 1)
        #expect(run.lines.contains("List.songs: some members have no position (List 2: 1)"))
        #expect(run.lines.contains("List.songs: some members have the same position (List 1: 2 at 5)"))
        for sql in fixes(run) { try file.execute(sql) }
        #expect(try file.run("check").exitCode == 0)
        #expect(
            try file.rows("SELECT songId FROM List_songs WHERE listId = 1 ORDER BY position") == ["1", "2", "3"])
        #expect(try file.rows("SELECT songId FROM List_songs WHERE listId = 2 ORDER BY position") == ["2", "1"])
    }

    @Test func damageIsAFinding() throws {
        let file = try SampleFile.library()
        try file.damageIndex()
        let run = try file.run("check")
        #expect(run.exitCode == 1)
        #expect(run.output.contains("the file: ") && run.output.contains("fix: rebuild the indexes: REINDEX"))
        try file.execute("REINDEX")
        #expect(try file.run("check").exitCode == 0)
    }
}
#endif
