import RelataCSQLite
import RelataCore
import RelataEngine
import Dispatch
import Synchronization

/// Copies the log of a file (SQLite's WAL) into the file while transactions continue: a *checkpoint*, on a separate
/// thread.
///
/// By default, SQLite does it within a commit from time to time, which then waits for the disk a hundred times as long
/// as the others. A commit during the copying makes the log longer, though, and the log restarts only when nothing in
/// it is left to copy: if transactions never pause, one of them copies the small rest, long after the first copying. It
/// waits until no reader uses the log any more: otherwise overlapping reads would keep the log from ever restarting.
/// New readers in the meantime read from the file.
final class LogCopier: Sendable {
    /// The log is copied after this many new pages. SQLite waits for ten times as many; so few keep the disk and the
    /// processor busy for less than a millisecond at a time.
    private static let interval: Int32 = 100
    /// The number of milliseconds that a commit waits for readers of a long log.
    private static let patience: Int32 = 250

    private struct State {
        /// The pages at which a log should restart.
        var limit: Int32 = 0
        /// The length of the log for the next attempt to restart it, if there is a long reader.
        var nextTry: Int32 = 0
        /// The number of milliseconds that the writer waits for other processes.
        var busyTimeout: Int32 = 0
        /// The length of the log when it was last copied.
        var copied: Int32 = 0
        var isCopying = false
        /// Whether the rest of a long log is so small that a commit copies it.
        var isReady = false
        /// Whether copying has stopped, because the file is being closed.
        var isFinished = false
    }

    private enum Step { case wait, copy(isLong: Bool), copyRest }

    private let path: String
    private let key: EncryptionKey?
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "relata.log", qos: .utility)
    /// The connection for copying only; opened when it is needed.
    private let connection = Mutex<OpaquePointer?>(nil)

    init(path: String, key: EncryptionKey?) {
        self.path = path
        self.key = key
    }

    deinit { connection.withLock { _ = sqlite3_close_v2($0) } }

    /// Lets the copier watch the commits of a connection, instead of SQLite.
    ///
    /// - Parameters:
    ///   - limit: The pages at which a log should restart.
    ///   - busyTimeout: The number of seconds that the connection waits for other processes.
    func watch(_ connection: Connection, limit: Int32, busyTimeout: Double) throws(RelataError) {
        let handle = try connection.sqlite.handle
        state.withLock { ($0.limit, $0.busyTimeout) = (limit, SQLiteDriver.milliseconds(busyTimeout)) }
        // It must outlive the connection.
        connection.companion = self
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_wal_hook(
            handle,
            { context, handle, _, pages in
                guard let context else { return SQLITE_OK }
                Unmanaged<LogCopier>.fromOpaque(context).takeUnretainedValue().didCommit(handle, pages: pages)
                return SQLITE_OK
            }, context)
    }

    /// Waits until copying has stopped, and closes.
    func finish() {
        state.withLock { $0.isFinished = true }
        queue.sync {
            connection.withLock { connection in
                sqlite3_close_v2(connection)
                connection = nil
            }
        }
    }

    private func didCommit(_ handle: OpaquePointer?, pages: Int32) {
        let step = state.withLock { state -> Step in
            if pages < state.copied { (state.copied, state.nextTry, state.isReady) = (0, 0, false) }
            if state.isCopying || state.isFinished { return .wait }
            if state.isReady {
                state.isReady = false
                return .copyRest
            }
            guard pages - state.copied >= Self.interval else { return .wait }
            (state.copied, state.isCopying) = (pages, true)
            return .copy(isLong: pages >= max(state.limit, state.nextTry))
        }
        switch step {
        case .wait: break
        // A failed attempt is repeated after more pages, and when the file is closed. Nothing is lost: it is in the
        // log.
        case .copyRest: copyRest(handle, pages: pages)
        case .copy(let isLong):
            queue.async { [self] in
                copy(isLong: isLong)
                state.withLock { state in
                    // It may have restarted in the meantime.
                    (state.isCopying, state.isReady) = (false, isLong && state.copied > 0)
                }
            }
        }
    }

    /// Copies the rest of a long log on the writer's own connection, so that the log restarts with the next
    /// transaction.
    private func copyRest(_ handle: OpaquePointer?, pages: Int32) {
        sqlite3_busy_timeout(handle, Self.patience)
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_RESTART, nil, nil)
        let busyTimeout = state.withLock { state in
            // A long reader should not make commits wait regularly.
            if code != SQLITE_OK { state.nextTry = pages &+ max(1, state.limit) }
            return state.busyTimeout
        }
        sqlite3_busy_timeout(handle, busyTimeout)
    }

    /// Copies the contents of the log.
    ///
    /// - Parameter isLong: Whether a commit copies the rest. Then the file is flushed to the disk before, and later
    ///   frames are copied too, so that the commit waits only briefly.
    private func copy(isLong: Bool) {
        connection.withLock { connection in
            // The rest is copied when the file is closed.
            guard !state.withLock({ $0.isFinished }) else { return }
            if connection == nil { connection = open() }
            guard let connection else { return }
            sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
            guard isLong else { return }
            for _ in 0..<2 {
                Self.synchronize(connection)
                sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
            }
        }
    }

    /// Flushes the file to the disk. SQLite flushes it only after copying the whole log.
    private static func synchronize(_ connection: OpaquePointer) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard let file, let methods = file.pointee.pMethods else { return }
        _ = methods.pointee.xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY)
    }

    private func open() -> OpaquePointer? {
        var handle: OpaquePointer?
        guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK,
            key.map({ EncryptedFile.set($0, on: handle) }) ?? SQLITE_OK == SQLITE_OK,
            // A connection opens its log with the first read.
            sqlite3_exec(handle, "PRAGMA schema_version", nil, nil, nil) == SQLITE_OK
        else {
            sqlite3_close_v2(handle)
            return nil
        }
        return handle
    }
}
