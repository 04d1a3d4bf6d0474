#if PostgreSQL
import Foundation
import RelataCPQ
import RelataCore

/// One connection to a PostgreSQL server. Its calls block until the server has answered.
///
/// A session isn't `Sendable`: one thread uses it at a time, such as a ``ConnectionThread``. Other threads may only use
/// its ``cancellation``.
package final class Session {
    /// The address of the server.
    package let url: PostgresURL
    /// libpq's own handle; `nil` once it is closed.
    private(set) var handle: OpaquePointer?
    /// The number of times the connection was replaced: statements that were prepared before are lost.
    package private(set) var generation = 0
    /// Stops the session's statement, from any thread.
    package let cancellation: Cancellation
    /// The time of the last request to stop the running statement.
    var cancelled: ContinuousClock.Instant?
    /// Called with the server's messages besides results, while a call of the session waits for the server.
    package var onNotice: ((PostgresFailure.Diagnostics) -> Void)?
    /// Whether a pooler gives each transaction another of the server's connections, so that the session can't keep any
    /// state on the server beyond a transaction.
    package private(set) var isPooled = false
    private let poolsTransactions: Bool?
    /// The activity that continues between calls.
    var activity = Activity.idle
    /// Types that differ between servers.
    var types: [UInt32: TypeCode] = [:]
    /// The statements of the pipeline, the number of results that were read, and the approximate number of bytes that
    /// may not have been sent yet.
    var queued: [PreparedStatement] = []
    var answeredCount = 0
    var queuedSize = 0
    /// Wakes what waits for notifications.
    let waker: Waker
    /// The sent statement whose answer wasn't read yet.
    var asked: PreparedStatement?
    /// Whether the caller's thread must not wait for long.
    var isBrief = false
    /// Whether a use of that kind must continue on the thread of the connection.
    package internal(set) var needsThread = false
    /// The server's usual time to answer.
    var answerTime = Duration.milliseconds(1)

    /// The current activity of a session, which excludes others.
    enum Activity {
        case idle
        /// Rows are read one by one.
        case streaming
        /// Statements are queued.
        case pipeline
        /// Rows are sent.
        case copying
        /// A statement was sent, and its answer not waited for.
        case asked
    }

    /// The least version of the server that is supported.
    package static let leastServerVersion = 13

    /// Connects, and sets the session up. A cancelled task doesn't wait for the connection.
    ///
    /// - Parameter poolsTransactions: Whether a pooler gives each transaction another of the server's connections;
    ///   `nil` to assume so for any pooler.
    package init(_ url: PostgresURL, poolsTransactions: Bool? = nil) throws(PostgresFailure) {
        let handle = try Self.connect(url)
        let waker: Waker
        do throws(PostgresFailure) {
            try Self.checkIsConnected(handle, url)
            waker = try Waker()
        } catch {
            PQfinish(handle)
            throw error
        }
        self.url = url
        self.poolsTransactions = poolsTransactions
        self.handle = handle
        self.waker = waker
        cancellation = Cancellation(waker)
        try setUp()
    }

    deinit { close() }

    /// Closes the connection. The server rolls back open transactions.
    package func close() {
        guard let handle else { return }
        self.handle = nil
        PQfinish(handle)
    }

    /// Connects again after the connection was lost. Prepared statements, settings and subscriptions to channels are
    /// lost.
    package func reset() throws(PostgresFailure) {
        let old = try open()
        activity = .idle
        (queued, answeredCount, queuedSize, asked) = ([], 0, 0, nil)
        forgetStatements()
        types = [:]
        let handle = try Self.connect(url)
        self.handle = handle
        PQfinish(old)
        try Self.checkIsConnected(handle, url)
        try setUp()
    }

    private static func connect(_ url: PostgresURL) throws(PostgresFailure) -> OpaquePointer {
        guard let handle = try url.connectUnlessCancelled() else {
            throw PostgresFailure(.fileAccess(path: url.description, "can't connect: there is not enough memory"))
        }
        return handle
    }

    /// From now on statements that were prepared before are refused.
    func forgetStatements() { generation += 1 }

    private func setUp() throws(PostgresFailure) {
        let handle = try open()
        try Self.check(
            version: Int(PQserverVersion(handle)), encoding: parameter("server_encoding") ?? "", server: serverName)
        // The session is alive while its connection is, and libpq calls this within the session's own calls.
        PQsetNoticeReceiver(
            handle,
            { context, result in
                guard let context, let result, let notice = PostgresFailure.Diagnostics(result) else { return }
                Unmanaged<Session>.fromOpaque(context).takeUnretainedValue().onNotice?(notice)
            }, Unmanaged.passUnretained(self).toOpaque())
        // A pooler reports its own numbers for the server's processes.
        if let poolsTransactions { isPooled = poolsTransactions } else { isPooled = try ownProcessID() != processID }
        // Text forms must be equal on every server. A pooler carries these settings from one connection to the next;
        // the others have the server's defaults.
        let carried = "SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET standard_conforming_strings = on"
        let others = "; SET IntervalStyle = 'postgres'; SET bytea_output = 'hex'; SET extra_float_digits = 1"
        try run(isPooled ? carried : carried + others)
    }

    /// The number that the server's process gives itself.
    private func ownProcessID() throws(PostgresFailure) -> Int32? {
        let result = try query("SELECT pg_catalog.pg_backend_pid()", open())
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_TUPLES_OK else { throw failure(result) }
        return PQgetvalue(result, 0, 0).flatMap { Int32(String(cString: $0)) }
    }

    /// Refuses a server that is too old, or a database that can't hold every character.
    static func check(version: Int, encoding: String, server: String) throws(PostgresFailure) {
        guard version >= leastServerVersion * 10_000 else {
            throw PostgresFailure(
                .fileAccess(
                    path: server,
                    "the server is PostgreSQL \(version / 10_000): version \(leastServerVersion) or newer is needed"))
        }
        guard encoding == "UTF8" else {
            throw PostgresFailure(
                .fileAccess(
                    path: server,
                    "the database's encoding is \(encoding), which doesn't support every character: create it with ENCODING 'UTF8'"
                ))
        }
    }

    /// The handle while the session isn't closed.
    func open() throws(PostgresFailure) -> OpaquePointer {
        guard let handle else {
            throw PostgresFailure(.closed("the connection to \(url) is closed: open another one"))
        }
        return handle
    }

    /// The handle while the session is idle.
    func idle() throws(PostgresFailure) -> OpaquePointer {
        let handle = try open()
        switch activity {
        case .idle: return handle
        case .streaming:
            throw PostgresFailure(.invalidUse("the rows of a query are still being read: read them all, or close them"))
        case .pipeline: throw PostgresFailure(.invalidUse("statements are queued: call sync() first"))
        case .copying: throw PostgresFailure(.invalidUse("rows are still being copied: finish or cancel the copy"))
        case .asked:
            if isBrief { throw threadNeeded() }
            dropAnswer(handle)
            return handle
        }
    }

    // MARK: State

    /// Whether a transaction is open.
    package enum TransactionStatus: Sendable {
        /// None is.
        case idle
        /// A transaction is open.
        case open
        /// A failed transaction is open: it can only be rolled back.
        case failed
        /// A statement runs.
        case active
        /// The connection is gone.
        case unknown
    }

    /// Whether a transaction is open.
    package var transactionStatus: TransactionStatus {
        guard let handle else { return .unknown }
        return switch PQtransactionStatus(handle) {
        case PQTRANS_IDLE: .idle
        case PQTRANS_INTRANS: .open
        case PQTRANS_INERROR: .failed
        case PQTRANS_ACTIVE: .active
        default: .unknown
        }
    }

    /// Whether the connection is closed, or known to be lost.
    package var isLost: Bool { handle.map { PQstatus($0) != CONNECTION_OK } ?? true }

    /// Whether the server has ended the connection while the session was idle. Without this check, only the next
    /// statement would fail.
    package var wasEnded: Bool { handle.map { isLost || Waker.isClosed(PQsocket($0)) } ?? true }

    /// The version of the server, such as 150018.
    package var serverVersion: Int { handle.map { Int(PQserverVersion($0)) } ?? 0 }

    /// The number of the server's process for this session, as `pg_stat_activity` and `pg_locks` name it.
    package var processID: Int32 { handle.map { PQbackendPID($0) } ?? 0 }

    /// A setting that the server reports itself, such as `server_encoding` or `in_hot_standby`.
    package func parameter(_ name: String) -> String? {
        handle.flatMap { PQparameterStatus($0, name) }.map { String(cString: $0) }
    }

    /// The server and the database in use: if several hosts are named, the one that answered.
    var serverName: String { handle.map { Self.serverName($0, url) } ?? url.description }

    private static func serverName(_ handle: OpaquePointer, _ url: PostgresURL) -> String {
        func text(_ pointer: UnsafeMutablePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
        let (host, port, database) = (text(PQhost(handle)), text(PQport(handle)), text(PQdb(handle)))
        guard !host.isEmpty else { return url.description }
        return "postgresql://\(host):\(port)/\(database)"
    }

    /// Throws the reason why connecting failed. The server's message may be in any language, and libpq reports its code
    /// only to clients that requested it before: after an immediate refusal, a second connection is tried.
    private static func checkIsConnected(_ handle: OpaquePointer, _ url: PostgresURL) throws(PostgresFailure) {
        func message() -> String { PQerrorMessage(handle).map { String(cString: $0) } ?? "" }
        if PQstatus(handle) == CONNECTION_OK { return }
        let (server, first) = (serverName(handle, url), message())
        var codes: Set<String> = []
        if SQLState.isSaidByServer(first) {
            PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
            PQreset(handle)
            PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
            if PQstatus(handle) == CONNECTION_OK { return }
            codes = SQLState.codes(in: message())
        }
        throw PostgresFailure(SQLState.connecting(server, first, codes: codes))
    }

    // MARK: Errors

    /// The failure of a result, or of the connection without a result.
    func failure(_ result: OpaquePointer?, sql: String? = nil) -> PostgresFailure {
        guard let handle else { return PostgresFailure(.closed("the connection to \(url) is closed")) }
        if let result, let diagnostics = PostgresFailure.Diagnostics(result) {
            return PostgresFailure(
                SQLState.error(diagnostics, server: serverName, sql: sql, wasCancelled: cancellation.isRequested),
                diagnostics)
        }
        let message =
            (result.flatMap { PQresultErrorMessage($0) } ?? PQerrorMessage(handle)).map { String(cString: $0) } ?? ""
        guard PQstatus(handle) == CONNECTION_OK else { return PostgresFailure(SQLState.lost(serverName, message)) }
        return PostgresFailure(.database(code: 0, message: SQLState.line(message), sql: sql))
    }
}
#endif
