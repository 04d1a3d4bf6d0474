import RelataCSQLite
import Foundation
import RelataCore

/// A column of the current row of a running statement. Valid until the next step.
///
/// The value is fetched once and asked for type and content then; SQLite's functions of columns would fetch it for each
/// question. SQLite calls such a value unprotected, since the connection's mutex isn't held while it is read. Our
/// connections have no mutex, and whoever leased one has it alone.
@frozen
public struct ColumnValue {
    @usableFromInline let statement: RunningStatement?
    @usableFromInline let index: Int32
    @usableFromInline let pointer: OpaquePointer?

    /// A column of a statement's current row.
    @inlinable
    package init(_ statement: RunningStatement, _ index: Int32) {
        self.statement = statement
        self.index = index
        pointer = sqlite3_column_value(statement.handle, index)
    }

    /// An argument of a function.
    init(_ argument: OpaquePointer?) {
        statement = nil
        index = 0
        pointer = argument
    }

    /// The column's name.
    public var name: String {
        statement.flatMap { sqlite3_column_name($0.handle, index) }.map { String(cString: $0) } ?? "\(index)"
    }
    /// `SQLITE_INTEGER`, `SQLITE_FLOAT`, `SQLITE_TEXT`, `SQLITE_BLOB` or `SQLITE_NULL`.
    @inlinable var storageClass: Int32 { sqlite3_value_type(pointer) }
    /// Whether the column is `NULL`.
    @inlinable public var isNull: Bool { storageClass == SQLITE_NULL }
    /// Whether the column holds an integer.
    @inlinable public var isInteger: Bool { storageClass == SQLITE_INTEGER }
    /// Whether the column holds a number that isn't stored as an integer.
    @inlinable public var isReal: Bool { storageClass == SQLITE_FLOAT }
    /// Whether the column holds bytes.
    @inlinable public var isBlob: Bool { storageClass == SQLITE_BLOB }
    /// Whether the column holds text.
    @inlinable public var isText: Bool { storageClass == SQLITE_TEXT }
    /// The column as an integer, as SQLite converts it.
    @inlinable public var integer: Int64 { sqlite3_value_int64(pointer) }
    /// The column as a number, as SQLite converts it.
    @inlinable public var real: Double { sqlite3_value_double(pointer) }

    /// The column's characters, U+0000 included, as SQLite converts it; empty for `NULL`.
    @inlinable public var text: String {
        guard let bytes = sqlite3_value_text(pointer) else { return "" }
        let count = Int(sqlite3_value_bytes(pointer))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// Lends the UTF-8 of the column's characters, as SQLite converts it. It is as whoever wrote it left it: SQLite doesn't
    /// check it.
    @inlinable
    public func withTextBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        let bytes = sqlite3_value_text(pointer)
        return try body(UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(sqlite3_value_bytes(pointer))))
    }

    /// The column's bytes.
    @inlinable public var data: Data {
        guard let bytes = sqlite3_value_blob(pointer) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_value_bytes(pointer)))
    }

    /// A blob as a UUID, if it has sixteen bytes.
    @inlinable public var uuid: UUID? {
        guard let bytes = sqlite3_value_blob(pointer), sqlite3_value_bytes(pointer) == 16 else { return nil }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }

    /// The column as it is stored; sixteen bytes of a UUID column become `.uuid`.
    public func value(as type: AttributeType? = nil) -> Value {
        switch storageClass {
        case SQLITE_INTEGER: .integer(integer)
        // A column of integers holds no whole number as a real one. But SQLite returns a changed row's key as one where the
        // table's first column is REAL (seen in 3.40).
        case SQLITE_FLOAT where type == .integer: Int64(exactly: real).map { .integer($0) } ?? .real(real)
        case SQLITE_FLOAT: .real(real)
        case SQLITE_TEXT: .text(text)
        case SQLITE_BLOB: type == .uuid(.blob) ? uuid.map { .uuid($0) } ?? .blob(data) : .blob(data)
        default: .null
        }
    }
}
