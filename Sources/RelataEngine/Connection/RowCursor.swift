import RelataCore

/// A running query whose rows are read one by one, for code that can't use a closure.
///
/// Its connection must stay leased. It returns its statement after the last row, on ``close()``, and on
/// deinitialization.
@_documentation(visibility: internal)
package final class RowCursor {
    private let connection: Connection
    private var statement: Statement?

    /// Begins a query; nothing is read before the first ``next()``.
    ///
    /// - Parameter isStreamed: Whether there may be many rows, so that only few should be in memory.
    package init(_ query: SQLStatement, on connection: Connection, isStreamed: Bool = false) throws(RelataError) {
        self.connection = connection
        let statement = try connection.lease(query.sql)
        self.statement = statement
        statement.running.remoteStatement?.isStreamed = isStreamed
        try connection.bind(query.parameters, to: statement.running)
    }

    deinit { close() }

    /// The next row, valid until the next call; `nil` after the last one.
    package func next() throws(RelataError) -> Row? {
        guard let statement else { return nil }
        let result = statement.running.step()
        if result == .row { return Row(statement.running) }
        defer { close() }
        try connection.check(result, statement.running)
        return nil
    }

    /// Ends the query.
    package func close() {
        guard let statement else { return }
        self.statement = nil
        connection.release(statement)
    }
}
