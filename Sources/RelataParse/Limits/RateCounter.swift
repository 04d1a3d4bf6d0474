import Synchronization

/// Counts requests for rate limits. Its memory is bounded, and its time doesn't depend on the number of clients.
final class RateCounter: Sendable {
    /// Some requests of one client that count towards a limit.
    struct Demand: Sendable {
        /// The number of the limit.
        let rule: Int
        /// The client that sends the requests, as a hash.
        let key: UInt64
        let count: Int
    }

    /// The limit that is reached, and when it ends.
    struct Refusal: Hashable, Sendable {
        let rule: Int
        let milliseconds: Int64
    }

    private struct Entry {
        var end: Int64
        var count: Int
    }

    /// The counts of one limit. Old counts are dropped by generations, each as long as the limit's time, instead of one
    /// by one.
    private struct Table {
        let window: Int64
        let maximum: Int
        var current: [UInt64: Entry] = [:]
        var previous: [UInt64: Entry] = [:]
        var turn: Int64 = 0
        /// The counts that clients share when the table is full.
        var shared: [Entry] = []

        mutating func entry(_ key: UInt64, at time: Int64, shares: Int) -> Entry {
            if time >= turn {
                previous = time - turn < window ? current : [:]
                current = [:]
                turn = time + window
            }
            let known = current[key] ?? previous[key] ?? (isFull(for: key) ? slot(key, shares) : nil)
            guard let known, known.end > time else { return Entry(end: time + window, count: 0) }
            return known
        }

        private func isFull(for key: UInt64) -> Bool { current.count >= maximum && current[key] == nil }

        private mutating func slot(_ key: UInt64, _ shares: Int) -> Entry {
            if shared.isEmpty { shared = Array(repeating: Entry(end: 0, count: 0), count: shares) }
            return shared[Int(key % UInt64(shares))]
        }

        mutating func set(_ key: UInt64, _ entry: Entry, shares: Int) {
            guard isFull(for: key) else {
                current[key] = entry
                return
            }
            _ = slot(key, shares)
            shared[Int(key % UInt64(shares))] = entry
        }
    }

    /// The maximum number of clients with a count of their own. Others share counts.
    static let maximumClients = 50_000
    private static let shares = 1024

    private let maxima: [Int]
    private let tables: Mutex<[Table]>
    private let milliseconds: @Sendable () -> Int64

    /// - Parameter milliseconds: Returns the time; replaced by tests.
    init(
        _ limits: [RateLimit], clients: Int = maximumClients,
        milliseconds: (@Sendable () -> Int64)? = nil
    ) {
        maxima = limits.map(\.count)
        tables = Mutex(limits.map { Table(window: max(1, Int64($0.seconds * 1000)), maximum: clients) })
        let start = ContinuousClock.now
        self.milliseconds =
            milliseconds
            ?? {
                let (seconds, attoseconds) = (ContinuousClock.now - start).components
                return seconds * 1000 + attoseconds / 1_000_000_000_000_000
            }
    }

    /// Counts requests towards all of their limits, or towards none if one limit is reached.
    func take(_ demands: [Demand]) -> Refusal? {
        let time = milliseconds()
        return tables.withLock { tables in
            var entries: [Entry] = []
            for demand in demands {
                let entry = tables[demand.rule].entry(demand.key, at: time, shares: Self.shares)
                guard entry.count + demand.count <= maxima[demand.rule] else {
                    return Refusal(rule: demand.rule, milliseconds: entry.end - time)
                }
                entries.append(Entry(end: entry.end, count: entry.count + demand.count))
            }
            for (demand, entry) in zip(demands, entries) {
                tables[demand.rule].set(demand.key, entry, shares: Self.shares)
            }
            return nil
        }
    }

    /// The number of clients with a count of their own, for tests.
    var clientCount: Int {
        tables.withLock { $0.reduce(0) { $0 + $1.current.count + $1.previous.count } }
    }
}
