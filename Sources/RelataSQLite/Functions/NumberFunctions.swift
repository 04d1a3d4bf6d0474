import RelataCSQLite
import RelataEngine
import Foundation

/// Aggregates of columns that hold whole numbers as integers and all others as floating-point numbers.
enum NumberFunctions {
    /// The sum so far, in memory that SQLite zeroes first and frees at the end.
    private struct Total {
        var integer: Int64
        var real: Double
        var count: Int
        /// Whether a value isn't an integer, or the sum doesn't fit.
        var isReal: Bool
    }

    /// Takes another number into `relata_sum`, which SQLite's own `SUM` would refuse once integers don't fit 64 bits.
    static let add: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
        context, _, arguments in
        guard let value = arguments?[0], case let type = sqlite3_value_numeric_type(value), type != SQLITE_NULL,
            let memory = sqlite3_aggregate_context(context, Int32(MemoryLayout<Total>.size))
        else { return }
        let total = memory.assumingMemoryBound(to: Total.self)
        total.pointee.count += 1
        total.pointee.real += sqlite3_value_double(value)
        if total.pointee.isReal { return }
        guard type == SQLITE_INTEGER else {
            total.pointee.isReal = true
            return
        }
        let (sum, overflows) = total.pointee.integer.addingReportingOverflow(sqlite3_value_int64(value))
        total.pointee.integer = sum
        total.pointee.isReal = overflows
    }

    /// The sum: an integer if all numbers are and it fits, otherwise a floating-point number; `NULL` for no numbers.
    static let sum: @convention(c) (OpaquePointer?) -> Void = { context in
        guard let memory = sqlite3_aggregate_context(context, 0) else { return sqlite3_result_null(context) }
        let total = memory.assumingMemoryBound(to: Total.self).pointee
        if total.count == 0 { return sqlite3_result_null(context) }
        total.isReal ? sqlite3_result_double(context, total.real) : sqlite3_result_int64(context, total.integer)
    }
}
