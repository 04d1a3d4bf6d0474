import RelataCSQLite
import RelataEngine
import Foundation

/// Connects a trace to SQLite's own hook, which costs nothing without a trace.
final class SQLTracer {
    private let trace: SQLTrace

    init(_ trace: @escaping SQLTrace, on handle: OpaquePointer) {
        self.trace = trace
        // The connection holds the tracer for as long as its handle is open.
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_trace_v2(
            handle, UInt32(SQLITE_TRACE_PROFILE),
            { _, context, statement, nanoseconds in
                guard let context, let statement, let nanoseconds,
                    let text = sqlite3_sql(OpaquePointer(statement))
                else { return 0 }
                let tracer = Unmanaged<SQLTracer>.fromOpaque(context).takeUnretainedValue()
                let duration = nanoseconds.assumingMemoryBound(to: Int64.self).pointee
                tracer.trace(String(cString: text), .nanoseconds(duration))
                return 0
            }, context)
    }
}
