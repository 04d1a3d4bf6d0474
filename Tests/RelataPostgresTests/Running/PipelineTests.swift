#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataPostgres
import Testing

@Suite(.needsPostgreSQL) struct PipelineTests {
    private let session: Session
    private let parameters = ParameterBuffer()

    init() throws {
        session = try RelataPostgresTests.session()
        try session.run("CREATE TEMP TABLE t (id bigint PRIMARY KEY, text text)")
    }

    private func insert() throws -> PreparedStatement {
        try session.prepare(name: "insert", sql: "INSERT INTO t VALUES ($1, $2) RETURNING id")
    }

    private func queue(_ statement: PreparedStatement, _ values: Value...) throws {
        parameters.begin(statement)
        for value in values { try parameters.append(value) }
        try session.queue(statement, parameters)
    }

    @Test func resultsComeInTheOrderOfTheStatements() throws {
        let (insert, count) = try (
            insert(), session.prepare(name: "count", sql: "SELECT count(*) FROM t WHERE id < $1")
        )
        for id in 0..<100 as Range<Int64> {
            try queue(insert, .integer(id), "x")
            try queue(count, 50)
        }
        let results = try session.sync()
        #expect(results.count == 200)
        #expect(try results[198].values() == [[99]])
        #expect(try results[199].values() == [[50]])
        #expect(try session.value("SELECT count(*) FROM t") == 100)
        #expect(try session.sync().isEmpty)
    }

    @Test(arguments: [false, true]) func theFailedStatementIsNamedByItsIndex(_ isInTransaction: Bool) throws {
        let insert = try insert()
        if isInTransaction { try session.run("BEGIN") }
        for id in [1, 2, 3, 2, 4, 1] as [Int64] { try queue(insert, .integer(id), "x") }
        #expect { _ = try session.sync() } throws: {
            guard let failure = $0 as? PostgresFailure else { return false }
            return failure.statement == 3 && failure.constraint == .unique && failure.keyColumns == ["id"]
                && failure.diagnostics?.detail?.contains("(2)") == true
        }
        if isInTransaction {
            #expect(session.transactionStatus == .failed)
            try session.run("ROLLBACK")
        }
        #expect(session.transactionStatus == .idle)
        #expect(try session.value("SELECT count(*) FROM t") == 0)
    }

    @Test func aFailureOfTheCommitIsThrown() throws {
        try session.run("CREATE TEMP TABLE c (t bigint REFERENCES t DEFERRABLE INITIALLY DEFERRED)")
        let child = try session.prepare(name: "child", sql: "INSERT INTO c VALUES ($1)")
        try queue(child, 7)
        #expect { _ = try session.sync() } throws: {
            guard let failure = $0 as? PostgresFailure else { return false }
            return failure.constraint == .foreignKey && failure.statement == nil
        }
        #expect(try session.value("SELECT count(*) FROM c") == 0)
    }

    @Test func unsuitableParametersLeaveThePipelineUnchanged() throws {
        let insert = try insert()
        try queue(insert, 1, "x")
        #expect(throws: RelataError.self) { try queue(insert, "no number", "x") }
        #expect(throws: PostgresFailure.self) { try queue(insert, 2) }
        #expect(throws: PostgresFailure.self) { try session.run("SELECT 1") }
        try queue(insert, 3, "x")
        #expect(try session.sync().count == 2)
        #expect(try session.value("SELECT count(*) FROM t") == 2)
    }

    @Test func largePipelinesDoNotDeadlock() throws {
        let echo = try session.prepare(name: "echo", sql: "SELECT $1::text || $1")
        let text = String(repeating: "x", count: 100_000)
        for _ in 0..<300 { try queue(echo, .text(text)) }
        let results = try session.sync()
        #expect(results.count == 300)
        #expect(try results.allSatisfy { try $0[0][0].text().utf8.count == 200_000 })
    }

    @Test func aKilledServerEndsThePipeline() throws {
        let killer = try RelataPostgresTests.session()
        let insert = try insert()
        try queue(insert, 1, "x")
        #expect(
            try killer.value("SELECT pg_terminate_backend($1::integer, 10000)", .integer(Int64(session.processID))) == 1
        )
        #expect {
            try queue(insert, 2, "x")
            _ = try session.sync()
        } throws: { "\(($0 as? PostgresFailure)?.error as Any)".contains("went away") }
        try session.reset()
        #expect(try session.value("SELECT 1::bigint") == 1)
    }
}
#endif
