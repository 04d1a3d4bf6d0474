import RelataCore
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// Rows of other programs' files that have no key.
@Suite struct DeleteKeylessTests {
    @Test func objectsWithoutAKeyAreNotDeletedByAccident() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TABLE x (code TEXT PRIMARY KEY, p INTEGER REFERENCES p ON DELETE CASCADE);
            INSERT INTO p VALUES (1); INSERT INTO x VALUES (NULL, 1), ('a', 1);
            """)
        #expect(throws: RelataError.self) { try file.plan("p", 1) }
        #expect(throws: RelataError.self) { try file.delete("p", 1) }
        #expect(try file.count("x") == 2)
    }

    @Test func rowsWithoutAKeyThatReferToTheirOwnTableAreUnsetAndReported() throws {
        for trigger in ["", "CREATE TRIGGER t AFTER DELETE ON p BEGIN INSERT INTO log VALUES ('p'); END;"] {
            let file = try DeletionFile(
                """
                CREATE TABLE log (text TEXT);
                CREATE TABLE p (id INT PRIMARY KEY, u INTEGER UNIQUE, q INT REFERENCES p ON DELETE SET NULL,
                    r INTEGER REFERENCES p (u) ON DELETE SET NULL);
                INSERT INTO p VALUES (3, 30, NULL, NULL), (NULL, NULL, 3, NULL), (5, NULL, 3, NULL), (NULL, NULL, NULL, 30);
                \(trigger)
                """)
            let plan = try file.plan("p", 3)
            #expect(
                Set(plan.nullified) == [
                    NullifiedLinks(entity: "p", property: "q", keys: [KeyValue(Value.null), KeyValue(5)]),
                    NullifiedLinks(entity: "p", property: "r", keys: [KeyValue(Value.null)]),
                ])
            #expect(try file.delete("p", 3) == plan)
            #expect(try file.count("p WHERE q IS NULL AND r IS NULL") == 3)
        }
    }

    @Test func rowsWithoutAKeyPreventDeletionsInTheirTable() throws {
        for column in ["id", "u"] {
            let file = try DeletionFile(
                """
                CREATE TABLE p (id INT PRIMARY KEY, u INT UNIQUE, q INT REFERENCES p (\(column)));
                INSERT INTO p VALUES (3, 3, NULL), (NULL, NULL, 3);
                """)
            let object = ObjectReference(entity: "p", key: KeyValue(Value.null))
            #expect(try file.plan("p", 3).blockers.map(\.object) == [object])
            let error = #expect(throws: RelataError.self) { try file.delete("p", 3) }
            guard case .deleteDenied? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test func joinRowsWithOneSideAreDeletedWithIt() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE n (id INTEGER PRIMARY KEY);
            CREATE TABLE link (a INTEGER REFERENCES n, b INTEGER REFERENCES n, PRIMARY KEY (a, b));
            INSERT INTO n VALUES (1), (2); INSERT INTO link VALUES (NULL, 1), (1, 2), (2, 1), (2, 2);
            """)
        let plan = try file.plan("n", 1)
        #expect(plan.removedJoinRows.first?.count == 3)
        #expect(try file.delete("n", 1) == plan)
        #expect(try file.count("link") == 1)
    }

    /// Untying the reference to the own table unsets the column, by which the other reference finds the rows.
}
