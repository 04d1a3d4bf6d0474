import RelataCSQLite
import RelataCore
import RelataEngine

extension Connection {
    /// Copies the whole database to a file.
    ///
    /// - Parameter key: What the copy is encrypted with: SQLite copies no encrypted database into a plain one, or back.
    package func backup(toFile path: String, key: EncryptionKey? = nil) throws(RelataError) {
        let destination = try Connection(path: path, key: key)
        try backup(to: destination)
        try destination.close()
    }

    /// Copies the whole database over that of another connection, while others go on using this one.
    package func backup(to destination: Connection) throws(RelataError) {
        guard !isInTransaction, !destination.isInTransaction else {
            throw .invalidUse("a copy is made outside of transactions: end the one that is open")
        }
        let (from, to) = (try sqlite, try destination.sqlite)
        guard let backup = sqlite3_backup_init(to.handle, "main", from.handle, "main") else {
            throw to.copyFailed()
        }
        // All pages in one step, as they are at that moment.
        let step = sqlite3_backup_step(backup, -1)
        let end = sqlite3_backup_finish(backup)
        guard step == SQLITE_DONE, end == SQLITE_OK else { throw to.copyFailed() }
    }
}

extension SQLiteDriver {
    fileprivate func copyFailed() -> RelataError {
        .fileAccess(path: path, "the copy failed: \(String(cString: sqlite3_errmsg(handle)))")
    }
}
