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
    private let replicas: ReplicaReads?
    private let tableScope: TableScope
    package let connectionTimeout: Duration?
    package let writerCount: Int

    /// A database.
    ///
    /// - Parameters:
    ///   - url: The address: `postgres://user@host/database`, or any other form that libpq accepts.
    ///   - isReadOnly: Whether writing is refused.
    ///   - replicaURL: The address for reads; `nil` to read from the server of `url`.
    ///   - writers: The number of transactions that may write at once.
    ///   - poolsTransactions: Whether a pooler gives each transaction another of the server's connections; `nil` to
    ///     assume so for any pooler.
    ///   - tableScope: The tables that are read.
    ///   - waits: The waiting times of the store.
    ///   - trace: Called after each statement.
    package init(
        url: PostgresURL, isReadOnly: Bool = false, replicaURL: String? = nil, writers: Int = 5,
        poolsTransactions: Bool? = nil, tableScope: TableScope = .own, waits: PostgresWaits = PostgresWaits(),
        trace: SQLTrace? = nil
    ) throws(RelataError) {
        self.url = url
        self.isReadOnly = isReadOnly
        self.trace = trace
        writerCount = max(1, writers)
        self.poolsTransactions = poolsTransactions
        self.tableScope = tableScope
        settings = waits.settings
        connecting = Connecting(patience: waits.busy)
        connectionTimeout = waits.connection
        replicas = try replicaURL.map { (text) throws(RelataError) in
            ReplicaReads(try PostgresURL(text), of: url, patience: waits.busy)
        }
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
        let source = role == .reading ? replicas?.url ?? url : url
        let driver = try connecting.run { () throws(RelataError) in
            let driver = try PostgresDriver(
                source, poolsTransactions: poolsTransactions, settings: settings, thread: thread, trace: trace)
            if isReadOnly || role == .reading { try driver.refuseWriting() }
            return driver
        }
        driver.replicas = replicas
        driver.readsReplica = role == .reading && replicas != nil
        let connection = Connection(driver, path: source.description)
        connection.tableScope = tableScope
        try makeFunctions(connection, driver)
        return connection
    }

    /// The functions of a session end with it.
    private func makeFunctions(_ connection: Connection, _ driver: PostgresDriver) throws(RelataError) {
        guard case .everywhere(_, callsFunctions: true) = tableScope else { return }
        try driver.makeTemporaryFunctions(connection)
    }

    package func prepareForUse(_ connection: Connection) throws(RelataError) {
        guard let driver = connection.driver as? PostgresDriver else { return }
        driver.beginUse()
        let isNew = try driver.reconnectIfLost(connecting)
        if isNew || driver.takeStaleStatements() { connection.clearStatements() }
        if isNew { try makeFunctions(connection, driver) }
        if driver.readsReplica { try replicas?.wait(driver) }
    }

    package var readsReplicas: Bool { replicas != nil }

    package func beginWriting(_ connection: Connection) throws(RelataError) {
        let beginning = "BEGIN ISOLATION LEVEL REPEATABLE READ"
        guard let driver = connection.driver as? PostgresDriver else { return try connection.begin(beginning) }
        driver.beginUse()
        if driver.takeStaleStatements() { connection.clearStatements() }
        // A pooler may give the transaction another connection than the one that has the lock.
        if driver.hasSeenOldTables, !driver.session.isPooled {
            try driver.beginChangingTablesFirst(connection, beginning)
        } else {
            try connection.begin(beginning)
        }
    }

    package var counts: EngineCounts { connecting.counts }

    package func beginWaiting(_ connection: Connection) {}

    package func dataVersion(_ connection: Connection) throws(RelataError) -> Int64 {
        // Every number of a server also counts the commits of this process.
        0
    }

    package func changeChannel(for hub: ChangeHub) throws(RelataError) -> (any ChangeChannel)? {
        try PostgresChangeChannel(hub, self)
    }

    package func finish() {}

    /// The server always has one.
    package func beginLogging(_ connection: Connection) throws(RelataError) {}

    package func backup(
        _ connection: Connection, _ plan: BackupPlan, _ progress: (BackupProgress) throws -> Void
    ) throws {
        throw RelataError.invalidUse(
            "a database of PostgreSQL is backed up by its own tools, pg_dump or pg_basebackup; relata copy makes an SQLite "
                + "file of it")
    }
}
#endif
