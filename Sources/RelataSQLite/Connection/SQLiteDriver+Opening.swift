import CRelataSQLite
import Foundation
import RelataCSQLite
import RelataCore
import RelataEngine

/// Opening databases.
extension SQLiteDriver {
    /// Opens a database and sets the connection up.
    ///
    /// - Parameters:
    ///   - path: The file, or `nil` for a database in memory.
    ///   - key: What the file is encrypted with.
    ///   - isAlone: Whether nobody else may use the file meanwhile, and its log is left as it is.
    static func open(
        _ path: String?, key: EncryptionKey?, isReadOnly: Bool, busyTimeout: Double, isAlone: Bool
    ) throws(RelataError) -> OpaquePointer {
        var opened: OpaquePointer?
        let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        // A connection is used by one task at a time, so that it needs no lock of its own.
        var code = sqlite3_open_v2(path.map(fileName) ?? ":memory:", &opened, access | SQLITE_OPEN_NOMUTEX, nil)
        guard let handle = opened else { throw .fileAccess(path: path ?? "memory", "there is no memory left") }
        if code == SQLITE_OK {
            sqlite3_extended_result_codes(handle, 1)
            sqlite3_busy_timeout(handle, milliseconds(busyTimeout))
            relata_refuse_quoted_strings(handle)
            // SQLite would bring it into the file, damaged or not. An empty one that it makes itself goes again.
            if isAlone, let path, FileManager.default.fileExists(atPath: path + "-wal") { relata_leave_log(handle) }
            if let path, let key {
                do throws(RelataError) {
                    try EncryptedFile.unlock(handle, path, with: key)
                } catch {
                    sqlite3_close_v2(handle)
                    throw error
                }
            }
            // SQLite reads the file with the first query only: what is no database is refused here.
            let settings = (isAlone ? "PRAGMA locking_mode = EXCLUSIVE; " : "") + "PRAGMA foreign_keys = ON; "
            code = sqlite3_exec(handle, settings + "SELECT 1 FROM sqlite_master LIMIT 1", nil, nil, nil)
        }
        guard code == SQLITE_OK else {
            let (code, message) = (sqlite3_extended_errcode(handle), String(cString: sqlite3_errmsg(handle)))
            let refusal = path.flatMap { EncryptedFile.refusal($0, handle, code: code, hasKey: key != nil) }
            sqlite3_close_v2(handle)
            throw refusal ?? SQLiteErrors.opening(path ?? "memory", code: Int(code), message)
        }
        return handle
    }

    /// A time in seconds as SQLite takes it. One that is longer than it can wait is as long as it can.
    static func milliseconds(_ seconds: Double) -> Int32 {
        Int32(exactly: (min(max(seconds, 0), 2_000_000) * 1000).rounded()) ?? 0
    }

    /// SQLite goes on writing to a file that was moved or removed.
    package func checkIsInPlace() throws(RelataError) {
        var hasMoved: Int32 = 0
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        guard hasMoved == 0 else {
            throw .fileAccess(path: path, RelataError.hasMoved)
        }
    }

    /// The name of a file, whatever it is: SQLite takes some names for something else.
    static func fileName(_ path: String) -> String {
        path.isEmpty || path.hasPrefix(":") || path.hasPrefix("file:") ? "./" + path : path
    }
}
