#if PostgreSQL
import Foundation
import RelataCore
import RelataEngine
import Synchronization

/// Notifies other stores of a database of commits, and receives their notifications, on a separate connection and
/// thread.
///
/// A notification only wakes the reader, which reads the changes from ``CommitTable`` and the change log. A lost
/// notification delays the changes until the next check.
final class PostgresChangeChannel: ChangeChannel {
    private let worker: ChangeWorker

    /// - Parameter engine: The engine that connects to the database.
    /// - Throws: the system's error if the process has no room for another pipe.
    init(_ hub: ChangeHub, _ engine: PostgresEngine) throws(RelataError) {
        do throws(PostgresFailure) {
            worker = try ChangeWorker(hub, engine)
        } catch {
            throw error.error
        }
    }

    deinit { worker.close() }

    /// The time that others have on closing to be notified of the last commits: the process may end right after.
    private static let patience = Duration.seconds(1)

    func update(from moment: TransactionSnapshot?, _ interest: () -> ChangeInterest) {
        worker.update(from: moment, interest)
    }

    func didCommit() { worker.didCommit() }

    func close() {
        worker.close()
        worker.waitUntilTold(for: Self.patience)
    }
}

/// The moment from which changes count as new.
struct ChangeBeginning {
    /// The known state; `nil` if it is unknown, so that everything counts as changed.
    private(set) var moment: TransactionSnapshot?
    /// The number of times it began.
    private(set) var count = 0

    mutating func begin(_ moment: TransactionSnapshot?) {
        self.moment = moment
        count += 1
    }
}

/// The thread of a ``PostgresChangeChannel``. It starts with the first task, and ends when the channel is closed.
final class ChangeWorker: Sendable {
    /// The tasks of the thread.
    private struct State {
        var interest = ChangeInterest(isListening: false, followsLog: false)
        /// The moment from which others' commits are new.
        var commits = ChangeBeginning()
        /// The moment from which transactions in the log are new.
        var log = ChangeBeginning()
        /// Whether others must be notified of a commit.
        var hasNews = false
        /// Whether notifications are being sent.
        var isTelling = false
        var isStarted = false
        var isClosed = false
    }

    /// The minimum time between two notifications: one notification covers all commits in between.
    static let notificationPause = Duration.milliseconds(5)
    /// The least time between two looks for the end of a transaction that others wait for.
    private static let shortestPause = Duration.milliseconds(5)

    private let state = Mutex(State())
    private let waker: Waker
    private let engine: PostgresEngine
    private let interval: Duration
    private let hub: Mutex<WeakHub>
    /// Signalled when the thread ends.
    private let ended = DispatchSemaphore(value: 0)

    private struct WeakHub {
        weak var hub: ChangeHub?
    }

    init(_ hub: ChangeHub, _ engine: PostgresEngine) throws(PostgresFailure) {
        waker = try Waker()
        self.engine = engine
        interval = .milliseconds(Int64(min(max(hub.interval ?? 0.25, 0.001), 3600) * 1000))
        self.hub = Mutex(WeakHub(hub: hub))
    }

    func update(from moment: TransactionSnapshot?, _ interest: () -> ChangeInterest) {
        let isChanged = state.withLock { state in
            let interest = interest()
            guard interest != state.interest, !state.isClosed else { return false }
            if interest.isListening, !state.interest.isListening { state.commits.begin(moment) }
            if interest.followsLog, !state.interest.followsLog { state.log.begin(moment) }
            state.interest = interest
            return true
        }
        if isChanged { wake() }
    }

    func didCommit() {
        let isNews = state.withLock { state in
            defer { state.hasNews = true }
            return !state.hasNews
        }
        if isNews { wake() }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        waker.wake()
    }

    /// After the close, waits until others are notified of the commits.
    func waitUntilTold(for patience: Duration) {
        guard state.withLock({ $0.isStarted && ($0.hasNews || $0.isTelling) }) else { return }
        _ = ended.wait(timeout: .now() + .milliseconds(Int(patience / .milliseconds(1))))
    }

    private func wake() {
        let mustStart = state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted && !state.isClosed
        }
        waker.wake()
        guard mustStart else { return }
        Thread {
            self.run()
            self.ended.signal()
        }.start()
    }

    // MARK: The thread

    private func run() {
        let listener = ChangeListener(hub.withLock { $0.hub })
        var connection: ChangeConnection?
        var lastNotification: ContinuousClock.Instant?
        var lastTrim = ContinuousClock.now
        var failures = 0
        var (obstacle, pause) = (Int64?.none, interval)
        while true {
            waker.drain()
            let work = state.withLock { $0 }
            var deadline: ContinuousClock.Instant?
            do {
                // Commits right before the close of the store are announced too.
                if connection == nil, work.hasNews || work.interest.isListening && !work.isClosed {
                    let made = try engine.changeConnection()
                    connection = made
                    listener.connected(try made.identify())
                }
                if let connection {
                    if work.hasNews {
                        let due = lastNotification.map { $0 + Self.notificationPause } ?? .now
                        if work.isClosed || due <= .now {
                            // The next notification announces later commits.
                            state.withLock { ($0.hasNews, $0.isTelling) = (false, true) }
                            defer { state.withLock { $0.isTelling = false } }
                            try connection.notify()
                            lastNotification = .now
                        } else {
                            deadline = due
                        }
                    }
                    if work.isClosed { return connection.close() }
                    try connection.listen(work.interest.isListening)
                    if work.interest.isListening {
                        let found = try listener.read(
                            connection, commits: work.commits, log: work.interest.followsLog ? work.log : nil)
                        // Changes that wait for the end of another transaction are checked more often, because nothing
                        // announces that end. The longer the transaction runs, the longer it is likely to run on.
                        if found == nil {
                            pause = interval
                        } else {
                            pause = min(interval, found == obstacle ? pause * 2 : Self.shortestPause)
                        }
                        obstacle = found
                        deadline = min(deadline ?? .now + pause, .now + pause)
                    }
                    if lastTrim + CommitTable.retention / 2 < .now {
                        lastTrim = .now
                        connection.trim()
                    }
                }
                if work.isClosed { return }
                failures = 0
            } catch {
                // Retries while an observer or a feed needs it, and then reports the missed changes. Errors that a
                // retry won't fix are reported at once.
                if let connection, !connection.isPassing(error) { hub.withLock { $0.hub }?.fail(error) }
                connection?.close()
                connection = nil
                if state.withLock({ $0.isClosed }) { return }
                failures = min(failures + 1, 8)
                deadline = .now + max(interval, .milliseconds(50 << failures))
            }
            guard let open = connection else {
                waker.pause(until: deadline)
                continue
            }
            if !open.wait(waker, until: deadline) {
                open.close()
                connection = nil
                waker.pause(until: .now + .milliseconds(50))
            }
        }
    }
}
#endif
