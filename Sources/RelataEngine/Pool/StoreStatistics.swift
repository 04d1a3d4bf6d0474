/// How a store uses its connections at a moment, and what became of its transactions so far: for the figures that a
/// service reports.
public struct StoreStatistics: Sendable, Hashable {
    /// Connections of one kind.
    public struct Connections: Sendable, Hashable {
        /// How many there may be.
        public let limit: Int
        /// How many there are, or are being opened.
        public let open: Int
        /// How many of them nobody uses.
        public let idle: Int
        /// How many calls wait for one.
        public let waiting: Int
        /// How many calls have waited for too long so far: see `Store.Options.connectionTimeout`.
        public let timeouts: Int
    }

    /// The connections that write.
    public let writers: Connections
    /// Those that only read; `nil` where one connection does both, as in memory.
    public let readers: Connections?
    /// How often a transaction ran again because others were in its way.
    public let retries: Int
    /// How often a connection to a server was lost and made anew.
    public let reconnections: Int
    /// How often an attempt to connect to a server failed.
    public let failedConnections: Int
}

/// What an engine counts of its connections.
package struct EngineCounts: Sendable, Hashable {
    /// How often a connection that was lost was made anew.
    package var reconnections = 0
    /// How often an attempt to connect failed.
    package var failedConnections = 0

    /// Nothing happened yet.
    package init() {}
}

/// How far a server has written its database.
public struct ServerPosition: Sendable, Hashable {
    /// The position in the server's log, in bytes: up to where it has written, or, on a replica, replayed it.
    public let logPosition: Int64
    /// Whether the server is a replica.
    public let isReplica: Bool
    /// How many seconds a replica is behind; on a primary the slowest of its replicas, as far as the role may know
    /// (`pg_monitor`). `nil` where nobody can tell.
    public let lag: Double?

    /// Describes a position.
    package init(logPosition: Int64, isReplica: Bool, lag: Double?) {
        self.logPosition = logPosition
        self.isReplica = isReplica
        self.lag = lag
    }
}
