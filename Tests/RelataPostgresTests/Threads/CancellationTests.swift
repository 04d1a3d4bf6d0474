#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataEngine
import RelataPostgres
import TestSupport
import Testing

@Suite(.needsPostgreSQL) struct CancellationTests {
    /// Waits until the server runs a statement of a session.
    private func waitUntilActive(_ process: Int32) async throws {
        let other = try session()
        let sql =
            "SELECT count(*) FROM pg_stat_activity WHERE pid = $1::integer AND query LIKE '%pg_sleep%' AND state = 'active'"
        try await waitUntil { try other.value(sql, .integer(Int64(process))) != 0 }
    }

    private func isInterruption(_ error: any Error) -> Bool {
        if case .database(9, "interrupted", _)? = (error as? PostgresFailure)?.error { true } else { false }
    }

    @Test func aRunningStatementIsStopped() async throws {
        let thread = ConnectionThread()
        try await withTaskExecutorPreference(thread) {
            let session = try session()
            let (process, cancellation) = (session.processID, session.cancellation)
            let cancelling = Task {
                try await waitUntilActive(process)
                cancellation.cancel()
            }
            #expect { try session.run("SELECT pg_sleep(60)") } throws: {
                isInterruption($0) && ($0 as? PostgresFailure)?.sqlState == "57014"
            }
            try await cancelling.value
            #expect(session.cancellation.isRequested)
            session.endCancellation()
            #expect(!session.cancellation.isRequested)
            #expect(try session.value("SELECT 1::bigint") == 1)
        }
    }

    @Test func cancelledStatementsDoNotStart() throws {
        let session = try session()
        let statement = try session.prepare(name: "s", sql: "SELECT pg_sleep(60)")
        let parameters = ParameterBuffer()
        parameters.begin(statement)
        session.cancellation.cancel()
        #expect(throws: PostgresFailure.self) { try session.run("SELECT pg_sleep(60)") }
        #expect(throws: PostgresFailure.self) { try session.execute(statement, parameters) }
        #expect(throws: PostgresFailure.self) { try session.stream(statement, parameters) }
        #expect(throws: PostgresFailure.self) { try session.queue(statement, parameters) }
        #expect { try session.prepare(name: "", sql: "SELECT 1") } throws: { isInterruption($0) }
        session.endCancellation()
        #expect(try session.value("SELECT 1::bigint") == 1)
    }

    @Test func aLateCancellationStopsNothingElse() throws {
        let session = try session()
        for _ in 0..<100 {
            session.cancellation.cancel()
            session.endCancellation()
            #expect(try session.value("SELECT 1::bigint") == 1)
        }
    }

    @Test func aCancellationAtAnyMomentStopsTheStatement() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var numbers = SeededGenerator(seed: seed)
        let thread = ConnectionThread()
        for _ in 0..<40 {
            let delay = Int.random(in: 0..<3000, using: &numbers)
            let task = Task(executorPreference: thread) {
                let session = try session()
                let cancellation = session.cancellation
                // On a separate thread: Swift's threads may be busy with other tests for longer than the statement
                // takes.
                Thread.detachNewThread {
                    Thread.sleep(forTimeInterval: Double(delay) / 1_000_000)
                    cancellation.cancel()
                }
                #expect(throws: PostgresFailure.self, "seed \(seed)") { try session.run("SELECT pg_sleep(60)") }
                session.endCancellation()
                #expect(try session.value("SELECT 1::bigint") == 1)
            }
            try await task.value
        }
    }

    @Test func streamsAndPipelinesAreStopped() async throws {
        let thread = ConnectionThread()
        try await withTaskExecutorPreference(thread) {
            let session = try session()
            let (process, cancellation) = (session.processID, session.cancellation)
            let statement = try session.prepare(name: "s", sql: "SELECT pg_sleep(60)")
            let parameters = ParameterBuffer()
            parameters.begin(statement)
            for isStream in [true, false] {
                let cancelling = Task {
                    try await waitUntilActive(process)
                    cancellation.cancel()
                }
                #expect {
                    if isStream {
                        while try session.stream(statement, parameters).next() != nil {}
                    } else {
                        try session.queue(statement, parameters)
                        try session.queue(statement, parameters)
                        _ = try session.sync()
                    }
                } throws: {
                    isInterruption($0) && ($0 as? PostgresFailure)?.statement == (isStream ? nil : 0)
                }
                try await cancelling.value
                session.endCancellation()
            }
            #expect(try session.value("SELECT 1::bigint") == 1)
        }
    }

    @Test func aCancelledTaskEndsItsStatement() async throws {
        let thread = ConnectionThread()
        let (processes, continuation) = AsyncStream.makeStream(of: Int32.self)
        let task = Task(executorPreference: thread) {
            let session = try RelataPostgresTests.session()
            let cancellation = session.cancellation
            continuation.yield(session.processID)
            await withTaskCancellationHandler {
                _ = #expect(throws: PostgresFailure.self) { try session.run("SELECT pg_sleep(60)") }
            } onCancel: {
                cancellation.cancel()
            }
            return Task.isCancelled
        }
        for await process in processes {
            try await waitUntilActive(process)
            break
        }
        task.cancel()
        #expect(try await task.value)
    }
}

@Suite(.needsPostgreSQL) struct NotificationTests {
    @Test func notificationsArriveWhileWaiting() async throws {
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
            listener.endCancellation()
            // The cancellation doesn't end the next wait.
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

    @Test func aWaitEndsWhenTheServerStops() async throws {
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
