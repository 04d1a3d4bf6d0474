import Foundation
import RelataCSQLite
import RelataCore

/// A prepared statement that one caller uses exclusively: values are bound to it, it is stepped, and its rows are read.
///
/// Concrete and frozen, so that `@Model`'s code is compiled, in the app's module, to plain calls of SQLite. A statement
/// of another engine is checked first, which costs a comparison with a register.
@frozen @usableFromInline
package struct RunningStatement {
    /// SQLite's own.
    @usableFromInline package let handle: OpaquePointer?
    /// The statement of another engine. Its lease keeps it alive.
    @usableFromInline package let remote: Unmanaged<RemoteStatement>?

    /// SQLite's.
    @inlinable package init(_ handle: OpaquePointer) { (self.handle, remote) = (handle, nil) }

    /// Another engine's.
    package init(_ remote: RemoteStatement) { (handle, self.remote) = (nil, .passUnretained(remote)) }

    /// The statement of another engine.
    @inlinable package var remoteStatement: RemoteStatement? { remote?.takeUnretainedValue() }

    /// Runs on to the next row or to the end.
    @inlinable package func step() -> StepResult {
        if let remote { return remote._withUnsafeGuaranteedRef { $0.step() } }
        return StepResult(sqlite3_step(handle))
    }

    /// Prepares it for another run. Bound values stay bound. After an error, only this makes the connection usable.
    @inlinable package func reset() {
        if let remote { return remote._withUnsafeGuaranteedRef { $0.reset() } }
        sqlite3_reset(handle)
    }

    /// Prepares it for the next user. Bound values may be large, and would stay in memory until then.
    @inlinable package func finish() {
        if let remote {
            return remote._withUnsafeGuaranteedRef {
                $0.reset()
                $0.clearBindings()
            }
        }
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    /// The number of rows the last statement of its connection inserted, updated or deleted itself.
    @inlinable package var changes: Int {
        if let remote { return remote._withUnsafeGuaranteedRef { $0.changes } }
        return Int(sqlite3_changes64(sqlite3_db_handle(handle)))
    }

    /// Leaves a parameter unset; the first is 1.
    @inlinable package func bindNull(at index: Int32) {
        if let remote {
            // An engine that can't take it reports that when the statement is run.
            return remote._withUnsafeGuaranteedRef { try? $0.bindNull(at: index) }
        }
        sqlite3_bind_null(handle, index)
    }

    /// The number of parameters it has.
    package var parameterCount: Int {
        if let remote { return remote._withUnsafeGuaranteedRef { $0.parameterCount } }
        return Int(sqlite3_bind_parameter_count(handle))
    }

    /// The number of columns its rows have.
    package var columnCount: Int {
        if let remote { return remote._withUnsafeGuaranteedRef { $0.columnCount } }
        return Int(sqlite3_column_count(handle))
    }

    /// The name of a column.
    package func columnName(_ index: Int32) -> String {
        if let remote { return remote._withUnsafeGuaranteedRef { $0.columnName(Int(index)) } }
        return sqlite3_column_name(handle, index).map { String(cString: $0) } ?? "\(index)"
    }

    /// Whether a column is `NULL`.
    @inlinable package func isNull(column: Int32) -> Bool {
        if let remote { return remote._withUnsafeGuaranteedRef { $0.cells[Int(column)].kind == .null } }
        return sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    /// Its text.
    @usableFromInline package var sql: String? {
        if let remote { return remote._withUnsafeGuaranteedRef { $0.sql } }
        return sqlite3_sql(handle).map { String(cString: $0) }
    }
}

/// The result of a step: a row, the end, or an error that the connection can explain.
@_documentation(visibility: internal)
@frozen
public struct StepResult: Equatable {
    @usableFromInline package let code: Int32

    @inlinable package init(_ code: Int32) { self.code = code }

    /// The statement is finished.
    @inlinable package static var done: StepResult { StepResult(SQLITE_DONE) }
    /// There is a row to read.
    @inlinable package static var row: StepResult { StepResult(SQLITE_ROW) }
    /// The step failed; the statement or its connection has the error.
    @inlinable package static var failed: StepResult { StepResult(SQLITE_ERROR) }
    /// Whether the statement failed.
    @inlinable package var isError: Bool { self != .done && self != .row }
}
