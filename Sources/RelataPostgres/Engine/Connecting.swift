#if PostgreSQL
import Foundation
import RelataCore
import RelataEngine
import Synchronization

/// The waiting times of a store on a server.
package struct PostgresWaits: Sendable {
    /// For a lock, for a server that is away, and with transactions that run again.
    package let busy: Duration
    /// For a connection while all are in use.
    package let connection: Duration
    let settings: SessionSettings

    /// The times that a store waits, in seconds. `nil` keeps the server's setting.
    package init(
        busy: Double = 5, connection: Double = 30, statement: Double? = nil, idleInTransaction: Double? = nil
    ) {
        self.busy = Self.duration(busy)
        self.connection = Self.duration(connection)
        settings = SessionSettings(
            statementTimeout: statement.map(Self.limit),
            lockTimeout: max(Self.duration(busy), .milliseconds(1)),
            idleInTransactionTimeout: idleInTransaction.map(Self.limit))
    }

    private static func duration(_ seconds: Double) -> Duration {
        .milliseconds(Int64(min(max(seconds.isNaN ? 0 : seconds, 0), 2_000_000) * 1000))
    }

    /// Zero means no limit, and only zero does.
    private static func limit(_ seconds: Double) -> Duration {
        seconds > 0 ? max(duration(seconds), .milliseconds(1)) : .zero
    }
}

/// Connects to a server. If a server that has answered before is away, retries: it may be restarting, or another may be
/// about to replace it.
final class Connecting: Sendable {
    private let patience: Duration
    private let wasReached = Atomic<Bool>(false)
    private let reconnections = Atomic<Int>(0)
    private let failures = Atomic<Int>(0)

    /// - Parameter patience: The longest time that a server may be away.
    init(patience: Duration) { self.patience = patience }

    var counts: EngineCounts {
        var counts = EngineCounts()
        counts.reconnections = reconnections.load(ordering: .relaxed)
        counts.failedConnections = failures.load(ordering: .relaxed)
        return counts
    }

    /// Records that a lost connection was replaced.
    func didReconnect() { reconnections.add(1, ordering: .relaxed) }

    /// Runs `body`, which connects, until it succeeds or the time is over.
    ///
    /// - Parameter isCancelled: Whether the caller has cancelled.
    func run<Result>(
        isCancelled: () -> Bool = { false }, _ body: () throws(RelataError) -> Result
    ) throws(RelataError) -> Result {
        let deadline = ContinuousClock.now + patience
        var pause = 0.01
        while true {
            do throws(RelataError) {
                let result = try body()
                wasReached.store(true, ordering: .relaxed)
                return result
            } catch {
                failures.add(1, ordering: .relaxed)
                // A server that has never answered may have a wrong address.
                guard wasReached.load(ordering: .relaxed), .now < deadline else { throw error }
                if isCancelled() || Task.isCancelled { throw .interrupted }
                // Clients that lost the connection together retry at different times.
                Thread.sleep(forTimeInterval: .random(in: pause / 2...pause))
                pause = min(pause * 2, 0.5)
            }
        }
    }
}
#endif
