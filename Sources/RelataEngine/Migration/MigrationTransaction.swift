public import RelataCore

/// The transaction of a migration, as its steps see it: reads and writes the tables by SQL.
///
/// ```swift
/// MigrationStep("names in two parts", taking: .dropping("Person.name")) { tx in
///     for person in try tx.rows("SELECT id, name FROM Person") {
///         guard case .text(let name) = person[1] else { continue }
///         let parts = name.split(separator: " ", maxSplits: 1).map(String.init)
///         try tx.execute("UPDATE Person SET first = \(parts.first), last = \(parts.last) WHERE id = \(person[0])")
///     }
/// }
/// ```
///
/// Valid inside the closure it is given to.
public struct MigrationTransaction {
    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// Runs SQL that changes rows, each value bound, and returns the number of rows it changed.
    ///
    /// - Throws: ``RelataError/database(code:message:sql:)`` with the database's own message;
    ///   ``RelataError/invalidUse(_:)`` for several statements in one text, and for one that ends the transaction.
    @discardableResult
    public func execute(_ sql: SQL) throws -> Int {
        try connection.runningForeignSQL { try connection.run(try sql.statement(connection.dialect)) }
    }

    /// The rows of a query, as they are stored; values in it are bound.
    ///
    /// - Throws: The errors of ``execute(_:)``.
    public func rows(_ sql: SQL) throws -> [[Value]] {
        try connection.runningForeignSQL { try connection.values(try sql.statement(connection.dialect)) }
    }
}
