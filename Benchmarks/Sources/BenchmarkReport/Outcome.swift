/// The target of a workload.
public enum Target: Sendable {
    /// At most this many times the limit.
    case limit(Double)
    /// At least this part of the limit's work in the same time.
    case rate(Double)
    /// At least this many times faster than a peer.
    case faster(Double, than: String)
    /// Below an amount in the workload's own unit.
    case below(Double)
}

/// The aggregates of a workload: medians.
public struct Outcome: Sendable {
    /// The unit of the figures.
    public enum Unit: String, Sendable { case milliseconds = "ms", megabytes = "mb", times }

    /// The unit of the figures.
    public var unit: Unit
    /// Relata's.
    public var ours: Double
    /// The best possible figure, or the largest allowed one.
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
    /// The median; 0 if there are no values.
    public var median: Double {
        guard !isEmpty else { return 0 }
        let sorted = sorted()
        let middle = count / 2
        return count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
