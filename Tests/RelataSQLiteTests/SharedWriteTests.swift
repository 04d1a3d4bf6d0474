import Foundation
import RelataCore
import Synchronization
import TestSupport
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// Writes that wait for each other share a transaction.
@Suite struct SharedWriteTests {
    private struct Refusal: Error {}

    /// The statements that were run.
    private final class Statements: Sendable {
        private let texts = Mutex<[String]>([])

        func add(_ text: String) { texts.withLock { $0.append(text) } }

        func count(_ text: String) -> Int { texts.withLock { $0.count { $0 == text } } }
    }

    private func withPool(_ body: (ConnectionPool, Statements) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "relata-shared-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let statements = Statements()
        let pool = try ConnectionPool(
            path: folder.appending(path: "store.sqlite").path, sharingTime: .seconds(600),
            trace: { text, _ in statements.add(text) })
        try pool.withWriter { connection in
            try connection.execute(
                """
                PRAGMA journal_mode = WAL;
                PRAGMA foreign_keys = ON;
                CREATE TABLE item (
                    id INTEGER PRIMARY KEY, parent INTEGER REFERENCES item DEFERRABLE INITIALLY DEFERRED, data BLOB)
                """)
        }
        try await body(pool, statements)
        try pool.close()
    }

    /// Has them wait for the writer, one after the other, and then lets them continue.
    private func write(
        _ pool: ConnectionPool, _ bodies: [@Sendable (Connection) throws -> Int],
        meanwhile: ([Task<Int, any Error>]) async -> Void = { _ in }
    ) async -> [Result<Int, any Error>] {
        let end = DispatchSemaphore(value: 0)
        await withCheckedContinuation { isHeld in
            // A separate thread: it must not be one that the tasks need.
            Thread.detachNewThread {
                try? pool.withWriter { _ in
                    isHeld.resume()
                    end.wait()
                }
            }
        }
        var tasks: [Task<Int, any Error>] = []
        for body in bodies {
            tasks.append(Task { try await pool.writeShared(body) })
            await waiting(tasks.count, pool)
        }
        await meanwhile(tasks)
        end.signal()
        var results: [Result<Int, any Error>] = []
        for task in tasks { results.append(await task.result) }
        return results
    }

    private func waiting(_ count: Int, _ pool: ConnectionPool) async {
        await waitUntil { pool.waitingWriterCount >= count }
    }

    private static func insert(_ id: Int, parent: Int? = nil, bytes: Int = 1) -> @Sendable (Connection) throws -> Int {
        { connection in
            _ = try connection.run(
                SQLStatement(
                    "INSERT INTO item VALUES (?1, ?2, ?3)",
                    [
                        .value(.integer(Int64(id))), .value(parent.map { .integer(Int64($0)) } ?? .null),
                        .value(.blob(Data(repeating: 7, count: bytes))),
                    ]))
            return id
        }
    }

    /// Cancels the task that runs it the first time, which is the task of the write before it.
    private static func insert(
        _ id: Int, cancellingOnce runs: Statements, whenCancelled: @escaping @Sendable () throws -> Int
    ) -> @Sendable (Connection) throws -> Int {
        { connection in
            runs.add("run")
            if runs.count("run") == 1 { withUnsafeCurrentTask { $0?.cancel() } }
            return try Task.isCancelled ? whenCancelled() : insert(id)(connection)
        }
    }

    private func values(_ results: [Result<Int, any Error>]) throws -> [Int] { try results.map { try $0.get() } }

    private func ids(_ pool: ConnectionPool) throws -> [Int] {
        try pool.read { connection in
            try connection.values(SQLStatement("SELECT id FROM item ORDER BY id")).compactMap {
                if case .integer(let id) = $0[0] { Int(id) } else { nil }
            }
        }
    }

    @Test func waitingWritesAreCommittedTogetherAndGetTheirOwnResults() async throws {
        try await withPool { pool, statements in
            let results = await write(pool, (0...20).map { Self.insert($0) })
            #expect(try values(results) == Array(0...20))
            try #expect(ids(pool) == Array(0...20))
            #expect(statements.count("COMMIT") == 1)
        }
    }

    @Test func aFailedWriteUndoesOnlyItself() async throws {
        try await withPool { pool, _ in
            let results = await write(
                pool,
                [
                    Self.insert(0), Self.insert(1),
                    { connection in
                        _ = try Self.insert(2)(connection)
                        throw Refusal()
                    },
                    Self.insert(1), Self.insert(3),
                ])
            #expect(throws: Refusal.self) { try results[2].get() }
            #expect(throws: RelataError.self) { try results[3].get() }
            try #expect(values([results[0], results[1], results[4]]) == [0, 1, 3])
            try #expect(ids(pool) == [0, 1, 3])
        }
    }

    @Test func writesRefusedByTheCommitFailAlone() async throws {
        try await withPool { pool, _ in
            let results = await write(
                pool, [Self.insert(0), Self.insert(1), Self.insert(2, parent: 99), Self.insert(3, parent: 0)])
            #expect(throws: RelataError.self) { try results[2].get() }
            try #expect(values([results[0], results[1], results[3]]) == [0, 1, 3])
            // The same for the first write.
            let more = await write(pool, [Self.insert(4, parent: 99), Self.insert(5), Self.insert(6)])
            #expect(throws: RelataError.self) { try more[0].get() }
            try #expect(values([more[1], more[2]]) == [5, 6])
            try #expect(ids(pool) == [0, 1, 3, 5, 6])
        }
    }

    @Test func eachWriteIsRetriedAloneIfTheTransactionIsLost() async throws {
        try await withPool { pool, _ in
            _ = try pool.withWriter { try $0.value(SQLStatement("PRAGMA max_page_count = 20")) }
            let results = await write(
                pool, [Self.insert(0), Self.insert(1), Self.insert(2, bytes: 200_000), Self.insert(3)])
            guard case .failure(let error) = results[2], case RelataError.fileAccess = error else {
                Issue.record("\(results[2])")
                return
            }
            try #expect(values([results[0], results[1], results[3]]) == [0, 1, 3])
            try #expect(ids(pool) == [0, 1, 3])
        }
    }

    @Test func aCancelledWriteDoesNotAffectOthers() async throws {
        try await withPool { pool, _ in
            let cancelled: @Sendable (Connection) throws -> Int = { connection in
                withUnsafeCurrentTask { $0?.cancel() }
                return try Self.insert(0)(connection)
            }
            let results = await write(pool, [cancelled] + (1...5).map { Self.insert($0) })
            #expect(throws: CancellationError.self) { try results[0].get() }
            try #expect(values(Array(results[1...])) == Array(1...5))
            try #expect(ids(pool) == Array(1...5))
        }
    }

    @Test func cancellingTheLeaderLetsOthersWriteThemselves() async throws {
        try await withPool { pool, _ in
            let runs = Statements()
            let results = await write(
                pool,
                [
                    Self.insert(0),
                    Self.insert(1, cancellingOnce: runs) { throw CancellationError() },
                    Self.insert(2),
                ])
            try #expect(values(results) == [0, 1, 2])
            #expect(runs.count("run") == 2)
            try #expect(ids(pool) == [0, 1, 2])
        }
    }

    @Test func writesCancelledByTheLeaderAreRetried() async throws {
        try await withPool { pool, _ in
            let runs = Statements()
            // The call returns the error instead of throwing it.
            let results = await write(pool, [Self.insert(0), Self.insert(1, cancellingOnce: runs) { -1 }])
            try #expect(values(results) == [0, 1])
            try #expect(ids(pool) == [0, 1])
        }
    }

    @Test func writesCancelledWhileWaitingAreNotMade() async throws {
        try await withPool { pool, _ in
            let results = await write(pool, (0...2).map { Self.insert($0) }) { tasks in
                tasks[1].cancel()
                _ = await tasks[1].result
            }
            #expect(throws: CancellationError.self) { try results[1].get() }
            try #expect(values([results[0], results[2]]) == [0, 2])
            try #expect(ids(pool) == [0, 2])
        }
    }

    @Test func anUnsharedWriteKeepsItsPlaceInTheQueue() async throws {
        try await withPool { pool, _ in
            let seen = Statements()
            let results = await write(pool, [Self.insert(0), Self.insert(1)]) { _ in
                let count = Task {
                    try await pool.write { connection in
                        let count = try connection.value(SQLStatement("SELECT count(*) FROM item"))
                        seen.add("\(count == .integer(2))")
                    }
                }
                await waiting(3, pool)
                let last = Task { try await pool.writeShared(Self.insert(2)) }
                await waiting(4, pool)
                _ = (count, last)
            }
            try #expect(values(results) == [0, 1])
            try await waitUntil { try ids(pool).count >= 3 }
            #expect(seen.count("true") == 1)
        }
    }

    @Test func waitingWritesFailWhenTheStoreCloses() async throws {
        try await withPool { pool, _ in
            let results = await write(pool, [Self.insert(0), Self.insert(1)]) { _ in try? pool.close() }
            for result in results { #expect(throws: RelataError.self) { try result.get() } }
        }
    }
}
