import RelataCore

/// A database system, and one database of it: what a ``ConnectionPool`` opens connections to.
package protocol Engine: Sendable {
    /// Where the database is, for messages, without a password; `nil` for one in memory.
    var path: String? { get }
    /// Whether one connection reads and writes, because the database is in memory.
    var isShared: Bool { get }
    /// How many transactions may write at once.
    var writerCount: Int { get }

    /// Looks for what would make opening fail late, or unclearly.
    func checkBeforeOpening(isReadOnly: Bool) throws(RelataError)
    /// Whether it is read elsewhere than it is written.
    var readsReplicas: Bool { get }
    /// How long a call waits for a connection while all are in use; `nil` for as long as it takes.
    var connectionTimeout: Duration? { get }
    /// Whether opening a connection and its statements block, so that each has a thread of its own.
    var hasExecutors: Bool { get }
    /// A thread for a new connection; `nil` where the caller's own serves.
    func makeExecutor() -> (any TaskExecutor)?
    /// Opens a connection.
    ///
    /// - Parameters:
    ///   - role: What it is for.
    ///   - waits: Whether it waits for other processes from the beginning.
    ///   - executor: What ``makeExecutor()`` made for it.
    func connect(
        _ role: ConnectionRole, waits: Bool, on executor: (any TaskExecutor)?
    ) throws(RelataError) -> Connection
    /// Makes a connection ready that may have been lost since it was used last.
    func prepareForUse(_ connection: Connection) throws(RelataError)
    /// Begins a transaction that writes.
    ///
    /// - Throws: ``RelataError/busy(_:)`` at once while another process writes and the engine lets only one do so.
    func beginWriting(_ connection: Connection) throws(RelataError)
    /// Makes a connection wait for other processes as the pool was told.
    func beginWaiting(_ connection: Connection)
    /// A number that changes when another connection, of this process or another, commits.
    func dataVersion(_ connection: Connection) throws(RelataError) -> Int64
    /// What the engine counts of its connections.
    var counts: EngineCounts { get }
    /// How far the database is written, and how far behind a replica is; `nil` where there is no server to ask.
    func serverPosition(_ connection: Connection) throws(RelataError) -> ServerPosition?
    /// What tells other processes of commits and hears of theirs; `nil` where ``dataVersion(_:)`` says all that is known.
    func changeChannel(for hub: ChangeHub) throws(RelataError) -> (any ChangeChannel)?
    /// Does what is to be done before the last connection is closed.
    func finish()

    /// Has commits written to a log first, where the engine doesn't do so anyway: nobody waits for who writes.
    ///
    /// Not before the database is known to be ours: a file that is refused stays as it was, byte for byte.
    func beginLogging(_ connection: Connection) throws(RelataError)
    /// From now on the log is copied into the file meanwhile, where a file has one. No commit waits for that, except one
    /// that has a long log begin anew.
    ///
    /// - Parameter limit: The pages of a log that begins anew, if not before because all of it was copied.
    func copyLogInBackground(by connection: Connection, limit: Int32) throws(RelataError)
    /// Copies the whole database to a file, which has its name once it is whole.
    ///
    /// - Parameter progress: Is told how far it is. What it throws stops the copy.
    func backup(
        _ connection: Connection, _ plan: BackupPlan, _ progress: (BackupProgress) throws -> Void
    ) throws
}

extension Engine {
    package var readsReplicas: Bool { false }
    package var connectionTimeout: Duration? { nil }
    package var hasExecutors: Bool { false }
    package func makeExecutor() -> (any TaskExecutor)? { nil }

    /// Opens a connection that has a thread of its own where it needs one.
    package func connect(_ role: ConnectionRole, waits: Bool) throws(RelataError) -> Connection {
        try connect(role, waits: waits, on: makeExecutor())
    }

    package func copyLogInBackground(by connection: Connection, limit: Int32) throws(RelataError) {}

    package var counts: EngineCounts { EngineCounts() }
    package func serverPosition(_ connection: Connection) throws(RelataError) -> ServerPosition? { nil }
    package func changeChannel(for hub: ChangeHub) throws(RelataError) -> (any ChangeChannel)? { nil }
}

/// What a connection is for.
package enum ConnectionRole: Sendable {
    /// It reads, and sees the state of the last commit before it began.
    case reading
    /// It reads and writes.
    case writing
}
