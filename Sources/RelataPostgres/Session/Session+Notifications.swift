#if PostgreSQL
import RelataCPQ
import RelataCore

/// A message that another session sent with `NOTIFY` on a channel that this session listens to.
package struct Notification: Hashable, Sendable {
    /// The channel's name.
    package let channel: String
    /// The text of the message.
    package let payload: String
    /// The server process of the sending session.
    package let processID: Int32
}

extension Session {
    /// Listens to a channel, until the connection is closed or replaced.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` through a pooler, which carries no notifications.
    package func listen(to channel: String) throws(PostgresFailure) {
        if isPooled {
            throw PostgresFailure(
                .invalidUse(
                    "a transaction pooler doesn't pass on notifications: connect to the server itself to listen")
            )
        }
        try run("LISTEN " + quoted(channel))
    }

    /// Stops listening to a channel.
    package func unlisten(_ channel: String) throws(PostgresFailure) { try run("UNLISTEN " + quoted(channel)) }

    /// An identifier in quotes, as the server reads it.
    func quoted(_ name: String) throws(PostgresFailure) -> String {
        let handle = try idle()
        guard !name.utf8.contains(0), let quoted = PQescapeIdentifier(handle, name, name.utf8.count) else {
            throw PostgresFailure(.invalidUse("PostgreSQL doesn't allow the name \"\(name)\""))
        }
        defer { PQfreemem(quoted) }
        return String(cString: quoted)
    }

    /// The notifications since the last call, without waiting.
    package func notifications() throws(PostgresFailure) -> [Notification] {
        let handle = try idle()
        guard PQconsumeInput(handle) == 1 else { throw failure(nil) }
        var list: [Notification] = []
        while let notification = PQnotifies(handle) {
            list.append(
                Notification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra), processID: notification.pointee.be_pid))
            PQfreemem(notification)
        }
        return list
    }

    /// Waits until something has arrived, or until the time is over.
    ///
    /// - Returns: The received notifications; empty after a timeout or a cancellation by the session's
    ///   ``cancellation``.
    package func waitForNotifications(timeout: Duration? = nil) throws(PostgresFailure) -> [Notification] {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        while true {
            if cancellation.isRequested { return [] }
            let list = try notifications()
            guard list.isEmpty else { return list }
            if !waker.wait(for: PQsocket(try open()), writing: false, until: deadline) { return [] }
        }
    }
}
#endif
