#if Server
import Foundation
import RelataCore
import RelataParse
import RelataEngine
import RelataSQLite
import ServerClient
import Synchronization
import TestSupport
import Testing

@testable import RelataServer

/// A statement blocks its thread while it runs. Other requests must still be answered.
struct BlockedThreadTests {
    @Test func slowQueriesOnAllButOneReaderBlockNobody() async throws {
        let folder = try ServerFolder()
        let pool = try ConnectionPool(path: folder.path("store.sqlite"))
        defer { try? pool.close() }
        try await pool.write { connection in
            try connection.execute("CREATE TABLE thing (name TEXT)")
            try connection.execute("INSERT INTO thing VALUES ('lamp')")
        }
        let readers = pool.maximumHolders - 1
        let gate = Gate()
        try await TestServer.running(
            threads: pool.maximumHolders,
            service: { request in
                do {
                    switch request.path {
                    case "/slow":
                        try await pool.read { _ in gate.block() }
                        return WireReply(["slow": true])
                    case "/write":
                        try await pool.write { try $0.execute("INSERT INTO thing VALUES ('chair')") }
                        return WireReply(["written": true])
                    default:
                        let name = try await pool.read { try $0.value(SQLStatement("SELECT name FROM thing")) }
                        return WireReply(["name": .string(name?.description ?? "")])
                    }
                } catch {
                    return WireReply(ParseError(error))
                }
            }
        ) { server in
            defer { gate.open() }
            async let slow = withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<readers - 1 { group.addTask { try await server.request("GET", "/parse/slow").status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            await gate.blocked(readers - 1)
            for _ in 0..<20 {
                #expect(try await server.request("GET", "/parse/thing").json["name"] == "lamp")
                #expect(try await server.request("POST", "/parse/write").status == 200)
                #expect(try await server.request("GET", "/livez").status == 200)
                #expect(try await server.request("GET", "/metrics").status == 200)
            }
            gate.open()
            let statuses = try await slow
            #expect(statuses == Array(repeating: 200, count: readers - 1))
        }
    }

    @Test func requestsWithoutTheStoreAreAnsweredWhileEveryThreadIsBlocked() async throws {
        let gate = Gate()
        try await TestServer.running(
            threads: 1,
            service: { _ in
                gate.block()
                return WireReply([:])
            }
        ) { server in
            defer { gate.open() }
            async let blocked = withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<5 { group.addTask { try await server.request("GET", "/parse/x").status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            // One thread of the service, and two others.
            await gate.blocked(3)
            #expect(try await server.request("GET", "/livez").status == 200)
            #expect(try await server.request("GET", "/metrics").status == 200)
            #expect(try await server.request("OPTIONS", "/parse/x").status == 200)
            #expect(try await server.request("GET", "/nothing").status == 404)
            gate.open()
            let statuses = try await blocked
            #expect(statuses == [200, 200, 200, 200, 200])
        }
    }

    @Test func requestsThatWaitedForTheStoreContinueOnThreadsOfTheServer() async throws {
        let folder = try ServerFolder()
        let pool = try ConnectionPool(path: folder.path("store.sqlite"))
        defer { try? pool.close() }
        let (writing, waited) = (Gate(), Gate())
        // More threads than Swift has.
        let count = ProcessInfo.processInfo.activeProcessorCount + 4
        try await TestServer.running(
            threads: count,
            service: { request in
                // One request writes, and the others wait for the write without blocking a thread.
                try? await pool.write { _ in writing.block() }
                waited.block()
                return WireReply([:])
            }
        ) { server in
            defer { waited.open() }
            async let replies = withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<count { group.addTask { try await server.request("GET", "/parse/x").status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            await writing.blocked(1)
            try await Task.sleep(for: .milliseconds(100))
            writing.open()
            await waited.blocked(count)
            #expect(waited.blockedCount == count)
            waited.open()
            let statuses = try await replies
            #expect(statuses == Array(repeating: 200, count: count))
        }
    }

    @Test func manyPipelinedPagesAreAnsweredInOrder() async throws {
        let count = 3000
        try await TestServer.running { server in
            let statuses = try await blocking {
                let connection = try server.connect()
                // The first request is being answered while the others arrive.
                try connection.send(
                    ServerConnection.bytes("GET", "/parse/x")
                        + (0..<count).flatMap { ServerConnection.bytes("GET", $0 % 2 == 0 ? "/livez" : "/nothing") })
                _ = try connection.receive()
                return try (0..<count).map { _ in try connection.receive().status }
            }
            #expect(statuses == (0..<count).map { $0 % 2 == 0 ? 200 : 404 })
        }
    }

    @Test func threadsAreStartedAsNeededAndEndWhenIdle() async throws {
        let executor = RequestExecutor(threads: 3, idleTime: 0.05)
        let gate = Gate()
        let tasks = (0..<6).map { number in
            Task(executorPreference: executor) {
                gate.block()
                await Task.yield()
                return number
            }
        }
        await gate.blocked(3)
        #expect(executor.threadCount == 3)
        gate.open()
        for (number, task) in tasks.enumerated() { #expect(await task.value == number) }
        await waitUntil { executor.threadCount == 0 }
        #expect(await Task(executorPreference: executor) { true }.value)
    }

    @Test func repeatedWaitsDoNotStartANewThreadEachTime() async throws {
        let executor = RequestExecutor(threads: 2, idleTime: 600)
        for _ in 0..<30 {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<6 { group.addTask(executorPreference: executor) { usleep(500) } }
            }
            // Long enough that no thread looks after waiting jobs any more.
            try await Task.sleep(for: .milliseconds(20))
        }
        // Two threads that work, and one that looks after waiting jobs.
        #expect(executor.startedCount <= 3)
    }
}

/// Blocks threads until the gate is opened.
private final class Gate: Sendable {
    private let isOpen = Mutex(false)
    private let count = Mutex(0)

    func block() {
        count.withLock { $0 += 1 }
        // Limited, because all tests share few threads.
        for _ in 0..<200_000 where !isOpen.withLock({ $0 }) { usleep(1000) }
    }

    func open() { isOpen.withLock { $0 = true } }

    /// The number of threads blocked so far.
    var blockedCount: Int { count.withLock { $0 } }

    /// Waits until this many threads are blocked.
    func blocked(_ wanted: Int) async {
        await waitUntil { blockedCount >= wanted }
    }
}
#endif
