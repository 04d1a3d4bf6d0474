#if PostgreSQL
import Foundation
import RelataCore
import RelataEngine

/// PostgreSQL, and one database of a server.
package struct PostgresEngine: Engine {
    private let url: PostgresURL
    let isReadOnly: Bool
    private let trace: SQLTrace?
    private let settings: SessionSettings
    private let poolsTransactions: Bool?
    private let connecting: Connecting
    package let connectionTimeout: Duration?
    package let writerCount: Int

    /// A database.
    ///
    /// - Parameters:
    ///   - url: Where it is: `postgres://user@host/database`, or what libpq understands besides.
    ///   - isReadOnly: Whether writing is refused.
    ///   - writers: How many transactions may write at once.
    ///   - poolsTransactions: Whether a pooler gives each transaction another of the server's connections; `nil` to take
    ///     any pooler for one.
    ///   - waits: How long the store waits.
    ///   - trace: Called after each statement.
    package init(
        url: String, isReadOnly: Bool = false, writers: Int = 5, poolsTransactions: Bool? = nil,
        waits: PostgresWaits = PostgresWaits(), trace: SQLTrace? = nil
    ) throws(RelataError) {
        self.url = try PostgresURL(url)
        self.isReadOnly = isReadOnly
        self.trace = trace
        writerCount = max(1, writers)
        self.poolsTransactions = poolsTransactions
        settings = waits.settings
        connecting = Connecting(patience: waits.busy)
        connectionTimeout = waits.connection
    }

    /// Whether a path is the URL of a database.
    package static func isURL(_ path: String) -> Bool {
        path.hasPrefix("postgres://") || path.hasPrefix("postgresql://")
    }

    package var path: String? { url.description }
    package var isShared: Bool { false }

    package func checkBeforeOpening(isReadOnly: Bool) throws(RelataError) {}

    package var hasExecutors: Bool { true }

    package func makeExecutor() -> (any TaskExecutor)? { ConnectionThread(name: "relata") }

    package func connect(
        _ role: ConnectionRole, waits: Bool, on executor: (any TaskExecutor)?
    ) throws(RelataError) -> Connection {
        let thread = executor as? ConnectionThread ?? ConnectionThread(name: "relata")
        let driver = try connecting.run { () throws(RelataError) in
            let driver = try PostgresDriver(
                url, poolsTransactions: poolsTransactions, settings: settings, thread: thread, trace: trace)
            if isReadOnly || role == .reading { try driver.refuseWriting() }
            return driver
        }
        return Connection(driver, path: url.description)
    }

    package func prepareForUse(_ connection: Connection) throws(RelataError) {
        guard let driver = connection.driver as? PostgresDriver else { return }
        driver.beginUse()
        if try driver.reconnectIfLost(connecting) || driver.takeStaleStatements() { connection.clearStatements() }
    }

    package func beginWriting(_ connection: Connection) throws(RelataError) {
        if let driver = connection.driver as? PostgresDriver {
            driver.beginUse()
            if driver.takeStaleStatements() { connection.clearStatements() }
        }
        try connection.begin("BEGIN ISOLATION LEVEL REPEATABLE READ")
    }

    package var counts: EngineCounts { connecting.counts }

    package func beginWaiting(_ connection: Connection) {}

    package func dataVersion(_ connection: Connection) throws(RelataError) -> Int64 {
        // No number that a server has leaves out what this process commits.
        0
    }

    package func changeChannel(for hub: ChangeHub) -> (any ChangeChannel)? { PostgresChangeChannel(hub, self) }

    package func finish() {}

    /// The server always has one.
    package func beginLogging(_ connection: Connection) throws(RelataError) {}

    package func backup(_ connection: Connection, to path: String) throws(RelataError) {
        throw .invalidUse("a database of PostgreSQL is copied by its own tools: use pg_dump or pg_basebackup")
    }
}
#endif
