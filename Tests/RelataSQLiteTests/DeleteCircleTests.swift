import RelataCore
import TestSupport
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// Rows in a cycle of foreign keys, where SQLite would unset one that is required.
@Suite struct DeleteCircleTests {
    private struct File {
        let connection: Connection
        let schema: Schema

        init(_ sql: String) throws {
            connection = try Connection(path: nil)
            try connection.execute(sql)
            schema = try Schema(Introspection.entities(of: connection))
        }

        func plan(_ entity: String, _ keys: [Int64]) throws -> DeletionReport {
            let roots = DeletionRoots.keys(keys.map { KeyValue(.integer($0)) })
            return try connection.deletionPlan(
                of: number(entity), roots: roots, schema: schema, access: .everything
            ).sorted()
        }

        func delete(_ entity: String, _ keys: [Int64]) throws -> DeletionReport {
            let roots = DeletionRoots.keys(keys.map { KeyValue(.integer($0)) })
            return try connection.delete(entity: number(entity), roots: roots, schema: schema, access: .everything)
                .sorted()
        }

        func rows(_ table: String) throws -> [[Value]] {
            try connection.values(SQLStatement("SELECT * FROM \(table) ORDER BY id"))
        }

        private func number(_ entity: String) throws -> Int { try #require(schema.index(of: entity)) }
    }

    /// SQLite counts deferred references separately from those deferred by a pragma.
    @Test(arguments: ["", "NOT NULL"]) func aCycleWithADeferredReferenceIsDeleted(required: String) throws {
        for root in [[Int64(4), 5], [5, 4]] {
            let file = try File(
                """
                CREATE TABLE a (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a ON DELETE RESTRICT,
                    b INTEGER \(required) REFERENCES b DEFERRABLE INITIALLY DEFERRED);
                CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER \(required) REFERENCES a ON DELETE CASCADE);
                BEGIN; INSERT INTO a VALUES (4, NULL, 1), (5, 4, 1), (6, NULL, 2);
                INSERT INTO b VALUES (1, 4), (2, 6), (3, 5); COMMIT;
                """)
            try file.connection.execute("BEGIN")
            let plan = try file.plan("a", root)
            #expect(!plan.isDenied && plan.deletedCount == 4, "\(plan)")
            #expect(try file.delete("a", root) == plan)
            try file.connection.execute("COMMIT")
            #expect(try file.rows("a") == [[6, .null, 2]] && file.rows("b") == [[2, 6]])
        }
    }

    /// The reference that can be unset is, so that those go first that SQLite would unset.
    @Test(arguments: ["SET NULL", "SET DEFAULT"]) func aCycleWithAnOptionalReferenceIsDeleted(action: String) throws {
        for root in ["a", "b"] {
            let file = try File(
                """
                CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER REFERENCES b ON DELETE CASCADE);
                CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER NOT NULL REFERENCES a ON DELETE \(action),
                    a2 INTEGER REFERENCES a ON DELETE CASCADE);
                INSERT INTO a VALUES (1, NULL), (2, NULL), (3, NULL);
                INSERT INTO b VALUES (1, 1, 1), (2, 1, 2), (3, 3, 3); UPDATE a SET b = id WHERE id < 3;
                UPDATE a SET b = 1 WHERE id = 2;
                """)
            try file.connection.execute("BEGIN")
            let plan = try file.plan(root, [1])
            #expect(!plan.isDenied && plan.deletedCount == 4, "\(plan)")
            #expect(try file.delete(root, [1]) == plan)
            try file.connection.execute("COMMIT")
            #expect(try file.rows("a") == [[3, .null]] && file.rows("b") == [[3, 3, 3]])
        }
    }

    @Test func aCycleOfRequiredReferencesIsRefusedUpFront() throws {
        let file = try File(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER NOT NULL REFERENCES b ON DELETE CASCADE);
            CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER NOT NULL REFERENCES a ON DELETE SET NULL);
            BEGIN; PRAGMA defer_foreign_keys = ON;
            INSERT INTO a VALUES (1, 1), (2, 2); INSERT INTO b VALUES (1, 2), (2, 1), (3, 1); COMMIT;
            """)
        for isPlan in [true, false] {
            #expect {
                _ = try isPlan ? file.plan("b", [1, 2, 3]) : file.delete("b", [1, 2, 3])
            } throws: {
                "\($0)".contains("b.a is required") && "\($0)".contains("ON DELETE CASCADE")
            }
        }
        #expect(try file.rows("a").count == 2 && file.rows("b").count == 3)
        #expect(try file.delete("b", [3]).deletedCount == 1)
    }

    /// Plans are carried out, and refused deletions have refused plans.
    @Test func deletionsOfRandomCyclesMatchTheirPlans() throws {
        var done = 0
        var refused = 0
        for seed in 1...300 as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            let (sql, count) = Self.random(&random)
            for table in 0..<count {
                let file = try File(sql)
                let keys = try file.rows("t\(table)").compactMap {
                    if case .integer(let id) = $0[0] { id } else { nil }
                }
                let roots = Array(keys.shuffled(using: &random).prefix(2))
                let before = try (0..<count).map { try file.rows("t\($0)") }
                let plan = try? file.plan("t\(table)", roots)
                try file.connection.execute("BEGIN")
                do {
                    let report = try file.delete("t\(table)", roots)
                    try file.connection.execute("COMMIT")
                    #expect(plan == report, "seed \(seed), t\(table) \(roots)")
                    done += 1
                } catch {
                    try file.connection.execute("COMMIT")
                    #expect(plan.map(\.isDenied) ?? true, "seed \(seed), t\(table) \(roots): \(error)")
                    #expect(try (0..<count).map { try file.rows("t\($0)") } == before)
                    refused += 1
                }
                #expect(try file.connection.values(SQLStatement("PRAGMA foreign_key_check")).isEmpty)
            }
        }
        #expect(done > 300 && refused > 100)
    }

    /// Tables that refer to each other in any way, required or not, and rows whose references all lead somewhere.
    private static func random(_ random: inout SeededGenerator) -> (sql: String, tables: Int) {
        let count = Int.random(in: 1...4, using: &random)
        var sql = "PRAGMA foreign_keys = OFF;"
        var rows = ""
        for table in 0..<count {
            var columns = ["id INTEGER PRIMARY KEY"]
            var places: [Int] = []
            for number in 0..<Int.random(in: 1...3, using: &random) {
                let target = Int.random(in: 0..<count, using: &random)
                let action =
                    ["CASCADE", "CASCADE", "CASCADE", "SET NULL", "SET NULL", "SET DEFAULT", "NO ACTION"]
                    .randomElement(using: &random) ?? "CASCADE"
                let isRequired = random.next() % 2 == 0
                columns.append(
                    "c\(number) INTEGER \(isRequired ? "NOT NULL" : "") REFERENCES t\(target) ON DELETE \(action)")
                places.append(isRequired ? 1 : 0)
            }
            sql += "CREATE TABLE t\(table) (\(columns.joined(separator: ", ")));"
            for row in 1...4 {
                let values = places.map { required in
                    required == 0 && random.next() % 3 == 0 ? "NULL" : "\(Int.random(in: 1...4, using: &random))"
                }
                rows += "INSERT INTO t\(table) VALUES (\(([String(row)] + values).joined(separator: ", ")));"
            }
        }
        return (sql + rows + "PRAGMA foreign_keys = ON;", count)
    }

    /// Untying unsets a value that a row refers to by a deferred key.
    @Test func deferredReferencesAreUnsetWithTheOthers() throws {
        let file = try File(
            """
            CREATE TABLE t0 (id INTEGER PRIMARY KEY,
                c2 INTEGER REFERENCES t1 (u) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
                c4 INTEGER REFERENCES t1 ON DELETE CASCADE);
            CREATE TABLE t1 (id INTEGER PRIMARY KEY, u INTEGER UNIQUE REFERENCES t0 ON DELETE CASCADE,
                c4 INTEGER REFERENCES t0 ON DELETE RESTRICT);
            PRAGMA foreign_keys = OFF;
            INSERT INTO t0 VALUES (2, 1, 2), (1, NULL, 2); INSERT INTO t1 VALUES (2, 2, 2), (1, 1, 1);
            PRAGMA foreign_keys = ON;
            """)
        let plan = try file.plan("t1", [2])
        #expect(plan.deletedCount == 4 && !plan.isDenied)
        #expect(try file.delete("t1", [2]) == plan)
        #expect(try file.rows("t0").isEmpty && file.rows("t1").isEmpty)
    }
}
