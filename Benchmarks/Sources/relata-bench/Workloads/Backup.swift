import BenchmarkReport
import Foundation
import GRDBSQLite
import Relata

extension Workload {
    /// A copy of a file with 300,000 rows that others may write at the same time. It gets its name once it is on the
    /// disk. By hand: SQLite's own backup of all pages in one step, on the disk too.
    static let backup = Workload(name: "backup", targets: [.limit(1.2)]) { bench in
        let file = try bench.itemFile("source.sqlite", count: bench.count(300_000))
        let store = try bench.store(file, for: Item.self)
        let source = try RawDatabase(file)
        return try await bench.time([
            Contestant(.ours) {
                let copy = try bench.directory.file("ours.sqlite")
                return {
                    try store.backup(to: copy)
                    return try bench.size(copy)
                }
            },
            Contestant(.limit) {
                let copy = try bench.directory.file("limit.sqlite")
                return {
                    try source.backup(to: copy)
                    return try bench.size(copy)
                }
            },
        ])
    }
}

extension Bench {
    /// The number of bytes a file has.
    fileprivate func size(_ path: String) throws -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else { throw Failure("\(path) isn't there") }
        return Int(status.st_size)
    }
}

extension RawDatabase {
    /// Copies the whole database with SQLite's defaults: with a journal, and waiting for the disk.
    fileprivate func backup(to path: String) throws {
        var target: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        guard sqlite3_open_v2(path, &target, flags, nil) == SQLITE_OK, let target else {
            throw Failure("\(path) doesn't open")
        }
        defer { sqlite3_close_v2(target) }
        guard let backup = sqlite3_backup_init(target, "main", handle, "main") else {
            throw Failure("the backup doesn't begin")
        }
        let result = sqlite3_backup_step(backup, -1)
        guard sqlite3_backup_finish(backup) == SQLITE_OK, result == SQLITE_DONE else {
            throw Failure("the backup isn't whole")
        }
    }
}
