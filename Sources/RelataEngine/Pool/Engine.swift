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
    /// Opens a connection.
    ///
    /// - Parameters:
    ///   - role: What it is for.
    ///   - waits: Whether it waits for other processes from the beginning.
    func connect(_ role: ConnectionRole, waits: Bool) throws(RelataError) -> Connection
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
    /// Does what is to be done before the last connection is closed.
    func finish()

    /// What bringing the tables to a schema would change, without writing.
    func pendingMigration(
        _ connection: Connection, schema: Schema, steps: [MigrationStep]
    ) throws(RelataError) -> MigrationPlan
    /// Brings the tables to a schema, in one transaction, and makes the database ready for a store.
    ///
    /// - Returns: The entities with what no model declares, such as how another program's columns are compared; `nil` where
    ///   the models say all.
    func migrate(
        _ connection: Connection, schema: Schema, steps: [MigrationStep], isReadOnly: Bool
    ) throws -> [Entity]?
    /// Copies the whole database to a file.
    func backup(_ connection: Connection, to path: String) throws(RelataError)
}

/// What a connection is for.
package enum ConnectionRole: Sendable {
    /// It reads, and sees the state of the last commit before it began.
    case reading
    /// It reads and writes.
    case writing
}
