import Synchronization

/// A prepared statement of one connection.
@usableFromInline
package final class Statement {
    @usableFromInline package let running: RunningStatement
    @exclusivity(unchecked) @usableFromInline var isLeased = true
    /// The number of rows it had the last time.
    var rowCount = 0
    /// Its reads and writes, once they were determined.
    var access: StatementAccess?
    /// A number that no other statement of the process has.
    let number = Statement.made.add(1, ordering: .relaxed).newValue
    private static let made = Atomic(0)
    /// Whether it begins or ends a transaction or a savepoint.
    let controlsTransaction: Bool

    /// The number of bytes of memory it takes.
    let size: Int
    private let onEnd: () -> Void

    /// A statement that an engine has prepared.
    ///
    /// - Parameters:
    ///   - size: The approximate number of bytes of memory that it takes.
    ///   - onEnd: Called when the statement is no longer needed.
    package init(
        _ running: RunningStatement, controlsTransaction: Bool, size: Int, onEnd: @escaping () -> Void
    ) {
        self.running = running
        self.controlsTransaction = controlsTransaction
        self.size = size
        self.onEnd = onEnd
    }

    deinit { onEnd() }
}
