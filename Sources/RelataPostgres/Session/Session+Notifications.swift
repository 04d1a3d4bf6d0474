#if PostgreSQL
import RelataCPQ
import RelataCore

/// What another session said with `NOTIFY` on a channel that this one listens to.
package struct Notification: Hashable, Sendable {
    /// The channel's name.
    package let channel: String
    /// What was said.
    package let payload: String
    /// The server's process of the session that said it.
    package let processID: Int32
}

extension Session {
    /// Listens to a channel, until the connection is closed or made anew.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` where a pooler is between, which carries no notifications.
    package func listen(to channel: String) throws(PostgresFailure) {
        if isPooled {
            throw PostgresFailure(
                .invalidUse("a pooler of transactions carries no notifications: connect to the server itself to listen")
            )
        }
        try run("LISTEN " + quoted(channel))
    }

    /// Listens to a channel no more.
    package func unlisten(_ channel: String) throws(PostgresFailure) { try run("UNLISTEN " + quoted(channel)) }

    /// An identifier in quotes, as the server reads it.
    func quoted(_ name: String) throws(PostgresFailure) -> String {
        let handle = try idle()
        guard !name.utf8.contains(0), let quoted = PQescapeIdentifier(handle, name, name.utf8.count) else {
            throw PostgresFailure(.invalidUse("the name \"\(name)\" is none that PostgreSQL allows"))
        }
        defer { PQfreemem(quoted) }
        return String(cString: quoted)
    }

    /// What has arrived since the last call, without waiting.
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

    /// Waits until something has arrived, or for so long.
    ///
    /// - Returns: What has arrived; nothing where the time is over or the session's ``cancellation`` was used.
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
