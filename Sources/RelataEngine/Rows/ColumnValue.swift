import RelataCSQLite
import Foundation
import RelataCore

/// A column of the current row of a running statement. Valid until the next step.
///
/// The value is fetched once and then asked for type and content; SQLite's column functions would fetch it for each
/// question. SQLite calls such a value unprotected, because the connection's mutex isn't held while it is read. Our
/// connections have no mutex, and their holder uses them alone.
@frozen
public struct ColumnValue {
    @usableFromInline let statement: RunningStatement?
    @usableFromInline let index: Int32
    /// SQLite's value.
    @usableFromInline let pointer: OpaquePointer?
    /// The value of another engine.
    @usableFromInline let cell: UnsafePointer<ResultCell>?

    /// A column of a statement's current row.
    @inlinable
    package init(_ statement: RunningStatement, _ index: Int32) {
        self.statement = statement
        self.index = index
        if let remote = statement.remote {
            let cells = remote._withUnsafeGuaranteedRef { $0.cells }
            cell = UnsafePointer(cells + Int(index))
            pointer = nil
        } else {
            cell = nil
            pointer = sqlite3_column_value(statement.handle, index)
        }
    }

    /// An argument of a function of SQLite.
    package init(_ argument: OpaquePointer?) {
        statement = nil
        index = 0
        pointer = argument
        cell = nil
    }

    /// The column's name.
    public var name: String { statement?.columnName(index) ?? "\(index)" }

    /// The column's type. A UUID of an engine with a UUID type counts as bytes.
    @inlinable var kind: ResultCell.Kind {
        if let cell { return cell.pointee.kind }
        return switch sqlite3_value_type(pointer) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    /// Whether a server sent it.
    var isOfServer: Bool { cell != nil }

    /// Whether the column is `NULL`.
    @inlinable public var isNull: Bool {
        if let cell { return cell.pointee.kind == .null }
        return sqlite3_value_type(pointer) == SQLITE_NULL
    }
    /// Whether the column holds an integer.
    @inlinable public var isInteger: Bool {
        if let cell { return cell.pointee.kind == .integer }
        return sqlite3_value_type(pointer) == SQLITE_INTEGER
    }
    /// Whether the column holds a number that isn't stored as an integer.
    @inlinable public var isReal: Bool {
        if let cell { return cell.pointee.kind == .real }
        return sqlite3_value_type(pointer) == SQLITE_FLOAT
    }
    /// Whether the column holds bytes.
    @inlinable public var isBlob: Bool {
        if let cell { return cell.pointee.kind == .blob || cell.pointee.kind == .uuid }
        return sqlite3_value_type(pointer) == SQLITE_BLOB
    }
    /// Whether the column holds text.
    @inlinable public var isText: Bool {
        if let cell { return cell.pointee.kind == .text }
        return sqlite3_value_type(pointer) == SQLITE_TEXT
    }
    /// The column as an integer, as SQLite converts it.
    @inlinable public var integer: Int64 {
        if let cell { return cell.pointee.integer }
        return sqlite3_value_int64(pointer)
    }
    /// The column as a number, as SQLite converts it.
    @inlinable public var real: Double {
        if let cell { return cell.pointee.real }
        return sqlite3_value_double(pointer)
    }

    /// The column's characters, U+0000 included, as SQLite converts it; empty for `NULL`.
    @inlinable public var text: String {
        if let cell { return cell.pointee.text }
        guard let bytes = sqlite3_value_text(pointer) else { return "" }
        let count = Int(sqlite3_value_bytes(pointer))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// Passes the UTF-8 of the column's characters, as SQLite converts it. SQLite doesn't check that it is valid.
    @inlinable
    public func withTextBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        if let cell {
            if cell.pointee.kind == .text { return try body(cell.pointee.buffer) }
            var text = cell.pointee.text
            return try text.withUTF8(body)
        }
        let bytes = sqlite3_value_text(pointer)
        return try body(UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(sqlite3_value_bytes(pointer))))
    }

    /// The number of bytes the column has.
    @usableFromInline var byteCount: Int {
        if let cell { return Int(cell.pointee.count) }
        return Int(sqlite3_value_bytes(pointer))
    }

    /// SQLite's UTF-8 of a text, which it may have to convert first; valid until the statement continues.
    var storedText: UnsafePointer<UInt8>? { sqlite3_value_text(pointer) }

    /// SQLite's bytes of data; valid until the statement continues.
    var storedData: UnsafePointer<UInt8>? { sqlite3_value_blob(pointer)?.assumingMemoryBound(to: UInt8.self) }

    /// The column's bytes.
    @inlinable public var data: Data {
        if let cell { return cell.pointee.data }
        guard let bytes = sqlite3_value_blob(pointer) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_value_bytes(pointer)))
    }

    /// A blob as a UUID, if it has sixteen bytes.
    @inlinable public var uuid: UUID? {
        if let cell { return cell.pointee.uuid }
        guard let bytes = sqlite3_value_blob(pointer), sqlite3_value_bytes(pointer) == 16 else { return nil }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }

    /// The stored value; sixteen bytes of a UUID column become `.uuid`, and a server's decimal number in a column of
    /// any numbers an integer, or the nearest floating-point number.
    public func value(as type: AttributeType? = nil) -> Value {
        switch kind {
        case .integer: .integer(integer)
        // An integer column has no real integers. But SQLite returns a changed row's key as a real number if the
        // table's first column is REAL (seen in 3.40).
        case .real where type == .integer: Int64(exactly: real).map { .integer($0) } ?? .real(real)
        case .real: .real(real)
        case .text where type == .real && cell != nil: Self.number(text)
        case .text: .text(text)
        case .blob: type == .uuid(.blob) ? uuid.map { .uuid($0) } ?? .blob(data) : .blob(data)
        case .uuid: uuid.map { .uuid($0) } ?? .null
        case .null: .null
        }
    }

    /// SQLite's number for a server's decimal number.
    private static func number(_ text: String) -> Value {
        if let number = Int64(text) { return .integer(number) }
        return Double(text).map { .real($0) } ?? .text(text)
    }
}
