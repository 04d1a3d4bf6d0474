import RelataCore

// What becomes of live queries when callers may see something else, and when classes change.
extension LiveQueries {
    // MARK: Other rights, other classes

    /// Takes note of what callers may see now.
    func apply(_ known: Known, _ changes: LiveChanges) async throws {
        for (caller, result) in known {
            switch result {
            case .failure(let error):
                for (id, followed) in queries where followed.caller == caller { refuse(id, error) }
            case .success(let new):
                guard callers[caller] != nil else { continue }
                callers[caller]?.known = new
                let (rights, before) = (LiveRights(new), groups)
                for key in groups.keys where key.rights == nil || key.rights == rights {
                    groups[key]?.renew(new, rights)
                }
                // A query that was read anew meanwhile may be ahead of what was known of its caller.
                for (id, followed) in queries where followed.caller == caller && followed.audience.rights != rights {
                    guard let old = before[followed.group] else { continue }
                    try await move(id, from: old, changes)
                }
            }
        }
    }

    /// A group that was read anew, all of it from one state of the store.
    private struct Replacement: Sendable {
        var group: LiveGroup?
        var audiences: [LiveQueryID: LiveGroup.Audience.Key] = [:]
        var told: [LiveQueryID: [LiveRound.Told]] = [:]
        var refused: [LiveQueryID: ParseError] = [:]
        /// The queries that belong to another group now.
        var elsewhere: [LiveQueryID] = []
        var readers: [KeyValue: Set<String>] = [:]
    }

    /// Reads a group's queries anew, whose class is another now.
    func replace(_ key: LiveGroup.Key, _ changes: LiveChanges) async throws {
        guard let old = groups[key] else { return }
        let followed = queries.filter { $0.value.group == key }
        let start = LiveRound(round, .now, readers: readers)
        let new = try await reading { reader in
            var (new, round) = (Replacement(), start)
            for (id, query) in followed {
                do {
                    try Self.read(query, id, of: old, changes, into: &new, &round, reader)
                } catch let error as ParseError {
                    new.refused[id] = error
                }
            }
            new.readers = round.readers
            return new
        }
        readers.merge(new.readers) { _, new in new }
        groups[key] = new.group
        for (id, audience) in new.audiences { queries[id]?.audience = audience }
        for (id, told) in new.told { tell(told, to: id) }
        for (id, error) in new.refused { refuse(id, error) }
        for id in new.elsewhere { try await move(id, from: old, changes) }
    }

    private static func read(
        _ followed: Followed, _ id: LiveQueryID, of old: LiveGroup, _ changes: LiveChanges,
        into new: inout Replacement, _ round: inout LiveRound, _ reader: LiveReader
    ) throws {
        let (query, known) = (followed.query, try reader.known(followed.caller))
        guard try reader.group(of: query.className, query.condition, as: known).key == old.key else {
            new.elsewhere.append(id)
            return
        }
        var group =
            try new.group
            ?? LiveGroup(try reader.found(query.className, query.condition, as: known), as: known, round: round.number)
        let audience = LiveGroup.Audience.Key(query, as: known)
        new.told[id] = try round.difference(
            try round.seen(old, by: followed.audience.rights, reader),
            try round.seen(group, by: audience.rights, reader),
            changes, group, audience, known, reader)
        group.audiences[audience, default: LiveGroup.Audience(known: known)].queries.insert(id)
        (new.group, new.audiences[id]) = (group, audience)
    }

    /// Reads a query anew: what it sees now and didn't see before enters, and what it sees no more leaves.
    func move(_ id: LiveQueryID, from old: LiveGroup, _ changes: LiveChanges) async throws {
        guard let followed = queries[id] else { return }
        do {
            let start = try await start(followed.query.following, followed.caller)
            end(id)
            _ = enter(id, followed.query, followed.caller, start)
            guard let group = groups[start.group.key], let now = queries[id]?.audience else { return }
            let round = LiveRound(round, .now, readers: readers)
            let told = try await reading { reader in
                var round = round
                return try round.difference(
                    try round.seen(old, by: followed.audience.rights, reader),
                    try round.seen(group, by: now.rights, reader), changes, group, now, start.known, reader)
            }
            tell(told, to: id)
        } catch let error as ParseError {
            refuse(id, error)
        }
    }
}
