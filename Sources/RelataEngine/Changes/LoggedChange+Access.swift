import RelataCore

extension LoggedChange {
    /// The change for a caller who doesn't see everything; see ``ChangeSet/seen(under:)``.
    package func seen(under access: Access) -> LoggedChange {
        let seen = change.seen(under: access)
        guard seen != change else { return self }
        return LoggedChange(position: position, batch: batch, time: time, change: seen, origin: origin, versions: [])
    }
}
