#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataPostgres
import Testing

@Suite(.needsPostgreSQL) struct CancellationTests {
    private func cancelWhenRunning(_ session: Session) throws -> Task<Bool, any Error> {
        let (process, cancellation) = (session.processID, session.cancellation)
        return Task {
            let other = try RelataPostgresTests.session()
            // Not before the server has begun.
            while try other.value(
                "SELECT count(*) FROM pg_stat_activity WHERE pid = $1::integer AND query LIKE '%pg_sleep%' AND state = 'active'",
                .integer(Int64(process))) == 0
            {
                try await Task.sleep(for: .milliseconds(2))
            }
            return cancellation.cancel()
        }
    }

    @Test func aRunningStatementIsStopped() async throws {
        let thread = ConnectionThread()
        try await withTaskExecutorPreference(thread) {
            let session = try session()
            let cancelling = try cancelWhenRunning(session)
            #expect { try session.run("SELECT pg_sleep(60)") } throws: {
                guard let failure = $0 as? PostgresFailure, case .database(9, "interrupted", _) = failure.error else {
                    return false
                }
                return failure.sqlState == "57014"
            }
            #expect(try await cancelling.value)
            #expect(session.cancellation.isRequested)
            try session.endCancellation()
            #expect(!session.cancellation.isRequested)
            #expect(try session.value("SELECT 1::bigint") == 1)
        }
    }

    @Test func aLateCancellationStopsNothingElse() throws {
        let session = try session()
        for _ in 0..<100 {
            #expect(session.cancellation.cancel())
            try session.endCancellation()
            #expect(try session.value("SELECT 1::bigint") == 1)
        }
    }

    @Test func aCancelledTaskEndsItsStatement() async throws {
        let thread = ConnectionThread()
        let task = Task(executorPreference: thread) {
            let session = try RelataPostgresTests.session()
            let cancellation = session.cancellation
            await withTaskCancellationHandler {
                _ = #expect(throws: PostgresFailure.self) { try session.run("SELECT pg_sleep(60)") }
            } onCancel: {
                cancellation.cancel()
            }
            return Task.isCancelled
        }
        let other = try session()
        while try other.value(
            "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)' AND state = 'active' AND pid <> pg_backend_pid()"
        ) == 0 {
            try await Task.sleep(for: .milliseconds(2))
        }
        task.cancel()
        #expect(try await task.value)
    }
}

@Suite(.needsPostgreSQL) struct NotificationTests {
    @Test func whatWasSaidArrivesWhileWaiting() async throws {
        let channel = "a \"quoted\" channel \(UInt32.random(in: 0 ... .max))"
        let thread = ConnectionThread()
        try await withTaskExecutorPreference(thread) {
            let (listener, speaker) = try (session(), session())
            try listener.listen(to: channel)
            #expect(try listener.notifications().isEmpty)
            #expect(try listener.waitForNotifications(timeout: .milliseconds(5)).isEmpty)
            _ = try speaker.values("SELECT pg_notify($1, $2)", [.value(.text(channel)), .value("one é")])
            _ = try speaker.values("SELECT pg_notify($1, $2)", [.value(.text(channel)), .value("")])
            var heard: [RelataPostgres.Notification] = []
            while heard.count < 2 { heard += try listener.waitForNotifications(timeout: .seconds(30)) }
            #expect(heard.map(\.payload) == ["one é", ""])
            #expect(heard.allSatisfy { $0.channel == channel && $0.processID == speaker.processID })
            try listener.unlisten(channel)
        }
    }

    @Test func aWaitEndsWhenItIsCancelled() async throws {
        let thread = ConnectionThread()
        let (handles, continuation) = AsyncStream.makeStream(of: Cancellation.self)
        let task = Task(executorPreference: thread) {
            let listener = try session()
            try listener.listen(to: "silence")
            continuation.yield(listener.cancellation)
            let list = try listener.waitForNotifications()
            try listener.endCancellation()
            // The next wait isn't ended by it.
            let start = ContinuousClock.now
            _ = try listener.waitForNotifications(timeout: .milliseconds(20))
            return list.isEmpty && .now - start >= .milliseconds(20)
        }
        for await cancellation in handles {
            cancellation.cancel()
            break
        }
        #expect(try await task.value)
    }

    @Test func aWaitEndsWhenTheServerGoesAway() async throws {
        let thread = ConnectionThread()
        try await withTaskExecutorPreference(thread) {
            let (listener, killer) = try (session(), session())
            try listener.listen(to: "c")
            _ = try killer.values("SELECT pg_terminate_backend(\(listener.processID))")
            #expect { while try listener.waitForNotifications().isEmpty {} } throws: {
                "\(($0 as? PostgresFailure)?.error as Any)".contains("went away")
            }
        }
    }
}
#endif
