import Foundation
import RelataCore
import RelataEngine

/// A database file to be replaced: it isn't in use, and has no log or journal that SQLite would apply to the new one.
struct ReplacedFile {
    private let hold: Hold

    /// The lock that keeps others from using it.
    private enum Hold {
        /// A connection that has locked it.
        case database(Connection, hadLog: Bool)
        /// Its descriptor, if SQLite can't read it.
        case unreadable(Int32)
    }

    /// Checks whether a file may be replaced, and leaves it unchanged, with its log.
    ///
    /// - Throws: ``RelataError/busy(_:)`` for a file that is in use; ``RelataError/corruptStore(_:)`` for a file that
    ///   isn't a database, if it mustn't be replaced; ``RelataError/wrongKey(path:)`` or
    ///   ``RelataError/notEncrypted(path:)`` for a file with another key.
    static func check(
        _ path: String, _ key: EncryptionKey?, _ replacement: BackupPlan.Replacement
    ) throws(RelataError) {
        guard let connection = try lock(path, key, replacement) else { return }
        try connection.close()
    }

    /// Locks the file.
    ///
    /// - Throws: The errors of ``check(_:_:_:)``.
    init(_ path: String, _ key: EncryptionKey?, _ replacement: BackupPlan.Replacement) throws(RelataError) {
        guard let connection = try Self.lock(path, key, replacement) else {
            hold = .unreadable(try Self.lockUnreadable(path))
            return
        }
        do throws(RelataError) {
            let hadLog = try connection.hasLog
            if hadLog {
                // Copies the log into the file: later failures lose nothing.
                try connection.execute("ROLLBACK")
                guard try connection.value(SQLStatement("PRAGMA journal_mode = DELETE")) == .text("delete") else {
                    throw RelataError.busy("")
                }
                try connection.execute("BEGIN EXCLUSIVE")
            }
            hold = .database(connection, hadLog: hadLog)
        } catch .busy {
            throw Self.inUse(path)
        }
    }

    private static func inUse(_ path: String) -> RelataError {
        .busy("\(path) is in use: close the programs that have it open, then try again")
    }

    /// A connection that has locked the file; `nil` if SQLite can't read it, and it may still be replaced.
    private static func lock(
        _ path: String, _ key: EncryptionKey?, _ replacement: BackupPlan.Replacement
    ) throws(RelataError) -> Connection? {
        do throws(RelataError) {
            // Throws while others have the file open, if it has a write-ahead log.
            let connection = try Connection(locking: path, key: key)
            try connection.execute("BEGIN EXCLUSIVE")
            return connection
        } catch {
            switch error {
            case .busy: throw inUse(path)
            // A file with another key doesn't count as damaged.
            case .corruptStore where replacement == .anyFile: return nil
            default: throw error
            }
        }
    }

    /// Locks a file that SQLite can't read, such as a damaged one or one that is in use with its key, in SQLite's way.
    ///
    /// Closing the file releases all locks of this process on it. It has none, because it couldn't open it.
    private static func lockUnreadable(_ path: String) throws(RelataError) -> Int32 {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure.error(path, "written") }
        var range = flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        // The bytes that SQLite locks, of all files: pending, reserved and shared.
        range.l_start = 0x4000_0000
        range.l_len = 512
        guard fcntl(descriptor, F_SETLK, &range) == 0 else {
            let isInUse = errno == EACCES || errno == EAGAIN
            let error = isInUse ? inUse(path) : FileFailure.error(path, "locked")
            Foundation.close(descriptor)
            throw error
        }
        return descriptor
    }

    // MARK: Once another file has its name

    /// Removes SQLite's files beside a database, which it would apply to another file of that name.
    static func removeLogs(of path: String) {
        for suffix in ["-journal", "-wal", "-shm"] { unlink(path + suffix) }
    }

    /// Lets others use it again, unchanged.
    func release() {
        if case .database(let connection, let hadLog) = hold {
            try? connection.execute("ROLLBACK")
            if hadLog { _ = try? connection.value(SQLStatement("PRAGMA journal_mode = WAL")) }
        }
        close()
    }

    /// Ends its use, once another file has its name.
    func close() {
        switch hold {
        case .database(let connection, _): try? connection.close()
        case .unreadable(let descriptor): Foundation.close(descriptor)
        }
    }
}
