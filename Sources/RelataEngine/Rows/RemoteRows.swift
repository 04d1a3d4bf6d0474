import RelataCore

/// Collects rows of values for a statement that writes many at once: values are bound as for one row, each step ends a
/// row, and ``write()`` sends the collected rows.
///
/// A value that is bound again replaces the first.
@_documentation(visibility: internal)
open class RemoteRows: RemoteStatement {
    /// The number of rows collected since the last ``write()``, or copied so far.
    package final var rowCount = 0

    /// Writes the collected rows: all of them or, if it throws, none. The transaction continues either way.
    ///
    /// - Returns: The number of rows the statement inserted, updated or returned.
    open func write() throws(RelataError) -> Int { 0 }

    /// Discards the rows that were collected and not written.
    open func discard() throws(RelataError) {}

    /// The number of rows the statement returned.
    open var returnedCount: Int { 0 }

    /// An integer of a row that the statement returned.
    open func returnedInteger(row: Int, column: Int) throws(RelataError) -> Int64 { 0 }

    /// A value of a row that the statement returned.
    open func returnedValue(row: Int, column: Int) throws(RelataError) -> Value { .null }
}
