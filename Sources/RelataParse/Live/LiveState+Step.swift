import Foundation
import RelataCore

// What clients are told of what was committed.
extension LiveState {
    /// Finds out what became of the objects of all queries.
    ///
    /// Whose rights ended is told nothing more, before anything else is read.
    ///
    /// - Throws: what the store throws. The state is of no use then.
    mutating func step(_ changes: LiveChanges, _ reader: LiveReader) throws -> LiveNews {
        // A read that failed half-way may be tried again.
        guard isWhole else { throw LiveStateIsBroken() }
        isWhole = false
        round += 1
        var (news, telling) = (LiveNews(), LiveTelling())
        let moved = try leave(changes, &news, reader)
        let rights = Dictionary(uniqueKeysWithValues: moved.map { ($0.id, $0.followed.audience.rights) })
        try look(changes, &telling, reader)
        for moved in moved { try enter(moved, changes, &news, &telling, reader) }
        for told in try telling.told(reader) {
            for id in told.queries {
                switch told.events {
                case .success(let events): tell(events, id, rights[id], &news, reader)
                case .failure(let error): end(id, error, &news)
                }
            }
        }
        narrow(&news)
        isWhole = true
        return news
    }

    private mutating func tell(
        _ events: [LiveNews.Told], _ id: LiveQueryID, _ before: LiveRights?, _ news: inout LiveNews,
        _ reader: LiveReader
    ) {
        guard !events.isEmpty, let followed = queries[id] else { return }
        if let end = followers[followed.caller]?.session?.end, end <= reader.transaction.now {
            self.end(id, .sessionIsOver, &news)
            return
        }
        news.told[id] = LiveNews.OfQuery(
            events: events, from: position(round - 1, before ?? followed.audience.rights),
            to: position(round, followed.audience.rights))
    }

    private mutating func end(_ id: LiveQueryID, _ error: ParseError, _ news: inout LiveNews) {
        news.ended[id] = error
        end(id)
    }

    /// Ends a query for an error of its own.
    ///
    /// - Throws: an error that isn't about the query.
    private mutating func end(_ id: LiveQueryID, for error: any Error, _ news: inout LiveNews) throws {
        let problem = ParseError(error)
        if problem.status >= 500 { throw error }
        end(id, problem, &news)
    }

    // MARK: Other rights, other classes

    /// A query that must be read anew, with what it saw.
    private struct Moved {
        let id: LiveQueryID
        let followed: Followed
        let before: [KeyValue: LiveGroup.Seen]
    }

    /// Takes the queries out of their groups whose callers may see something else now, or whose classes are others.
    private mutating func leave(
        _ changes: LiveChanges, _ news: inout LiveNews, _ reader: LiveReader
    ) throws -> [Moved] {
        if let lists = changes.classes[InternalClasses.accessEntry] {
            readAnew(
                lists.isUnknown ? nil : Set(lists.objects.keys.compactMap { $0.values.last?.description }))
        }
        var moving: Set<LiveQueryID> = []
        for caller in otherCallers(changes) {
            do {
                let identity = try reader.identity(caller)
                if know(caller, as: identity) { moving.formUnion(followers[caller]?.queries ?? []) }
            } catch {
                for id in followers[caller]?.queries ?? [] { try end(id, for: error, &news) }
            }
        }
        let outdated = groups.keys.filter { groups[$0]?.isTheSame(in: reader.classes) == false }
        for key in outdated {
            for queries in (groups[key]?.audiences ?? [:]).values { moving.formUnion(queries) }
        }
        var moved: [Moved] = []
        for id in moving.sorted() {
            guard let followed = queries[id], let group = groups[followed.group] else { continue }
            let before = try seen(group, by: followed.audience.rights, reader)
            moved.append(Moved(id: id, followed: followed, before: before))
        }
        for moved in moved { leave(moved.id, moved.followed) }
        for key in outdated { groups[key] = nil }
        return moved
    }

    /// The callers who may be somebody else now.
    private func otherCallers(_ changes: LiveChanges) -> [Caller] {
        let (sessions, roles) = (changes.classes[InternalClasses.session], changes.classes[InternalClasses.role])
        guard sessions != nil || roles != nil else { return [] }
        let ended = (sessions?.objects ?? [:]).filter { !$0.value.isInserted || $0.value.isDeleted }
        return followers.filter { _, follower in
            guard let session = follower.session else { return false }
            return roles != nil || sessions?.isUnknown == true || ended[KeyValue(.text(session.id))] != nil
        }.map(\.key)
    }

    /// Reads a query anew: what it sees now and didn't see before enters, and what it sees no more leaves.
    private mutating func enter(
        _ moved: Moved, _ changes: LiveChanges, _ news: inout LiveNews, _ telling: inout LiveTelling,
        _ reader: LiveReader
    ) throws {
        do {
            guard let followed = try enter(moved.id, again: moved.followed, reader), let group = groups[followed.group]
            else { return }
            let (rights, name) = (followed.audience.rights, group.key.className)
            let (before, after) = (moved.before, try seen(group, by: rights, reader))
            let objects = changes.classes[name]?.objects ?? [:]
            let gone = before.keys.filter { after[$0] == nil }
            let existing = try reader.existing(gone, of: name)
            let changed = after.filter { before[$0.key] != $0.value || objects[$0.key] != nil }.keys
            let events = (gone + changed).compactMap { key in
                var change = objects[key] ?? .unknown
                change.isDeleted = after[key] == nil && !existing.contains(key)
                return LiveEvent(
                    key, change, before: before[key] != nil, after: after[key] != nil, watch: followed.audience.watch)
            }
            telling.add(events, of: group.key, followed.audience, try seeing(rights, reader), to: [moved.id])
        } catch {
            try end(moved.id, for: error, &news)
        }
    }

    // MARK: Objects

    /// Looks at what became of the objects of the groups that changes are about.
    private mutating func look(
        _ changes: LiveChanges, _ telling: inout LiveTelling, _ reader: LiveReader
    ) throws {
        let (now, time) = (ContinuousClock.now, resumeTime)
        for key in groups.keys {
            guard let question = groups[key]?.question(changes) else { continue }
            let known = try key.rights.map { try seeing($0, reader) } ?? .master
            let past = try groups[key]?.past(question, as: known, round: round, now, reader) ?? []
            if past.isEmpty { continue }
            groups[key]?.remember(past, now: now, for: time)
            for (audience, queries) in groups[key]?.audiences ?? [:] {
                let events = try events(past, for: audience, reader)
                telling.add(events, of: key, audience, try seeing(audience.rights, reader), to: queries)
            }
        }
    }

    /// Ends the queries of the largest groups while all groups together hold too much.
    private mutating func narrow(_ news: inout LiveNews) {
        while followedObjects > options.maximumLiveObjects,
            let largest = groups.max(by: { $0.value.matched.count < $1.value.matched.count })?.key
        {
            let error = ParseError(
                .requestLimitExceeded,
                "all live queries follow \(options.maximumLiveObjects) objects at most, and more meet the conditions by now: narrow them"
            )
            for id in (groups[largest]?.audiences ?? [:]).values.joined() { end(id, error, &news) }
            groups[largest] = nil
        }
    }
}

/// A step of the live queries failed half-way.
private struct LiveStateIsBroken: Error {}
