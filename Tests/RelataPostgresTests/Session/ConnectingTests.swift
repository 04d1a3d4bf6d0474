#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
@testable import RelataPostgres
import Testing

@Suite(.needsPostgreSQL) struct ConnectingTests {
    private func failure(_ url: String) -> RelataError? {
        do {
            _ = try Session(PostgresURL(url))
            return nil
        } catch let error as PostgresFailure {
            return error.error
        } catch {
            return nil
        }
    }

    @Test func sessionsUseUTF8AndSetTheirName() throws {
        let session = try session()
        #expect(try session.value("SHOW client_encoding") == "UTF8")
        #expect(try session.value("SHOW application_name") == "relata")
        #expect(session.serverVersion >= 130_000)
        #expect(try session.value("SELECT pg_backend_pid()::bigint") == .integer(Int64(session.processID)))
    }

    @Test func errorsDoNotRevealWrongPasswords() throws {
        let url = try PrivateCluster.shared.url(user: PrivateCluster.guardedRole + ":hunter2")
        let error = try #require(failure(url))
        guard case .fileAccess(_, let message) = error else { return #expect(Bool(false), "\(error)") }
        #expect(message.contains("password authentication failed"))
        #expect(!"\(error)".contains("hunter2"))
        #expect(failure(try PrivateCluster.shared.url(user: PrivateCluster.guardedRole + ":secret")) == nil)
    }

    @Test func aMissingDatabaseIsNamed() throws {
        let error = try #require(failure(PrivateCluster.shared.url(database: "nowhere")))
        guard case .fileAccess(let path, let message) = error else { return #expect(Bool(false), "\(error)") }
        #expect(path.hasSuffix("/nowhere"))
        #expect(message.contains("\"nowhere\" does not exist"))
    }

    @Test func unreachableServersAreNamed() throws {
        let error = try #require(failure("postgres://postgres:hunter2@/x?host=/nonexistent"))
        #expect("\(error)".contains("/nonexistent") && !"\(error)".contains("hunter2"))
    }

    @Test func theFirstReachableHostIsUsed() throws {
        let place = try PrivateCluster.shared.place
        let session = try Session(
            PostgresURL("postgres://postgres@/postgres?host=/nonexistent,\(place)&target_session_attrs=read-write"))
        #expect(try session.value("SELECT 1::bigint") == 1)
        #expect(session.serverName.contains(place))
    }

    @Test func databasesWithoutUnicodeAreRefused() throws {
        let name = "latin_\(UInt32.random(in: 0 ... .max))"
        try session().run("CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'")
        let error = try #require(failure(PrivateCluster.shared.url(database: name)))
        #expect("\(error)".contains("LATIN1") && "\(error)".contains("UTF8"))
    }

    @Test func oldServersAreRefusedWithTheMinimumVersion() {
        #expect(throws: PostgresFailure.self) {
            try Session.check(version: 120_020, encoding: "UTF8", server: "s")
        }
        #expect { try Session.check(version: 120_020, encoding: "UTF8", server: "s") } throws: {
            "\(($0 as? PostgresFailure)?.error as Any)".contains("13")
        }
        #expect(throws: Never.self) { try Session.check(version: 130_000, encoding: "UTF8", server: "s") }
    }

    @Test func closedSessionsReportThatTheyAreClosed() throws {
        let session = try session()
        session.close()
        session.close()
        #expect(session.isLost)
        #expect { try session.run("SELECT 1") } throws: {
            if case .closed? = ($0 as? PostgresFailure)?.error { true } else { false }
        }
    }

    @Test func sessionsReconnectAfterTheirServerProcessIsKilled() throws {
        let (session, killer) = try (session(), session())
        let prepared = try session.prepare(name: "one", sql: "SELECT 1::bigint")
        let parameters = ParameterBuffer()
        parameters.begin(prepared)
        try session.run("BEGIN")
        #expect(session.transactionStatus == .open)
        #expect(
            try killer.value("SELECT pg_terminate_backend($1::integer, 10000)", .integer(Int64(session.processID))) == 1
        )
        #expect { _ = try session.execute(prepared, parameters) } throws: {
            "\(($0 as? PostgresFailure)?.error as Any)".contains("went away")
        }
        #expect(session.isLost)
        #expect(session.transactionStatus == .unknown)
        try session.reset()
        #expect(!session.isLost)
        #expect(session.transactionStatus == .idle)
        #expect(try session.value("SHOW TimeZone") == "UTC")
        #expect { _ = try session.execute(prepared, parameters) } throws: {
            "\(($0 as? PostgresFailure)?.error as Any)".contains("prepare it again")
        }
        let again = try session.prepare(name: "one", sql: "SELECT 1::bigint")
        parameters.begin(again)
        #expect(try session.execute(again, parameters).values() == [[1]])
    }

    @Test func transactionsAndNoticesAreReported() throws {
        let session = try session()
        var notices: [PostgresFailure.Diagnostics] = []
        session.onNotice = { notices.append($0) }
        try session.run("BEGIN")
        #expect(throws: PostgresFailure.self) { try session.run("SELECT nonsense") }
        #expect(session.transactionStatus == .failed)
        try session.run("ROLLBACK")
        #expect(session.transactionStatus == .idle)
        try session.run("DO $$ BEGIN RAISE NOTICE 'hello %', 7; END $$")
        #expect(notices.map(\.message) == ["hello 7"])
    }

    @Test func timeLimitsAreEnforced() throws {
        let session = try session()
        try session.apply(
            SessionSettings(
                statementTimeout: .microseconds(1500), lockTimeout: .seconds(3), idleInTransactionTimeout: .zero))
        #expect(try session.value("SHOW statement_timeout") == "2ms")
        #expect(try session.value("SHOW lock_timeout") == "3s")
        #expect(try session.value("SHOW idle_in_transaction_session_timeout") == "0")
        #expect { try session.run("SELECT pg_sleep(10)") } throws: {
            if case .busy? = ($0 as? PostgresFailure)?.error { true } else { false }
        }
    }

    @Test func theServerEndsWithItsPipe() throws {
        let cluster = try PrivateCluster()
        let url = try PostgresURL(cluster.url())
        #expect(try Session(url).value("SELECT 1::bigint") == 1)
        cluster.stop()
        let deadline = ContinuousClock.now + .seconds(30)
        while FileManager.default.fileExists(atPath: cluster.place), .now < deadline { usleep(10_000) }
        #expect(!FileManager.default.fileExists(atPath: cluster.place))
        #expect(throws: PostgresFailure.self) { try Session(url) }
    }
}
#endif
