#if PostgreSQL
import RelataCPQ
import RelataCore
import RelataEngine

/// The connection on which a store tells of commits and hears of others'.
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

    /// Finds out what the connection leads to, before anything else is done with it.
    func identify() throws(RelataError) -> DatabaseIdentity {
        let identity = try DatabaseIdentity.read(driver)
        isStandby = identity.isStandby
        // Each schema is a database of its own.
        let schema = try driver.ownRow("SELECT coalesce(to_regnamespace(quote_ident(current_schema()))::oid::text, '')")
        channel = "relata_" + schema.text(0)
        return identity
    }

    func close() { try? connection.close() }

    /// Whether an error may be over with the next try: the connection is lost, or others were in the way.
    func isPassing(_ error: any Error) -> Bool {
        if case RelataError.busy = error { true } else { driver.session.isLost }
    }

    /// Begins to listen, or ends it. On a standby and through a pooler nothing is heard: there is only the look from time to
    /// time.
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

    /// Removes what everybody has had the time to read. A role that may not do so leaves it to others.
    func trim() {
        guard !isReadOnly, !isStandby else { return }
        try? driver.run { (session) throws(PostgresFailure) in
            try CommitTable.trim(olderThan: CommitTable.retention, on: session)
        }
    }

    /// Waits for a notification, or until it is woken, or for so long.
    ///
    /// - Returns: Whether the connection is still there.
    func wait(_ waker: Waker, until deadline: ContinuousClock.Instant?) -> Bool {
        (try? driver.session.waitForAnything(waker, until: deadline)) ?? false
    }
}

extension Session {
    /// Waits until something has arrived, and forgets it, or until it is woken, or for so long.
    ///
    /// - Returns: Whether the connection is still there.
    fileprivate func waitForAnything(
        _ waker: Waker, until deadline: ContinuousClock.Instant?
    ) throws(PostgresFailure) -> Bool {
        if !(try notifications().isEmpty) { return true }
        if waker.wait(for: PQsocket(try open()), writing: false, until: deadline) { _ = try notifications() }
        return !isLost
    }
}

extension PostgresEngine {
    /// A connection on which to tell of commits and hear of others'.
    func changeConnection() throws(RelataError) -> ChangeConnection {
        let connection = try connect(isReadOnly ? .reading : .writing, waits: true)
        guard let driver = connection.driver as? PostgresDriver else {
            throw .invalidUse("the connection is none of PostgreSQL")
        }
        return ChangeConnection(connection, driver, isReadOnly: isReadOnly)
    }
}
#endif
