#if PostgreSQL
import Foundation
import RelataCore
import RelataEngine
import Synchronization

/// The replicas that a store reads from, and what they must have replayed before it does: all that the store has written,
/// and has heard of others.
final class ReplicaReads: Sendable {
    /// Where they are.
    let url: PostgresURL
    private let primary: PostgresURL
    private let patience: Duration
    /// The position in the primary's log that readers must see.
    private let wanted = Atomic<Int64>(0)
    /// Whether something was written since, and the primary couldn't be asked for its position.
    private let isUnknown = Atomic<Bool>(false)

    /// - Parameter patience: For how long a replica may be behind.
    init(_ url: PostgresURL, of primary: PostgresURL, patience: Duration) {
        self.url = url
        self.primary = primary
        self.patience = patience
    }

    /// Notes how far the primary has written, on a connection to it.
    func notePosition(_ driver: PostgresDriver) {
        do {
            let row = try driver.ownRow("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint")
            wanted.max(row.integer(0), ordering: .sequentiallyConsistent)
        } catch {
            isUnknown.store(true, ordering: .sequentiallyConsistent)
        }
    }

    /// Waits until the replica that a connection leads to has replayed what the store has written.
    ///
    /// - Throws: ``RelataError/busy(_:)`` where that takes too long.
    func wait(_ driver: PostgresDriver) throws(RelataError) {
        if isUnknown.exchange(false, ordering: .sequentiallyConsistent) { try askPrimary() }
        let wanted = wanted.load(ordering: .sequentiallyConsistent)
        guard driver.replayed < wanted else { return }
        let deadline = ContinuousClock.now + patience
        var pause = 0.001
        while true {
            let row = try driver.ownRow(
                "SELECT coalesce(pg_last_wal_replay_lsn() - '0/0', 0)::bigint, pg_is_in_recovery()")
            // The primary itself, or what was promoted to be one, has all that there is.
            let replayed = row.integer(1) == 1 ? row.integer(0) : wanted
            driver.replayed = replayed
            if replayed >= wanted { return }
            guard .now < deadline else {
                throw .busy(
                    "the replica is \(wanted - replayed) bytes behind what the store has written: try again later, or raise Options.busyTimeout"
                )
            }
            if driver.session.cancellation.isRequested || Task.isCancelled { throw .interrupted }
            Thread.sleep(forTimeInterval: pause)
            pause = min(pause * 2, 0.02)
        }
    }

    private func askPrimary() throws(RelataError) {
        do throws(PostgresFailure) {
            let session = try Session(primary)
            defer { session.close() }
            let rows = try session.execute(SQLStatement("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint"))
            let position: Int64
            do throws(RelataError) {
                position = try rows[0][0].integer()
            } catch {
                throw PostgresFailure(error)
            }
            wanted.max(position, ordering: .sequentiallyConsistent)
        } catch {
            isUnknown.store(true, ordering: .sequentiallyConsistent)
            throw error.error
        }
    }
}
#endif
