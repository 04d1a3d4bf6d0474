#if CommandLineTool
import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import Testing

@Suite struct DeleteTests {
    @Test func aPlanIsATreeAndChangesNothing() throws {
        let file = try SampleFile.library()
        let before = try file.bytes()
        let run = try file.run("delete", "Publisher", "2", "--dry-run")
        #expect(run.exitCode == 0)
        #expect(
            run.output == """
                Publisher: 1 object (2 "Harper & Row")
                └─ Publisher.books → Book: 2 objects (3 "The Dispossessed", 4 "The Wind's Twelve Quarters")
                   └─ Book.reviews → Review: 3 objects (3 "Both moons are real.", 4, 5 "Short and sharp.")
                join rows removed: Book.authors, 2 rows

                """)
        #expect(try file.bytes() == before)
    }

    @Test func deniedPlansNameTheBlockersAndFail() throws {
        let file = try SampleFile.library()
        let before = try file.bytes()
        for arguments in [["--dry-run"], ["--yes"]] {
            let run = try file.run("delete", "Publisher", "1", arguments[0])
            #expect(run.exitCode == 1)
            #expect(run.lines.contains("denied: nothing is deleted while"))
            #expect(
                run.lines.contains(
                    "  Loan 3 \"2026-11-03\" is linked to Book 1 \"The Left Hand of Darkness\" (Book.loans denies)"))
            #expect(try file.bytes() == before)
        }
    }

    @Test func aPlanNamesListsThatWouldBecomeTooShort() throws {
        let file = try SampleFile("", name: "boats.sqlite")
        let connection = try Connection(path: file.path)
        let key = Property.attribute(Attribute("id", type: .integer))
        let crew = Relationship("crew", target: "Sailor", kind: .toMany(inverse: "boat"), minimumCount: 2)
        let boat = Relationship("boat", target: "Boat", kind: .toOne(isOptional: true))
        let entities = [
            Entity(name: "Boat", properties: [key, .relationship(crew)], key: ["id"]),
            Entity(name: "Sailor", properties: [key, .relationship(boat)], key: ["id"]),
        ]
        try Migrator.migrate(connection, schema: Schema(entities))
        try connection.execute("INSERT INTO Boat VALUES (1); INSERT INTO Sailor VALUES (1, 1), (2, 1), (3, NULL)")
        try connection.close()
        let before = try file.bytes()
        for argument in ["--dry-run", "--yes"] {
            let run = try file.run("delete", "Sailor", "2", argument)
            #expect(run.exitCode == 1)
            #expect(
                run.output == """
                    Sailor: 1 object (2)
                    denied: nothing is deleted while
                      Boat 1: crew must have at least 2, and would have 1

                    """)
            #expect(try file.bytes() == before)
        }
        #expect(try file.run("delete", "Sailor", "3", "--yes").exitCode == 0)
    }

    @Test func confirmedPlansAreCarriedOut() throws {
        let file = try SampleFile.library()
        let run = try file.run("delete", "Publisher", "2", input: "y\n")
        #expect(run.exitCode == 0)
        #expect(run.errors.contains("Delete 6 objects? [y/N]"))
        #expect(run.lines.contains { $0.hasPrefix("deleted 6 objects: ") && $0.contains("2 Book") })
        #expect(try file.rows("SELECT count(*) FROM Book") == ["7"])
        #expect(try file.rows("SELECT count(*) FROM Review") == ["6"])
        #expect(try file.rows("SELECT count(*) FROM Author") == ["6"])
        #expect(try file.rows("PRAGMA journal_mode") == ["delete"], "the file stays as its program made it")
        #expect(try file.run("check").exitCode == 0)
    }

    @Test(arguments: ["n\n", "\n", "", "nonsense\n"])
    func everyAnswerButYesDeletesNothing(answer: String) throws {
        let file = try SampleFile.library()
        let before = try file.bytes()
        let run = try file.run("delete", "Publisher", "2", input: answer)
        #expect(run.exitCode == 1)
        #expect(run.lines.contains("nothing was deleted"))
        #expect(try file.bytes() == before)
    }

    @Test func referencesBecomeUnset() throws {
        let file = try SampleFile.library()
        let run = try file.run("delete", "genre", "2", "--yes")
        #expect(run.exitCode == 0)
        #expect(run.lines.contains("unset: Book.genre of 2 objects (5 \"Good Omens\", 6 \"Mort\")"))
        #expect(try file.rows("SELECT count(*) FROM Book WHERE genreId IS NULL") == ["2"])
    }

    @Test func severalKeysAreOneDeletion() throws {
        let file = try SampleFile.library()
        // Each deletion alone would be denied by the loans of the other object.
        let run = try file.run("delete", "Loan", "1", "3", "3", "--yes")
        #expect(run.exitCode == 0)
        #expect(run.lines.last { !$0.isEmpty } == "deleted 2 objects: 2 Loan")
        #expect(try file.rows("SELECT id FROM Loan") == ["2"])
    }

    @Test func textAndCompositeKeysAreTypedDirectly() throws {
        let file = try SampleFile(
            """
            CREATE TABLE Artist (name TEXT PRIMARY KEY NOT NULL);
            CREATE TABLE Seat (hall TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (hall, number));
            INSERT INTO Artist VALUES ('Mei Chen'), ('Smith, John'), ('-x');
            INSERT INTO Seat VALUES ('A', 1), ('A', 2), ('B,C', 1);
            """)
        #expect(try file.run("delete", "Artist", "Mei Chen", "Smith, John", "--yes").exitCode == 0)
        #expect(try file.run("delete", "Artist", "--yes", "--", "-x").exitCode == 0)
        #expect(try file.rows("SELECT count(*) FROM Artist") == ["0"])
        #expect(try file.run("delete", "Seat", "A,2", "B\\,C,1", "--yes").exitCode == 0)
        #expect(try file.rows("SELECT * FROM Seat") == ["A|1"])
        let short = try file.run("delete", "Seat", "A", "--yes")
        #expect(short.exitCode == 1 && short.errors.contains("give hall,number"))
        let wrong = try file.run("delete", "Seat", "A,one", "--yes")
        #expect(wrong.exitCode == 1 && wrong.errors.contains("number is an integer"))
    }

    @Test func aNegativeKeyNeedsNoTerminator() throws {
        let file = try SampleFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TABLE q (a INTEGER, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
            INSERT INTO p VALUES (-4), (-3), (-2), (-1), (1); INSERT INTO q VALUES (-3, -12), (1, -2), (1, 2);
            """)
        #expect(try file.run("delete", "p", "-3", "--yes").lines.contains("deleted 1 object: 1 p"))
        #expect(try file.run("delete", "p", "--yes", "-2", "1", "--", "-1").exitCode == 0)
        #expect(try file.rows("SELECT id FROM p") == ["-4"])
        #expect(try file.run("delete", "q", "--yes", "-3,-12", "1,-2").exitCode == 0)
        #expect(try file.rows("SELECT a, b FROM q") == ["1|2"])
    }

    @Test func otherValuesWithADashGetAHint() throws {
        let file = try SampleFile("CREATE TABLE p (id TEXT PRIMARY KEY NOT NULL); INSERT INTO p VALUES ('-x')")
        for arguments in [["-x"], ["--yes", "-x"], ["--show", "-3", "1"]] {
            let run = try file.run("delete", ["p"] + arguments)
            #expect(run.exitCode == 64 && run.hasErrorLine, "\(run.errors)")
            #expect(run.errors.contains("a value that begins with - comes at the end, after --"), "\(run.errors)")
        }
        let other = try file.run("fetch", "p", "--sort", "-id", "--bad")
        #expect(other.exitCode == 64 && !other.errors.contains("a value that begins with -"), "\(other.errors)")
        #expect(try file.rows("SELECT count(*) FROM p") == ["1"])
    }

    @Test func aMissingKeyIsAnError() throws {
        let file = try SampleFile.library()
        let run = try file.run("delete", "Loan", "2", "99", "--yes")
        #expect(run.exitCode == 1)
        #expect(run.hasErrorLine && run.errors.contains("library.sqlite has no Loan with the key 99"))
        #expect(try file.rows("SELECT count(*) FROM Loan") == ["3"])
    }

    @Test func lockedFilesStayUnchanged() throws {
        let file = try SampleFile.library()
        let script = "BEGIN IMMEDIATE; DELETE FROM Loan"
        let connection = try SampleConnection(file.path)
        try connection.execute(script)
        let run = try file.run("delete", "Loan", "2", "--yes")
        #expect(run.exitCode == 1)
        #expect(run.hasErrorAtEnd && run.errors.contains("locked"), "\(run.errors)")
        try connection.execute("ROLLBACK")
        #expect(try file.rows("SELECT count(*) FROM Loan") == ["3"])
    }
}
#endif
