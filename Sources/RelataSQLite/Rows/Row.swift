import Foundation
import GRDBSQLite
import RelataCore

/// The current row of a running statement, read without knowing its type. Valid until the next step.
@frozen
public struct Row {
    @usableFromInline let statement: OpaquePointer

    /// The current row of a statement.
    @inlinable public init(_ statement: OpaquePointer) { self.statement = statement }

    /// How many columns there are.
    public var columnCount: Int { Int(sqlite3_column_count(statement)) }
    /// The name of a column.
    public func columnName(at column: Int) -> String {
        sqlite3_column_name(statement, Int32(column)).map { String(cString: $0) } ?? ""
    }
    /// Whether a column is `NULL`.
    public func isNull(at column: Int) -> Bool { sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL }
    /// A column as an integer, as SQLite converts it.
    public func integer(at column: Int) -> Int64 { sqlite3_column_int64(statement, Int32(column)) }
    /// A column as text, as SQLite converts it; empty for `NULL`.
    public func text(at column: Int) -> String { sqliteText(statement, Int32(column)) }

    /// A column as it is stored; sixteen bytes of a UUID column become `.uuid`.
    public func value(at column: Int, as type: AttributeType? = nil) -> Value {
        let column = Int32(column)
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT: return .text(sqliteText(statement, column))
        case SQLITE_BLOB:
            if type == .uuid(.blob), let uuid = sqliteUUID(statement, column) { return .uuid(uuid) }
            return .blob(sqliteData(statement, column))
        default: return .null
        }
    }
}

/// A text column's characters, U+0000 included.
@inlinable
func sqliteText(_ statement: OpaquePointer, _ column: Int32) -> String {
    guard let bytes = sqlite3_column_text(statement, column) else { return "" }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
}

/// A blob column's bytes.
@inlinable
func sqliteData(_ statement: OpaquePointer, _ column: Int32) -> Data {
    guard let bytes = sqlite3_column_blob(statement, column) else { return Data() }
    return Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, column)))
}

/// A blob column as a UUID, if it has sixteen bytes.
@inlinable
func sqliteUUID(_ statement: OpaquePointer, _ column: Int32) -> UUID? {
    guard let bytes = sqlite3_column_blob(statement, column), sqlite3_column_bytes(statement, column) == 16 else {
        return nil
    }
    return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
}
