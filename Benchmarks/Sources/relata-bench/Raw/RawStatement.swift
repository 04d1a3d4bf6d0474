import BenchmarkReport
import Foundation
import GRDBSQLite

/// A prepared statement, kept during its use.
final class RawStatement {
    let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { sqlite3_finalize(handle) }

    /// Runs a statement that returns no rows, and makes it ready for the next run.
    @inline(__always)
    func run() throws {
        let code = sqlite3_step(handle)
        sqlite3_reset(handle)
        if code != SQLITE_DONE { throw Failure("a statement failed with code \(code)") }
    }

    /// Makes the statement ready for the next run.
    @inline(__always)
    func reset() { sqlite3_reset(handle) }

    /// Whether there is a next row.
    @inline(__always)
    func step() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw Failure("a query failed with code \(code)")
        }
    }

    @inline(__always)
    func bind(_ value: Int, _ index: Int32) { sqlite3_bind_int64(handle, index, Int64(value)) }

    @inline(__always)
    func bind(_ value: Double, _ index: Int32) { sqlite3_bind_double(handle, index, value) }

    @inline(__always)
    func bind(_ value: String, _ index: Int32) {
        var value = value
        value.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                _ = sqlite3_bind_text(handle, index, $0.baseAddress, Int32($0.count), RawStatement.transient)
            }
        }
    }

    @inline(__always)
    func bind(_ value: UUID, _ index: Int32) {
        withUnsafeBytes(of: value.uuid) {
            _ = sqlite3_bind_blob(handle, index, $0.baseAddress, 16, RawStatement.transient)
        }
    }

    @inline(__always)
    func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

    @inline(__always)
    func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

    @inline(__always)
    func text(_ column: Int32) -> String {
        let bytes = UnsafeBufferPointer(
            start: sqlite3_column_text(handle, column), count: Int(sqlite3_column_bytes(handle, column)))
        return String(decoding: bytes, as: UTF8.self)
    }

    @inline(__always)
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    /// Tells SQLite to copy bound values.
    private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}
