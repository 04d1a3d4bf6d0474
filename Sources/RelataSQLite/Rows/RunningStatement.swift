import RelataCSQLite

/// A prepared statement that one caller has alone: values are bound to it, it is stepped, and its rows are read.
///
/// Concrete and frozen, so that the code `@Model` writes is compiled, in the app's own module, to plain calls of SQLite.
@frozen @usableFromInline
package struct RunningStatement {
    @usableFromInline let handle: OpaquePointer

    @inlinable init(_ handle: OpaquePointer) { self.handle = handle }

    /// Runs on to the next row or to the end.
    @inlinable package func step() -> StepResult { StepResult(sqlite3_step(handle)) }

    /// Makes it ready to run again. What was bound stays bound. After an error only this makes the connection usable.
    @inlinable package func reset() { sqlite3_reset(handle) }

    /// How many rows the last statement of its connection inserted, updated or deleted itself.
    @inlinable package var changes: Int { Int(sqlite3_changes64(sqlite3_db_handle(handle))) }

    /// Its text.
    @usableFromInline package var sql: String? { sqlite3_sql(handle).map { String(cString: $0) } }
}

/// What a step came to: a row, the end, or an error that the connection can explain.
@frozen @usableFromInline
package struct StepResult: Equatable {
    @usableFromInline let code: Int32

    @inlinable init(_ code: Int32) { self.code = code }

    /// There is no further row, and the statement has done its work.
    @inlinable package static var done: StepResult { StepResult(SQLITE_DONE) }
    /// There is a row to read.
    @inlinable package static var row: StepResult { StepResult(SQLITE_ROW) }
    /// Whether the statement failed.
    @inlinable package var isError: Bool { self != .done && self != .row }
}
