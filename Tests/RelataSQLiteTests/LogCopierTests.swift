import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import Synchronization
import Testing

/// The log of a file is copied into it while transactions run.
@Suite struct LogCopierTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "relata-log-\(UUID().uuidString)")

    private func size(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }

    /// The number of times the log of a file has begun again, as its header shows.
    private func timesBegun(_ path: String) throws -> Int {
        let log = try FileHandle(forReadingFrom: URL(filePath: path + "-wal"))
        defer { try? log.close() }
        return try log.read(upToCount: 16)?.suffix(4).reduce(0) { $0 << 8 | Int($1) } ?? 0
    }

    /// Runs `body` with the path of a new file, and a closure that opens a pool of it with a table.
    private func withFile(_ body: (String, (_ limit: Int32) throws -> ConnectionPool) async throws -> Void) async throws
    {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "store.sqlite").path
        try await body(path) { limit in
            let pool = try ConnectionPool(path: path)
            try pool.withWriter { connection in
                try connection.execute(
                    "PRAGMA journal_mode = WAL; CREATE TABLE item (id INTEGER PRIMARY KEY, data BLOB)")
            }
            try pool.copyLogInBackground(limit: limit)
            return pool
        }
    }

    /// Runs `body` with that pool and the path.
    private func withPool(
        limit: Int32 = 16_000, _ body: (ConnectionPool, String) async throws -> Void
    ) async throws {
        try await withFile { path, open in try await body(try open(limit), path) }
    }

    /// Writes four million bytes.
    private static func insertMuch(_ connection: Connection) throws {
        try connection.run(
            SQLStatement(
                "INSERT INTO item (data) VALUES (?1)", [.value(.blob(Data(repeating: 7, count: 4_000_000)))]))
    }

    /// Whether the log is removed, as closing the last connection does.
    private func isLogRemoved(_ path: String) async throws -> Bool {
        for _ in 0..<6000 where FileManager.default.fileExists(atPath: path + "-wal") {
            try await Task.sleep(for: .milliseconds(1))
        }
        return !FileManager.default.fileExists(atPath: path + "-wal")
    }

    /// At any time, a reader reads from the log: there is always one that began before the last commit.
    @Test func theLogRestartsAlthoughReadsOverlap() async throws {
        try await withPool(limit: 500) { pool, path in
            let isDone = Mutex(false)
            // On separate threads: tasks that never pause would leave none for the writer.
            let (results, ended) = AsyncStream.makeStream(of: Result<Void, any Error>.self)
            for _ in 0..<3 {
                Thread.detachNewThread {
                    let result = Result {
                        while !isDone.withLock({ $0 }) {
                            try pool.read { connection in
                                try connection.begin("BEGIN")
                                defer { connection.endReading() }
                                _ = try connection.value(SQLStatement("SELECT count(*) FROM item"))
                                Thread.sleep(forTimeInterval: 0.004)
                            }
                        }
                    }
                    ended.yield(result)
                }
            }
            defer { isDone.withLock { $0 = true } }
            let data = Value.blob(Data(repeating: 7, count: 40_000))
            let start = try timesBegun(path)
            var count = 0
            while try timesBegun(path) < start + 2, count < 5000 {
                let statement = SQLStatement(
                    "REPLACE INTO item VALUES (?1, ?2)", [.value(.integer(Int64(count % 100))), .value(data)])
                _ = try await pool.write { connection in try connection.run(statement) }
                count += 1
            }
            isDone.withLock { $0 = true }
            var iterator = results.makeAsyncIterator()
            for _ in 0..<3 { try await iterator.next()?.get() }
            #expect(try timesBegun(path) >= start + 2, "after \(count) transactions")
            try pool.close()
        }
    }

    @Test func theLogRestartsAlthoughTransactionsNeverPause() async throws {
        try await withPool(limit: 1000) { pool, path in
            let data = Value.blob(Data(repeating: 7, count: 40_000))
            let start = try timesBegun(path)
            var count = 0
            // Each transaction writes more than ten pages; the log should restart at a thousand.
            while try timesBegun(path) < start + 3, count < 20_000 {
                let statement = SQLStatement(
                    "REPLACE INTO item VALUES (?1, ?2)", [.value(.integer(Int64(count % 100))), .value(data)])
                _ = try await pool.write { connection in try connection.run(statement) }
                count += 1
            }
            #expect(try timesBegun(path) >= start + 3, "after \(count) transactions")
            try pool.close()
            #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
            let reopened = try ConnectionPool(path: path, isReadOnly: true)
            let counts = try await reopened.read { connection in
                try connection.values(SQLStatement("SELECT count(*), sum(length(data)) FROM item"))
            }
            #expect(counts == [[.integer(Int64(min(count, 100))), .integer(Int64(min(count, 100)) * 40_000)]])
            try reopened.close()
        }
    }

    @Test func writesReachTheFileWithoutAClose() async throws {
        try await withPool { pool, path in
            try await pool.write { try Self.insertMuch($0) }
            for _ in 0..<6000 where try size(path) < 4_000_000 { try await Task.sleep(for: .milliseconds(10)) }
            #expect(try size(path) > 4_000_000)
            try pool.close()
        }
    }

    @Test func commitsAfterTheCloseAreNotCopied() async throws {
        try await withPool { pool, path in
            try await pool.write { connection in
                // Closing doesn't interrupt anything: running calls continue to their end.
                try pool.close()
                try Self.insertMuch(connection)
            }
            let isRemoved = try await isLogRemoved(path)
            #expect(isRemoved)
        }
    }

    @Test func releasedPoolsCloseTheirConnections() async throws {
        try await withFile { path, open in
            do {
                let pool = try open(16_000)
                try await pool.write { try Self.insertMuch($0) }
            }
            let isRemoved = try await isLogRemoved(path)
            #expect(isRemoved)
        }
    }
}
