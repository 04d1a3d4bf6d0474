import RelataCore
import Synchronization

/// Notices commits of other connections to the same file, of this process or another: SQLite counts them, and the count
/// is looked at from time to time while somebody observes.
final class ExternalChanges: Sendable {
    private struct State {
        weak var pool: ConnectionPool?
        var task: Task<Void, Never>?
        /// SQLite's count when it was last looked at.
        var version: Int64?
    }

    private let state = Mutex(State())
    private let interval: Double?

    /// - Parameter interval: How many seconds lie between two looks; `nil` for none.
    init(interval: Double?) { self.interval = interval }

    func attach(_ pool: ConnectionPool) { state.withLock { $0.pool = pool } }

    /// Begins to look, or ends it, as somebody needs it by then. Never call it holding a lock.
    func update(isNeeded: () -> Bool, notify: @escaping @Sendable () -> Void) {
        guard let interval else { return }
        // What is read from now on is compared with the count as it is now. A writer that is busy can't be asked: then the
        // first look finds a change, be there one or not.
        let idlePool = state.withLock { $0.task == nil ? $0.pool : nil }
        let version = isNeeded() ? idlePool?.dataVersionIfIdle() : nil
        state.withLock { state in
            let isNeeded = isNeeded()
            guard isNeeded != (state.task != nil) else { return }
            guard isNeeded else {
                state.task?.cancel()
                state.task = nil
                return
            }
            state.version = version
            state.task = Task { [weak self] in
                while !Task.isCancelled {
                    try? await Task.sleep(for: .seconds(interval))
                    guard let self, !Task.isCancelled else { return }
                    if await self.isChanged() { notify() }
                }
            }
        }
    }

    private func isChanged() async -> Bool {
        guard let pool = state.withLock({ $0.pool }), let version = try? await pool.dataVersion() else { return false }
        return state.withLock { state in
            defer { state.version = version }
            return state.version != version
        }
    }
}
