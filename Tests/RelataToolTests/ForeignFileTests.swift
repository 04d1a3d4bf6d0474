#if CommandLineTool
import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// Files of other programs, as they are found.
@Suite struct ForeignFileTests {
    @Test func aTextThatRefersToAnIntegerIsDeleted() throws {
        let file = try SampleFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TABLE x (id INTEGER PRIMARY KEY, p TEXT REFERENCES p ON DELETE CASCADE);
            INSERT INTO p VALUES (7); INSERT INTO x VALUES (1, '7'), (2, '7');
            """)
        let run = try file.run("delete", "p", "7", "--yes")
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.output.hasSuffix("deleted 3 objects: 2 x, 1 p\n"))
    }

    @Test func foreignKeysToUniqueColumnsAreFollowedByEitherName() throws {
        let file = try SampleFile(
            """
            CREATE TABLE codes (id INTEGER PRIMARY KEY, code TEXT UNIQUE, name TEXT);
            CREATE TABLE c (id INTEGER PRIMARY KEY, k TEXT REFERENCES codes (code) ON DELETE CASCADE);
            INSERT INTO codes VALUES (1, 'A', 'P'), (2, 'B', 'Q'); INSERT INTO c VALUES (1, 'A'), (2, 'B'), (3, NULL);
            """)
        let inspected = try file.run("inspect")
        #expect(inspected.lines.contains("  code → codes  to-one by k, read-only, inverse cs"), "\(inspected.output)")
        #expect(inspected.output.contains("cs ⇉ c  one-to-many by k, read-only, inverse code, delete: cascade"))
        #expect(inspected.output.contains("note: c.k: its foreign key to codes doesn't point at its primary key"))
        for name in ["k", "code"] {
            let found = try file.run(
                "fetch", "c", "--where", "\(name).name == 'P'", "--include", name, "--format", "json")
            #expect(found.exitCode == 0, "\(found.errors)")
            let objects = try #require(try found.json() as? [[String: Any]])
            #expect(objects.map { $0["id"] as? Int } == [1])
            #expect(objects.first?["k"] as? String == "A")
            #expect((objects.first?["code"] as? [String: Any])?["name"] as? String == "P", "\(found.output)")
        }
        let counted = try file.run("fetch", "codes", "--where", "cs.@count == 1", "--sort", "-cs.@count,id")
        #expect(counted.output.hasSuffix("2 objects\n"), "\(counted.output) \(counted.errors)")
        let sorted = try file.run("fetch", "c", "--where", "k != nil", "--sort", "-k.name", "--format", "csv")
        #expect(sorted.lines.dropFirst().first == "2,B", "\(sorted.output) \(sorted.errors)")
        #expect(try file.run("inspect", "--format", "swift").exitCode == 0)
    }

    /// Links are read only from the foreign keys that exist.
    @Test func aDroppedKeyIsNotFollowed() throws {
        let file = try SampleFile(
            """
            CREATE TABLE codes (id INTEGER PRIMARY KEY, code TEXT UNIQUE, name TEXT);
            CREATE TABLE c (id INTEGER PRIMARY KEY, k TEXT REFERENCES codes (code));
            """)
        #expect(try file.run("fetch", "c", "--where", "k.name == 'P'").exitCode == 0)
        try file.execute("DROP TABLE c; CREATE TABLE c (id INTEGER PRIMARY KEY, k TEXT)")
        let run = try file.run("fetch", "c", "--where", "k.name == 'P'")
        #expect(run.exitCode != 0 && run.errors.contains("c.k is an attribute"), "\(run.errors)")
    }

    /// A foreign key of several columns refers to nothing if one of them is unset.
    @Test func partlyUnsetReferencesAreUnset() throws {
        let file = try SampleFile(
            """
            CREATE TABLE p (a INTEGER, b TEXT, PRIMARY KEY (a, b));
            CREATE TABLE c (id INTEGER PRIMARY KEY, ca INTEGER, cb TEXT, FOREIGN KEY (ca, cb) REFERENCES p (a, b));
            INSERT INTO p VALUES (1, 'x'); INSERT INTO c VALUES (1, 1, 'x'), (3, 1, NULL), (4, NULL, NULL), (5, NULL, 'x');
            """)
        let shown = try file.run("fetch", "c", "--include", "p")
        #expect(shown.exitCode == 0 && !shown.output.contains("missing"), "\(shown.output)")
        for (condition, ids) in [
            ("p == nil", ["3", "4", "5"]), ("p != nil", ["1"]), ("id > 1 AND p == nil", ["3", "4", "5"]),
        ] {
            let run = try file.run("fetch", "c", "--where", condition, "--format", "csv")
            let found = run.output.split(separator: "\n").dropFirst().compactMap { $0.split(separator: ",").first }
            #expect(found.map(String.init) == ids, "\(condition): \(run.output) \(run.errors)")
        }
    }

    /// Functions and collations that another program defines for SQLite aren't part of its file.
    @Test func missingFunctionsOfOtherProgramsAreFindings() throws {
        for (word, message) in [
            ("COLLATE mine", "no such collation sequence: mine"), ("abs", "unknown function: mine()"),
        ] {
            let file = try SampleFile(
                """
                CREATE TABLE p (id INTEGER PRIMARY KEY, n INTEGER); CREATE TABLE x (id INTEGER PRIMARY KEY);
                CREATE INDEX i ON p (\(word == "abs" ? "abs(n)" : "n COLLATE NOCASE"));
                INSERT INTO p VALUES (1, 2); INSERT INTO x VALUES (1);
                PRAGMA writable_schema = ON;
                UPDATE sqlite_schema SET sql = replace(replace(sql, 'NOCASE', 'mine'), 'abs', 'mine') WHERE name = 'i';
                """)
            let check = try file.run("check")
            #expect(check.exitCode == 1)
            #expect(check.output.contains(message), "\(check.output) \(check.errors)")
            #expect(check.output.contains("fix: check it with the program that created it"))
            #expect(try file.run("delete", "x", "1", "--yes").exitCode == 0)
            let delete = try file.run("delete", "p", "1", "--yes")
            #expect(delete.exitCode == 1 && delete.errors.contains(message), "\(delete.output) \(delete.errors)")
        }
    }

    /// If the key of a table sorts by such a collation, its rows can't even be counted.
    @Test func unreadableTablesDoNotHideOthers() throws {
        let file = try SampleFile(
            """
            CREATE TABLE p (n TEXT COLLATE NOCASE PRIMARY KEY) WITHOUT ROWID;
            CREATE TABLE x (id INTEGER PRIMARY KEY, p TEXT REFERENCES p);
            INSERT INTO p VALUES ('a'), ('b'); INSERT INTO x VALUES (1, 'a');
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'mine') WHERE name = 'p';
            """)
        let reason = "no such collation sequence: mine, which only the program that made the file has"
        let inspect = try file.run("inspect")
        #expect(inspect.exitCode == 0, "\(inspect.errors)")
        #expect(inspect.lines.contains("p · not counted") && inspect.lines.contains("x · 1 object"))
        #expect(inspect.output.contains("note: p: its rows can't be counted: \(reason)"), "\(inspect.output)")
        let json = try #require(try file.run("inspect", "--format", "json").json() as? [String: Any])
        let counts = try #require(json["entities"] as? [[String: Any]]).map { $0["count"] as? Int }
        #expect(counts == [nil, 1])
        #expect(try file.run("fetch", "x").exitCode == 0)
        let fetch = try file.run("fetch", "p")
        #expect(fetch.exitCode == 1 && fetch.errors.contains("only the program that made the file has"))
        let delete = try file.run("delete", "p", "b", "--yes")
        #expect(delete.exitCode == 1 && delete.errors.contains(reason), "\(delete.errors)")
        #expect(try file.run("check").output.contains(reason))
    }

    /// SQLite folds the letters of ASCII alone, and knows nothing of compositions.
    @Test func namesThatDifferInNonASCIICaseAreDistinct() throws {
        for (one, other) in [("Ä", "ä"), ("İ", "i̇"), ("É", "é"), ("\u{E9}", "e\u{301}")] {
            let file = try SampleFile(
                """
                CREATE TABLE "\(one)" (id INTEGER PRIMARY KEY, "\(one)" TEXT UNIQUE, "\(other)" TEXT);
                CREATE TABLE "\(other)" (id INTEGER PRIMARY KEY, "\(one)" INTEGER REFERENCES "\(one)" ON DELETE CASCADE);
                CREATE INDEX "i\(one)" ON "\(other)" ("\(one)");
                CREATE INDEX "i\(other)" ON "\(one)" ("\(other)");
                INSERT INTO "\(one)" VALUES (1, 'a', 'b'), (2, 'c', 'd');
                INSERT INTO "\(other)" VALUES (3, 1), (4, 2), (5, 2);
                """)
            let inspect = try file.run("inspect")
            #expect(inspect.exitCode == 0, "\(inspect.errors)")
            #expect(inspect.output.contains("2 entities, 5 objects"), "\(inspect.output)")
            let json = try #require(try file.run("inspect", "--format", "json").json() as? [String: Any])
            let entities = try #require(json["entities"] as? [[String: Any]])
            let tables = entities.compactMap { $0["table"] as? String }.map { Array($0.utf8) }
            #expect(tables == [Array(one.utf8), Array(other.utf8)])
            let names = entities.compactMap { $0["name"] as? String }
            try #require(names.count == 2)
            #expect(entities.map { $0["count"] as? Int } == [2, 3])
            #expect((entities[0]["attributes"] as? [Any])?.count == 3)
            #expect((entities[1]["relationships"] as? [Any])?.count == 1)

            let fetch = try file.run("fetch", names[0], "--format", "csv")
            #expect(fetch.lines.contains("1,a,b") && fetch.lines.contains("2,c,d"), "\(fetch.output) \(fetch.errors)")
            let others = try file.run("fetch", names[1], "--format", "csv")
            #expect(others.lines.contains("3,1") && others.lines.contains("5,2"), "\(others.output) \(others.errors)")
            #expect(try file.run("check").exitCode == 0)
            let models = try file.run("inspect", "--format", "swift")
            #expect(models.output.split(separator: "\n").count { $0.hasPrefix("@Model") } == 2, "\(models.output)")
            let delete = try file.run("delete", names[0], "2", "--yes")
            #expect(delete.output.contains("deleted 3 objects"), "\(delete.output) \(delete.errors)")
            #expect(try file.rows("SELECT id FROM \"\(one)\" UNION ALL SELECT id FROM \"\(other)\"") == ["1", "3"])
        }
    }

    /// SQLite compares by the column that is referred to: without a type, a text isn't a number, and a key of integers
    /// takes texts for numbers.
    @Test func referencesOfColumnsWithoutATypeAreNotDangling() throws {
        let file = try SampleFile(
            """
            CREATE TABLE p (id PRIMARY KEY); CREATE TABLE x (id INTEGER PRIMARY KEY, p REFERENCES p);
            CREATE TABLE q (id INTEGER PRIMARY KEY);
            CREATE TABLE y (id INTEGER PRIMARY KEY, q REFERENCES q, t TEXT REFERENCES q);
            INSERT INTO p VALUES (1), ('1'), (x'31'); INSERT INTO x VALUES (1, 1), (2, '1'), (3, x'31'), (4, NULL);
            INSERT INTO q VALUES (7); INSERT INTO y VALUES (1, '7', '7'), (2, 7, '07');
            """)
        let connection = try Connection(path: file.path)
        #expect(try connection.values(SQLStatement("PRAGMA foreign_key_check")).isEmpty)
        let sound = try file.run("check")
        #expect(sound.exitCode == 0, "\(sound.output)")
        try connection.execute("PRAGMA foreign_keys = OFF; INSERT INTO x VALUES (5, '7'), (6, 7)")
        let check = try file.run("check")
        #expect(check.exitCode == 1 && check.output.contains("2 references to p lead nowhere"), "\(check.output)")
    }

    @Test func triggersThatKeepAnObjectRollBackTheDeletion() throws {
        let file = try SampleFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TABLE x (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p ON DELETE CASCADE);
            INSERT INTO p VALUES (1); INSERT INTO x VALUES (1, 1);
            CREATE TRIGGER guard BEFORE DELETE ON p BEGIN SELECT RAISE(IGNORE); END;
            """)
        let run = try file.run("delete", "p", "1", "--yes")
        #expect(run.exitCode == 1)
        #expect(run.errors.contains("a trigger (guard) prevents the planned deletion"))
        #expect(!run.output.contains("deleted"))
        let connection = try Connection(path: file.path)
        #expect(try connection.value(SQLStatement("SELECT (SELECT count(*) FROM p) + (SELECT count(*) FROM x)")) == 2)
    }

    @Test func keysStoredWithAnotherTypeCanBeGiven() throws {
        let file = try SampleFile(
            """
            CREATE TABLE a (id INT PRIMARY KEY); CREATE TABLE b (id PRIMARY KEY);
            CREATE TABLE c (code TEXT COLLATE NOCASE PRIMARY KEY);
            CREATE TABLE d (x INT, y, PRIMARY KEY (x, y));
            INSERT INTO a VALUES ('abc'), (1.5), (7); INSERT INTO b VALUES (1), ('2'), (x'00ff');
            INSERT INTO c VALUES ('Abc'); INSERT INTO d VALUES ('k', 3);
            """)
        for (entity, key) in [
            ("a", "abc"), ("a", "1.5"), ("a", "7"), ("b", "1"), ("b", "2"), ("b", "x'00ff'"), ("c", "ABC"),
            ("d", "k,3"),
        ] {
            let run = try file.run("delete", entity, key, "--yes")
            #expect(run.exitCode == 0, "\(entity) \(key): \(run.errors)")
        }
        let missing = try file.run("delete", "a", "gone", "--yes")
        #expect(missing.errors.contains("gone isn't a key of a: id is an integer"))
    }

    @Test func keysOfTwoObjectsAreRefused() throws {
        let file = try SampleFile(
            """
            CREATE TABLE t (id PRIMARY KEY); INSERT INTO t VALUES (7), ('7'), (8);
            CREATE TABLE b (id BLOB PRIMARY KEY NOT NULL); INSERT INTO b VALUES ('0'), (0.0);
            """)
        for (entity, key) in [("t", "7"), ("b", "0")] {
            let run = try file.run("delete", entity, key, "--yes")
            #expect(run.exitCode != 0 && run.errors.contains("is the key of 2 objects of \(entity)"), "\(run.errors)")
        }
        #expect(try file.run("delete", "t", "8", "--yes").exitCode == 0)
    }

    @Test func storedTextIsPreferredToAnEqualNumber() throws {
        let file = try SampleFile(
            """
            CREATE TABLE t (id TEXT PRIMARY KEY); INSERT INTO t VALUES ('007'), ('7'), ('1.50'), ('1.5'), ('8');
            CREATE TABLE b (id BLOB PRIMARY KEY NOT NULL); INSERT INTO b VALUES ('007'), (7), (1.5), ('1.50');
            CREATE TABLE d (x BLOB, y INT, PRIMARY KEY (x, y)); INSERT INTO d VALUES ('01', 2), (1, 2);
            """)
        for (entity, key, rest) in [
            ("t", "007", "7,1.50,1.5,8"), ("t", "1.50", "7,1.5,8"), ("t", "7", "1.5,8"), ("b", "1.50", "007,7,1.5"),
            ("b", "007", "7,1.5"), ("b", "07", "1.5"), ("d", "01,2", "1"),
        ] {
            let run = try file.run("delete", entity, key, "--yes")
            #expect(run.exitCode == 0, "\(entity) \(key): \(run.errors)")
            let column = entity == "d" ? "x" : "id"
            #expect(
                try file.rows("SELECT group_concat(\(column)) FROM (SELECT * FROM \(entity) ORDER BY rowid)") == [rest])
        }
        // The text 8 isn't a number that could be written in other ways.
        let missing = try file.run("delete", "t", "08", "--yes")
        #expect(missing.exitCode != 0 && missing.errors.contains("has no t with the key 08"), "\(missing.errors)")
    }

    @Test func ambiguousKeysNameTheirTypes() throws {
        let file = try SampleFile(
            """
            CREATE TABLE t (id PRIMARY KEY); INSERT INTO t VALUES (7), ('7'), (x'61'), ('x''61''');
            CREATE TABLE d (x INT, y, PRIMARY KEY (x, y)); INSERT INTO d VALUES (1, x'61'), (1, 'x''61''');
            """)
        for (entity, key, kinds) in [
            ("t", "7", "numbers and of texts"), ("t", "x'61'", "bytes and of texts"),
            ("d", "1,x'61'", "bytes and of texts"),
        ] {
            let run = try file.run("delete", entity, key, "--yes")
            #expect(run.errors.contains("is the key of 2 objects of \(entity), of \(kinds)"), "\(run.errors)")
        }
        // Bytes and numbers may be written in other ways.
        #expect(try file.run("delete", "t", "X'61'", "--yes").exitCode == 0)
        #expect(try file.run("delete", "t", "x'61'", "--yes").exitCode == 0)
        #expect(try file.rows("SELECT typeof(id) FROM t ORDER BY rowid") == ["integer", "text"])
    }

    @Test func skippedTablesAreNamedWhereOthersReferToThem() throws {
        let file = try SampleFile(
            """
            CREATE VIRTUAL TABLE words USING fts5(text);
            CREATE TABLE x (id INTEGER PRIMARY KEY, word INTEGER REFERENCES words (rowid));
            """)
        let run = try file.run("inspect")
        #expect(
            run.output.contains("note: x.word: its foreign key to words points at a virtual table"), "\(run.output)")
    }

    @Test func checksContinueAfterABrokenForeignKey() throws {
        let file = try SampleFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TABLE x (id INTEGER PRIMARY KEY, a INTEGER REFERENCES p (missing), b TEXT REFERENCES p);
            PRAGMA foreign_keys = OFF; INSERT INTO x VALUES (1, 1, '7');
            """)
        let run = try file.run("check")
        #expect(run.exitCode == 1)
        #expect(run.output.contains("x.a: its foreign key to p can't be followed: it points at p.missing"))
        #expect(run.output.contains("x.b: 1 reference to p leads nowhere"))
    }

    @Test func checksFindUnusedForeignKeysToMissingTables() throws {
        let file = try SampleFile(
            "CREATE TABLE d (id INTEGER PRIMARY KEY, g INTEGER REFERENCES gone (id)); INSERT INTO d VALUES (1, NULL);")
        let run = try file.run("check")
        #expect(run.exitCode == 1)
        #expect(run.output.contains("d.g: its foreign key to gone can't be followed: there is no such table"))
    }
}
#endif
