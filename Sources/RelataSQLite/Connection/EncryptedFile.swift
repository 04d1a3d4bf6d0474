import CRelataSQLite
import RelataCSQLite
import RelataCore
import RelataEngine

/// Files that SQLCipher encrypts: setting the key of a connection, and finding out why a file doesn't open.
package enum EncryptedFile {
    /// Sets the key of a connection that has read nothing yet.
    ///
    /// - Returns: A result code. The first read shows whether the key is right.
    static func set(_ key: EncryptionKey, on handle: OpaquePointer?) -> Int32 {
        #if SQLCipher
        key.bytes.withUnsafeBytes { sqlite3_key_v2(handle, "main", $0.baseAddress, Int32(clamping: $0.count)) }
        #else
        SQLITE_ERROR
        #endif
    }

    /// Sets the key of a connection before its first read, and checks that the library encrypts.
    static func unlock(_ handle: OpaquePointer, _ path: String, with key: EncryptionKey) throws(RelataError) {
        #if SQLCipher
        // A library with this function may be the wrong one: a program may have loaded another SQLite, which accepts
        // any key and writes plain text.
        guard set(key, on: handle) == SQLITE_OK, hasCipher(handle) else {
            throw .invalidUse(
                "\(path) has a key, but the SQLite library of this program can't encrypt: link SQLCipher before any other SQLite"
            )
        }
        #else
        try checkIsPossible(path)
        #endif
    }

    /// Refuses a key in a build without a library that encrypts.
    static func checkIsPossible(_ path: String) throws(RelataError) {
        #if !SQLCipher
        throw .invalidUse("\(path) has a key: encrypted files need the trait SQLCipher of the package Relata")
        #endif
    }

    /// The reason why a file doesn't open, if it has to do with a key.
    ///
    /// It is read through the connection: opening and closing it separately would release the locks of the whole
    /// process.
    static func refusal(_ path: String, _ handle: OpaquePointer, code: Int32, hasKey: Bool) -> RelataError? {
        #if SQLCipher
        guard code & 0xff == SQLITE_NOTADB else { return nil }
        let content = Content(handle)
        if !hasKey {
            return content == .plain
                ? nil
                : .corruptStore(
                    "\(path) is not an SQLite database, and was left as it is; if it is encrypted, open it with its key"
                )
        }
        return switch content {
        case .plain: .notEncrypted(path: path)
        case .pages: .wrongKey(path: path)
        case .other: nil
        }
        #else
        nil
        #endif
    }
}

#if SQLCipher
extension EncryptedFile {
    private static func hasCipher(_ handle: OpaquePointer) -> Bool {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        return sqlite3_prepare_v2(handle, "PRAGMA cipher_version", -1, &statement, nil) == SQLITE_OK
            && sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_bytes(statement, 0) > 0
    }

    /// The kind of a file, without reading it.
    private enum Content {
        /// It begins as SQLite's files do.
        case plain
        /// It may be pages that are encrypted.
        case pages
        /// Its size is less than a page, or not a multiple of one.
        case other

        init(_ handle: OpaquePointer) {
            var file: UnsafeMutablePointer<sqlite3_file>?
            sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
            var size: Int64 = 0
            var header = [UInt8](repeating: 0, count: 16)
            guard let file, let methods = file.pointee.pMethods?.pointee, methods.xFileSize(file, &size) == SQLITE_OK,
                size >= 512, methods.xRead(file, &header, 16, 0) == SQLITE_OK
            else {
                self = .other
                return
            }
            self = header == Array("SQLite format 3\0".utf8) ? .plain : size % 512 == 0 ? .pages : .other
        }
    }

    // MARK: Changing keys

    /// Encrypts a file with another key. The file has either the one or the other, whenever the power is cut.
    package static func changeKey(
        of path: String, from old: EncryptionKey, to new: EncryptionKey
    ) throws(RelataError) {
        try RegularFile.require(path)
        let connection = try Connection(path: path, key: old, busyTimeout: 1)
        defer { try? connection.close() }
        let handle = try connection.sqlite.handle
        // Turning the log off needs exclusive access. No other process can have the file open then, and read it with
        // the old key later.
        let usesLog = try connection.value(SQLStatement("PRAGMA journal_mode")) == .text("wal")
        if usesLog {
            do throws(RelataError) {
                _ = try connection.value(SQLStatement("PRAGMA journal_mode = DELETE"))
            } catch .busy {
                throw .busy("\(path) is open elsewhere: close it there first")
            }
        }
        let code = new.bytes.withUnsafeBytes {
            sqlite3_rekey_v2(handle, "main", $0.baseAddress, Int32(clamping: $0.count))
        }
        guard code == SQLITE_OK else {
            throw SQLiteErrors.running(path, code: Int(code), String(cString: sqlite3_errmsg(handle)), sql: nil)
        }
        if usesLog { try connection.execute("PRAGMA journal_mode = WAL") }
        try connection.close()
        try Connection(path: path, key: new).close()
    }
}
#endif
