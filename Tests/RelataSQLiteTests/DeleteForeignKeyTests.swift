import Foundation
import RelataCore
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// Foreign keys of other programs' files, one kind at a time. ``DeleteForeignPropertyTests`` mixes them.
@Suite struct DeleteForeignKeyTests {
    @Test func referencesAreReadByTheCollationOfTheirTarget() throws {
        for (collation, other) in [("NOCASE", "ABC"), ("RTRIM", "Abc  ")] {
            let file = try DeletionFile(
                """
                CREATE TABLE p (code TEXT COLLATE \(collation) PRIMARY KEY);
                CREATE TABLE x (id INTEGER PRIMARY KEY, p TEXT REFERENCES p ON DELETE CASCADE);
                CREATE TABLE y (id INTEGER PRIMARY KEY, x INTEGER REFERENCES x ON DELETE SET NULL);
                INSERT INTO p VALUES ('Abc'), ('other'); INSERT INTO x VALUES (1, '\(other)'), (2, 'Abc'), (3, 'other');
                INSERT INTO y VALUES (1, 1), (2, 3);
                """)
            let plan = try file.plan("p", "Abc")
            #expect(plan.deletedKeys(of: "x") == .of(1, 2))
            #expect(plan.nullified == [NullifiedLinks(entity: "y", property: "x", keys: .of(1))])
            #expect(try file.delete("p", "Abc") == plan)
            #expect(try file.count("x") == 1)
        }
    }

    @Test func aTextThatRefersToAnIntegerIsPlannedAndDeleted() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TABLE x (id INTEGER PRIMARY KEY, p TEXT REFERENCES p ON DELETE CASCADE);
            INSERT INTO p VALUES (7), (8); INSERT INTO x VALUES (1, '7'), (2, '07'), (3, '8');
            """)
        let plan = try file.plan("p", 7)
        #expect(plan.deletedKeys(of: "x") == .of(1, 2))
        #expect(try file.delete("p", 7) == plan)
    }

    /// Values stay as they are in a column of a strict table that takes any.
    @Test func strictAnyColumnsReferByTheirValues() throws {
        for action in ["CASCADE", "SET NULL"] {
            let file = try DeletionFile(
                """
                CREATE TABLE p (id INTEGER PRIMARY KEY, f INTEGER REFERENCES p ON DELETE CASCADE);
                CREATE TABLE c (id INTEGER PRIMARY KEY, f ANY REFERENCES p ON DELETE \(action)) STRICT;
                INSERT INTO p VALUES (7, 7), (8, NULL); INSERT INTO c VALUES (1, '7'), (2, 7), (3, 8);
                """)
            let plan = try file.plan("p", 7)
            let concerned = action == "CASCADE" ? plan.deletedKeys(of: "c") : plan.nullified.first?.keys
            #expect(concerned == .of(1, 2))
            #expect(try file.delete("p", 7) == plan)
        }
    }

    /// A name that is reserved may be another program's all the same.
    @Test func rowsOfTablesWithReservedNamesPreventADeletion() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TABLE relata_notes (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p ON DELETE CASCADE);
            INSERT INTO p VALUES (1), (2); INSERT INTO relata_notes VALUES (1, 1);
            """)
        #expect(throws: RelataError.self) { try file.delete("p", 1) }
        #expect(try file.count("p") == 2 && file.count("relata_notes") == 1)
        #expect(try file.delete("p", 2).deletedKeys(of: "p") == .of(2))
    }

    @Test func ambiguousReferencesAreRefused() throws {
        // The text '07' refers to 7, and ON DELETE CASCADE doesn't find it: SQLite itself refuses.
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INT PRIMARY KEY);
            CREATE TABLE x (id INTEGER PRIMARY KEY, p TEXT REFERENCES p ON DELETE CASCADE);
            INSERT INTO p VALUES (7), (8); INSERT INTO x VALUES (1, '7'), (2, '07'), (3, '8');
            """)
        #expect(try file.plan("p", 7).blockers.map(\.object.key) == [KeyValue(2)])
        #expect(throws: RelataError.self) { try file.delete("p", 7) }
        #expect(try file.count("x") == 3)
        #expect(try file.delete("p", 8).deletedCount == 2)
    }

    /// Blockers by one or several rules are reported once, with the reason if there is no rule.
    @Test func unplannableDeletionsAreReportedOnceWithTheirReason() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INT PRIMARY KEY);
            CREATE TABLE x (id INTEGER PRIMARY KEY, p TEXT REFERENCES p ON DELETE CASCADE);
            CREATE TABLE y (id INTEGER PRIMARY KEY, p INT REFERENCES p);
            INSERT INTO p VALUES (7); INSERT INTO x VALUES (2, '07'); INSERT INTO y VALUES (1, 7);
            """)
        let blockers = try file.plan("p", 7).blockers
        #expect(blockers.map(\.object.entity).sorted() == ["x", "y"], "\(blockers)")
        #expect(blockers.filter { $0.reason != nil }.map(\.object.entity) == ["x"])
        let error = #expect(throws: RelataError.self) { try file.delete("p", 7) }
        #expect(error?.description.contains("their types or collations differ") == true, "\(error as Any)")
        #expect(try file.plan("p", 7).description.contains("y 1 is linked to p 7 (p.ys denies)"), "\(blockers)")
    }

    /// SQLite chooses which of the two actions comes first; with `SET NULL` first, the deletion would fail.
    @Test func requiredColumnsThatWouldBeUnsetPreventADeletion() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TABLE q (id INTEGER PRIMARY KEY REFERENCES p ON DELETE CASCADE);
            CREATE TABLE x (id INTEGER PRIMARY KEY, p INTEGER NOT NULL REFERENCES p ON DELETE CASCADE,
                FOREIGN KEY (p) REFERENCES q ON DELETE SET NULL);
            INSERT INTO p VALUES (1), (2); INSERT INTO q VALUES (1), (2); INSERT INTO x VALUES (1, 1);
            """)
        let blockers = try file.plan("p", 1).blockers
        #expect(blockers.map(\.object.key) == [KeyValue(1)])
        #expect(blockers.first?.reason?.contains("shares a column") == true, "\(blockers)")
        #expect(throws: RelataError.self) { try file.delete("p", 1) }
        #expect(try file.count("x") == 1)
        #expect(try file.delete("p", 2).deletedCount == 2)
    }

    /// A single unset column suffices: the row then refers to nothing, and the other column is required.
    @Test func cyclesAreBrokenAtOptionalColumns() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (a INTEGER, b INTEGER, c INTEGER NOT NULL, d INTEGER, PRIMARY KEY (a, b),
                FOREIGN KEY (c, d) REFERENCES p (a, b) ON DELETE CASCADE);
            INSERT INTO p VALUES (1, 1, 1, NULL), (1, 2, 1, 1), (1, 3, 1, 2); UPDATE p SET d = 3 WHERE b = 1;
            """)
        let root = KeyValue([.integer(1), .integer(2)])
        let report = try file.connection.delete(
            entity: 0, roots: .keys([root]), schema: file.schema, access: .everything)
        #expect(report.deletedCount == 3)
        #expect(try file.count("p") == 0)
    }

    /// Untying the row takes away the value by which another one refers to it.
    @Test func referencedValuesAreUnsetWhileReferencesAreDeferred() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY, u TEXT UNIQUE, b INTEGER REFERENCES b ON DELETE CASCADE);
            CREATE TABLE b (id INTEGER PRIMARY KEY, u TEXT UNIQUE REFERENCES a (u), c TEXT REFERENCES b (u) ON DELETE CASCADE);
            INSERT INTO b VALUES (1, NULL, NULL), (4, NULL, NULL), (5, NULL, NULL); INSERT INTO a VALUES (1, 'x', 1);
            UPDATE b SET u = 'x' WHERE id = 1; UPDATE b SET c = 'x' WHERE id = 4;
            """)
        let plan = try file.plan("b", 1)
        #expect(plan.deletedCount == 3)
        #expect(try file.delete("b", 1) == plan)
        #expect(try file.count("a") == 0 && file.count("b") == 1)
        #expect(try file.connection.values(SQLStatement("PRAGMA foreign_key_check")).isEmpty)
    }

    @Test func aReferenceToAUniqueColumnIsFollowed() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY, code TEXT); CREATE UNIQUE INDEX p_code ON p (code);
            CREATE TABLE x (id INTEGER PRIMARY KEY, code TEXT REFERENCES p (code) ON DELETE CASCADE);
            CREATE TABLE y (id INTEGER PRIMARY KEY, code TEXT REFERENCES p (code) ON DELETE SET NULL);
            CREATE TABLE z (id INTEGER PRIMARY KEY, code TEXT REFERENCES p (code));
            INSERT INTO p VALUES (1, 'a'), (2, 'b'), (3, 'c');
            INSERT INTO x VALUES (1, 'a'), (2, 'b'); INSERT INTO y VALUES (1, 'a'), (2, 'b'); INSERT INTO z VALUES (1, 'c');
            """)
        let plan = try file.plan("p", 1)
        #expect(plan.deletedKeys(of: "x") == .of(1))
        #expect(plan.nullified == [NullifiedLinks(entity: "y", property: "code", keys: .of(1))])
        #expect(try file.delete("p", 1) == plan)
        #expect(try file.plan("p", 3).blockers.map(\.relationship) == ["z.code"])
    }

    @Test func aSecondForeignKeyOnAColumnIsFollowed() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY);
            CREATE TABLE x (id INTEGER PRIMARY KEY,
                c INTEGER REFERENCES a ON DELETE SET NULL REFERENCES b ON DELETE CASCADE);
            INSERT INTO a VALUES (1), (2); INSERT INTO b VALUES (1), (2); INSERT INTO x VALUES (1, 1), (2, 2);
            """)
        #expect(try file.plan("a", 1).nullified.first?.keys == .of(1))
        #expect(try file.plan("b", 1).deletedKeys(of: "x") == .of(1))
        #expect(try file.delete("b", 1).deletedCount == 2)
        #expect(try file.count("x") == 1)
    }

    @Test func mismatchedForeignKeysAreRefusedUpFront() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY, code TEXT);
            CREATE TABLE x (id INTEGER PRIMARY KEY, code TEXT REFERENCES p (code));
            INSERT INTO p VALUES (1, 'a');
            """)
        #expect {
            try file.plan("p", 1)
        } throws: {
            "\($0)".contains("foreign key mismatch")
        }
        #expect(throws: RelataError.self) { try file.delete("p", 1) }
        #expect(try file.count("p") == 1)
    }

    @Test func foreignKeysToMissingColumnsGetTheSameError() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TABLE x (id INTEGER PRIMARY KEY, other INTEGER REFERENCES p (gone));
            INSERT INTO p VALUES (1);
            """)
        #expect {
            try file.plan("p", 1)
        } throws: {
            "\($0)".contains("foreign key mismatch") && "\($0)".contains("fix the findings of the file's check")
        }
        #expect(throws: RelataError.self) { try file.delete("p", 1) }
        #expect(try file.count("p") == 1)
    }

    /// A cascade through several tables whose rows refer by another affinity or another column.
    @Test(arguments: ["TEXT REFERENCES", "INTEGER REFERENCES", "REFERENCES"], ["", " (code)"])
    func longCascadesFollowSQLitesComparisons(reference: String, column: String) throws {
        var sql = "CREATE TABLE t0 (id INTEGER PRIMARY KEY, code INTEGER UNIQUE); INSERT INTO t0 VALUES (1, 1);"
        for number in 1..<40 {
            sql += """
                CREATE TABLE t\(number) (id INTEGER PRIMARY KEY, code INTEGER UNIQUE,
                    p \(reference) t\(number - 1)\(column) ON DELETE CASCADE);
                INSERT INTO t\(number) VALUES (1, 1, 1);
                """
        }
        let file = try DeletionFile(sql)
        #expect(try file.plan("t0", 1).deletedCount == 40)
        #expect(try file.delete("t0", 1).deletedCount == 40)
    }

    @Test func brokenTriggersAreNamed() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TRIGGER t AFTER DELETE ON p BEGIN DELETE FROM gone; END;
            INSERT INTO p VALUES (1);
            """)
        #expect {
            try file.plan("p", 1)
        } throws: {
            "\($0)".contains("no such table: main.gone") && "\($0)".contains("fix or drop the trigger")
        }
    }

    @Test func rowsOfSkippedTablesPreventADeletion() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TABLE hidden (rowid TEXT, oid TEXT, _rowid_ TEXT, p INTEGER REFERENCES p ON DELETE CASCADE);
            INSERT INTO p VALUES (1), (2); INSERT INTO hidden VALUES ('', '', '', 1);
            """)
        for isPlan in [true, false] {
            #expect {
                if isPlan { _ = try file.plan("p", 1) } else { try file.delete("p", 1) }
            } throws: {
                "\($0)".contains("hidden.p refers to p")
            }
        }
        #expect(try file.count("hidden") == 1)
        #expect(try file.delete("p", 2).deletedCount == 1)
        let notes = try Introspection.read(file.connection).notes.map(\.description)
        #expect(notes.contains { $0.hasPrefix("hidden: ") && $0.contains("rows of p that it refers to") })
    }

    @Test func foreignKeysToMissingTablesAreNamed() throws {
        let connection = try Connection(path: nil)
        try connection.execute(
            """
            CREATE VIRTUAL TABLE words USING fts5(text); CREATE VIEW v AS SELECT 1 AS id;
            CREATE TABLE x (id INTEGER PRIMARY KEY, a INTEGER REFERENCES words (rowid), b INTEGER REFERENCES v (id),
                c INTEGER REFERENCES words_data (id), d INTEGER REFERENCES relata_notes (id));
            CREATE TABLE relata_notes (id INTEGER PRIMARY KEY);
            """)
        let notes = try Introspection.read(connection).notes.map(\.description)
        #expect(notes.contains { $0.contains("words points at a virtual table, which is left out") }, "\(notes)")
        #expect(notes.contains { $0.contains("v points at a view, which is left out") }, "\(notes)")
        #expect(notes.contains { $0.contains("a table that belongs to a virtual one") }, "\(notes)")
        #expect(
            notes.contains { $0.contains("relata_notes points at a table with a name that Relata reserves") },
            "\(notes)")
    }

    @Test func aColumnThatAlsoRefersToItsOwnTableStillCascades() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TABLE c (id INTEGER PRIMARY KEY, r INTEGER,
                FOREIGN KEY (r) REFERENCES p ON DELETE CASCADE, FOREIGN KEY (r) REFERENCES c ON DELETE RESTRICT);
            INSERT INTO p VALUES (3); INSERT INTO c VALUES (3, NULL), (2, 3), (5, 3); UPDATE c SET r = 3;
            """)
        let plan = try file.plan("p", 3)
        #expect(plan.deletedCount == 4)
        #expect(try file.delete("p", 3).deletedCount == 4)
        #expect(try file.connection.value(SQLStatement("SELECT count(*) FROM c")) == 0)
    }

    /// SQLite looks up the rows of `n` by their index, for which it turns the text into a number; then it no longer finds
    /// the row of `c`.
    @Test func aTargetWhoseValueSQLiteConvertsIsRefused() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY, code BLOB UNIQUE);
            CREATE TABLE n (code NUMERIC UNIQUE REFERENCES p (code));
            CREATE TABLE c (id INTEGER PRIMARY KEY, code BLOB REFERENCES p (code) ON DELETE CASCADE);
            INSERT INTO p VALUES (1, '2'), (2, 'a'); INSERT INTO c VALUES (1, '2'), (2, 'a');
            """)
        #expect(throws: RelataError.self) { try file.connection.execute("DELETE FROM p WHERE id = 1") }
        #expect(try file.plan("p", 1).blockers.map(\.object.entity) == ["c"])
        #expect(throws: RelataError.self) { try file.delete("p", 1) }
        #expect(try file.count("c") == 2)
        #expect(try file.delete("p", 2).deletedCount == 2)
    }

    @Test func foreignKeysWithReorderedColumnsAreReportedByTheRowsKey() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (a TEXT, b TEXT, PRIMARY KEY (a, b));
            CREATE TABLE k (a TEXT, b TEXT, PRIMARY KEY (a, b), FOREIGN KEY (b, a) REFERENCES p ON DELETE CASCADE);
            CREATE TABLE x (id INTEGER PRIMARY KEY, a TEXT, b TEXT, FOREIGN KEY (a, b) REFERENCES k ON DELETE CASCADE);
            INSERT INTO p VALUES ('1', '2'), ('2', '1'); INSERT INTO k VALUES ('2', '1'), ('1', '2');
            INSERT INTO x VALUES (1, '2', '1'), (2, '1', '2');
            """)
        let keys = KeyList([KeyValue(["1", "2"])], width: 2)
        let table = try #require(file.schema.index(of: "p"))
        let plan = try file.connection.deletionPlan(
            of: table, roots: .keys([KeyValue(["1", "2"])]), schema: file.schema, access: .everything)
        #expect(plan.deletedKeys(of: "k") == KeyList([KeyValue(["2", "1"])], width: 2))
        #expect(plan.deletedKeys(of: "p") == keys && plan.deletedKeys(of: "x") == .of(1))
    }

    /// The composite reference loses a column by the other one, and keeps the rest.
    @Test func aPartOfACompositeReferenceIsUnset() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY, u INTEGER UNIQUE);
            CREATE TABLE q (a INTEGER, b INTEGER, PRIMARY KEY (a, b));
            CREATE TABLE c (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER,
                FOREIGN KEY (a, b) REFERENCES q, FOREIGN KEY (b) REFERENCES p (u) ON DELETE SET NULL);
            CREATE TABLE log (text TEXT); CREATE TRIGGER t AFTER DELETE ON p BEGIN INSERT INTO log VALUES ('p'); END;
            INSERT INTO p VALUES (1, 2); INSERT INTO q VALUES (1, 2); INSERT INTO c VALUES (1, 1, 2);
            """)
        #expect(try file.delete("p", 1).deletedCount == 1)
        #expect(try file.connection.values(SQLStatement("SELECT a, b FROM c")) == [[1, .null]])
        #expect(try file.count("log") == 1)
    }

    /// SQLite unsets the value of `m`, and then no longer finds `x` by it when `m` itself is deleted.
    @Test func targetsUnsetBeforeTheirDeletionAreRefused() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TABLE m (id INTEGER PRIMARY KEY, own INTEGER REFERENCES p ON DELETE CASCADE,
                u INTEGER UNIQUE REFERENCES p ON DELETE SET NULL);
            CREATE TABLE x (id INTEGER PRIMARY KEY, m INTEGER REFERENCES m (u) ON DELETE CASCADE);
            INSERT INTO p VALUES (1), (2); INSERT INTO m VALUES (1, 1, 1), (2, 2, NULL); INSERT INTO x VALUES (1, 1);
            """)
        #expect(try file.plan("p", 1).blockers.map(\.object.entity) == ["x"])
        #expect(try file.delete("p", 2).deletedCount == 2)
    }

    /// The default of a row that is deleted too may refer in another way than SQLite counts.
    @Test func aDefaultOfAnotherAffinityIsRefused() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE t (code TEXT PRIMARY KEY, c BLOB DEFAULT 1 REFERENCES t ON DELETE SET DEFAULT);
            INSERT INTO t VALUES ('2', NULL), ('1', '2'), ('3', NULL);
            """)
        let roots = DeletionRoots.keys([KeyValue("1"), KeyValue("2")])
        let plan = try file.connection.deletionPlan(of: 0, roots: roots, schema: file.schema, access: .everything)
        #expect(plan.isDenied)
        #expect(try file.delete("t", "3").deletedCount == 1)
    }

    /// SQLite returns the number of a changed row as a real number if the table begins with a REAL column.
    @Test func rowIDsAreReportedAsIntegers() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (code TEXT PRIMARY KEY);
            CREATE TABLE c (u REAL, p TEXT REFERENCES p ON DELETE SET NULL);
            INSERT INTO p VALUES ('a'), ('b'); INSERT INTO c VALUES (4, 'a'), (5, 'b'), (6, 'a');
            """)
        let report = try file.delete("p", "a")
        #expect(report.nullified.map(\.keys) == [KeyList([KeyValue(.integer(1)), KeyValue(.integer(3))])])
    }

    @Test(arguments: [
        ("INTEGER DEFAULT 9 REFERENCES p ON DELETE SET DEFAULT", "c.p its default (SET DEFAULT)"),
        ("INTEGER NOT NULL REFERENCES p ON DELETE SET DEFAULT", "c.p its default (SET DEFAULT)"),
        ("INTEGER NOT NULL REFERENCES p ON DELETE SET NULL", "unset c.p (SET NULL), which is required"),
    ]) func unsupportedActionsAreNamedInTheDenial(key: String, reason: String) throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (id INTEGER PRIMARY KEY, p \(key));
            INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (1, 1);
            """)
        let plan = try file.plan("p", 1)
        #expect(plan.blockers.map(\.relationship) == ["p.cs"])
        #expect(plan.description.contains("c 1 is linked to p 1 (p.cs: the database would"), "\(plan)")
        #expect(plan.blockers.first?.reason?.contains(reason) == true, "\(plan)")
        #expect { _ = try file.delete("p", 1) } throws: { "\($0)".contains(reason) }
        #expect(try file.delete("p", 2).deletedCount == 1)
    }
}
