import RelataCore

/// Reads the columns of the current row one after the other, straight from the statement.
///
/// Concrete and frozen, so that the code `@Model` writes is compiled, in the app's own module, to plain calls of
/// SQLite's column functions.
@_documentation(visibility: internal)
@frozen
public struct RowReader {
    /// The running statement.
    @usableFromInline let statement: RunningStatement
    /// The column that is read next.
    @usableFromInline package var column: Int32

    /// Reads from a column on.
    @inlinable
    package init(_ statement: RunningStatement, column: Int32 = 0) {
        self.statement = statement
        self.column = column
    }

    /// Reads a row from its first column on.
    @inlinable
    package init(_ row: Row) { self.init(row.statement) }

    /// Reads the next column.
    @inlinable
    public mutating func read<Coding: AttributeCoding>(_ coding: Coding) throws -> Coding.Value {
        let value = try coding.read(ColumnValue(statement, column))
        column += 1
        return value
    }

    /// The stored value of the next column, without advancing.
    package func value(as type: AttributeType?) -> Value { next.value(as: type) }

    /// The next column. Doesn't pass over it.
    @inlinable package var next: ColumnValue { ColumnValue(statement, column) }

    /// Whether the next column is `NULL`.
    @inlinable
    public var isNull: Bool { statement.isNull(column: column) }

    /// Passes over columns.
    @inlinable
    public mutating func skip(_ count: Int) { column += Int32(count) }
}
