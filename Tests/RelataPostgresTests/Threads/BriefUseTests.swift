#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataPostgres
import Testing

@Suite(.needsPostgreSQL) struct BriefUseTests {
    private let session: Session

    init() throws {
        session = try RelataPostgresTests.session()
        try session.run("CREATE TEMP SEQUENCE runs")
    }

    /// A statement that counts its runs, and takes the given number of seconds.
    private func counting(_ seconds: Double) throws -> (PreparedStatement, ParameterBuffer) {
        let statement = try session.prepare(
            name: "counting\(seconds)",
            sql: "SELECT nextval('runs'), $1::bigint FROM (SELECT pg_sleep(\(seconds))) AS pause")
        let parameters = ParameterBuffer()
        parameters.begin(statement)
        try parameters.append(7 as Int64)
        return (statement, parameters)
    }

    @Test func immediateAnswersAreReturnedDirectly() throws {
        let (statement, parameters) = try counting(0)
        // A busy machine may be slow.
        for _ in 0..<1000 {
            session.beginBriefUse()
            let result = try? session.execute(statement, parameters)
            session.endBriefUse()
            if let result {
                #expect(try result.values()[0][1] == 7)
                #expect(!session.needsThread)
                return
            }
            _ = try session.execute(statement, parameters)
        }
        Issue.record("no answer came within a millisecond")
    }

    @Test func slowStatementsContinueAndRunOnce() throws {
        let (statement, parameters) = try counting(0.3)
        session.beginBriefUse()
        // A caller that waited for its end would get its result.
        #expect(throws: PostgresFailure.self) { try session.execute(statement, parameters) }
        #expect(session.needsThread)
        #expect(throws: PostgresFailure.self) { try session.run("SELECT 1") }
        session.endBriefUse()
        #expect(try session.execute(statement, parameters).values() == [[1, 7]])
        #expect(try session.value("SELECT last_value FROM runs") == 1)
    }

    @Test func anotherStatementDiscardsAnAbandonedAnswer() throws {
        let (statement, parameters) = try counting(0.05)
        session.beginBriefUse()
        #expect(throws: PostgresFailure.self) { try session.execute(statement, parameters) }
        session.endBriefUse()
        #expect(try session.value("SELECT 3::bigint") == 3)
        #expect(try session.execute(statement, parameters).values() == [[2, 7]])
    }

    @Test func serverErrorsAreReported() throws {
        let statement = try session.prepare(
            name: "failing", sql: "SELECT 1 / $1::bigint FROM (SELECT pg_sleep(0.05)) AS pause")
        let parameters = ParameterBuffer()
        parameters.begin(statement)
        try parameters.append(0 as Int64)
        session.beginBriefUse()
        #expect(throws: PostgresFailure.self) { try session.execute(statement, parameters) }
        session.endBriefUse()
        #expect { try session.execute(statement, parameters) } throws: {
            ($0 as? PostgresFailure)?.sqlState == "22012"
        }
        #expect(try session.value("SELECT 1::bigint") == 1)
    }

    @Test func unpreparedStatementsNeedTheThread() throws {
        session.beginBriefUse()
        #expect(throws: PostgresFailure.self) { try session.run("SELECT 1") }
        #expect(session.needsThread)
        session.beginBriefUse()
        #expect(!session.needsThread)
        #expect(throws: PostgresFailure.self) { try session.prepare(name: "", sql: "SELECT 1") }
        #expect(session.needsThread)
        session.endBriefUse()
        #expect(try session.value("SELECT 1::bigint") == 1)
    }

    @Test func waitingStatementsCanBeCancelled() async throws {
        let (statement, parameters) = try counting(60)
        session.beginBriefUse()
        #expect(throws: PostgresFailure.self) { try session.execute(statement, parameters) }
        session.endBriefUse()
        let cancellation = session.cancellation
        Thread.detachNewThread { cancellation.cancel() }
        #expect { try session.execute(statement, parameters) } throws: {
            ($0 as? PostgresFailure)?.sqlState == "57014"
        }
        session.endCancellation()
        #expect(try session.value("SELECT 1::bigint") == 1)
    }
}
#endif
