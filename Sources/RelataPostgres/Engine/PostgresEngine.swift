#if PostgreSQL
import Foundation
import RelataCore
import RelataEngine

/// PostgreSQL, and one database of a server.
package struct PostgresEngine: Engine {
    private let url: PostgresURL
    private let isReadOnly: Bool
    private let trace: SQLTrace?
    private let settings: SessionSettings
    package let writerCount: Int

    /// A database.
    ///
    /// - Parameters:
    ///   - url: Where it is: `postgres://user@host/database`, or what libpq understands besides.
    ///   - isReadOnly: Whether writing is refused.
    ///   - writers: How many transactions may write at once.
    ///   - busyTimeout: How many seconds a statement waits for a lock.
    ///   - trace: Called after each statement.
    package init(
        url: String, isReadOnly: Bool = false, writers: Int = 5, busyTimeout: Double = 5, trace: SQLTrace? = nil
    ) throws(RelataError) {
        self.url = try PostgresURL(url)
        self.isReadOnly = isReadOnly
        self.trace = trace
        writerCount = max(1, writers)
        settings = SessionSettings(lockTimeout: .milliseconds(Int64(min(max(busyTimeout, 0.001), 2_000_000) * 1000)))
    }

    /// Whether a path is the URL of a database.
    package static func isURL(_ path: String) -> Bool {
        path.hasPrefix("postgres://") || path.hasPrefix("postgresql://")
    }

    package var path: String? { url.description }
    package var isShared: Bool { false }

    package func checkBeforeOpening(isReadOnly: Bool) throws(RelataError) {}

    package func connect(_ role: ConnectionRole, waits: Bool) throws(RelataError) -> Connection {
        let driver = try PostgresDriver(url, settings: settings, trace: trace)
        if isReadOnly || role == .reading { try driver.refuseWriting() }
        return Connection(driver, path: url.description)
    }

    package func prepareForUse(_ connection: Connection) throws(RelataError) {
        guard let driver = connection.driver as? PostgresDriver else { return }
        if try driver.reconnectIfLost() || driver.takeStalePlans() { connection.clearStatements() }
    }

    package func beginWriting(_ connection: Connection) throws(RelataError) {
        if let driver = connection.driver as? PostgresDriver {
            driver.mayTryAgain = false
            if driver.takeStalePlans() { connection.clearStatements() }
        }
        try connection.begin("BEGIN ISOLATION LEVEL REPEATABLE READ")
    }

    package func beginWaiting(_ connection: Connection) {}

    package func dataVersion(_ connection: Connection) throws(RelataError) -> Int64 {
        // No number that a server has leaves out what this process commits.
        0
    }

    package func finish() {}

    /// The server always has one.
    package func beginLogging(_ connection: Connection) throws(RelataError) {}

    package func backup(_ connection: Connection, to path: String) throws(RelataError) {
        throw .invalidUse("a database of PostgreSQL is copied by its own tools: use pg_dump or pg_basebackup")
    }
}
#endif
