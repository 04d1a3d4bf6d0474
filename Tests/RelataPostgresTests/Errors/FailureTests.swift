#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataPostgres
import Testing

@Suite(.needsPostgreSQL) struct FailureTests {
    private let session: Session

    init() throws {
        session = try RelataPostgresTests.session()
        try session.run(
            #"""
            CREATE TEMP TABLE p (id bigint PRIMARY KEY, "a, ""b""" text, c integer NOT NULL CONSTRAINT small CHECK (c < 10),
                UNIQUE ("a, ""b""", c));
            CREATE TEMP TABLE q (id bigint CONSTRAINT to_p REFERENCES p);
            INSERT INTO p VALUES (1, 'x', 1)
            """#)
    }

    private func failure(_ sql: String) throws -> PostgresFailure {
        do throws(PostgresFailure) {
            try session.run(sql)
        } catch {
            return error
        }
        throw RelataError.invalidUse("no error")
    }

    @Test func constraintsAreNamed() throws {
        let unique = try failure("INSERT INTO p VALUES (2, 'x', 1)")
        #expect(
            unique.constraint == .unique && unique.keyColumns == ["a, \"b\"", "c"] && unique.diagnostics?.table == "p")
        guard case .uniqueViolation("p", ["a, \"b\"", "c"]) = unique.error else { return #expect(Bool(false)) }
        let foreign = try failure("INSERT INTO q VALUES (7)")
        #expect(
            foreign.constraint == .foreignKey && foreign.diagnostics?.constraint == "to_p"
                && foreign.diagnostics?.table == "q")
        #expect(try failure("INSERT INTO q VALUES (1); DELETE FROM p").constraint == .foreignKey)
        let null = try failure("INSERT INTO p VALUES (3, 'y', NULL)")
        #expect(null.constraint == .notNull && null.diagnostics?.column == "c")
        let check = try failure("INSERT INTO p VALUES (3, 'y', 11)")
        #expect(check.constraint == .check && check.diagnostics?.constraint == "small")
    }

    @Test func errorCodesAreMapped() throws {
        try session.run("CREATE ROLE nobody_\(session.processID)")
        defer { _ = try? session.run("RESET ROLE; DROP ROLE nobody_\(session.processID)") }
        func isInvalidUse(_ sql: String) throws -> Bool {
            if case .invalidUse = try failure(sql).error { true } else { false }
        }
        #expect(try isInvalidUse("SELECT 40000::smallint"))
        #expect(try isInvalidUse("SELECT 'x'::integer"))
        guard case .readOnly = try failure("BEGIN READ ONLY; CREATE TABLE x ()").error else {
            return #expect(Bool(false))
        }
        try session.run("ROLLBACK")
        guard
            case .fileAccess(_, let rights) = try failure(
                "SET ROLE nobody_\(session.processID); SELECT * FROM pg_authid"
            ).error
        else { return #expect(Bool(false)) }
        #expect(rights.contains("lacks a privilege"))
        guard case .database(let code, let message, let sql) = try failure("SELECT * FROM nowhere").error else {
            return #expect(Bool(false))
        }
        #expect(message.contains("nowhere") && message.contains("42P01") && sql == "SELECT * FROM nowhere")
        // It isn't a code of SQLite.
        #expect(code & 0xFF == 0 && code > 1 << 24)
    }

    @Test func conflictingTransactionsAreBusy() throws {
        let table = "busy_\(session.processID)"
        try session.run("CREATE TABLE \(table) (id integer); INSERT INTO \(table) VALUES (1)")
        defer { _ = try? session.run("ROLLBACK; DROP TABLE \(table)") }
        let other = try RelataPostgresTests.session()
        try session.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM \(table)")
        try other.run("UPDATE \(table) SET id = 2")
        let conflict = try failure("UPDATE \(table) SET id = 3")
        guard case .busy = conflict.error else { return #expect(Bool(false)) }
        #expect(conflict.isRetryable)
        try session.run("ROLLBACK")
        try other.run("BEGIN; UPDATE \(table) SET id = 2")
        let locked = try failure("SET lock_timeout = 5; UPDATE \(table) SET id = 3")
        guard case .busy = locked.error else { return #expect(Bool(false)) }
        #expect(!locked.isRetryable)
        other.close()
    }
}
#endif
