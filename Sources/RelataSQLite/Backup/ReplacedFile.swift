import Foundation
import RelataCore
import RelataEngine

/// A database file that another one is to take the place of: nobody uses it, and no log or journal of its own is left that
/// SQLite would apply to the other one.
struct ReplacedFile {
    private let connection: Connection
    private let hadLog: Bool

    /// Locks the file.
    ///
    /// - Returns: `nil` for what is no database, where that may be replaced, too.
    /// - Throws: ``RelataError/busy(_:)`` for one that is in use; ``RelataError/corruptStore(_:)`` for what is no database, and
    ///   ``RelataError/wrongKey(path:)`` or ``RelataError/notEncrypted(path:)`` for one that has another key.
    init?(_ path: String, _ key: EncryptionKey?, _ replacement: BackupPlan.Replacement) throws(RelataError) {
        do throws(RelataError) {
            connection = try Connection(path: path, key: key, busyTimeout: 0)
            hadLog = try connection.hasLog
            // Fails while others have the file open, where it has a write-ahead log; and brings the log into the file.
            try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            let mode = try connection.value(SQLStatement("PRAGMA journal_mode = DELETE"))
            guard mode == .text("delete") else { throw RelataError.busy("") }
            try connection.execute("BEGIN EXCLUSIVE")
        } catch {
            switch error {
            case .busy:
                throw .busy("\(path) is in use: end what has it open, then try again")
            case .corruptStore, .wrongKey, .notEncrypted:
                guard replacement == .anyFile else { throw error }
                // It can't be applied to anything any more, and mustn't be to the new file.
                for suffix in ["-journal", "-wal", "-shm"] { unlink(path + suffix) }
                return nil
            default: throw error
            }
        }
    }

    /// Lets others use it again, as it was.
    func release() {
        try? connection.execute("ROLLBACK")
        if hadLog { _ = try? connection.value(SQLStatement("PRAGMA journal_mode = WAL")) }
        close()
    }

    /// Ends its use, once another file has its name.
    func close() { try? connection.close() }
}
