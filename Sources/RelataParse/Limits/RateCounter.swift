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
        /// Whether other clients were counted too. The time of each of them began with another request, so the count
        /// ends a whole time after the last one.
        var isShared = false
    }

    /// The place where a count is kept.
    private enum Place { case current, previous, shared }

    /// The counts of one limit. Old counts are dropped by generations, each with the length of the limit's time,
    /// instead of one by one.
    private struct Table {
        let window: Int64
        let maximum: Int
        var current: [UInt64: Entry] = [:]
        var previous: [UInt64: Entry] = [:]
        var turn: Int64 = 0
        /// The counts that clients share when the table is full.
        var shared: [Entry] = []

        /// The count of a client, and the entry where it is stored.
        mutating func entry(_ key: UInt64, at time: Int64) -> (entry: Entry, place: Place) {
            if time >= turn {
                previous = time - turn < window ? current : [:]
                current = [:]
                turn = time + window
            }
            let new = Entry(end: time + window, count: 0)
            if let known = current[key] { return (known.end > time ? known : new, .current) }
            let isFull = current.count >= maximum
            let known = previous[key].flatMap { $0.end > time ? $0 : nil }
            // It ends before `previous` is dropped.
            if let known, !known.isShared { return (known, isFull ? .previous : .current) }
            // A client that shares a count takes it to its own entry, and back.
            let common = shared.isEmpty ? nil : shared[slot(key)]
            let found = [known, common].compactMap(\.self).filter { $0.end > time }.max { $0.count < $1.count }
            return (found ?? new, isFull ? .shared : .current)
        }

        private func slot(_ key: UInt64) -> Int { Int(key % UInt64(RateCounter.shares)) }

        mutating func set(_ key: UInt64, _ entry: Entry, in place: Place, at time: Int64) {
            var entry = entry
            if place == .shared { entry.isShared = true }
            if entry.isShared { entry.end = time + window }
            switch place {
            case .current: current[key] = entry
            case .previous: previous[key] = entry
            case .shared:
                if shared.isEmpty { shared = Array(repeating: Entry(end: 0, count: 0), count: RateCounter.shares) }
                shared[slot(key)] = entry
                previous[key] = nil
            }
        }
    }

    /// The maximum number of clients with their own count. Others share counts.
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
            var found: [(entry: Entry, place: Place)] = []
            for demand in demands {
                var (entry, place) = tables[demand.rule].entry(demand.key, at: time)
                guard entry.count + demand.count <= maxima[demand.rule] else {
                    return Refusal(rule: demand.rule, milliseconds: entry.end - time)
                }
                entry.count += demand.count
                found.append((entry, place))
            }
            for (demand, found) in zip(demands, found) {
                tables[demand.rule].set(demand.key, found.entry, in: found.place, at: time)
            }
            return nil
        }
    }

    /// The number of clients with their own count, for tests.
    var clientCount: Int {
        tables.withLock { $0.reduce(0) { $0 + $1.current.count + $1.previous.count } }
    }
}
