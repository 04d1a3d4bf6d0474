#if PostgreSQL
import RelataCPQ
import RelataCore

/// The rows of a statement that has run, or as many of them as came at once. Frees them with the object.
@usableFromInline
package final class ResultSet {
    @usableFromInline let handle: OpaquePointer
    /// The statement of the result, which gives the types of the cells.
    @usableFromInline let statement: PreparedStatement
    /// The number of rows.
    @usableFromInline package let count: Int

    init(_ handle: OpaquePointer, of statement: PreparedStatement) {
        self.handle = handle
        self.statement = statement
        count = Int(PQntuples(handle))
    }

    deinit { PQclear(handle) }

    /// The columns.
    package var columns: [PreparedStatement.Column] { statement.columns }

    /// A row. Valid while the result exists.
    @inlinable
    package subscript(row: Int) -> Cells {
        Cells(
            result: handle, row: Int32(truncatingIfNeeded: row), types: UnsafePointer(statement.columnTypes),
            isBinary: statement.isBinary)
    }

    /// Whether the statement was one that inserts, updates or deletes.
    package var changesRows: Bool {
        guard let tag = PQcmdStatus(handle) else { return false }
        // Called after each statement: a letter distinguishes most of them.
        return switch UInt8(bitPattern: tag[0]) {
        case UInt8(ascii: "I"), UInt8(ascii: "U"), UInt8(ascii: "D"), UInt8(ascii: "M"):
            ["INSERT", "UPDATE", "DELETE", "MERGE"].contains { String(cString: tag).hasPrefix($0) }
        default: false
        }
    }

    /// The number of rows the statement inserted, updated, deleted or returned.
    package var affectedRows: Int { PQcmdTuples(handle).flatMap { Int(String(cString: $0)) } ?? 0 }

    /// All rows as values.
    package func values() throws(RelataError) -> [[Value]] {
        var rows: [[Value]] = []
        rows.reserveCapacity(count)
        for row in 0..<count {
            let cells = self[row]
            var values: [Value] = []
            values.reserveCapacity(columns.count)
            for column in 0..<columns.count { values.append(try cells[column].value()) }
            rows.append(values)
        }
        return rows
    }
}

/// The cells of one row. Valid while its result exists.
@frozen @usableFromInline
package struct Cells {
    @usableFromInline let result: OpaquePointer
    @usableFromInline let row: Int32
    @usableFromInline let types: UnsafePointer<TypeCode>
    @usableFromInline let isBinary: Bool

    @inlinable
    init(result: OpaquePointer, row: Int32, types: UnsafePointer<TypeCode>, isBinary: Bool) {
        self.result = result
        self.row = row
        self.types = types
        self.isBinary = isBinary
    }

    /// A cell. The column must exist.
    @inlinable
    package subscript(column: Int) -> Cell {
        Cell(
            result: result, row: row, column: Int32(truncatingIfNeeded: column), kind: types[column].kind,
            isBinary: isBinary)
    }

    /// The number of columns.
    @inlinable package var columnCount: Int { Int(PQnfields(result)) }
}
#endif
