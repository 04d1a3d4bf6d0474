import RelataCSQLite
import RelataCore
import RelataEngine

/// Translates SQLite's result codes.
enum SQLiteErrors {
    /// The error of opening a file.
    static func opening(_ path: String, code: Int, _ message: String?) -> RelataError {
        switch Int32(code & 0xff) {
        case SQLITE_NOTADB: .corruptStore("\(path) is not an SQLite database, and was left as it is")
        case SQLITE_CORRUPT: .corruptStore("\(path) is damaged: restore it from a copy")
        case SQLITE_BUSY, SQLITE_LOCKED: .busy("\(path) is locked by another process: try again later")
        case SQLITE_CANTOPEN:
            .fileAccess(
                path: path, "can't be opened: check that it is a file, and that its folder exists and is writable")
        case SQLITE_READONLY: .readOnly(readOnly(path, code))
        default: .fileAccess(path: path, message ?? "error \(code)")
        }
    }

    private static func readOnly(_ name: String, _ code: Int) -> String {
        switch code >> 8 {
        // Codes that SQLite's header gives no constants to in Swift: ROLLBACK, and CANTLOCK, CANTINIT and DIRECTORY.
        case 3: UnfinishedTransaction.message(name)
        case 2, 5, 6:
            "\(name) can't be opened: its folder must be writable, even for reading, because SQLite keeps the index of its log there"
        default: "\(name) can't be written: change its permissions"
        }
    }

    /// The code of an error in one of our functions whose message is for the query's author. SQLite leaves it to
    /// extensions (`SQLITE_CONSTRAINT_FUNCTION`, for which its header has no constant in Swift).
    static let functionRefused = SQLITE_CONSTRAINT | 4 << 8

    /// The error of running a statement.
    static func running(_ path: String, code: Int, _ message: String, sql: String?) -> RelataError {
        let name = path.isEmpty ? "the store in memory" : path
        if code == functionRefused { return .invalidUse(message) }
        if let explained = UnknownExtension.explanation(of: message, sql: sql) {
            return .database(code: code, message: explained, sql: nil)
        }
        return switch Int32(code & 0xff) {
        case SQLITE_NOTADB: .corruptStore("\(name) is not an SQLite database, and was left as it is")
        case SQLITE_CORRUPT: .corruptStore("\(name) is damaged (\(message)): restore it from a copy")
        case SQLITE_BUSY, SQLITE_LOCKED: .busy("\(name) is locked by another process: try again later")
        case SQLITE_READONLY: .readOnly(readOnly(name, code))
        case SQLITE_FULL: .noSpaceLeft(name)
        case SQLITE_IOERR: .fileAccess(path: name, "reading or writing failed: \(message)")
        case SQLITE_TOOBIG: .invalidUse("a value is larger than SQLite's limit of a billion bytes: store it in a file")
        case SQLITE_MISUSE: .closed("the store is closed: open it again")
        default: .database(code: code, message: message, sql: sql)
        }
    }
}
