import RelataCore

/// An engine's part of changing tables. Everything else about a migration is common to all engines: see ``Migrator``.
package protocol MigrationDriver: AnyObject {
    /// Creates objects that generated SQL needs in the database, such as functions, unless they exist or writing isn't
    /// allowed.
    func makeReady(_ connection: Connection) throws(RelataError)
    /// Whether nothing may be written through this connection.
    func isReadOnly(_ connection: Connection) throws(RelataError) -> Bool

    /// Runs `body`, which changes tables in a transaction that it begins. Other processes can't change tables in the
    /// meantime, and references are checked at the end of that transaction.
    ///
    /// - Throws: ``RelataError/busy(_:)`` if another process changes tables for too long; what `body` throws.
    func changingTables<Result>(_ connection: Connection, _ body: () throws -> Result) throws -> Result
    /// Runs `body`, which creates tables of Relata itself if they don't exist, outside of a transaction. If several
    /// processes do so at once, one creates them.
    func makingOwnTables(_ connection: Connection, _ body: () throws -> Void) throws
    /// Makes other schema changes wait until the open transaction ends.
    func beginChangingTables(_ connection: Connection) throws(RelataError)
    /// Locks a table for other writers until the open transaction ends, so that its contents don't change.
    func holdRows(of table: String, _ connection: Connection) throws(RelataError)
    /// Runs `body`, which drops and renames tables that others refer to.
    func completing(_ connection: Connection, _ body: () throws(RelataError) -> Void) throws(RelataError)
    /// The number of dangling references from one table to another, by the two; none if the engine refuses such
    /// references at once.
    func danglingReferences(_ connection: Connection) throws(RelataError) -> [[String]: Int]
    /// The views and triggers that don't work, with the reason; none if the engine refuses to drop their dependencies.
    func brokenDependents(_ connection: Connection) throws(RelataError) -> [String: String]
    /// Creates an index concurrently, outside a transaction. Leftovers of an earlier attempt are dropped.
    func makeIndex(_ index: LaterIndex, _ connection: Connection) throws(RelataError)

    /// Names that a new table can't have, with a reason such as "the file has a view".
    func owner(ofName name: String, _ connection: Connection) throws(RelataError) -> String?

    /// A number that increases with every change of a table, by any process.
    func tableVersion(_ connection: Connection) throws(RelataError) -> Int64
    /// Whether each change of a table increases that number automatically.
    var raisesTableVersion: Bool { get }
    /// Raises that number within the open transaction.
    func raiseTableVersion(_ connection: Connection) throws(RelataError)
}
