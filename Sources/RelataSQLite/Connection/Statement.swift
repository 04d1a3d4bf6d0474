import RelataCSQLite
import Synchronization

/// A prepared statement of one connection.
@usableFromInline
final class Statement {
    @usableFromInline let running: RunningStatement
    @exclusivity(unchecked) @usableFromInline var isLeased = true
    /// How many rows it had the last time.
    var rowCount = 0
    /// What it reads and writes, once somebody wanted to know.
    var access: StatementAccess?
    /// A number that no other statement of the process has.
    let number = Statement.made.add(1, ordering: .relaxed).newValue
    private static let made = Atomic(0)
    /// Whether it begins or ends a transaction or a savepoint.
    let controlsTransaction: Bool

    init(_ handle: OpaquePointer, controlsTransaction: Bool) {
        running = RunningStatement(handle)
        self.controlsTransaction = controlsTransaction
    }

    @usableFromInline var handle: OpaquePointer { running.handle }

    /// How many bytes of memory it takes.
    var size: Int { Int(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_MEMUSED, 0)) }

    deinit { sqlite3_finalize(handle) }
}
