#if CommandLineTool
import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// `relata check --repair`.
@Suite struct RepairTests {
    private static let damage = """
        UPDATE Book SET genreId = 50 WHERE id IN (1, 2, 3, 4);
        DELETE FROM Reader WHERE id = 2;
        INSERT INTO Book_authors VALUES (1, 70), (80, 1);
        """

    private func damagedLibrary() throws -> SampleFile {
        let file = try SampleFile.library()
        try file.execute(Self.damage)
        return file
    }

    @Test func repairsAreShownAndNeedConfirmation() throws {
        let file = try damagedLibrary()
        let before = try file.bytes()
        let shown = try file.run("check", "--repair", "--dry-run")
        #expect(shown.exitCode == 1)
        #expect(shown.output.contains("  repair: unset them: UPDATE \"Book\" AS x SET \"genreId\" = NULL WHERE "))
        #expect(shown.lines.filter { $0.hasPrefix("  repair: ") }.count == 3, "\(shown.output)")
        // Required values can't be unset: a person must decide.
        #expect(shown.lines.filter { $0.hasPrefix("  by hand: save the missing objects, or delete ") }.count == 2)
        for input in ["", "n\n"] {
            let run = try file.run("check", ["--repair"], input: input)
            #expect(run.exitCode == 1 && run.lines.contains("nothing was fixed"), "\(run.output)")
            #expect(run.errors.contains("Fix 3 of 5 findings? [y/N]"), "\(run.errors)")
        }
        #expect(try file.bytes() == before)
    }

    @Test func safeRepairsAreMade() throws {
        let file = try damagedLibrary()
        let run = try file.run("check", ["--repair"], input: "y\n")
        #expect(run.exitCode == 1)
        let told = run.lines.filter { $0.hasPrefix("fixed: ") }
        #expect(told == ["fixed: Book.genre", "fixed: Book.authors", "fixed: Book.authors"], "\(run.output)")
        #expect(run.lines.contains("2 findings are left"))
        #expect(try file.rows("SELECT count(*) FROM Book WHERE genreId IS NULL") == ["4"])
        #expect(try file.rows("SELECT count(*) FROM Book_authors WHERE bookId = 80 OR authorId = 70") == ["0"])
        #expect(try file.rows("SELECT count(*) FROM Loan WHERE readerId = 2") == ["1"], "a required one is left")
        let again = try file.run("check", "--repair", "--yes")
        #expect(again.exitCode == 1 && again.lines.contains("nothing can be fixed safely"), "\(again.output)")
        try file.execute("INSERT INTO Reader VALUES (2, 'Amadou Diallo')")
        let sound = try file.run("check", "--repair", "--yes")
        #expect(sound.exitCode == 0 && sound.output.contains("no findings"), "\(sound.output)")
    }

    @Test func yesRepairsEverythingWithoutAsking() throws {
        let file = try SampleFile.library()
        try file.execute("UPDATE Book SET genreId = 50 WHERE id = 1")
        let run = try file.run("check", "--repair", "--yes")
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.lines.suffix(3) == ["fixed: Book.genre", "no findings are left", ""], "\(run.output)")
    }

    @Test func backupsAreMadeBeforeRepairs() throws {
        let folder = try TemporaryFolder()
        let file = try damagedLibrary()
        let copy = folder.path("before.sqlite")
        let run = try file.run("check", "--repair", "--yes", "--backup", copy)
        #expect(run.lines.contains("2 findings are left"), "\(run.output)\(run.errors)")
        #expect(try SampleFile(copyOf: copy).rows("SELECT count(*) FROM Book WHERE genreId = 50") == ["4"])
        // If no backup can be made, nothing is fixed.
        let other = try damagedLibrary()
        let before = try other.bytes()
        let refused = try other.run("check", "--repair", "--yes", "--backup", copy)
        #expect(refused.exitCode == 1 && refused.hasErrorAtEnd && refused.errors.contains("already exists"))
        #expect(try other.bytes() == before)
    }

    @Test func aBackupThatIsNoRegularFileIsRefusedBeforeAnythingIsChecked() throws {
        let folder = try TemporaryFolder()
        let pipe = folder.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        for file in [try SampleFile.library(), try damagedLibrary()] {
            for path in [pipe, "/dev/null", folder.url.path] {
                let run = try file.run("check", "--repair", "--yes", "--backup", path)
                #expect(run.exitCode == 1 && run.hasErrorLine && run.output.isEmpty, "\(path): \(run.output)")
            }
        }
        withExtendedLifetime(folder) {}
    }

    @Test func damagedIndexesAreRebuilt() throws {
        let file = try SampleFile.library()
        try file.damageIndex()
        let run = try file.run("check", "--repair", "--yes")
        #expect(run.exitCode == 0, "\(run.output)\(run.errors)")
        #expect(run.lines.contains("  repair: rebuild the indexes: REINDEX"))
        #expect(try file.run("check").exitCode == 0)
        #expect(
            try file.rows("SELECT count(*) FROM Review INDEXED BY Review_stars WHERE stars > 0")
                == file.rows("SELECT count(*) FROM Review NOT INDEXED WHERE stars > 0"))
    }

    /// Tables of another program, with triggers of its own.
    @Test func refusedRepairsAreReported() throws {
        let file = try SampleFile(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY);
            CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a, other INTEGER REFERENCES a ON DELETE CASCADE);
            CREATE TABLE c (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a);
            CREATE TRIGGER t BEFORE UPDATE ON b BEGIN SELECT raise(ABORT, 'b is closed'); END;
            INSERT INTO b VALUES (1, 7, NULL), (2, NULL, 8); INSERT INTO c VALUES (1, 7);
            """)
        let run = try file.run("check", "--repair", "--yes")
        #expect(run.exitCode == 1)
        #expect(run.lines.contains("fixed: c.a"), "\(run.output)")
        #expect(run.lines.contains { $0.hasPrefix("not fixed: b.a: ") && $0.contains("b is closed") }, "\(run.output)")
        #expect(run.lines.contains("2 findings are left"), "what would have gone with its target is for a person")
        #expect(try file.rows("SELECT a, other FROM b ORDER BY id") == ["7|NULL", "NULL|8"])
        #expect(try file.rows("SELECT a FROM c") == ["NULL"])
    }

    @Test func repairsDoNotWriteToADamagedFile() throws {
        let file = try SampleFile.library()
        try file.execute(
            """
            UPDATE Book SET genreId = 50 WHERE id = 1;
            WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
            INSERT INTO Author (name) SELECT 'author ' || i FROM n
            """)
        let handle = try #require(FileHandle(forUpdatingAtPath: file.path))
        let size = try handle.seekToEnd()
        for place in stride(from: size / 2, to: size - 4096, by: 4096) {
            try handle.seek(toOffset: place / 4096 * 4096)
            try handle.write(contentsOf: Data(repeating: 0xAA, count: 512))
        }
        try handle.close()
        let before = try file.bytes()
        let run = try file.run("check", "--repair", "--yes")
        #expect(run.exitCode == 1 && run.lines.contains("nothing can be fixed safely"), "\(run.output)\(run.errors)")
        #expect(try file.bytes() == before)
    }

    @Test func repairOptionsNeedRepair() throws {
        let file = try SampleFile.library()
        for option in [["--yes"], ["--dry-run"], ["--backup", "x.sqlite"]] {
            let run = try file.run("check", option)
            #expect(run.exitCode == 64 && run.errors.contains("need --repair"), "\(run.errors)")
        }
        let server = try Tool.run("check", "postgres://u@localhost/x", "--repair", "--backup", "copy.sqlite")
        #expect(server.exitCode == 1 && server.errors.contains("pg_dump"), "\(server.errors)")
    }
}
#endif
