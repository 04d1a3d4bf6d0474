import Foundation
import RelataCSQLite
import RelataCore
import Synchronization
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// Deletions that reach many tables, many levels or many rows.
@Suite struct DeleteSizeTests {
    /// A file from whose first table object 1 is deleted.
    private struct File {
        let connection: Connection
        let schema: Schema
        private let roots = DeletionRoots.keys([KeyValue(1)])

        init(_ sql: String, trace: SQLTrace? = nil) throws {
            connection = try Connection(path: nil, trace: trace)
            try connection.execute(sql)
            schema = try Schema(Introspection.entities(of: connection))
        }

        func plan() throws -> DeletionReport {
            try connection.deletionPlan(of: 0, roots: roots, schema: schema, access: .everything).sorted()
        }

        func delete() throws -> DeletionReport {
            try connection.execute("BEGIN IMMEDIATE")
            defer { try? connection.execute("COMMIT") }
            return try connection.delete(entity: 0, roots: roots, schema: schema, access: .everything).sorted()
        }

        /// The number of steps, in hundreds, that SQLite's machine takes for the deletion: the same each time, unlike
        /// seconds.
        func work() throws -> Int {
            var count = 0
            let handle = try connection.sqlite.handle
            try withUnsafeMutablePointer(to: &count) { count in
                sqlite3_progress_handler(
                    handle, 100,
                    { count in
                        count?.assumingMemoryBound(to: Int.self).pointee += 1
                        return 0
                    }, count)
                defer { sqlite3_progress_handler(handle, 0, nil, nil) }
                _ = try delete()
            }
            return count
        }
    }

    @Test func aCascadeReachesFiveHundredTables() throws {
        for (shape, type) in [
            ("chain", "INTEGER"), ("star", "INTEGER"), ("tree", "INTEGER"), ("chain", "TEXT"), ("tree", ""),
        ] {
            var sql = "CREATE TABLE t0 (id INTEGER PRIMARY KEY); INSERT INTO t0 VALUES (1);"
            for number in 1..<500 {
                let parent = shape == "chain" ? number - 1 : shape == "star" ? 0 : number / 2
                sql += """
                    CREATE TABLE t\(number) (id INTEGER PRIMARY KEY,
                        p \(type) REFERENCES t\(parent) ON DELETE CASCADE);
                    CREATE INDEX i\(number) ON t\(number) (p); INSERT INTO t\(number) VALUES (1, 1);
                    """
            }
            let file = try File(sql)
            #expect(try file.plan().deletedCount == 500, "\(shape) \(type)")
            #expect(try file.delete().deletedCount == 500, "\(shape) \(type)")
        }
    }

    @Test func aRingLargerThanAStatementsLimitIsDeleted() throws {
        var sql = ""
        for number in 0..<230 {
            sql += """
                CREATE TABLE t\(number) (id INTEGER PRIMARY KEY,
                    p INTEGER REFERENCES t\((number + 229) % 230) ON DELETE CASCADE);
                """
        }
        let columns = (0..<230).map { "c\($0) INTEGER REFERENCES t\($0) ON DELETE CASCADE" }
        sql += "CREATE TABLE last (id INTEGER PRIMARY KEY, \(columns.joined(separator: ", ")));"
        for number in 0..<230 { sql += "INSERT INTO t\(number) VALUES (1, \(number == 0 ? "NULL" : "1"));" }
        sql += "INSERT INTO last (id, c115) VALUES (1, 1), (2, NULL);"
        let file = try File(sql)
        let plan = try file.plan()
        #expect(plan.deletedCount == 231)
        #expect(plan.deletedKeys(of: "last") == KeyList([KeyValue(1)]))
        let report = try file.delete()
        #expect(report == plan)
        #expect(try file.connection.values(SQLStatement("SELECT id FROM last")) == [[2]])
    }

    @Test func statementsDoNotGrowWithTheLengthOfAChain() throws {
        let statements = Mutex<[String]>([])
        var counts: [Int] = []
        for (levels, index) in [(600, ""), (20_000, ""), (20_000, "CREATE INDEX i ON node (parent);")] {
            let file = try File(
                """
                CREATE TABLE node (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES node ON DELETE CASCADE); \(index)
                WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(levels))
                INSERT INTO node SELECT i, nullif(i - 1, 0) FROM n;
                """, trace: { sql, _ in statements.withLock { $0.append(sql) } })
            _ = try file.connection.fileKeys(of: file.schema)
            statements.withLock { $0 = [] }
            #expect(try file.delete().deletedCount == levels)
            let made = statements.withLock { $0 }
            // SQLite looks up the children of each row: without an index it would read the table once for each.
            #expect(made.contains { $0.hasPrefix("CREATE INDEX") } == index.isEmpty)
            counts.append(made.count)
            #expect(
                try file.connection.value(SQLStatement("SELECT count(*) FROM sqlite_master WHERE type = 'index'"))
                    == (index.isEmpty ? 0 : 1))
        }
        #expect(counts.max() ?? 0 <= 20)
    }

    /// For each deleted row, SQLite looks for referring rows among the remaining ones, in every table.
    @Test func remainingRowsAreNotReadForEachDeletedOne() throws {
        func family(_ rows: Int) throws -> File {
            let numbers = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))"
            return try File(
                """
                CREATE TABLE g (id INTEGER PRIMARY KEY);
                CREATE TABLE p (id INTEGER PRIMARY KEY, g INTEGER REFERENCES g ON DELETE CASCADE);
                CREATE TABLE c (id INTEGER PRIMARY KEY, a INTEGER REFERENCES p ON DELETE CASCADE,
                    b NUMERIC REFERENCES p ON DELETE SET NULL);
                CREATE TABLE t (id INTEGER PRIMARY KEY);
                CREATE TABLE p_t (t INTEGER NOT NULL REFERENCES t, p INTEGER NOT NULL REFERENCES p, PRIMARY KEY (t, p));
                CREATE TABLE relata_x (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p);
                INSERT INTO g VALUES (1), (2);
                \(numbers) INSERT INTO p SELECT i, 1 FROM n; \(numbers) INSERT INTO p SELECT \(rows) + i, 2 FROM n;
                \(numbers) INSERT INTO c SELECT i, \(rows) + i, iif(i < 10, i, \(rows) + i) FROM n;
                INSERT INTO c (a) VALUES (1), (2), (3);
                INSERT INTO t VALUES (1); INSERT INTO p_t VALUES (1, 1);
                \(numbers) INSERT INTO p_t SELECT 1, \(rows) + i FROM n;
                \(numbers) INSERT INTO relata_x SELECT i, \(rows) + i FROM n;
                """)
        }
        let (few, many) = (try family(600), try family(2400))
        let plan = try many.plan()
        #expect(plan.deletedCount == 1 + 2400 + 3 && plan.nullified.first?.keys.count == 9)
        let (work, more) = (try few.work(), try many.work())
        #expect(more < work * 8, "\(work) for 600 rows, \(more) for 2400")
        let counts = "SELECT (SELECT count(*) FROM p), (SELECT count(*) FROM c), (SELECT count(*) FROM p_t)"
        #expect(try many.connection.values(SQLStatement(counts)) == [[2400, 2400, 2400]])
        #expect(
            try many.connection.value(SQLStatement("SELECT count(*) FROM sqlite_master WHERE name LIKE 'relata_del%'"))
                == 0)
    }

    @Test func deletionsByKeyCreateNeededIndexes() throws {
        let statements = Mutex<[String]>([])
        let file = try File(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY, u TEXT UNIQUE COLLATE NOCASE);
            CREATE TABLE number (id INTEGER PRIMARY KEY, p INT REFERENCES p);
            CREATE TABLE text (id INTEGER PRIMARY KEY, p TEXT REFERENCES p, u TEXT REFERENCES p (u));
            CREATE TABLE typeless (id INTEGER PRIMARY KEY, p REFERENCES p, u REFERENCES p (u));
            CREATE TABLE found (id INTEGER PRIMARY KEY, p INT UNIQUE REFERENCES p);
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 600)
            INSERT INTO p SELECT i, 'u' || i FROM n;
            """, trace: { sql, _ in statements.withLock { $0.append(sql) } })
        func indexes(_ keys: Range<Int64>) throws -> [String] {
            statements.withLock { $0 = [] }
            let roots = DeletionRoots.keys(keys.map { KeyValue(.integer($0)) })
            try file.connection.execute("BEGIN IMMEDIATE")
            let report = try file.connection.delete(entity: 0, roots: roots, schema: file.schema, access: .everything)
            try file.connection.execute("COMMIT")
            #expect(report.deletedCount == keys.count)
            return statements.withLock { $0 }.filter { $0.hasPrefix("CREATE INDEX") }
                .compactMap { $0.components(separatedBy: " ON ").last }
        }
        #expect(try indexes(1..<20) == [])
        #expect(
            try indexes(20..<600) == [
                #""number" ("p")"#, #""text" ("u" COLLATE "NOCASE")"#, #""typeless" ("u" COLLATE "NOCASE")"#,
            ])
    }

    /// A chain of tables, each of whose rows has a row in the next one.
    private func chain(_ tables: Int, rows: Int, isIndexed: Bool, isRing: Bool = false) throws -> File {
        var sql = "PRAGMA foreign_keys = OFF;"
        for number in 0..<tables {
            let parent = number == 0 ? (isRing ? tables - 1 : nil) : number - 1
            let reference = parent.map { " REFERENCES t\($0) ON DELETE CASCADE" } ?? ""
            let numbers = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))"
            sql += "CREATE TABLE t\(number) (id INTEGER PRIMARY KEY, p INTEGER\(reference));"
            if isIndexed { sql += "CREATE INDEX i\(number) ON t\(number) (p);" }
            sql +=
                number == 0
                ? "INSERT INTO t0 VALUES (1, \(isRing ? "1" : "NULL"));"
                : "\(numbers) INSERT INTO t\(number) SELECT i, \(number == 1 ? "1" : "i") FROM n;"
        }
        return try File(sql + "PRAGMA foreign_keys = ON;")
    }

    @Test(arguments: [true, false]) func workGrowsWithTheRowsOfFiveHundredTables(isIndexed: Bool) throws {
        let few = try chain(500, rows: 20, isIndexed: isIndexed)
        #expect(try few.plan().deletedCount == 1 + 499 * 20)
        let many = try chain(500, rows: 200, isIndexed: isIndexed)
        let (work, more) = (try few.work(), try many.work())
        #expect(more < work * 12, "\(work) for 20 rows a table, \(more) for 200")
        #expect(try many.connection.value(SQLStatement("SELECT count(*) FROM t499")) == 0)
    }

    @Test(arguments: [true, false]) func workGrowsLinearlyWithTheTables(isIndexed: Bool) throws {
        let (few, many) = (
            try chain(50, rows: 50, isIndexed: isIndexed), try chain(500, rows: 50, isIndexed: isIndexed)
        )
        let (work, more) = (try few.work(), try many.work())
        #expect(more < work * 12, "\(work) for 50 tables, \(more) for 500")
    }

    @Test func workGrowsLinearlyWithARing() throws {
        let few = try chain(100, rows: 10, isIndexed: true, isRing: true)
        #expect(try few.plan().deletedCount == 1 + 99 * 10)
        let many = try chain(100, rows: 100, isIndexed: true, isRing: true)
        let (work, more) = (try few.work(), try many.work())
        #expect(more < work * 12, "\(work) for 10 rows a table, \(more) for 100")
        #expect(try many.connection.value(SQLStatement("SELECT count(*) FROM t99")) == 0)
    }
}
