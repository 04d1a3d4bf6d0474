import Foundation
import RelataCore

/// A statement of a database that is reached over a connection: values are collected, its first step sends it, and each
/// step makes the cells of the next row.
///
/// A class for engines to subclass, rather than a protocol: loops over rows only read its cells, at a fixed place. The
/// base class takes no values and has no rows.
@_documentation(visibility: internal)
open class RemoteStatement {
    /// The current row, valid until the next step.
    @exclusivity(unchecked) @usableFromInline package final var cells: UnsafeMutablePointer<ResultCell>
    /// The number of columns a row has.
    package final let columnCount: Int
    /// The number of values it takes.
    package final let parameterCount: Int
    /// Its text.
    package final let sql: String
    /// Whether few rows at a time should be in memory: the caller reads many, one after the other.
    package final var isStreamed = false
    /// The error of the last step, if it failed.
    package final var failure: RelataError?

    /// A statement with the given numbers of parameters and columns.
    public init(sql: String, parameterCount: Int, columnCount: Int) {
        self.sql = sql
        self.parameterCount = parameterCount
        self.columnCount = columnCount
        cells = .allocate(capacity: max(1, columnCount))
        cells.initialize(repeating: ResultCell(), count: max(1, columnCount))
    }

    deinit { cells.deallocate() }

    /// The name of a column.
    open func columnName(_ index: Int) -> String { "\(index)" }
    /// Steps to the next row or to the end; ``failure`` has the error.
    open func step() -> StepResult { .done }
    /// Prepares it for another run.
    open func reset() {}
    /// Clears the values.
    open func clearBindings() {}
    /// The number of rows the last run inserted, updated or deleted.
    open var changes: Int { 0 }
    /// The number of bytes of memory it takes.
    package var size: Int { sql.utf8.count + 256 * (columnCount + parameterCount + 1) }

    // MARK: Values

    /// Takes an integer. Parameters count from 1.
    open func bind(_ value: Int64, at index: Int32) throws(RelataError) {}
    /// Takes a number.
    open func bind(_ value: Double, at index: Int32) throws(RelataError) {}
    /// Takes text.
    open func bind(_ value: String, at index: Int32) throws(RelataError) {}
    /// Takes data.
    open func bind(_ value: Data, at index: Int32) throws(RelataError) {}
    /// Takes a UUID.
    open func bind(_ value: UUID, at index: Int32) throws(RelataError) {}
    /// Leaves a parameter unset.
    open func bindNull(at index: Int32) throws(RelataError) {}
    /// Takes a list of values, or of keys of several parts.
    open func bind(_ list: Parameter, at index: Int32) throws(RelataError) {}
}
