import RelataCore
import Synchronization

/// Detects commits of other connections to the same file, in this process or another: SQLite counts them, and the
/// counter is read at intervals while something is observed.
final class ExternalChanges: Sendable {
    private struct State {
        weak var pool: ConnectionPool?
        var task: Task<Void, Never>?
        /// SQLite's count when it was last looked at.
        var version: Int64?
    }

    private let state = Mutex(State())
    private let interval: Double?

    /// - Parameter interval: The seconds between two checks; `nil` for none.
    init(interval: Double?) { self.interval = interval }

    func attach(_ pool: ConnectionPool) { state.withLock { $0.pool = pool } }

    /// Starts or stops the checks, as needed. Never call it holding a lock.
    func update(isNeeded: () -> Bool, notify: @escaping @Sendable () -> Void) {
        guard let interval else { return }
        // Later readings are compared with the current counter. If a busy writer prevents reading it, the first check
        // reports a change in any case.
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
