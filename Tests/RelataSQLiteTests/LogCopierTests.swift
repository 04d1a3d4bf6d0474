import Foundation
import RelataCore
import RelataSQLite
import Testing

/// The log of a file is copied into it beside the transactions.
@Suite struct LogCopierTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "relata-log-\(UUID().uuidString)")

    private func size(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }

    /// Runs `body` with the pool of a new file that has a table, and its path.
    private func withPool(_ body: (ConnectionPool, String) async throws -> Void) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "store.sqlite").path
        let pool = try ConnectionPool(path: path)
        try pool.withWriter { connection in
            try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE item (id INTEGER PRIMARY KEY, data BLOB)")
        }
        try pool.copyLogInBackground()
        try await body(pool, path)
    }

    @Test func theLogBeginsAnewAlthoughTransactionsNeverPause() async throws {
        try await withPool { pool, path in
            let data = Value.blob(Data(repeating: 7, count: 40_000))
            // 1,500 transactions of more than ten pages: twice what the log may hold before it begins anew.
            for number in 0..<1500 {
                _ = try pool.write { connection in
                    try connection.run(
                        SQLStatement(
                            "REPLACE INTO item VALUES (?1, ?2)",
                            [.value(.integer(Int64(number % 100))), .value(data)]))
                }
            }
            #expect(try size(path + "-wal") < 100 << 20)
            #expect(try size(path) > 4_000_000)
            try pool.close()
            #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
            let reopened = try ConnectionPool(path: path, isReadOnly: true)
            let counts = try reopened.read { connection in
                try connection.values(SQLStatement("SELECT count(*), sum(length(data)) FROM item"))
            }
            #expect(counts == [[.integer(100), .integer(4_000_000)]])
            try reopened.close()
        }
    }

    @Test func whatIsWrittenIsInTheFileSoonAlthoughNobodyClosesIt() async throws {
        try await withPool { pool, path in
            _ = try await pool.write { connection in
                try connection.run(
                    SQLStatement(
                        "INSERT INTO item (data) VALUES (?1)", [.value(.blob(Data(repeating: 7, count: 4_000_000)))]))
            }
            for _ in 0..<6000 where try size(path) < 4_000_000 { try await Task.sleep(for: .milliseconds(10)) }
            #expect(try size(path) > 4_000_000)
            try pool.close()
        }
    }
}
