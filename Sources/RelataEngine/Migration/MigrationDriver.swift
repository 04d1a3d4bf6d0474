import RelataCore

/// What an engine does so that the tables of its database can be changed. Everything else about a migration is the same for
/// all engines: see ``Migrator``.
package protocol MigrationDriver: AnyObject {
    /// Makes what generated SQL calls and the database must keep, such as functions, unless it is there or nothing may be
    /// written.
    func makeReady(_ connection: Connection) throws(RelataError)
    /// Whether nothing may be written through this connection.
    func isReadOnly(_ connection: Connection) throws(RelataError) -> Bool

    /// Runs `body`, which changes tables in a transaction that it begins. Nobody else changes any meanwhile, and references
    /// are checked when that transaction is over.
    ///
    /// - Throws: ``RelataError/busy(_:)`` where somebody else changes tables for too long; what `body` throws.
    func changingTables<Result>(_ connection: Connection, _ body: () throws -> Result) throws -> Result
    /// Runs `body`, which makes tables of Relata's own where they aren't there, outside of a transaction. Of several
    /// processes that do so at once, one makes them and the others find them.
    func makingOwnTables(_ connection: Connection, _ body: () throws -> Void) throws
    /// Has others who change tables wait until the transaction is over that is open.
    func beginChangingTables(_ connection: Connection) throws(RelataError)
    /// Keeps others from writing rows of a table until the transaction is over that is open: what is found in it stays so.
    func holdRows(of table: String, _ connection: Connection) throws(RelataError)
    /// Runs `body`, which drops and renames tables that others refer to.
    func completing(_ connection: Connection, _ body: () throws(RelataError) -> Void) throws(RelataError)
    /// How many references of one table to another lead to what isn't there, by the two; none where the engine refuses such
    /// references at once.
    func danglingReferences(_ connection: Connection) throws(RelataError) -> [[String]: Int]
    /// The views and triggers that can't be run, with the reason; none where the engine refuses to drop what they need.
    func brokenDependents(_ connection: Connection) throws(RelataError) -> [String: String]
    /// Makes an index while others write, outside a transaction. What is left of an earlier try is dropped.
    func makeIndex(_ index: LaterIndex, _ connection: Connection) throws(RelataError)

    /// What has a name that a new table can't have therefore, such as "the file has a view".
    func owner(ofName name: String, _ connection: Connection) throws(RelataError) -> String?

    /// A number that is greater once a table was changed, by whichever process.
    func tableVersion(_ connection: Connection) throws(RelataError) -> Int64
    /// Whether each change of a table raises that number by itself.
    var raisesTableVersion: Bool { get }
    /// Raises that number within the open transaction.
    func raiseTableVersion(_ connection: Connection) throws(RelataError)
}
