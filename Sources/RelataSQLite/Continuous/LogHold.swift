import Foundation
import RelataCore
import RelataEngine

/// Keeps a file's write-ahead log from restarting before it was copied, regardless of which process writes or
/// checkpoints.
///
/// It always reads from the file, in one of two alternating transactions. One that reads from the log keeps it from
/// restarting. One that found the whole log checkpointed reads from the file alone, and keeps later frames from being
/// checkpointed: the log may then restart once, and only right after the state of that transaction. So copying the log
/// up to the beginning of the next transaction, before the last one ends, misses nothing.
final class LogHold {
    private var holder: Connection
    private var next: Connection
    /// Keeps others from writing for a moment. It writes nothing itself.
    private let locker: Connection
    /// Copies the log into the file.
    private let copier: Connection

    /// The path of the file, without symbolic links, and its log.
    let path: String
    var logPath: String { path + "-wal" }

    private static let patience = 5.0

    /// - Throws: ``RelataError/invalidUse(_:)`` for a file that has no log.
    init(_ path: String) throws(RelataError) {
        self.path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        holder = try Connection(path: path)
        guard try holder.hasLog else {
            throw .invalidUse(
                "\(path) has no write-ahead log, which continuous copies need: PRAGMA journal_mode = WAL creates one, as does a store that opens it for writing"
            )
        }
        next = try Connection(path: path)
        locker = try Connection(path: path)
        copier = try Connection(path: path)
        try Self.begin(holder)
    }

    /// Ends the hold.
    func close() {
        for connection in [holder, next, locker, copier] {
            connection.endReading()
            try? connection.close()
        }
    }

    /// Begins to read: the transaction sees the commits before its first read.
    static func begin(_ connection: Connection) throws(RelataError) {
        try connection.begin("BEGIN")
        _ = try connection.value(SQLStatement("SELECT 1 FROM sqlite_master"))
    }

    /// Refuses a file that was moved.
    func checkIsInPlace() throws(RelataError) { try holder.driver.checkIsInPlace() }

    /// The end of the committed part of the log.
    func index() throws(RelataError) -> LogIndex {
        let end = Date(timeIntervalSinceNow: Self.patience)
        while true {
            for _ in 0..<20 {
                if let index = try LogIndex(holder) { return index }
                Thread.sleep(forTimeInterval: 0.001)
            }
            guard Date() < end else {
                throw .busy("the write-ahead log of \(holder.path) isn't readable: another process is at work on it")
            }
            // If a process died during an update, the next reader rebuilds it.
            _ = try copier.value(SQLStatement("SELECT 1 FROM sqlite_master"))
        }
    }

    /// Holds the log at its end from now on.
    ///
    /// - Parameter copy: Copies it to its end.
    func advance(_ copy: () throws -> Void) throws {
        try Self.begin(next)
        do {
            try copy()
        } catch {
            next.endReading()
            throw error
        }
        holder.endReading()
        swap(&holder, &next)
    }

    /// Runs `body` while no connection writes.
    ///
    /// - Throws: ``RelataError/busy(_:)`` for a long writer.
    func whileNobodyWrites(_ body: () throws -> Void) throws {
        try locker.begin("BEGIN IMMEDIATE")
        defer { try? locker.execute("ROLLBACK") }
        try body()
    }

    /// Checkpoints the log, so that it restarts with the next transaction. If another process reads from it, or writes
    /// for long, it continues instead.
    func letBeginAnew(_ copy: () throws -> Void) throws {
        // Copies most of the log while others write.
        try copyIntoFile()
        do {
            try whileNobodyWrites {
                try advance(copy)
                try copyIntoFile()
                // Reads only from the file now, if the whole log has been copied into it.
                try advance(copy)
            }
        } catch RelataError.busy {
            return
        }
    }

    private func copyIntoFile() throws(RelataError) {
        do {
            _ = try copier.values(SQLStatement("PRAGMA wal_checkpoint(PASSIVE)"))
        } catch .busy {
            // Another connection does.
        }
    }
}
