import RelataCore
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// Triggers and conditions of other programs' files that prevent a planned deletion.
@Suite struct DeleteObstacleTests {
    @Test func aTriggerThatKeepsPlannedRowsRollsBackTheDeletion() throws {
        let triggers = [
            "BEFORE DELETE ON p BEGIN SELECT RAISE(IGNORE); END",
            "AFTER DELETE ON p BEGIN INSERT INTO p (id) VALUES (OLD.id); END",
            "BEFORE DELETE ON x WHEN OLD.id = 2 BEGIN SELECT RAISE(IGNORE); END",
            "AFTER DELETE ON p BEGIN UPDATE y SET p = 2 WHERE p IS NULL; END",
            "AFTER DELETE ON p BEGIN DELETE FROM y; END",
            // These triggers change the row instead of letting it be deleted.
            "BEFORE DELETE ON p BEGIN UPDATE p SET note = 'gone' WHERE id = OLD.id; SELECT RAISE(IGNORE); END",
            "BEFORE DELETE ON x WHEN OLD.id = 2 BEGIN INSERT INTO log VALUES (OLD.id); SELECT RAISE(IGNORE); END",
        ]
        for trigger in triggers {
            let file = try DeletionFile(
                """
                CREATE TABLE p (id INTEGER PRIMARY KEY, note TEXT); CREATE TABLE log (id INTEGER);
                CREATE TABLE x (id INTEGER PRIMARY KEY, p INTEGER NOT NULL REFERENCES p ON DELETE CASCADE);
                CREATE TABLE y (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p ON DELETE SET NULL);
                INSERT INTO p (id) VALUES (1), (2); INSERT INTO x VALUES (1, 1), (2, 1); INSERT INTO y VALUES (1, 1);
                CREATE TRIGGER guard \(trigger);
                """)
            #expect(throws: RelataError.self, "\(trigger)") { try file.delete("p", 1) }
            #expect(try file.count("p") == 2)
            #expect(try file.count("x") == 2)
            #expect(try file.connection.value(SQLStatement("SELECT p FROM y")) == 1)
        }
    }

    /// The row that refers stays, so that SQLite refuses to delete the one it refers to.
    @Test func aTriggerThatKeepsARowIsNamedInTheError() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TABLE x (id INTEGER PRIMARY KEY, p INTEGER NOT NULL REFERENCES p ON DELETE CASCADE);
            CREATE TABLE z (id INTEGER PRIMARY KEY, x INTEGER NOT NULL REFERENCES x ON DELETE CASCADE);
            INSERT INTO p VALUES (1); INSERT INTO x VALUES (1, 1), (2, 1); INSERT INTO z VALUES (1, 2);
            CREATE TRIGGER guard BEFORE DELETE ON z BEGIN SELECT RAISE(IGNORE); END;
            """)
        let error = #expect(throws: RelataError.self) { try file.delete("p", 1) }
        #expect(error?.description.contains("a trigger (guard)") == true, "\(error as Any)")
        #expect(error?.description.contains("1 of 1 z would still be there") == true, "\(error as Any)")
        #expect(try file.count("x") == 2 && file.count("z") == 1)
    }

    @Test func aTriggerThatKeepsAReferenceIsNamed() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TABLE c (id INTEGER PRIMARY KEY, r INTEGER REFERENCES p ON DELETE SET NULL);
            INSERT INTO p VALUES (1); INSERT INTO c VALUES (1, 1);
            CREATE TRIGGER guard BEFORE UPDATE ON c BEGIN SELECT RAISE(IGNORE); END;
            """)
        let error = #expect(throws: RelataError.self) { try file.delete("p", 1) }
        #expect(error?.description.contains("a trigger (guard)") == true, "\(error as Any)")
        #expect(error?.description.contains("c.r would not be unset as planned") == true, "\(error as Any)")
        #expect(try file.count("p") == 1 && file.count("c") == 1)
    }

    @Test func triggersThatWriteALogAreAllowed() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE log (id INTEGER PRIMARY KEY, p INTEGER);
            INSERT INTO p VALUES (1), (2);
            CREATE TRIGGER logging AFTER DELETE ON p BEGIN INSERT INTO log (p) VALUES (OLD.id); END;
            """)
        #expect(try file.delete("p", 1).deletedCount == 1)
        #expect(try file.count("log") == 1)
    }

    // MARK: Conditions

    /// Unknown to a plan, because it reads no conditions of other programs.
    @Test(arguments: [
        ("CHECK (p IS NOT NULL OR q IS NOT NULL)", "", "CHECK constraint failed: p IS NOT NULL OR q IS NOT NULL"),
        ("", "CREATE UNIQUE INDEX one ON c (coalesce(p, 0));", "UNIQUE constraint failed: index 'one'"),
    ])
    func checksThatRefuseUnsetValuesAreNamed(check: String, index: String, reason: String) throws {
        let columns = "id INTEGER PRIMARY KEY, p INTEGER REFERENCES p ON DELETE SET NULL, q INTEGER"
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (\(columns)\(check.isEmpty ? "" : ", ")\(check)); \(index)
            INSERT INTO p VALUES (1), (2); INSERT INTO c (id, p) VALUES (1, 1), (2, 2);
            """)
        let error = #expect(throws: RelataError.self) { try file.delete("p", 1, 2) }
        #expect(
            error?.description.contains("p can't be deleted: c.p would be unset, which c refuses (\(reason))") == true)
        #expect(try file.count("p") == 2)
        #expect(try file.connection.values(SQLStatement("SELECT p FROM c ORDER BY p")) == [[1], [2]])
    }
}
