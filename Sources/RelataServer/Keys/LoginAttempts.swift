#if Server
/// Failed attempts to sign in, and the waits after them: some attempts are free, then each wait is twice as long as the
/// one before, up to a minute.
struct LoginAttempts: Sendable {
    private struct Failures {
        var count = 0
        var last: ContinuousClock.Instant
        var next: ContinuousClock.Instant
    }

    static let freeFailures = 5
    private static let longestWait = 60
    /// The time after which failures are forgotten.
    private static let memory = Duration.seconds(900)
    private static let maximumPeers = 1024

    private var failures: [String: Failures] = [:]

    /// The number of seconds that an address must wait before its next attempt; `nil` for no wait.
    func wait(of peer: String, at time: ContinuousClock.Instant) -> Int? {
        guard let next = failures[peer]?.next, time < next else { return nil }
        return Int((next - time).components.seconds) + 1
    }

    mutating func failed(_ peer: String, at time: ContinuousClock.Instant) {
        failures = failures.filter { time - $0.value.last < Self.memory }
        if failures[peer] == nil, failures.count >= Self.maximumPeers,
            let oldest = failures.min(by: { $0.value.last < $1.value.last })
        {
            failures[oldest.key] = nil
        }
        var known = failures[peer] ?? Failures(last: time, next: time)
        known.count += 1
        known.last = time
        if known.count >= Self.freeFailures {
            let wait = min(1 << min(known.count - Self.freeFailures, 6), Self.longestWait)
            known.next = time + .seconds(wait)
        }
        failures[peer] = known
    }

    mutating func succeeded(_ peer: String) { failures[peer] = nil }
}
#endif
