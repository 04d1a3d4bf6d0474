import RelataCore

/// A database system, and one database of it, to which a ``ConnectionPool`` opens connections.
package protocol Engine: Sendable {
    /// The database, for messages, without a password; `nil` for one in memory.
    var path: String? { get }
    /// Whether one connection reads and writes, because the database is in memory.
    var isShared: Bool { get }
    /// The number of transactions that may write at once.
    var writerCount: Int { get }

    /// Checks for problems that opening would report late, or unclearly.
    func checkBeforeOpening(isReadOnly: Bool) throws(RelataError)
    /// Whether it is read elsewhere than it is written.
    var readsReplicas: Bool { get }
    /// The longest time that a call waits for a connection while all are in use; `nil` for no limit.
    var connectionTimeout: Duration? { get }
    /// Whether each connection reads the declarations of all tables before its first statement about one.
    var connectionsReadTables: Bool { get }
    /// Whether opening a connection and its statements block, so that each has its own thread.
    var hasExecutors: Bool { get }
    /// A thread for a new connection; `nil` if the caller's thread is used.
    func makeExecutor() -> (any TaskExecutor)?
    /// Opens a connection.
    ///
    /// - Parameters:
    ///   - role: The purpose of the connection.
    ///   - waits: Whether it waits for other processes from the beginning.
    ///   - executor: The result of ``makeExecutor()`` for it.
    func connect(
        _ role: ConnectionRole, waits: Bool, on executor: (any TaskExecutor)?
    ) throws(RelataError) -> Connection
    /// Prepares a connection that may have been lost since its last use, or hasn't been prepared yet.
    func prepareForUse(_ connection: Connection) throws(RelataError)
    /// Begins a transaction that writes.
    ///
    /// - Throws: ``RelataError/busy(_:)`` at once while another process writes, if the engine allows one writer only.
    func beginWriting(_ connection: Connection) throws(RelataError)
    /// Sets the time that a connection waits for other processes.
    func beginWaiting(_ connection: Connection)
    /// A number that changes when another connection, of this process or another, commits.
    func dataVersion(_ connection: Connection) throws(RelataError) -> Int64
    /// The engine's counters of its connections.
    var counts: EngineCounts { get }
    /// The position of the server's log, and the lag of a replica; `nil` without a server.
    func serverPosition(_ connection: Connection) throws(RelataError) -> ServerPosition?
    /// The channel to other processes; `nil` if ``dataVersion(_:)`` is all that is known.
    func changeChannel(for hub: ChangeHub) throws(RelataError) -> (any ChangeChannel)?
    /// Called before the last connection is closed.
    func finish()

    /// Turns on a write-ahead log for commits, if the engine doesn't always have one: readers then don't wait for
    /// writers.
    ///
    /// Not before the database is known to be ours: a refused file stays unchanged.
    func beginLogging(_ connection: Connection) throws(RelataError)
    /// Whether commits go to a write-ahead log.
    func isLogging(_ connection: Connection) throws(RelataError) -> Bool
    /// From now on, the log is copied into the file in the background, if the file has one. Commits don't wait for
    /// that, except one that restarts a long log.
    ///
    /// - Parameter limit: The pages at which a log restarts, unless it does before because all of it was copied.
    func copyLogInBackground(by connection: Connection, limit: Int32) throws(RelataError)
    /// Copies the whole database to a file, which gets its name once it is complete.
    ///
    /// - Parameter progress: Called with the progress. An error that it throws stops the copy.
    func backup(
        _ connection: Connection, _ plan: BackupPlan, _ progress: (BackupProgress) throws -> Void
    ) throws
}

extension Engine {
    package var readsReplicas: Bool { false }
    package var connectionTimeout: Duration? { nil }
    package var connectionsReadTables: Bool { false }
    package var hasExecutors: Bool { false }
    package func makeExecutor() -> (any TaskExecutor)? { nil }

    /// Opens a connection, with its own thread if needed.
    package func connect(_ role: ConnectionRole, waits: Bool) throws(RelataError) -> Connection {
        try connect(role, waits: waits, on: makeExecutor())
    }

    package func isLogging(_ connection: Connection) throws(RelataError) -> Bool { true }
    package func copyLogInBackground(by connection: Connection, limit: Int32) throws(RelataError) {}

    package var counts: EngineCounts { EngineCounts() }
    package func serverPosition(_ connection: Connection) throws(RelataError) -> ServerPosition? { nil }
    package func changeChannel(for hub: ChangeHub) throws(RelataError) -> (any ChangeChannel)? { nil }
}

/// The use of a connection.
package enum ConnectionRole: Sendable {
    /// It reads, and sees the state of the last commit before it began.
    case reading
    /// It reads and writes.
    case writing
    /// It reads and writes, but nothing before a reading one has looked at the database.
    case writingLater
}
