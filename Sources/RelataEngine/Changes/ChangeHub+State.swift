import RelataCore

/// The observers and feeds, and the changes that they follow.
extension ChangeHub {
    struct Entry {
        let observer: any ChangeObserver
        /// The moment of the observer's reading; everything before it is known.
        var region = TableRegion.everything
        /// The one object that the value is, if it is one.
        var object: (table: String, key: KeyValue)?
        /// The commits since the observer began to read; `nil` while it doesn't read.
        var missed: TableRegion?
    }

    struct Feed {
        let buffer: ChangeBuffer
        /// The transactions of others before the feed; `nil` if they can't be determined.
        var start: TransactionSnapshot?
        /// Notifications of others before the feed's start was known; `nil` since then.
        var early: [(transaction: Int64, changes: ChangeSet)]?

        /// Adds a notification of others; the result is for the buffer.
        mutating func takes(_ changes: ChangeSet, of transaction: Int64) -> Bool {
            if early != nil {
                early?.append((transaction, changes))
                return false
            }
            return start.map { !$0.sees(transaction) } ?? true
        }
    }

    struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// The observers that depend on each table as a whole or on columns of it.
        var byTable: [String: Set<ObjectIdentifier>] = [:]
        /// The observers of single objects, by table and key.
        var byKey: [String: [KeyValue: Set<ObjectIdentifier>]] = [:]
        /// Observers that depend on everything, because their dependencies aren't known.
        var anywhere: Set<ObjectIdentifier> = []
        var running: Set<ObjectIdentifier> = []
        var keyed = 0
        var feeds: [ObjectIdentifier: Feed] = [:]
        /// Whether commits of others are received, if the engine has a channel.
        var isListening = false
        var isClosed = false
    }
}

extension ChangeHub.State {
    /// Whether anybody listens.
    var isObserved: Bool { !entries.isEmpty || !feeds.isEmpty }

    mutating func enter(_ identity: ObjectIdentifier) {
        guard let entry = entries[identity] else { return }
        if entry.region.isEverything {
            anywhere.insert(identity)
        } else if let object = entry.object {
            byKey[object.table, default: [:]][object.key, default: []].insert(identity)
            keyed += 1
        } else {
            for table in entry.region.tables.keys { byTable[table, default: []].insert(identity) }
        }
    }

    mutating func withdraw(_ identity: ObjectIdentifier) {
        guard let entry = entries[identity] else { return }
        if anywhere.remove(identity) != nil { return }
        if let object = entry.object {
            byKey[object.table]?[object.key]?.remove(identity)
            if byKey[object.table]?[object.key]?.isEmpty == true { byKey[object.table]?[object.key] = nil }
            keyed -= 1
        } else {
            for table in entry.region.tables.keys {
                byTable[table]?.remove(identity)
                if byTable[table]?.isEmpty == true { byTable[table] = nil }
            }
        }
    }

    /// The observers that must read again; those that are reading are notified when they are done.
    ///
    /// - Parameter changes: The changed objects, if they are known.
    mutating func affected(
        by writes: TableRegion, _ changes: ChangeSet?, _ entities: ChangeEntities
    ) -> [any ChangeObserver] {
        for identity in running { entries[identity]?.missed?.formUnion(writes) }
        var found = anywhere
        if writes.isEverything {
            found = Set(entries.keys)
        } else {
            for (table, part) in writes.tables {
                for identity in byTable[table] ?? [] where !found.contains(identity) {
                    if entries[identity]?.region.isAffected(byTable: table, part) == true { found.insert(identity) }
                }
                if let keyed = byKey[table] {
                    found.formUnion(Self.observers(keyed, of: entities.name(ofTable: table), changes))
                }
            }
        }
        found.subtract(running)
        return found.compactMap { entries[$0]?.observer }
    }

    private static func observers(
        _ keyed: [KeyValue: Set<ObjectIdentifier>], of entity: String, _ changes: ChangeSet?
    ) -> Set<ObjectIdentifier> {
        let own = changes?.changes.filter { $0.entity == entity } ?? []
        if own.isEmpty || own.contains(where: { $0.kind == .unknown }) {
            return keyed.values.reduce(into: []) { $0.formUnion($1) }
        }
        var found: Set<ObjectIdentifier> = []
        for change in own {
            for key in change.keys {
                if let observers = keyed[key] { found.formUnion(observers) }
            }
        }
        return found
    }
}
