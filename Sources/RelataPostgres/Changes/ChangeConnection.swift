#if PostgreSQL
import RelataCPQ
import RelataCore
import RelataEngine

/// The connection on which a store tells of commits and hears of others'.
final class ChangeConnection {
    let connection: Connection
    let driver: PostgresDriver
    /// What the connection leads to.
    let identity: DatabaseIdentity
    private let channel: String
    private let isReadOnly: Bool
    private var isListening = false

    /// - Parameter isReadOnly: Whether nothing is written to the database.
    init(_ connection: Connection, _ driver: PostgresDriver, isReadOnly: Bool) throws(RelataError) {
        self.connection = connection
        self.driver = driver
        identity = try DatabaseIdentity.read(driver)
        self.isReadOnly = isReadOnly || identity.isStandby
        // Each schema is a database of its own.
        let schema = try driver.ownRow("SELECT coalesce(current_schema()::regnamespace::oid::text, '')")
        channel = "relata_" + schema.text(0)
    }

    func close() { try? connection.close() }

    /// Begins to listen, or ends it. On a standby and through a pooler nothing is heard: there is only the look from time to
    /// time.
    func listen(_ wanted: Bool) throws(RelataError) {
        guard wanted != isListening, !identity.isStandby, !driver.session.isPooled else { return }
        try driver.run { (session) throws(PostgresFailure) in
            if wanted { try session.listen(to: channel) } else { try session.unlisten(channel) }
        }
        isListening = wanted
    }

    /// Wakes all that listen.
    func notify() throws(RelataError) {
        guard !identity.isStandby else { return }
        _ = try driver.run { (session) throws(PostgresFailure) in
            try session.run("NOTIFY " + session.quoted(channel))
        }
    }

    /// Removes what everybody has had the time to read.
    func trim() throws(RelataError) {
        guard !isReadOnly else { return }
        try driver.run { (session) throws(PostgresFailure) in
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
        return try ChangeConnection(connection, driver, isReadOnly: isReadOnly)
    }
}
#endif
