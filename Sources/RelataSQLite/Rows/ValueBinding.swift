import CRelataSQLite
import Foundation
import GRDBSQLite
import RelataCore

/// Tells SQLite to copy the bytes before the call returns.
@usableFromInline
nonisolated(unsafe) let sqliteTransient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

extension Value {
    /// Binds the value to a parameter and returns SQLite's result code.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let value): return sqlite3_bind_int64(statement, index, value)
        case .real(let value): return sqlite3_bind_double(statement, index, value)
        case .text(let value): return bindText(value, to: statement, at: index)
        case .blob(let value): return bindData(value, to: statement, at: index)
        case .uuid(let value):
            return withUnsafeBytes(of: value.uuid) {
                sqlite3_bind_blob(statement, index, $0.baseAddress, 16, sqliteTransient)
            }
        }
    }
}

/// Binds text with all its characters.
@inlinable
func bindText(_ text: String, to statement: OpaquePointer, at index: Int32) -> Int32 {
    var text = text
    return text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
            // An empty string has no address of its own, and a null address would bind NULL.
            $0.baseAddress.map {
                sqlite3_bind_text64(
                    statement, index, $0, UInt64(bytes.count), sqliteTransient, UInt8(SQLITE_UTF8))
            } ?? sqlite3_bind_text(statement, index, "", 0, sqliteTransient)
        }
    }
}

/// Binds bytes; none is an empty blob, not `NULL`.
@inlinable
func bindData(_ data: Data, to statement: OpaquePointer, at index: Int32) -> Int32 {
    if data.isEmpty { return sqlite3_bind_zeroblob(statement, index, 0) }
    return data.withUnsafeBytes {
        sqlite3_bind_blob64(statement, index, $0.baseAddress, UInt64($0.count), sqliteTransient)
    }
}

/// Binds lists as one parameter, the argument of `relata_values`.
enum ValueList {
    static func bind(_ values: [Value], to statement: OpaquePointer, at index: Int32) -> Int32 {
        bind(rows: values.count, columns: 1, to: statement, at: index) { list in
            for (row, value) in values.enumerated() {
                let code = set(list, Int64(row), value)
                if code != SQLITE_OK { return code }
            }
            return SQLITE_OK
        }
    }

    static func bind(_ keys: [KeyValue], to statement: OpaquePointer, at index: Int32) -> Int32 {
        let columns = min(keys.first?.values.count ?? 1, KeyValue.maximumParts, RowList.maximumColumns)
        return bind(rows: keys.count, columns: columns, to: statement, at: index) { list in
            for (row, key) in keys.enumerated() {
                for column in 0..<min(columns, key.values.count) {
                    let code = set(list, Int64(row * columns + column), key.values[column])
                    if code != SQLITE_OK { return code }
                }
            }
            return SQLITE_OK
        }
    }

    private static func bind(
        rows: Int, columns: Int, to statement: OpaquePointer, at index: Int32, fill: (OpaquePointer) -> Int32
    ) -> Int32 {
        guard let list = relata_values_new(Int32(columns), Int64(rows)) else { return SQLITE_NOMEM }
        let code = fill(list)
        guard code == SQLITE_OK else {
            relata_values_free(UnsafeMutableRawPointer(list))
            return code
        }
        return relata_values_bind(statement, index, list)
    }

    fileprivate static func set(_ list: OpaquePointer, _ position: Int64, _ value: Value) -> Int32 {
        switch value {
        case .null: break
        case .integer(let value): relata_values_set_integer(list, position, value)
        case .real(let value): relata_values_set_real(list, position, value)
        case .text(var value):
            return value.withUTF8 { relata_values_set_bytes(list, position, $0.baseAddress, Int64($0.count), 1) }
        case .blob(let value):
            return value.withUnsafeBytes { relata_values_set_bytes(list, position, $0.baseAddress, Int64($0.count), 0) }
        case .uuid(let value):
            return withUnsafeBytes(of: value.uuid) { relata_values_set_bytes(list, position, $0.baseAddress, 16, 0) }
        }
        return SQLITE_OK
    }
}

/// Rows that are bound as one parameter, the argument of `relata_values`.
package struct RowList: ~Copyable {
    /// The most columns that a row has.
    package static var maximumColumns: Int { Int(RELATA_VALUES_COLUMNS) }

    private let list: OpaquePointer
    private let columns: Int
    private let capacity: Int
    private var count = 0

    /// Makes room for just so many rows of so many columns each.
    package init(_ capacity: Int, columns: Int) throws(RelataError) {
        precondition(columns <= Self.maximumColumns)
        guard let list = relata_values_new(Int32(columns), Int64(capacity)) else { throw Self.noMemory }
        self.list = list
        self.columns = columns
        self.capacity = capacity
    }

    deinit { relata_values_free(UnsafeMutableRawPointer(list)) }

    /// Adds a row. What is `nil` is `NULL`.
    package mutating func append(_ row: [Value?]) throws(RelataError) {
        precondition(count < capacity && row.count <= columns)
        for (column, value) in row.enumerated() {
            guard let value else { continue }
            guard ValueList.set(list, Int64(count * columns + column), value) == SQLITE_OK else { throw Self.noMemory }
        }
        count += 1
    }

    /// Gives the rows, as many as there is room for, to a statement, which frees them when something else is bound.
    consuming func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        precondition(count == capacity)
        let list = list
        discard self
        return relata_values_bind(statement, index, list)
    }

    private static var noMemory: RelataError {
        .database(code: Int(SQLITE_NOMEM), message: "there is no memory for the rows", sql: nil)
    }
}
