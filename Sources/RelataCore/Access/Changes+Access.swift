extension ChangeSet {
    /// The same for a caller who doesn't see everything. Whether an object was hidden that is gone or was changed since,
    /// nobody knows any more: of guarded entities it is told only that something was done.
    package func seen(under access: Access) -> ChangeSet {
        guard access.isLimited else { return self }
        var seen: [Change] = []
        for change in changes {
            let change = change.seen(under: access)
            if change.kind != .unknown || !seen.contains(change) { seen.append(change) }
        }
        return ChangeSet(seen, position: position, origin: origin)
    }
}

extension Change {
    /// The change without the names of objects that may be hidden.
    package func seen(under access: Access) -> Change {
        access.isGuarded(entity) ? Change(entity: entity, kind: .unknown) : self
    }
}
