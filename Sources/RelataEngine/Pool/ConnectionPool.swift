import Foundation
import RelataCore
import Synchronization

/// The connections of one store: those for writing, one on SQLite, and several for reading.
///
/// Readers see the state of the last commit before they began, and never wait for a writer (on SQLite its WAL mode).
/// A store in memory has one connection for both.
@_documentation(visibility: internal)
package final class ConnectionPool: Sendable {
    let writer: Leases
    private let readers: Leases
    /// The engine of the connections.
    package let engine: any Engine
    private let busyTimeout: Double
    let sharingTime: Duration
    private let isReadOnly: Bool
    private let retries = Atomic<Int>(0)
    /// Whether one connection reads and writes, because the database is in memory.
    package let isShared: Bool
    /// Whether the writing connection hasn't looked at the database before it is first used.
    package let readsFirst: Bool
    /// Distributes committed transactions.
    package let changes: ChangeHub?
    /// The number of threads that can be busy with the pool's connections at once.
    package let maximumHolders: Int

    /// Opens a database, and creates it if it doesn't exist and the engine can.
    ///
    /// - Parameters:
    ///   - engine: The database.
    ///   - isReadOnly: Whether writing is refused.
    ///   - readers: The largest number of connections that read.
    ///   - busyTimeout: The number of seconds to wait for another process that writes.
    ///   - waitsToOpen: Whether that applies from the start, or the writing connection fails immediately until
    ///     ``beginWaiting()``.
    ///   - sharingTime: The time in which a transaction includes others' writes.
    ///   - readsFirst: Whether a reading connection checks the database, if the engine gains from that.
    ///   - changes: Distributes committed transactions.
    /// - Throws: ``RelataError`` if the database can't be opened.
    package init(
        _ engine: any Engine, isReadOnly: Bool = false, readers: Int = 5, busyTimeout: Double = 5,
        waitsToOpen: Bool = true, sharingTime: Duration = .milliseconds(2), readsFirst: Bool = false,
        changes: ChangeHub? = nil
    ) throws {
        self.engine = engine
        let readsFirst = readsFirst && engine.connectionsReadTables && !engine.isShared
        self.readsFirst = readsFirst
        self.changes = changes
        self.busyTimeout = busyTimeout
        self.sharingTime = sharingTime
        self.isReadOnly = isReadOnly
        isShared = engine.isShared
        maximumHolders = engine.isShared ? 1 : max(1, readers) + engine.writerCount
        writer = Leases(
            limit: engine.writerCount, purpose: "write", patience: engine.connectionTimeout,
            makeExecutor: { engine.makeExecutor() }
        ) { executor in
            try translatingInterrupts {
                try engine.connect(readsFirst ? .writingLater : .writing, waits: waitsToOpen, on: executor)
            }
        }
        self.readers =
            engine.isShared
            ? writer
            : Leases(
                limit: max(1, readers), purpose: "read", patience: engine.connectionTimeout,
                makeExecutor: { engine.makeExecutor() }
            ) { executor in try translatingInterrupts { try engine.connect(.reading, waits: true, on: executor) } }
        try engine.checkBeforeOpening(isReadOnly: isReadOnly)
        // Opened at once, so that the error appears here and not in the first call.
        if let connection = try writer.acquireUnlessHeld() { writer.release(connection) }
        if !engine.isShared { try changes?.attach(self) }
    }

    // MARK: Reading

    private static let nestedRead =
        "a read inside a transaction of the same store, outside that transaction: use the transaction itself"

    /// Runs `body` with a connection that reads. Blocks the thread while all are in use.
    package func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        if !isShared, writer.isHeldByCurrentThread { throw RelataError.invalidUse(Self.nestedRead) }
        guard let connection = try readers.acquireUnlessHeld() else { return try readInside(body) }
        defer { readers.release(connection) }
        return try translatingInterrupts { try tryingAgain(connection) { try body(connection) } }
    }

    /// A read inside another of the same thread. It doesn't wait: a holder of a reader that waits for another one may
    /// wait forever.
    private func readInside<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        if isShared {
            guard let connection = readers.heldByCurrentThread, !connection.needsTransaction else {
                throw RelataError.invalidUse(Self.nestedRead)
            }
            return try translatingInterrupts { try body(connection) }
        }
        let connection = try readers.borrow()
        defer { readers.giveBack(connection) }
        try engine.prepareForUse(connection)
        return try translatingInterrupts { try body(connection) }
    }

    /// Runs `body` with a connection for reading, on the task's thread or, if statements block, on the connection's
    /// thread.
    package func read<Result: Sendable>(_ body: @Sendable (Connection) throws -> Result) async throws -> Result {
        try await read(isOneStatement: false, body)
    }

    /// As ``read(_:)`` for a body that runs a single statement, and that may run again: it begins on the task's thread,
    /// because the answer may arrive before another thread begins.
    package func readOnce<Result: Sendable>(_ body: @Sendable (Connection) throws -> Result) async throws -> Result {
        try await read(isOneStatement: true, body)
    }

    private func read<Result: Sendable>(
        isOneStatement: Bool, _ body: @Sendable (Connection) throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        if Turn.isOver { await Turn.pass() }
        let connection = try await readers.acquire()
        defer { Turn.end() }
        guard let executor = connection.driver.executor else {
            defer { readers.release(connection) }
            return try translatingInterrupts { try body(connection) }
        }
        // Several waiting calls, each on a separate thread, wait in parallel.
        if isOneStatement, readers.hasOneHolder, let result = performBriefly(connection, body) {
            readers.release(connection)
            return try result.get()
        }
        return try await perform(connection, of: readers, on: executor) { connection in
            try self.tryingAgain(connection) { try body(connection) }
        }
    }

    /// Opens a connection for reading, and keeps it if it finds the database as it should be.
    ///
    /// - Parameter waits: Whether it waits for other processes from the beginning.
    package func openReader(waits: Bool, if isReady: (Connection) throws -> Bool) throws -> Bool {
        let connection = try translatingInterrupts { try engine.connect(.reading, waits: waits) }
        guard try translatingInterrupts({ try isReady(connection) }) else {
            try connection.close()
            return false
        }
        engine.beginWaiting(connection)
        readers.giveBack(connection)
        return true
    }

    /// A connection that is kept for reading across suspensions, of a database in a file. Never waits.
    package func snapshot() throws -> Snapshot { try translatingInterrupts { try Snapshot(readers, engine) } }

    /// As ``snapshot()`` for a task, on a connection whose statements block; `nil` for others.
    package func remoteSnapshot() async throws -> RemoteSnapshot? {
        guard engine.hasExecutors else { return nil }
        try Task.checkCancellation()
        let leased = try await readers.borrow()
        guard let executor = leased.connection.driver.executor else {
            readers.giveBack(leased.connection)
            return nil
        }
        return RemoteSnapshot(self, readers, leased, executor)
    }

    // MARK: Writing

    private static let nestedWrite =
        "a write inside a transaction of the same store: use the transaction that is open, or its savepoint"

    /// Runs `body` in a transaction, and commits it unless `body` throws. Blocks the thread while another writes.
    package func write<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try refuseReadOnly()
        let connection = try acquireWriter()
        defer { writer.release(connection) }
        return try translatingInterrupts {
            try tryingAgain(connection) {
                let deadline = Date(timeIntervalSinceNow: busyTimeout)
                var pause = 0.001
                while try !begin(connection, deadline) {
                    Thread.sleep(forTimeInterval: pause)
                    pause = min(pause * 2, 0.05)
                }
                return try commit(connection, body)
            }
        }
    }

    /// As the call without `async`; while another writes, the task waits without a thread. A task that was cancelled
    /// rolls back.
    package func write<Result: Sendable>(_ body: @Sendable (Connection) throws -> Result) async throws -> Result {
        try refuseReadOnly()
        try Task.checkCancellation()
        if Turn.isOver { await Turn.pass() }
        let connection = try await writer.acquire()
        defer { Turn.end() }
        if let executor = connection.driver.executor {
            return try await perform(connection, of: writer, on: executor) { connection in
                try self.tryingAgain(connection) {
                    try self.engine.beginWriting(connection)
                    return try self.commit(connection, body)
                }
            }
        }
        defer { writer.release(connection) }
        try await begin(connection, until: Date(timeIntervalSinceNow: busyTimeout))
        return try translatingInterrupts { try commit(connection, body) }
    }

    /// Like ``write(_:)``, but waiting calls share a transaction: the file is written once for all of them, and no
    /// thread switch is needed between them. Each call is written completely or not at all.
    ///
    /// - Parameter body: Runs again, alone, if a shared transaction fails. If another task runs it, a cancelled task
    ///   still gets its result.
    package func writeShared<Result: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Result
    ) async throws -> Result {
        try refuseReadOnly()
        try Task.checkCancellation()
        if Turn.isOver { await Turn.pass() }
        let write = SharedWrite(body)
        guard let connection = try await writer.acquire(for: write) else { return try write.result() }
        defer { Turn.end() }
        if let executor = connection.driver.executor {
            return try await perform(connection, of: writer, on: executor) { connection in
                // Waiting work isn't included: it may have seen more than this transaction's snapshot contains.
                try self.tryingAgain(connection) {
                    try self.engine.beginWriting(connection)
                    return try self.commit(connection, body)
                }
            }
        }
        defer { writer.release(connection) }
        let deadline = Date(timeIntervalSinceNow: busyTimeout)
        do {
            try await begin(connection, until: deadline)
            return try translatingInterrupts { try commit(connection, takesOthersAlong: true, body) }
        } catch is SharingFailed {
            try await begin(connection, until: deadline)
            return try translatingInterrupts { try commit(connection, body) }
        }
    }

    /// Prepares a connection and runs a transaction on it. If other transactions make it fail, retries it for as long
    /// as it would wait for a lock.
    private func tryingAgain<Result>(_ connection: Connection, _ body: () throws -> Result) throws -> Result {
        var deadline: Date?
        var pause = 0.001
        while true {
            do {
                try engine.prepareForUse(connection)
                return try body()
            } catch  where connection.driver.mayTryAgain && !Task.isCancelled {
                let end = deadline ?? Date(timeIntervalSinceNow: busyTimeout)
                guard Date() < end else { throw error }
                deadline = end
                retries.add(1, ordering: .relaxed)
                // Conflicting transactions retry at different times.
                Thread.sleep(forTimeInterval: .random(in: 0...pause))
                pause = min(pause * 2, 0.05)
            }
        }
    }

    /// Runs `body` on the thread of a connection whose statements block, so that none of Swift's threads does, and
    /// returns the connection from there: it doesn't wait for the task to change threads. Cancelling the task stops the
    /// running statement.
    private func perform<Result: Sendable>(
        _ connection: Connection, of leases: Leases, on executor: any TaskExecutor,
        _ body: @Sendable (Connection) throws -> Result
    ) async throws -> Result {
        let leased = LeasedConnection(connection: connection)
        let canceller = connection.driver.canceller
        leases.endHold()
        return try await withTaskExecutorPreference(executor) {
            leases.beginHold(leased)
            let result = await withTaskCancellationHandler {
                Swift.Result { try translatingInterrupts { try body(leased.connection) } }
            } onCancel: {
                canceller?()
            }
            // Cancelling isn't possible any more: the next holder gets the connection in a clean state.
            leased.connection.driver.makeReusable()
            leases.release(leased.connection)
            return try result.get()
        }
    }

    /// Runs `body` on the task's thread, if a connection whose statements block probably answers before its own thread
    /// would begin; `nil` if it didn't, or more work is needed.
    private func performBriefly<Result>(
        _ connection: Connection, _ body: (Connection) throws -> Result
    ) -> Swift.Result<Result, any Error>? {
        guard connection.driver.beginBriefUse() else { return nil }
        let result = Swift.Result { try translatingInterrupts { try body(connection) } }
        return connection.driver.endBriefUse() ? result : nil
    }

    /// Runs `body` with the writing connection outside any transaction: for pragmas and migrations.
    package func withWriter<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        let connection = try acquireWriter()
        defer { writer.release(connection) }
        return try translatingInterrupts {
            try engine.prepareForUse(connection)
            return try body(connection)
        }
    }

    /// As ``withWriter(_:)``; while another writes, the task waits without a thread.
    package func alone<Result: Sendable>(_ body: @Sendable (Connection) throws -> Result) async throws -> Result {
        try Task.checkCancellation()
        if Turn.isOver { await Turn.pass() }
        let connection = try await writer.acquire()
        defer { Turn.end() }
        if let executor = connection.driver.executor {
            return try await perform(connection, of: writer, on: executor) { connection in
                try self.engine.prepareForUse(connection)
                return try body(connection)
            }
        }
        defer { writer.release(connection) }
        return try translatingInterrupts {
            try engine.prepareForUse(connection)
            return try body(connection)
        }
    }

    /// Copies the log of a file in the background, if it has one.
    ///
    /// - Parameter limit: The pages at which a log restarts, unless it does before because all of it was copied: 64 MB.
    package func copyLogInBackground(limit: Int32 = 16_000) throws {
        try withWriter { try engine.copyLogInBackground(by: $0, limit: limit) }
    }

    private func acquireWriter() throws -> Connection {
        guard let connection = try writer.acquireUnlessHeld() else { throw RelataError.invalidUse(Self.nestedWrite) }
        return connection
    }

    private func refuseReadOnly() throws(RelataError) {
        if isReadOnly { throw .readOnly("the store was opened read-only: open it without isReadOnly to write") }
    }

    /// The current use of the connections, and the results of transactions so far.
    package var statistics: StoreStatistics {
        let counts = engine.counts
        return StoreStatistics(
            writers: writer.statistics, readers: isShared ? nil : readers.statistics,
            retries: retries.load(ordering: .relaxed), reconnections: counts.reconnections,
            failedConnections: counts.failedConnections)
    }

    /// The number of waiting writers.
    var waitingWriterCount: Int { writer.waitingCount }

    /// Makes the writing connection wait for other processes, for the time in the store's options.
    package func beginWaiting() throws {
        let connection = try acquireWriter()
        defer { writer.release(connection) }
        engine.beginWaiting(connection)
    }

    /// Closes all connections. Later calls fail with ``RelataError/closed(_:)``; running ones finish.
    package func close() throws {
        changes?.close()
        // The last one to close copies the rest of the log, and removes it.
        engine.finish()
        if !isShared { try readers.close() }
        try writer.close()
    }
}
