import RelataCore

/// The current row of a running statement, read without knowing its type. Valid until the next step.
@frozen @usableFromInline
package struct Row {
    @usableFromInline let statement: RunningStatement

    /// The current row of a statement.
    @inlinable package init(_ statement: RunningStatement) { self.statement = statement }

    /// A column.
    @inlinable package subscript(column: Int) -> ColumnValue { ColumnValue(statement, Int32(column)) }

    /// The number of columns.
    package var columnCount: Int { statement.columnCount }
    /// Whether a column is `NULL`.
    package func isNull(at column: Int) -> Bool { self[column].isNull }
    /// A column as an integer, as SQLite converts it.
    package func integer(at column: Int) -> Int64 { self[column].integer }
    /// A column as text, as SQLite converts it; empty for `NULL`.
    package func text(at column: Int) -> String { self[column].text }
    /// The stored value of a column; sixteen bytes of a UUID column become `.uuid`.
    package func value(at column: Int, as type: AttributeType? = nil) -> Value { self[column].value(as: type) }
}
