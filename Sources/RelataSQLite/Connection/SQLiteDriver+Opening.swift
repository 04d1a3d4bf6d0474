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
    ///   - key: The key of the file.
    ///   - isAlone: Whether the file is used exclusively, and its log is left unchanged.
    ///   - readsTables: Whether the declarations of all tables are read now, or with the first statement about one.
    static func open(
        _ path: String?, key: EncryptionKey?, isReadOnly: Bool, busyTimeout: Double, isAlone: Bool, readsTables: Bool
    ) throws(RelataError) -> OpaquePointer {
        // Opening would leave an empty file in the place of a missing one.
        if let path, key != nil { try EncryptedFile.checkIsPossible(path) }
        var opened: OpaquePointer?
        let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        // A connection is used by one task at a time, so it needs no lock.
        var code = sqlite3_open_v2(path.map(fileName) ?? ":memory:", &opened, access | SQLITE_OPEN_NOMUTEX, nil)
        guard let handle = opened else { throw .fileAccess(path: path ?? "memory", "there is not enough memory") }
        if code == SQLITE_OK {
            sqlite3_extended_result_codes(handle, 1)
            sqlite3_busy_timeout(handle, milliseconds(busyTimeout))
            relata_refuse_quoted_strings(handle)
            // SQLite would copy it into the file, damaged or not. It removes an empty one that it creates itself.
            if isAlone, let path, FileManager.default.fileExists(atPath: path + "-wal") { relata_leave_log(handle) }
            if let path, let key {
                do throws(RelataError) {
                    try EncryptedFile.unlock(handle, path, with: key)
                } catch {
                    sqlite3_close_v2(handle)
                    throw error
                }
            }
            // SQLite reads the file with the first query only: a file that isn't a database is refused here.
            let settings = (isAlone ? "PRAGMA locking_mode = EXCLUSIVE; " : "") + "PRAGMA foreign_keys = ON; "
            let firstLook = readsTables ? "SELECT 1 FROM sqlite_master LIMIT 1" : "PRAGMA schema_version"
            code = sqlite3_exec(handle, settings + firstLook, nil, nil, nil)
        }
        guard code == SQLITE_OK else {
            let (code, message) = (sqlite3_extended_errcode(handle), String(cString: sqlite3_errmsg(handle)))
            let refusal = path.flatMap { EncryptedFile.refusal($0, handle, code: code, hasKey: key != nil) }
            sqlite3_close_v2(handle)
            throw refusal ?? SQLiteErrors.opening(path ?? "memory", code: Int(code), message)
        }
        return handle
    }

    /// A time in seconds in SQLite's form, limited to its maximum.
    static func milliseconds(_ seconds: Double) -> Int32 {
        Int32(exactly: (min(max(seconds, 0), 2_000_000) * 1000).rounded()) ?? 0
    }

    /// SQLite continues to write to a file that was moved or removed.
    package func checkIsInPlace() throws(RelataError) {
        var hasMoved: Int32 = 0
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        guard hasMoved == 0 else {
            throw .fileAccess(path: path, RelataError.hasMoved)
        }
    }

    /// The name of a file, in any spelling: SQLite gives some names another meaning.
    static func fileName(_ path: String) -> String {
        path.isEmpty || path.hasPrefix(":") || path.hasPrefix("file:") ? "./" + path : path
    }
}
