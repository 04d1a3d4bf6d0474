import Foundation
import RelataCSQLite
import RelataCore
import RelataEngine

extension Connection {
    /// Replaces another connection's database with a copy of the whole database, while this one is in use.
    ///
    /// If a write-ahead log lets others write, the copy is of the state at its beginning. Otherwise they may write
    /// between two steps, and the copy restarts; after several restarts, they wait for it.
    ///
    /// - Parameter progress: Called with the progress. An error that it throws stops the copy.
    package func backup(to destination: Connection, _ progress: (BackupProgress) throws -> Void = { _ in }) throws {
        try keepingMoment { try copyPages(to: destination, progress) }
    }

    /// Copies the pages as the connection sees them.
    func copyPages(to destination: Connection, _ progress: (BackupProgress) throws -> Void) throws {
        guard !destination.isInTransaction else { throw Self.copyInside }
        try PageCopy(from: sqlite, to: destination.sqlite).run(progress)
    }

    private static let copyInside = RelataError.invalidUse(
        "a copy can't be made within a transaction: end the transaction first")

    /// Runs `body` on one state of the database, if others can still write.
    func keepingMoment<Result>(_ body: () throws -> Result) throws -> Result {
        guard !isInTransaction else { throw Self.copyInside }
        guard try hasLog else { return try body() }
        try begin("BEGIN")
        defer { endReading() }
        // The copied state is the one at the first read.
        _ = try value(SQLStatement("SELECT 1 FROM sqlite_master"))
        return try body()
    }

    /// Whether others can write while this connection reads.
    var hasLog: Bool {
        get throws(RelataError) { try value(SQLStatement("PRAGMA journal_mode")) == .text("wal") }
    }
}

/// Copies the pages of one database over those of another.
private struct PageCopy {
    private let from, to: SQLiteDriver
    /// The number of pages copied between two checks for other writers and for cancellation.
    private static let pagesAtOnce: Int32 = 512
    /// The number of times the copy restarts before others wait for it.
    private static let restarts = 8
    /// The number of seconds that it waits for a lock on the file.
    private static let patience = 5.0

    init(from: SQLiteDriver, to: SQLiteDriver) {
        self.from = from
        self.to = to
    }

    func run(_ progress: (BackupProgress) throws -> Void) throws {
        guard let backup = sqlite3_backup_init(to.handle, "main", from.handle, "main") else { throw failure(nil) }
        var isFinished = false
        // The caller that stops it rolls its writes back.
        defer { if !isFinished { sqlite3_backup_finish(backup) } }
        try copyPages(backup, progress)
        isFinished = true
        let end = sqlite3_backup_finish(backup)
        guard end == SQLITE_OK else { throw failure(end) }
    }

    private func copyPages(_ backup: OpaquePointer, _ progress: (BackupProgress) throws -> Void) throws {
        var (restarts, copied) = (0, 0)
        var waitsUntil: Date?
        while true {
            try Task.checkCancellation()
            let code = sqlite3_backup_step(backup, restarts < Self.restarts ? Self.pagesAtOnce : -1)
            switch code & 0xff {
            case SQLITE_OK, SQLITE_DONE: waitsUntil = nil
            case SQLITE_BUSY, SQLITE_LOCKED:
                let end = waitsUntil ?? Date(timeIntervalSinceNow: Self.patience)
                guard Date() < end else { throw failure(code) }
                waitsUntil = end
                Thread.sleep(forTimeInterval: 0.01)
                continue
            default: throw failure(code)
            }
            let pages = Int(sqlite3_backup_pagecount(backup))
            let now = pages - Int(sqlite3_backup_remaining(backup))
            if now < copied { restarts += 1 }
            copied = now
            try progress(BackupProgress(copiedPages: copied, pages: pages))
            if code == SQLITE_DONE { return }
        }
    }

    private func failure(_ code: Int32?) -> RelataError {
        let message = String(cString: sqlite3_errmsg(to.handle))
        switch (code ?? sqlite3_errcode(to.handle)) & 0xff {
        case SQLITE_FULL: return .noSpaceLeft(to.path)
        case SQLITE_IOERR where sqlite3_system_errno(to.handle) == ENOSPC: return .noSpaceLeft(to.path)
        case SQLITE_BUSY, SQLITE_LOCKED:
            return .busy("\(from.path) is locked by another process: try again later")
        case SQLITE_CORRUPT, SQLITE_NOTADB: return .corruptStore("\(from.path) is damaged: restore it from a copy")
        default:
            let reason = code.map { String(cString: sqlite3_errstr($0)) } ?? message
            return .fileAccess(path: to.path, "the copy failed: \(reason)")
        }
    }
}
