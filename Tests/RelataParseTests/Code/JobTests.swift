import Foundation
import RelataCore
import Synchronization
import TestEngines
import TestSupport
import Testing

@testable import RelataParse

/// An app's jobs, which run in the background.
@Suite(.onEveryEngine) struct JobTests {
    private func server(_ path: String? = nil, _ configure: (inout CloudCode) -> Void) throws -> TestServer {
        try TestServer.withUsers(path: path) { configure(&$0.code) }
    }

    /// A gate at which a job waits.
    private final class Gate: Sendable {
        private let stream: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation
        /// The number of runs that have begun.
        let count = Mutex(0)

        init() { (stream, continuation) = AsyncStream.makeStream() }

        /// Waits until the gate is opened, or the task is cancelled.
        func wait() async throws {
            count.withLock { $0 += 1 }
            for await _ in stream { break }
            try Task.checkCancellation()
        }

        func open() { continuation.yield() }
    }

    private func begin(_ server: TestServer, _ name: String, _ body: JSONValue = [:]) async throws -> String {
        let reply = await server.service.respond(
            to: WireRequest(
                method: "POST", path: "/jobs/\(name)",
                headers: ["x-parse-application-id": "app", "x-parse-master-key": "master"],
                body: Array(JSONWriter.text(body).utf8)))
        #expect(reply.status == 200 && reply.body == Array("{}".utf8))
        return try #require(reply.headers["x-parse-job-status-id"], "\(String(decoding: reply.body, as: UTF8.self))")
    }

    private func status(_ server: TestServer, _ id: String) async throws -> JSONValue {
        try await server.send("GET", "/classes/_JobStatus/\(id)").json
    }

    /// The status of a run after its end.
    private func end(_ server: TestServer, _ id: String) async throws -> JSONValue {
        for _ in 0..<500 {
            let status = try await status(server, id)
            if status["status"] != "running" { return status }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("the job \(id) goes on")
        return .null
    }

    private func statuses(_ server: TestServer) async throws -> [String] {
        try await server.send("GET", "/classes/_JobStatus?order=createdAt").results.compactMap { $0["status"]?.string }
    }

    @Test func theStatusOfAJobShowsItsOutcome() async throws {
        let gate = Gate()
        let server = try server { code in
            code.job("tidy") { job in
                try await job.message("begun with \(job["depth"]?.integer ?? 0)")
                try await gate.wait()
                _ = try await job.store.create("Note", ["title": "tidied"])
            }
            code.job("fail") { _ in throw ParseError(.objectNotFound, "nothing to tidy") }
        }
        let id = try await begin(server, "tidy", ["depth": 3])
        try await waitUntil { try await status(server, id)["message"] != nil }
        let running = try await status(server, id)
        #expect(
            running["status"] == "running" && running["jobName"] == "tidy" && running["source"] == "api", "\(running)")
        #expect(
            running["message"] == "begun with 3" && running["params"] == ["depth": 3] && running["finishedAt"] == nil)
        gate.open()
        let done = try await end(server, id)
        #expect(done["status"] == "succeeded" && done["finishedAt"]?["__type"] == "Date", "\(done)")
        #expect(try await server.find("Note").count == 1)
        let failed = try await end(server, try await begin(server, "fail"))
        #expect(failed["status"] == "failed" && failed["message"] == "nothing to tidy", "\(failed)")
    }

    @Test func onlyTheMasterKeyStartsAndSeesJobs() async throws {
        let server = try server { $0.job("tidy") { _ in } }
        let mei = try await server.signUp("mei")
        for person in [nil, mei] {
            #expect(try await server.send(as: person, "POST", "/jobs/tidy", [:]).status == 403)
            #expect(try await server.send(as: person, "GET", "/cloud_code/jobs/data").status == 403)
        }
        #expect(try await server.send("GET", "/classes/_JobStatus").json == ["results": []])
        let id = try await begin(server, "tidy")
        for path in ["/classes/_JobStatus", "/classes/_JobStatus/\(id)"] {
            for person in [nil, mei] { #expect(try await server.send(as: person, "GET", path).code == 119) }
        }
        let inside: JSONValue = ["objectId": ["$inQuery": ["className": "_JobStatus", "where": [:]]]]
        let text = JSONWriter.text(inside).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        #expect(try await server.send(as: mei, "GET", "/classes/Note?where=\(text)").results.isEmpty)
        #expect(try await server.send("POST", "/classes/_JobStatus", ["status": "x"]).code == 119)
        #expect(try await server.send("PUT", "/classes/_JobStatus/\(id)", ["status": "x"]).code == 119)
        #expect(try await end(server, id)["status"] == "succeeded")
        #expect(try await server.send("DELETE", "/classes/_JobStatus/\(id)").status == 200)
    }

    @Test func anUnknownJobIsAnError() async throws {
        let server = try server { $0.job("tidy") { _ in } }
        let unknown = try await server.send("POST", "/jobs/nobody", [:])
        #expect(unknown.json == ["code": 141, "error": "Invalid job."])
        #expect(try await server.send("POST", "/jobs", [:]).code == 141)
        #expect(try await server.send("GET", "/jobs/tidy").status == 405)
        #expect(try await server.send("POST", "/jobs/tidy", ["a": ["__proto__": 1]]).code == 105)
        #expect(try await server.send("POST", "/jobs/tidy", ["a": ["$b": 1]]).code == 121)
        #expect(try await server.send("POST", "/jobs", ["jobName": "tidy"]).status == 200)
        #expect(try await server.send("GET", "/cloud_code/jobs/data").json == ["in_use": [], "jobs": ["tidy"]])
        #expect(try await server.send("GET", "/cloud_code/jobs").status == 404)
    }

    @Test func aJobDoesNotRunTwiceAtOnce() async throws {
        let gate = Gate()
        let server = try server { code in
            code.job("one") { _ in try await gate.wait() }
            code.job("many", severalAtOnce: true) { _ in try await Task.sleep(for: .seconds(60)) }
        }
        let first = try await begin(server, "one")
        let refused = try await server.send("POST", "/jobs/one", [:])
        #expect(refused.status == 409 && refused.code == 119, "\(refused.json)")
        gate.open()
        #expect(try await end(server, first)["status"] == "succeeded")
        let second = try await begin(server, "one")
        gate.open()
        #expect(try await end(server, second)["status"] == "succeeded")
        let several = [try await begin(server, "many"), try await begin(server, "many")]
        for id in several { #expect(try await status(server, id)["status"] == "running") }
        await server.service.stopJobs()
        for id in several { #expect(try await end(server, id)["status"] == "failed") }
    }

    @Test func concurrentRequestsStartAJobOnce() async throws {
        let gate = Gate()
        let server = try server { $0.job("one") { _ in try await gate.wait() } }
        let replies = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<10 { group.addTask { try await server.send("POST", "/jobs/one", [:]).status } }
            return try await group.reduce(into: [Int]()) { $0.append($1) }.sorted()
        }
        #expect(replies == [200] + Array(repeating: 409, count: 9))
        #expect(try await statuses(server) == ["running"])
        await server.service.stopJobs()
    }

    // MARK: The end of a server

    @Test func jobsThatAStoppingServerInterruptsAreRecordedAsFailed() async throws {
        let gate = Gate()
        let server = try server { $0.job("one") { _ in try await gate.wait() } }
        let id = try await begin(server, "one")
        await server.service.stopJobs()
        let status = try await status(server, id)
        #expect(status["status"] == "failed" && status["message"] == .string(ServiceClasses.stopped), "\(status)")
        #expect(status["finishedAt"] != nil)
    }

    @Test func jobsOfAServerThatDiedAreRecordedAsFailed() async throws {
        let (gate, databases) = (Gate(), try TestDatabases())
        let path = try databases.path()
        let dead = try server(path) { $0.job("one") { _ in try await gate.wait() } }
        let id = try await begin(dead, "one")
        let other = try server(path) { $0.job("one") { _ in } }
        // The run counts as running while its process extends the lock.
        let now = Date()
        try await dead.service.tendJobs(now: now.addingTimeInterval(50))
        try await other.service.tendJobs(now: now.addingTimeInterval(70))
        #expect(try await status(other, id)["status"] == "running")
        try await other.service.tendJobs(now: now.addingTimeInterval(120))
        let status = try await status(other, id)
        #expect(status["status"] == "failed" && status["message"] == .string(ServiceClasses.stopped), "\(status)")
        #expect(try await end(other, try await begin(other, "one"))["status"] == "succeeded")
        // A later end of the run isn't recorded.
        gate.open()
        await waitUntil { dead.service.store.runningJobs.ids.isEmpty }
        #expect(try await self.status(other, id)["status"] == "failed")
        try dead.store.close()
        try other.store.close()
    }

    // MARK: Schedules

    @Test func scheduledJobsRunOnTime() async throws {
        let (gate, databases) = (Gate(), try TestDatabases())
        let path = try databases.path()
        func server() throws -> TestServer {
            try self.server(path) { $0.job("tidy", schedule: .every(seconds: 100)) { _ in try await gate.wait() } }
        }
        let servers = [try server(), try server()]
        // A time that has passed on a slow machine would be replaced by the present one.
        let start = Date(timeIntervalSinceNow: 3600)
        func tend(_ seconds: Double) async throws {
            for server in servers { try await server.service.tendJobs(now: start.addingTimeInterval(seconds)) }
        }
        try await tend(0)
        try await tend(99)
        #expect(try await statuses(servers[0]) == [])
        try await tend(101)
        #expect(try await statuses(servers[0]) == ["running"])
        // The run is still going at the next scheduled time, so the job isn't started again.
        try await tend(150)
        try await tend(205)
        #expect(try await statuses(servers[1]) == ["running"])
        gate.open()
        let id = try #require(
            try await servers[0].send("GET", "/classes/_JobStatus").results.first?["objectId"]?.string)
        let status = try await end(servers[0], id)
        #expect(status["status"] == "succeeded" && status["source"] == "schedule", "\(status)")
        // The missed times are made up for by one run.
        try await tend(250)
        try await tend(260)
        #expect(try await statuses(servers[0]) == ["succeeded", "running"])
        for server in servers {
            await server.service.stopJobs()
            try server.store.close()
        }
    }

    @Test func scheduledTimesAreInTheirTimeZone() throws {
        func date(_ text: String) throws -> Date {
            DateText.date(microseconds: try #require(DateText.microseconds(text: text)))
        }
        let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
        let night = JobSchedule.daily(hour: 3, minute: 30, in: berlin)
        #expect(try night.next(after: date("2026-01-10T12:00:00Z")) == date("2026-01-11T02:30:00Z"))
        #expect(try night.next(after: date("2026-07-10T00:00:00Z")) == date("2026-07-10T01:30:00Z"))
        #expect(
            try JobSchedule.daily(hour: 0).next(after: date("2026-01-10T00:00:00Z")) == date("2026-01-11T00:00:00Z"))
        for schedule in [.every(seconds: 0), .every(seconds: .nan), .daily(hour: 24), .daily(hour: 1, minute: 60)]
            as [JobSchedule]
        {
            var code = CloudCode()
            code.job("tidy", schedule: schedule) { _ in }
            #expect(throws: RelataError.self) { try code.check() }
        }
    }

    @Test func aServerThatLostItsRunStopsTheJob() async throws {
        let (gates, databases) = ((Gate(), Gate()), try TestDatabases())
        let path = try databases.path()
        let slow = try server(path) { $0.job("one") { _ in try await gates.0.wait() } }
        let other = try server(path) { $0.job("one") { _ in try await gates.1.wait() } }
        let id = try await begin(slow, "one")
        #expect(try await status(other, id)["status"] == "running")
        try await other.service.tendJobs(now: Date(timeIntervalSinceNow: 61))
        #expect(try await status(other, id)["status"] == "failed")
        _ = try await begin(other, "one")
        try await slow.service.tendJobs()
        await waitUntil { slow.store.runningJobs.ids.isEmpty }
        #expect(try await statuses(other) == ["failed", "running"])
        await other.service.stopJobs()
        try slow.store.close()
        try other.store.close()
    }

    @Test func runningJobsAreNotTreatedAsAbandoned() async throws {
        let gate = Gate()
        let server = try server { $0.job("one") { _ in try await gate.wait() } }
        let id = try await begin(server, "one")
        try await server.store.write(as: .master) { transaction in
            _ = try transaction.extendRuns([id], until: Date(timeIntervalSinceNow: -5))
        }
        #expect(try await server.send("POST", "/jobs/one", [:]).status == 409)
        #expect(try await status(server, id)["status"] == "running")
        await server.service.stopJobs()
    }

    @Test func aWrongClockStopsNoJob() async throws {
        let server = try server { $0.job("tidy", schedule: .every(seconds: 1_000_000)) { _ in } }
        let now = Date()
        try await server.service.tendJobs(now: now.addingTimeInterval(3e9))
        try await server.service.tendJobs(now: now)
        #expect(try await statuses(server) == [])
        // Long after the moment at which a slow machine has recorded the first round.
        try await server.service.tendJobs(now: now.addingTimeInterval(1_100_000))
        #expect(try await statuses(server).count == 1)
        await server.service.stopJobs()
    }
}
