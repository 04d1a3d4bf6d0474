#if PostgreSQL
import Foundation
import RelataCore
import RelataEngine
import Synchronization

/// The replicas that a store reads from, and the position that they must have replayed before: all writes of the store,
/// and all that it has received from others.
final class ReplicaReads: Sendable {
    /// The address of the replicas.
    let url: PostgresURL
    private let primary: PostgresURL
    private let patience: Duration
    private let state = Mutex(State())

    private struct State {
        /// The position in the primary's log that readers must see.
        var wanted: Int64 = 0
        /// The number of writes after which the primary couldn't be asked for its position.
        var failures = 0
        /// The number of these that a later position covers.
        var covered = 0
    }

    /// - Parameter patience: The longest time that a replica may be behind.
    init(_ url: PostgresURL, of primary: PostgresURL, patience: Duration) {
        self.url = url
        self.primary = primary
        self.patience = patience
    }

    /// Stores the position up to which the primary has written, using a connection to it.
    func notePosition(_ driver: PostgresDriver) {
        do {
            let row = try driver.ownRow("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint")
            state.withLock { $0.wanted = max($0.wanted, row.integer(0)) }
        } catch {
            noteUnknown()
        }
    }

    /// Records that something may have been written at an unknown position.
    func noteUnknown() { state.withLock { $0.failures += 1 } }

    /// Waits until the replica of a connection has replayed the store's writes.
    ///
    /// - Throws: ``RelataError/busy(_:)`` if that takes too long.
    func wait(_ driver: PostgresDriver) throws(RelataError) {
        let (failures, isUnknown) = state.withLock { ($0.failures, $0.covered < $0.failures) }
        if isUnknown {
            // Concurrent callers ask as well: before the answer, the position to wait for is unknown.
            let position = try askPrimary()
            state.withLock { state in
                state.wanted = max(state.wanted, position)
                // Later failures aren't covered.
                state.covered = max(state.covered, failures)
            }
        }
        let wanted = state.withLock { $0.wanted }
        guard driver.replayed < wanted else { return }
        let deadline = ContinuousClock.now + patience
        var pause = 0.001
        while true {
            let row = try driver.ownRow(
                "SELECT coalesce(pg_last_wal_replay_lsn() - '0/0', 0)::bigint, pg_is_in_recovery()")
            // The primary itself, or a promoted standby, has all writes.
            let replayed = row.integer(1) == 1 ? row.integer(0) : wanted
            driver.replayed = replayed
            if replayed >= wanted { return }
            guard .now < deadline else {
                throw .busy(
                    "the replica is \(wanted - replayed) bytes behind the store's writes: try again later, or raise Options.busyTimeout"
                )
            }
            if driver.session.cancellation.isRequested || Task.isCancelled { throw .interrupted }
            Thread.sleep(forTimeInterval: pause)
            pause = min(pause * 2, 0.02)
        }
    }

    private func askPrimary() throws(RelataError) -> Int64 {
        let rows: ResultSet
        do throws(PostgresFailure) {
            let session = try Session(primary)
            defer { session.close() }
            rows = try session.execute(SQLStatement("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint"))
        } catch {
            throw error.error
        }
        return try rows[0][0].integer()
    }
}
#endif
