#if PostgreSQL
import RelataCPQ
import RelataCore
import RelataEngine

/// The connection on which a store announces its commits and receives those of others.
final class ChangeConnection {
    let connection: Connection
    let driver: PostgresDriver
    private let isReadOnly: Bool
    private var isStandby = false
    private var channel = ""
    private var isListening = false

    /// - Parameter isReadOnly: Whether nothing is written to the database.
    init(_ connection: Connection, _ driver: PostgresDriver, isReadOnly: Bool) {
        self.connection = connection
        self.driver = driver
        self.isReadOnly = isReadOnly
    }

    /// Identifies the database of the connection, before the connection is used.
    func identify() throws(RelataError) -> DatabaseIdentity {
        let identity = try DatabaseIdentity.read(driver)
        isStandby = identity.isStandby
        // Each schema counts as a separate database.
        let schema = try driver.ownRow("SELECT coalesce(to_regnamespace(quote_ident(current_schema()))::oid::text, '')")
        channel = "relata_" + schema.text(0)
        return identity
    }

    func close() { try? connection.close() }

    /// Whether another try may succeed after the error: the connection is lost, or other transactions interfered.
    func isPassing(_ error: any Error) -> Bool {
        if case RelataError.busy = error { true } else { driver.session.isLost }
    }

    /// Begins to listen, or stops. A standby and a pooler carry no notifications: only the periodic check remains.
    func listen(_ wanted: Bool) throws(RelataError) {
        guard wanted != isListening, !isStandby, !driver.session.isPooled else { return }
        try driver.run { (session) throws(PostgresFailure) in
            if wanted { try session.listen(to: channel) } else { try session.unlisten(channel) }
        }
        isListening = wanted
    }

    /// Wakes all that listen.
    func notify() throws(RelataError) {
        guard !isStandby else { return }
        _ = try driver.run { (session) throws(PostgresFailure) in
            try session.run("NOTIFY " + session.quoted(channel))
        }
    }

    /// Removes rows that all readers have had the time to read. A role without the right leaves it to others.
    func trim() {
        guard !isReadOnly, !isStandby else { return }
        try? driver.run { (session) throws(PostgresFailure) in
            try CommitTable.trim(olderThan: CommitTable.retention, on: session)
        }
    }

    /// Waits until a notification arrives, until it is woken, or until the time is over.
    ///
    /// - Returns: Whether the connection is still open.
    func wait(_ waker: Waker, until deadline: ContinuousClock.Instant?) -> Bool {
        (try? driver.session.waitForAnything(waker, until: deadline)) ?? false
    }
}

extension Session {
    /// Waits until something arrives, which it discards, until it is woken, or until the time is over.
    ///
    /// - Returns: Whether the connection is still open.
    fileprivate func waitForAnything(
        _ waker: Waker, until deadline: ContinuousClock.Instant?
    ) throws(PostgresFailure) -> Bool {
        if !(try notifications().isEmpty) { return true }
        if waker.wait(for: PQsocket(try open()), writing: false, until: deadline) { _ = try notifications() }
        return !isLost
    }
}

extension PostgresEngine {
    /// Opens a connection that announces commits and receives those of others.
    func changeConnection() throws(RelataError) -> ChangeConnection {
        let connection = try connect(isReadOnly ? .reading : .writing, waits: true)
        guard let driver = connection.driver as? PostgresDriver else {
            throw .invalidUse("the connection isn't to PostgreSQL")
        }
        return ChangeConnection(connection, driver, isReadOnly: isReadOnly)
    }
}
#endif
