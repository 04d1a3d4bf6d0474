import Foundation
import RelataCore
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// Queries and checks of other programs' files, which compare references as SQLite does.
@Suite struct ForeignReferenceTests {
    // MARK: Reading

    @Test func queriesFollowReferencesByTheRulesOfTheirTarget() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE owner (code TEXT COLLATE NOCASE PRIMARY KEY, name TEXT, boss TEXT REFERENCES owner);
            CREATE TABLE item (id INTEGER PRIMARY KEY, owner TEXT REFERENCES owner, kind TEXT REFERENCES kind);
            CREATE TABLE kind (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE card (code TEXT PRIMARY KEY REFERENCES owner, number INTEGER);
            INSERT INTO kind VALUES (7, 'good');
            INSERT INTO owner VALUES ('Abc', 'first', NULL), ('Xyz', 'second', 'ABC'), ('Q', 'third', 'xyz');
            INSERT INTO item VALUES (1, 'ABC', '7'), (2, 'abc', '07'), (3, 'Xyz', NULL), (4, NULL, '7');
            INSERT INTO card VALUES ('ABC', 5);
            """)
        let fetcher = RecordFetcher(file.connection, schema: file.schema, access: .everything)
        #expect(try file.keys("item", "owner.code == 'Abc'") == [1, 2])
        #expect(try file.keys("item", "owner == 'Abc'") == [1, 2])
        #expect(try file.keys("item", "owner.name == 'first'") == [1, 2])
        #expect(try file.keys("item", "owner == nil") == [4])
        #expect(try file.keys("item", "owner != nil") == [1, 2, 3])
        #expect(try file.keys("item", "kind.name == 'good'") == [1, 2, 4])
        #expect(try file.keys("item", "kind == 7") == [1, 2, 4])
        #expect(try file.keys("owner", "ANY items.id == 2") == ["Abc"])
        #expect(try file.keys("owner", "items.@count == 2") == ["Abc"])
        #expect(try file.keys("owner", "card.number == 5") == ["Abc"])
        #expect(try file.keys("kind", "items.@count == 3") == [7])
        let owners = try fetcher.fetch(
            QueryPlan(entity: "owner", sort: [SortTerm(.property(scope: 0, path: ["code"]))]),
            including: [IncludePlan("items"), IncludePlan("boss"), IncludePlan("card")])
        #expect(owners.map { $0.links["items"]?.records.map { $0.values[0] } } == [[1, 2], [], [3]])
        #expect(owners.map { $0.links["boss"]?.records.map { $0.values[0] } } == [[], ["Xyz"], ["Abc"]])
        #expect(owners.map { $0.links["card"]?.records.count } == [1, 0, 0])
        let limited = try fetcher.fetch(
            QueryPlan(entity: "owner"), including: [IncludePlan("items", limit: 1)])
        #expect(limited.map { $0.links["items"]?.records.count }.sorted { $0 ?? 0 < $1 ?? 0 } == [0, 1, 1])
        let related = try fetcher.fetch(
            QueryPlan(
                entity: "item",
                relatedTo: RelatedOwner(entity: "owner", relationship: "items", key: KeyValue("abc"))))
        #expect(related.map { $0.values[0] } == [1, 2])
        let bosses = try fetcher.fetch(
            QueryPlan(
                entity: "owner",
                relatedTo: RelatedOwner(entity: "owner", relationship: "boss", key: KeyValue("Q"), isRecursive: true)))
        #expect(Set(bosses.map { $0.values[0] }) == ["Xyz", "Abc"])
    }

    /// A key to unique columns, a second key on one column, and one by the rules of its target.
    @Test func queriesFollowForeignKeysToUniqueColumns() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY, code TEXT COLLATE NOCASE UNIQUE, name TEXT);
            CREATE TABLE q (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE c (id INTEGER PRIMARY KEY, k TEXT REFERENCES p (code) ON DELETE CASCADE,
                q INTEGER REFERENCES q REFERENCES other);
            CREATE TABLE other (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE card (id INTEGER PRIMARY KEY, code TEXT UNIQUE REFERENCES p (code));
            INSERT INTO p VALUES (1, 'A', 'P'), (2, 'B', 'R'), (3, NULL, 'S'); INSERT INTO q VALUES (5, 'Q');
            INSERT INTO other VALUES (5, 'O'); INSERT INTO card VALUES (9, 'B');
            INSERT INTO c VALUES (1, 'A', 5), (2, 'a', NULL), (3, 'B', 5), (4, NULL, NULL);
            """, followsAllKeys: true)
        let c = try #require(file.schema["c"])
        #expect(c.entity.attributes.map(\.name) == ["id", "k"], "the column stays an attribute")
        #expect(c.entity.relationships.map(\.name) == ["q", "p", "other"])
        let fetcher = RecordFetcher(file.connection, schema: file.schema, access: .everything)
        #expect(try file.keys("c", "p.name == 'P'") == [1, 2])
        #expect(try file.keys("c", "k.name == 'P'") == [1, 2], "the column leads to the same object")
        #expect(try file.keys("c", "p == 2") == [3])
        #expect(try file.keys("c", "p == nil") == [4])
        #expect(try file.keys("c", "k == 'B'") == [3])
        #expect(try file.keys("c", "other.name == 'O' AND q.name == 'Q'") == [1, 3])
        #expect(try file.keys("c", "p.card.id == 9") == [3])
        #expect(try file.keys("c", "p.cs.@count == 2") == [1, 2])
        #expect(try file.keys("p", "cs.@count == 2") == [1])
        #expect(try file.keys("p", "NONE cs.id > 0") == [3])
        #expect(try file.keys("p", "ANY cs.q.name == 'Q'") == [1, 2])
        #expect(try file.keys("p", "card.code == 'B'") == [2])
        #expect(try file.keys("p", "card == nil") == [1, 3])
        let sorted = [SortTerm(.property(scope: 0, path: ["id"]))]
        let objects = try fetcher.fetch(
            QueryPlan(entity: "c", sort: sorted), including: [IncludePlan("p", children: [IncludePlan("card")])])
        #expect(objects.map { $0.links["p"]?.records.map { $0.values[0] } } == [[1], [1], [2], []])
        #expect(objects[2].links["p"]?.records[0].links["card"]?.records.map { $0.values[0] } == [9])
        let targets = try fetcher.fetch(
            QueryPlan(entity: "p", sort: sorted), including: [IncludePlan("cs", sort: sorted, limit: 5)])
        #expect(targets.map { $0.links["cs"]?.records.map { $0.values[0] } } == [[1, 2], [3], []])
        let related = try fetcher.fetch(
            QueryPlan(
                entity: "c", sort: sorted, relatedTo: RelatedOwner(entity: "p", relationship: "cs", key: KeyValue(1))))
        #expect(related.map { $0.values[0] } == [1, 2])
        let target = try fetcher.fetch(
            QueryPlan(entity: "p", relatedTo: RelatedOwner(entity: "c", relationship: "p", key: KeyValue(3))))
        #expect(target.map { $0.values[0] } == [2])
        #expect(try file.delete("p", 1).deletedKeys(of: "c") == .of(1, 2), "deletions follow it as before")
    }

    // MARK: Checking

    @Test func checksContinueAfterUnusableForeignKeys() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY, code TEXT);
            CREATE TABLE x (id INTEGER PRIMARY KEY, a INTEGER REFERENCES p (missing), b TEXT REFERENCES p (code),
                c INTEGER REFERENCES nowhere);
            PRAGMA foreign_keys = OFF;
            INSERT INTO x VALUES (1, 1, 'a', 1);
            """)
        let findings = try IntegrityCheck.run(file.connection, schema: file.schema)
        #expect(findings.map(\.subject).sorted() == ["x.a", "x.b", "x.c"])
        #expect(findings.first { $0.subject == "x.a" }?.message.contains("p.missing, which doesn't exist") == true)
        #expect(findings.first { $0.subject == "x.b" }?.message.contains("isn't unique") == true)
    }

    /// SQLite refuses any change of such a row.
    @Test func selfReferencesInAnotherSpellingAreNamed() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE t (p INTEGER PRIMARY KEY, u TEXT COLLATE RTRIM UNIQUE,
                f TEXT COLLATE RTRIM REFERENCES t (u) ON DELETE SET NULL,
                g TEXT COLLATE RTRIM REFERENCES t (u) ON DELETE CASCADE);
            PRAGMA foreign_keys = OFF;
            INSERT INTO t VALUES (1, 'b', NULL, NULL), (2, 'a', 'b', 'a ');
            PRAGMA foreign_keys = ON;
            """)
        #expect {
            try file.delete("t", 1)
        } throws: {
            "\($0)".contains("would be unset, which t refuses")
                && "\($0)".contains("refers to itself in another spelling") && "\($0)".contains("787")
        }
        #expect(try file.count("t") == 2)
    }

    @Test func anIndexWithAnotherCollationIsNoTarget() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY, a TEXT, b TEXT COLLATE NOCASE, c TEXT, d TEXT, e TEXT COLLATE RTRIM);
            CREATE UNIQUE INDEX pa ON p (a COLLATE RTRIM); CREATE UNIQUE INDEX pb ON p (b COLLATE BINARY);
            CREATE UNIQUE INDEX p_c_d ON p (c, d COLLATE NOCASE); CREATE UNIQUE INDEX pe ON p (e);
            CREATE TABLE k (n TEXT, PRIMARY KEY (n COLLATE NOCASE));
            CREATE TABLE x (id INTEGER PRIMARY KEY, a TEXT REFERENCES p (a) ON DELETE CASCADE, b TEXT REFERENCES p (b),
                c TEXT, d TEXT, e TEXT REFERENCES p (e), f TEXT REFERENCES k (n), g TEXT REFERENCES k,
                FOREIGN KEY (c, d) REFERENCES p (c, d));
            """, followsAllKeys: true)
        let findings = try IntegrityCheck.run(file.connection, schema: file.schema)
        #expect(findings.map(\.subject).sorted() == ["x.a", "x.b", "x.c, d", "x.f"])
        #expect(findings.allSatisfy { $0.message.contains("compares by another collation") })
        #expect(findings.first { $0.subject == "x.c, d" }?.fix.contains("\"p_c_d_key\" ON \"p\"") == true)
        let entity = try #require(file.schema["x"]).entity
        #expect(entity.relationships.map(\.target).sorted() == ["k", "p"])
    }

    @Test func validReferencesDoNotDangle() throws {
        let file = try DeletionFile(
            """
            CREATE TABLE p (k TEXT PRIMARY KEY); CREATE TABLE q (k PRIMARY KEY); CREATE TABLE n (k TEXT COLLATE NOCASE PRIMARY KEY);
            CREATE TABLE x (id INTEGER PRIMARY KEY, a REFERENCES p, b REFERENCES q, c INTEGER REFERENCES p,
                d TEXT REFERENCES n, e REFERENCES q (k) REFERENCES p (k));
            INSERT INTO p VALUES ('1'); INSERT INTO q VALUES (1), ('1'); INSERT INTO n VALUES ('Abc');
            INSERT INTO x VALUES (1, 1, 1, 1, 'ABC', '1'), (2, '1', '1', '1', 'abc', NULL);
            """)
        #expect(try file.connection.values(SQLStatement("PRAGMA foreign_key_check")).isEmpty)
        #expect(try IntegrityCheck.run(file.connection, schema: file.schema) == [])
        try file.connection.execute("PRAGMA foreign_keys = OFF; DELETE FROM p")
        #expect(
            try IntegrityCheck.run(file.connection, schema: file.schema).map(\.subject).sorted()
                == ["x.a", "x.c", "x.e"])
    }
}
