import CRelataSQLite
import RelataCSQLite
import Foundation
import RelataCore
import RelataEngine

/// A connection of SQLite: a ``Connection``'s access to the system's library.
package final class SQLiteDriver: EngineDriver {
    /// SQLite's own handle, valid until ``close()``.
    let handle: OpaquePointer
    /// The path of the database; empty for one in memory.
    let path: String
    let authorizer: AccessAuthorizer
    private let tracer: SQLTracer?
    private var isClosed = false

    package let dialect = Dialect.sqlite
    package let capabilities = EngineCapabilities()

    /// Opens a database; see ``Connection/init(path:key:isReadOnly:busyTimeout:trace:)``.
    init(
        path: String?, key: EncryptionKey?, isReadOnly: Bool, busyTimeout: Double, isAlone: Bool = false,
        readsTables: Bool = true, trace: SQLTrace?
    ) throws(RelataError) {
        if let path {
            try RegularFile.check(path, for: "a database")
            try UnfinishedTransaction.checkJournal(of: path)
        }
        handle = try Self.open(
            path, key: key, isReadOnly: isReadOnly, busyTimeout: busyTimeout, isAlone: isAlone,
            readsTables: readsTables)
        self.path = path ?? ""
        authorizer = AccessAuthorizer(on: handle)
        tracer = trace.map { [handle] in SQLTracer($0, on: handle) }
        try check(relata_values_register(handle), nil)
        try SQLiteFunctions.register(on: handle)
        // Called every few thousand steps of SQLite's virtual machine: a cancelled task stops even a query that yields
        // no row.
        sqlite3_progress_handler(handle, 100_000, { _ in Task.isCancelled ? 1 : 0 }, nil)
    }

    deinit { try? close() }

    package func close() throws(RelataError) {
        guard !isClosed else { return }
        isClosed = true
        let code = sqlite3_close(handle)
        guard code == SQLITE_OK else {
            let message = String(cString: sqlite3_errmsg(handle))
            // Closes it when the last of its statements is released.
            sqlite3_close_v2(handle)
            throw .database(code: Int(code), message: "closing \(path): \(message)", sql: nil)
        }
    }

    // MARK: Running

    package func execute(script: String) throws(RelataError) {
        try check(authorizer.preparing { sqlite3_exec(handle, script, nil, nil, nil) }, script)
    }

    package func executeNoting(script: String) throws(RelataError) -> StatementAccess {
        var code = SQLITE_OK
        let access = authorizer.collect { code = sqlite3_exec(handle, script, nil, nil, nil) }
        try check(code, script)
        return access
    }

    package func bind(_ list: Parameter, to statement: RunningStatement, at index: Int32) throws(RelataError) {
        switch list {
        case .value(let value): try StatementParameter(statement, index).bind(value)
        case .list(let values): try check(ValueList.bind(values, to: statement, at: index), statement.sql)
        case .keys(let keys): try check(ValueList.bind(keys, to: statement, at: index), statement.sql)
        }
    }

    package func bind(
        rows: Range<Int>, columns: Int, to statement: RunningStatement, at index: Int32, _ row: (Int) -> [Value]
    ) throws(RelataError) {
        guard var list = RowList(rows.count, columns: columns) else { return try check(SQLITE_NOMEM, nil) }
        for number in rows {
            for value in row(number) where !list.add(value) { return try check(SQLITE_NOMEM, nil) }
        }
        try check(list.bind(to: statement, at: index), statement.sql)
    }

    package func makeReusable() {}
    package func checkBeforeCommit() throws(RelataError) {}
    /// Writers wait for each other here.
    package var mayTryAgain: Bool { false }
    package var executor: (any TaskExecutor)? { nil }
    package var canceller: (@Sendable () -> Void)? { nil }
    package func endCancellation() throws(RelataError) {}

    package func writes(_ statement: Statement) -> Bool {
        guard let handle = statement.running.handle else { return true }
        return sqlite3_stmt_readonly(handle) == 0 && sqlite3_stmt_isexplain(handle) == 0
    }

    // MARK: Errors

    package func error(_ result: StepResult, _ statement: RunningStatement) -> RelataError {
        error(result.code, sql: statement.sql)
    }

    func check(_ code: Int32, _ sql: @autoclosure () -> String?) throws(RelataError) {
        if code != SQLITE_OK { throw error(code, sql: sql()) }
    }

    /// The error for a result code of this connection.
    func error(_ code: Int32, sql: String?) -> RelataError {
        // SQLite itself reports that for the file and its log, but not for the index of the log.
        let isFull = code & 0xff == SQLITE_IOERR && sqlite3_system_errno(handle) == ENOSPC
        return SQLiteErrors.running(
            path, code: Int(isFull ? SQLITE_FULL : code), String(cString: sqlite3_errmsg(handle)), sql: sql)
    }

    // MARK: State

    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
    package var stateNumber: UInt32? {
        // Before the first read, SQLite hasn't looked for changes of others; its number ignores uncommitted changes.
        guard sqlite3_txn_state(handle, "main") == SQLITE_TXN_READ else { return nil }
        var number: UInt32 = 0
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &number) == SQLITE_OK else { return nil }
        return number
    }

    package var changes: Int { Int(sqlite3_changes64(handle)) }
    package var totalChanges: Int { Int(sqlite3_total_changes64(handle)) }
    package var lastInsertedKey: Int64 { sqlite3_last_insert_rowid(handle) }
    package func forgetLastInsertedKey() { sqlite3_set_last_insert_rowid(handle, .min) }

    // MARK: References

    package func referencesWait() throws(RelataError) -> Bool {
        try value("SELECT defer_foreign_keys FROM temp.pragma_defer_foreign_keys") == 1
    }

    package func setReferencesWait(_ wait: Bool) throws(RelataError) {
        try execute(script: "PRAGMA defer_foreign_keys = \(wait ? "ON" : "OFF")")
    }

    package var hasDanglingReferences: Bool {
        var count: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &count, &highest, 0)
        return count != 0
    }

    /// The first column of the first row of a query, as an integer. Compiled each time: a pragma that was compiled
    /// before returns its earlier value.
    private func value(_ sql: String) throws(RelataError) -> Int64? {
        var pointer: OpaquePointer?
        try check(authorizer.preparing { sqlite3_prepare_v2(handle, sql, -1, &pointer, nil) }, sql)
        defer { sqlite3_finalize(pointer) }
        return sqlite3_step(pointer) == SQLITE_ROW ? sqlite3_column_int64(pointer, 0) : nil
    }
}

extension Connection {
    /// Opens a connection to SQLite.
    ///
    /// - Parameters:
    ///   - path: The file, or `nil` for a database in memory.
    ///   - key: The key of the file. A database in memory ignores it.
    ///   - isReadOnly: Whether writing is refused; the file must exist.
    ///   - busyTimeout: The number of seconds that a statement waits for another process that holds the file's lock.
    ///   - trace: Called after each statement.
    ///   - readsTables: Whether the declarations of all tables are read now, or with the first statement about one.
    /// - Throws: ``RelataError/fileAccess(path:_:)`` if the file can't be opened, ``RelataError/corruptStore(_:)`` if
    ///   it isn't a database, ``RelataError/wrongKey(path:)`` and ``RelataError/notEncrypted(path:)`` for a wrong key.
    package convenience init(
        path: String?, key: EncryptionKey? = nil, isReadOnly: Bool = false, busyTimeout: Double = 5,
        trace: SQLTrace? = nil, readsTables: Bool = true
    ) throws(RelataError) {
        self.init(
            try SQLiteDriver(
                path: path, key: key, isReadOnly: isReadOnly, busyTimeout: busyTimeout, readsTables: readsTables,
                trace: trace), path: path ?? "")
    }

    /// Opens a connection with exclusive use of the file, which leaves the file and its log unchanged, also when it is
    /// closed, and even if the file can't be read.
    ///
    /// - Throws: ``RelataError/busy(_:)`` if the file is in use.
    convenience init(locking path: String, key: EncryptionKey?) throws(RelataError) {
        self.init(
            try SQLiteDriver(path: path, key: key, isReadOnly: false, busyTimeout: 0, isAlone: true, trace: nil),
            path: path)
    }

    /// The engine's part, if it is SQLite.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a connection to another database.
    package var sqlite: SQLiteDriver {
        get throws(RelataError) {
            guard let driver = driver as? SQLiteDriver else {
                throw .invalidUse("this works on SQLite files only, and \(path) isn't one")
            }
            return driver
        }
    }
}
