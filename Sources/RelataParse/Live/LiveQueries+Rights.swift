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
                let rights = LiveRights(new)
                for key in groups.keys where key.rights == nil || key.rights == rights {
                    groups[key]?.renew(new, rights)
                }
                // A query that was read anew meanwhile may be ahead of what was known of its caller.
                for (id, followed) in queries where followed.caller == caller && followed.audience.rights != rights {
                    try await move(id, changes)
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
        let found = try reader.group(of: query.className, query.condition, as: known)
        guard found.key == old.key else {
            new.elsewhere.append(id)
            return
        }
        let group =
            try new.group ?? LiveGroup(try reader.filled(found, as: known), as: known, round: round.number)
        new.group = group
        let audience = LiveGroup.Audience.Key(query, as: known)
        new.told[id] = try round.difference(
            from: old, seenBy: followed.audience.rights, to: group, audience, as: known, changes, reader)
        new.group?.audiences[audience, default: LiveGroup.Audience(known: known)].queries.insert(id)
        new.audiences[id] = audience
    }

    /// Reads a query anew: what it sees now and didn't see before enters, and what it sees no more leaves.
    ///
    /// - Parameter left: The group that it was in, where that isn't there any more.
    func move(_ id: LiveQueryID, from left: LiveGroup? = nil, _ changes: LiveChanges) async throws {
        guard let asked = queries[id] else { return }
        do {
            let start = try await start(asked.query.following, asked.caller)
            // Its group may have been read anew for that, and have told it what is another thing now.
            guard let followed = queries[id], followed.group == asked.group, let old = left ?? groups[followed.group]
            else { return }
            end(id)
            _ = enter(id, followed.query, followed.caller, start)
            guard let group = groups[start.group.key], let now = queries[id]?.audience else { return }
            let round = LiveRound(round, .now, readers: readers)
            let told = try await reading { reader in
                var round = round
                return try round.difference(
                    from: old, seenBy: followed.audience.rights, to: group, now, as: start.known, changes, reader)
            }
            tell(told, to: id)
        } catch let error as ParseError {
            refuse(id, error)
        }
    }
}
