import RelataCSQLite
import RelataCore
import RelataEngine
import Dispatch
import Synchronization

/// Copies the log of a file (SQLite's WAL) into the file while transactions go on: a *checkpoint*, on a thread of its own.
///
/// By itself SQLite does it within every so many-th commit, which then waits for the disk a hundred times as long as the
/// others. A commit that comes while the log is copied only makes it longer, though, and the log begins anew only once
/// nothing in it is left to copy: where transactions never pause, one of them copies the little that is left, long after
/// the log was first copied. It waits until nobody reads from the log any more: else reads that overlap would keep the log
/// from ever beginning anew. Those that come meanwhile read from the file.
final class LogCopier: Sendable {
    /// After so many new pages the log is copied. SQLite takes ten times as many; so few keep the disk, and the processor,
    /// busy for less than a millisecond at a time.
    private static let interval: Int32 = 100
    /// For how many milliseconds a commit waits for those that read from a long log.
    private static let patience: Int32 = 250

    private struct State {
        /// The pages of a log that is to begin anew.
        var limit: Int32 = 0
        /// How long the log must be for the next try to begin anew, where somebody reads from it for a long time.
        var nextTry: Int32 = 0
        /// For how many milliseconds the writer waits for other processes.
        var busyTimeout: Int32 = 0
        /// How long the log was when it was last copied.
        var copied: Int32 = 0
        var isCopying = false
        /// Whether so little of a long log is left to copy that a commit does it.
        var isReady = false
        /// Whether nothing is copied any more, because the file is being closed.
        var isFinished = false
    }

    private enum Step { case wait, copy(isLong: Bool), copyRest }

    private let path: String
    private let key: EncryptionKey?
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "relata.log", qos: .utility)
    /// The connection that copies, and does nothing else; opened when it is needed.
    private let connection = Mutex<OpaquePointer?>(nil)

    init(path: String, key: EncryptionKey?) {
        self.path = path
        self.key = key
    }

    deinit { connection.withLock { _ = sqlite3_close_v2($0) } }

    /// Has the copier watch the commits of a connection, in SQLite's stead.
    ///
    /// - Parameters:
    ///   - limit: The pages of a log that is to begin anew.
    ///   - busyTimeout: How many seconds the connection waits for other processes.
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

    /// Waits until nothing is copied any more, and closes.
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
        // What fails is tried again after more pages, and when the file is closed. Nothing is lost: it is in the log.
        case .copyRest: copyRest(handle, pages: pages)
        case .copy(let isLong):
            queue.async { [self] in
                copy(isLong: isLong)
                state.withLock { state in
                    // It may have begun anew meanwhile.
                    (state.isCopying, state.isReady) = (false, isLong && state.copied > 0)
                }
            }
        }
    }

    /// Copies what is left of a long log on the writer's own connection, so that the log begins anew with the next
    /// transaction.
    private func copyRest(_ handle: OpaquePointer?, pages: Int32) {
        sqlite3_busy_timeout(handle, Self.patience)
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_RESTART, nil, nil)
        let busyTimeout = state.withLock { state in
            // Somebody reads for long: not every so many-th commit is to wait for that.
            if code != SQLITE_OK { state.nextTry = pages &+ max(1, state.limit) }
            return state.busyTimeout
        }
        sqlite3_busy_timeout(handle, busyTimeout)
    }

    /// Copies what is in the log.
    ///
    /// - Parameter isLong: Whether a commit is to copy the rest. Then the file is brought to the disk before, and what came
    ///   meanwhile is copied too, so that the commit waits for little.
    private func copy(isLong: Bool) {
        connection.withLock { connection in
            // Whoever closes the file copies what is left.
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

    /// Brings what was written to the file to the disk. SQLite does so only where all of the log was copied.
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
            // A connection finds its log when it first reads.
            sqlite3_exec(handle, "PRAGMA schema_version", nil, nil, nil) == SQLITE_OK
        else {
            sqlite3_close_v2(handle)
            return nil
        }
        return handle
    }
}
