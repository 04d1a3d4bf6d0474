import RelataCSQLite
public import Foundation
public import RelataCore

/// A parameter of a statement that is about to run, which takes one value: the counterpart of a column for writing.
@frozen
public struct StatementParameter {
    @usableFromInline let statement: RunningStatement
    @usableFromInline let index: Int32

    /// A parameter of a statement; the first is 1.
    @inlinable
    package init(_ statement: RunningStatement, _ index: Int32) {
        self.statement = statement
        self.index = index
    }

    /// Binds an integer.
    @inlinable
    public func bind(_ value: Int64) throws(RelataError) {
        if let remote = statement.remoteStatement { return try remote.bind(value, at: index) }
        try check(sqlite3_bind_int64(statement.handle, index, value))
    }

    /// Binds a number. Not a number (NaN) would be stored as unset.
    @inlinable
    public func bind(_ value: Double) throws(RelataError) {
        if let remote = statement.remoteStatement { return try remote.bind(value, at: index) }
        try check(sqlite3_bind_double(statement.handle, index, value))
    }

    /// Binds text with all its characters.
    @inlinable
    public func bind(_ text: String) throws(RelataError) {
        if let remote = statement.remoteStatement { return try remote.bind(text, at: index) }
        var text = text
        let code = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                // An empty string has no address, and a null address would bind NULL.
                $0.baseAddress.map {
                    sqlite3_bind_text64(
                        statement.handle, index, $0, UInt64(bytes.count), sqliteTransient, UInt8(SQLITE_UTF8))
                } ?? sqlite3_bind_text(statement.handle, index, "", 0, sqliteTransient)
            }
        }
        try check(code)
    }

    /// Binds bytes; empty data is an empty blob, not `NULL`.
    @inlinable
    public func bind(_ data: Data) throws(RelataError) {
        if let remote = statement.remoteStatement { return try remote.bind(data, at: index) }
        if data.isEmpty { return try check(sqlite3_bind_zeroblob(statement.handle, index, 0)) }
        try check(
            data.withUnsafeBytes {
                sqlite3_bind_blob64(statement.handle, index, $0.baseAddress, UInt64($0.count), sqliteTransient)
            })
    }

    /// Binds the sixteen bytes of a UUID.
    @inlinable
    public func bind(_ value: UUID) throws(RelataError) {
        if let remote = statement.remoteStatement { return try remote.bind(value, at: index) }
        try check(
            withUnsafeBytes(of: value.uuid) {
                sqlite3_bind_blob(statement.handle, index, $0.baseAddress, 16, sqliteTransient)
            })
    }

    /// Leaves the parameter unset.
    @inlinable
    public func bindNull() throws(RelataError) {
        if let remote = statement.remoteStatement { return try remote.bindNull(at: index) }
        try check(sqlite3_bind_null(statement.handle, index))
    }

    /// Binds a stored value.
    public func bind(_ value: Value) throws(RelataError) {
        switch value {
        case .null: try bindNull()
        case .integer(let value): try bind(value)
        case .real(let value): try bind(value)
        case .text(let value): try bind(value)
        case .blob(let value): try bind(value)
        case .uuid(let value): try bind(value)
        }
    }

    @inlinable
    func check(_ code: Int32) throws(RelataError) {
        // A statement that doesn't write the column may have no parameter of that number.
        if code != SQLITE_OK && code != SQLITE_RANGE { throw bindingError(statement, code) }
    }
}

/// Makes SQLite copy the bytes before the call returns.
@usableFromInline
package nonisolated(unsafe) let sqliteTransient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

@usableFromInline
func bindingError(_ statement: RunningStatement, _ code: Int32) -> RelataError {
    let message = sqlite3_db_handle(statement.handle).flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) } ?? ""
    return code == SQLITE_TOOBIG
        ? .invalidUse("a value is larger than SQLite's limit of a billion bytes: store it in a file")
        : .database(code: Int(code), message: message, sql: nil)
}
