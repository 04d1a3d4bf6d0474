/// A store's current use of connections, and the results of its transactions so far, for monitoring.
public struct StoreStatistics: Sendable, Hashable {
    /// Connections of one kind.
    public struct Connections: Sendable, Hashable {
        /// The maximum number.
        public let limit: Int
        /// The number of connections, including those being opened.
        public let open: Int
        /// The number of idle connections.
        public let idle: Int
        /// The number of calls that wait for one.
        public let waiting: Int
        /// The number of timed-out calls so far: see `Store.Options.connectionTimeout`.
        public let timeouts: Int
    }

    /// The connections that write.
    public let writers: Connections
    /// The connections for reading; `nil` if one connection does both, as in memory.
    public let readers: Connections?
    /// The number of times a transaction ran again after a conflict.
    public let retries: Int
    /// The number of times a lost connection to a server was replaced.
    public let reconnections: Int
    /// The number of times an attempt to connect to a server failed.
    public let failedConnections: Int
}

/// An engine's counters of its connections.
package struct EngineCounts: Sendable, Hashable {
    /// The number of times a lost connection was replaced.
    package var reconnections = 0
    /// The number of times an attempt to connect failed.
    package var failedConnections = 0

    /// Nothing happened yet.
    package init() {}
}

/// The position up to which a server has written its database.
public struct ServerPosition: Sendable, Hashable {
    /// The position in the server's log, in bytes: the end of the log, or, on a replica, of its replayed part.
    public let logPosition: Int64
    /// Whether the server is a replica.
    public let isReplica: Bool
    /// The number of seconds that a replica is behind; on a primary, that of its slowest replica, if the role may see
    /// it (`pg_monitor`). `nil` if it isn't known.
    public let lag: Double?

    /// Describes a position.
    package init(logPosition: Int64, isReplica: Bool, lag: Double?) {
        self.logPosition = logPosition
        self.isReplica = isReplica
        self.lag = lag
    }
}
