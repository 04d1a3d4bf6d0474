import Foundation
import RelataCSQLite
import RelataCore
import RelataEngine

/// SQLite, and one file or a database in memory.
package struct SQLiteEngine: Engine {
    package let path: String?
    private let key: EncryptionKey?
    private let isReadOnly: Bool
    private let durability: Durability
    private let busyTimeout: Double
    private let trace: SQLTrace?
    private let logCopier: LogCopier?

    /// A file, or a database in memory.
    ///
    /// - Parameters:
    ///   - path: The file, or `nil` for a database in memory.
    ///   - key: The key of the file.
    ///   - isReadOnly: Whether writing is refused; the file must exist.
    ///   - busyTimeout: The number of seconds to wait for another process that writes.
    ///   - trace: Called after each statement.
    package init(
        path: String?, key: EncryptionKey? = nil, isReadOnly: Bool = false, durability: Durability = .normal,
        busyTimeout: Double = 5, trace: SQLTrace? = nil
    ) {
        self.path = path
        self.key = key
        self.isReadOnly = isReadOnly
        self.durability = durability
        self.busyTimeout = busyTimeout
        self.trace = trace
        logCopier = isReadOnly ? nil : path.map { LogCopier(path: $0, key: key) }
    }

    package var isShared: Bool { path == nil }
    package var writerCount: Int { 1 }

    /// Checks the file for problems that SQLite reports late, or not at all.
    package func checkBeforeOpening(isReadOnly: Bool) throws(RelataError) {
        var isFolder: ObjCBool = false
        guard let path, FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return }
        if isFolder.boolValue { throw .fileAccess(path: path, "can't be opened: it is a folder, not a file") }
        // SQLite would open it for reading only, and leave its log beside it.
        if !isReadOnly && !FileManager.default.isWritableFile(atPath: path) {
            throw .readOnly(
                UnfinishedTransaction.isIn(path)
                    ? UnfinishedTransaction.message(path)
                    : "\(path) can't be written: open it read-only, or change its permissions")
        }
    }

    package func connect(
        _ role: ConnectionRole, waits: Bool, on executor: (any TaskExecutor)?
    ) throws(RelataError) -> Connection {
        let isReading = role == .reading
        let connection = try Connection(
            path: path, key: key, isReadOnly: isReading || isReadOnly, busyTimeout: waits ? busyTimeout : 0,
            trace: trace, readsTables: role != .writingLater)
        connection.isUnprepared = path != nil && !isReadOnly && !isReading
        if role == .writing { try prepareForUse(connection) }
        return connection
    }

    /// SQLite reads the declarations of all tables for this.
    package func prepareForUse(_ connection: Connection) throws(RelataError) {
        guard connection.isUnprepared else { return }
        try connection.execute("PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL")")
        connection.isUnprepared = false
    }

    package func beginWriting(_ connection: Connection) throws(RelataError) {
        let sqlite = try connection.sqlite
        sqlite3_busy_timeout(sqlite.handle, 0)
        defer { beginWaiting(connection) }
        try sqlite.checkIsInPlace()
        try prepareForUse(connection)
        try connection.begin("BEGIN IMMEDIATE")
    }

    package func beginWaiting(_ connection: Connection) {
        guard let sqlite = try? connection.sqlite else { return }
        sqlite3_busy_timeout(sqlite.handle, SQLiteDriver.milliseconds(busyTimeout))
    }

    package func dataVersion(_ connection: Connection) throws(RelataError) -> Int64 {
        guard case .integer(let version)? = try connection.value(SQLStatement("PRAGMA data_version")) else { return 0 }
        return version
    }

    package var connectionsReadTables: Bool { true }

    package func finish() { logCopier?.finish() }

    package func isLogging(_ connection: Connection) throws(RelataError) -> Bool {
        try connection.value(SQLStatement("PRAGMA journal_mode")) == .text("wal")
    }

    package func beginLogging(_ connection: Connection) throws(RelataError) {
        if path != nil { try connection.execute("PRAGMA journal_mode = WAL") }
    }

    package func backup(
        _ connection: Connection, _ plan: BackupPlan, _ progress: (BackupProgress) throws -> Void
    ) throws {
        try FileBackup(of: connection, key: key).run(plan, progress)
    }

    package func copyLogInBackground(by connection: Connection, limit: Int32) throws(RelataError) {
        try logCopier?.watch(connection, limit: limit, busyTimeout: busyTimeout)
    }
}

extension ConnectionPool {
    /// Opens a file of SQLite, or a database in memory.
    ///
    /// - Parameters:
    ///   - path: The file, which is created if it doesn't exist, or `nil` for a database in memory.
    ///   - key: The encryption key of the file.
    package convenience init(
        path: String?, key: EncryptionKey? = nil, isReadOnly: Bool = false, durability: Durability = .normal,
        readers: Int = 5, busyTimeout: Double = 5, waitsToOpen: Bool = true, sharingTime: Duration = .milliseconds(2),
        trace: SQLTrace? = nil, changes: ChangeHub? = nil
    ) throws {
        let engine = SQLiteEngine(
            path: path, key: key, isReadOnly: isReadOnly, durability: durability, busyTimeout: busyTimeout,
            trace: trace)
        try self.init(
            engine, isReadOnly: isReadOnly, readers: readers, busyTimeout: busyTimeout, waitsToOpen: waitsToOpen,
            sharingTime: sharingTime, changes: changes)
    }
}
