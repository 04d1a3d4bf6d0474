/// What a workload must reach.
public enum Target: Sendable {
    /// So many times the limit, at most.
    case limit(Double)
    /// So large a part of what the limit gets done in the same time, at least.
    case rate(Double)
    /// So many times faster than a peer, at least.
    case faster(Double, than: String)
    /// Below an amount in the workload's own unit.
    case below(Double)
}

/// The aggregates of a workload: medians.
public struct Outcome: Sendable {
    /// What the figures count.
    public enum Unit: String, Sendable { case milliseconds = "ms", megabytes = "mb", times }

    /// What the figures count.
    public var unit: Unit
    /// Relata's.
    public var ours: Double
    /// What can be reached, or what is allowed to be compared with.
    public var limit: Double?
    /// Those of others.
    public var peers: [(name: String, value: Double)]

    /// The aggregates of a workload.
    public init(
        unit: Unit = .milliseconds, ours: Double, limit: Double? = nil, peers: [(name: String, value: Double)] = []
    ) {
        self.unit = unit
        self.ours = ours
        self.limit = limit
        self.peers = peers
    }
}

extension [Double] {
    /// The value in the middle; 0 where there is none.
    public var median: Double {
        guard !isEmpty else { return 0 }
        let sorted = sorted()
        let middle = count / 2
        return count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
