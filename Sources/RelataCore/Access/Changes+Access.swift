extension ChangeSet {
    /// The changes for a caller who doesn't see everything. Whether a deleted or changed object was hidden can't be
    /// known any more: for guarded entities, only an unknown change is reported.
    ///
    /// - Parameter entities: The names of the entities whose changes are reported; `nil` for all.
    package func seen(under access: Access, of entities: Set<String>? = nil) -> ChangeSet {
        guard access.isLimited || entities != nil else { return self }
        var seen: [Change] = []
        for change in changes where entities?.contains(change.entity) != false {
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
