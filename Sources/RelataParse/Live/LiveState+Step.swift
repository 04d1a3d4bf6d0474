import Foundation
import RelataCore

// The events of committed changes.
extension LiveState {
    /// Finds the events of all queries.
    ///
    /// Queries whose callers lost their rights are ended before anything else is read.
    ///
    /// - Throws: the store's errors. After one, the state can't be used any more.
    mutating func step(_ changes: LiveChanges, _ reader: LiveReader) throws -> LiveNews {
        // The store may call a failed read again.
        if let failure { throw failure }
        do {
            return try wholeStep(changes, reader)
        } catch {
            failure = error
            throw error
        }
    }

    private mutating func wholeStep(_ changes: LiveChanges, _ reader: LiveReader) throws -> LiveNews {
        round += 1
        var (news, telling) = (LiveNews(), LiveTelling())
        let moved = try leave(changes, &news, reader)
        let rights = Dictionary(uniqueKeysWithValues: moved.map { ($0.id, $0.followed.audience.rights) })
        keep(changes)
        try look(changes, &news, &telling, reader)
        try enter(moved, changes, &news, &telling, reader)
        for told in try telling.told(reader) {
            var shared: LiveNews.OfQuery?
            for id in told.queries {
                switch told.events {
                case .success(let events): try tell(events, id, rights[id], &shared, &news, reader)
                case .failure(let error): end(id, error, &news)
                }
            }
        }
        settledRound = round
        classesVersion = reader.classes.version
        narrow(&news)
        forgetReaders()
        return news
    }

    /// Tells a query its events.
    ///
    /// - Parameters:
    ///   - before: The previous rights of a caller whose rights have changed.
    ///   - shared: The news of an earlier query of the same audience.
    private mutating func tell(
        _ events: [LiveNews.Told], _ id: LiveQueryID, _ before: LiveRights?, _ shared: inout LiveNews.OfQuery?,
        _ news: inout LiveNews, _ reader: LiveReader
    ) throws {
        guard !events.isEmpty, let followed = queries[id] else { return }
        if let end = followers[followed.caller]?.session?.end, end <= reader.transaction.now {
            self.end(id, .sessionIsOver, &news)
            return
        }
        if before == nil, let shared {
            news.told[id] = shared
            return
        }
        let own = LiveNews.OfQuery(
            events: events, from: position(round - 1, before ?? followed.audience.rights),
            to: position(round, followed.audience.rights), mask: try mask(of: followed, reader))
        if before == nil { shared = own }
        news.told[id] = own
    }

    private mutating func end(_ id: LiveQueryID, _ error: ParseError, _ news: inout LiveNews) {
        news.ended[id] = error
        end(id)
    }

    /// Ends a query because of an error in it.
    ///
    /// - Throws: the error, if it isn't about the query.
    private mutating func end(_ id: LiveQueryID, for error: any Error, _ news: inout LiveNews) throws {
        let problem = ParseError(error)
        if problem.status >= 500 { throw error }
        end(id, problem, &news)
    }

    // MARK: Other rights, other classes

    /// A query that must be read again, with its previous group.
    private struct Moved {
        let id: LiveQueryID
        let followed: Followed
        let group: LiveGroup
    }

    /// Takes queries out of their groups if their caller's rights or their classes changed.
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
                moving.formUnion(know(caller, as: try reader.identity(caller)))
            } catch {
                for id in followers[caller]?.queries ?? [] { try end(id, for: error, &news) }
            }
        }
        let outdated =
            reader.classes.version == classesVersion
            ? [] : Array(groups.keys).filter { groups[$0]?.isTheSame(in: reader.classes) == false }
        for key in outdated {
            for queries in (groups[key]?.audiences ?? [:]).values { moving.formUnion(queries) }
        }
        let moved = moving.sorted().compactMap { id in
            queries[id].flatMap { followed in
                groups[followed.group].map { Moved(id: id, followed: followed, group: $0) }
            }
        }
        for moved in moved { leave(moved.id, moved.followed) }
        for key in outdated { groups[key] = nil }
        return moved
    }

    /// The callers whose rights may have changed.
    private func otherCallers(_ changes: LiveChanges) -> [Caller] {
        let (sessions, roles) = (changes.classes[InternalClasses.session], changes.classes[InternalClasses.role])
        guard sessions != nil || roles != nil else { return [] }
        let ended = (sessions?.objects ?? [:]).filter { !$0.value.isInserted || $0.value.isDeleted }
        return followers.filter { _, follower in
            guard let session = follower.session else { return false }
            return roles != nil || sessions?.isUnknown == true || ended[KeyValue(.text(session.id))] != nil
        }.map(\.key)
    }

    /// Reads queries again. Objects that they see now and didn't before enter; those that they no longer see leave.
    private mutating func enter(
        _ moved: [Moved], _ changes: LiveChanges, _ news: inout LiveNews, _ telling: inout LiveTelling,
        _ reader: LiveReader
    ) throws {
        /// The objects that differ between two groups.
        var differing: [[LiveGroup.Key]: Set<KeyValue>] = [:]
        for moved in moved {
            do {
                guard let followed = try enter(moved.id, again: moved.followed, reader),
                    let group = groups[followed.group]
                else { continue }
                let objects = changes.classes[group.key.className]?.objects ?? [:]
                let keys: Set<KeyValue>
                let (audience, before) = (followed.audience, moved.followed.audience)
                if audience.rights == before.rights, audience.hidden == before.hidden {
                    let pair = [moved.group.key, group.key]
                    keys = differing[pair] ?? moved.group.differences(from: group, objects)
                    differing[pair] = keys
                } else {
                    keys = Set(moved.group.matched.keys).union(group.matched.keys)
                }
                try know(moved.group, reader)
                try know(group, reader)
                let events = try events(keys, of: moved.group, group, followed, moved.followed, objects, reader)
                try telling.add(events, of: group, audience, isShared: false, to: [moved.id]) {
                    try seeing(audience.rights, reader)
                }
            } catch {
                try end(moved.id, for: error, &news)
            }
        }
    }

    /// The events for a query that moved from one group to another.
    private func events(
        _ keys: Set<KeyValue>, of old: LiveGroup, _ new: LiveGroup, _ followed: Followed, _ before: Followed,
        _ objects: [KeyValue: LiveChanges.OfObject], _ reader: LiveReader
    ) throws -> [LiveEvent] {
        let (oldRights, newRights) = (before.audience.rights, followed.audience.rights)
        let showsTheSame = before.audience.hidden == followed.audience.hidden
        let steps = keys.map { key in
            (key, shows(old.matched[key], to: oldRights), shows(new.matched[key], to: newRights))
        }
        let existing = try reader.existing(steps.filter { $0.1 && !$0.2 }.map(\.0), of: new.key.className)
        // The read covers changes that will be told later, such as an insertion after the change of its class.
        let unknown = steps.filter { !$0.1 && $0.2 && old.matched[$0.0] == nil && objects[$0.0] == nil }.map(\.0)
        let created = try reader.created(unknown, of: new.key.className, after: old.readAt)
        return steps.compactMap { key, before, after in
            if before, after, old.matched[key] == new.matched[key], objects[key] == nil, showsTheSame { return nil }
            var change = objects[key] ?? .unknown(isInserted: created.contains(key))
            change.isDeleted = !after && !existing.contains(key)
            return LiveEvent(key, change, before: before, after: after, watch: followed.audience.watch)
        }
    }

    // MARK: Objects

    /// Finds the events of the groups that the changes affect.
    private mutating func look(
        _ changes: LiveChanges, _ news: inout LiveNews, _ telling: inout LiveTelling, _ reader: LiveReader
    ) throws {
        let (now, time) = (ContinuousClock.now, resumeTime)
        for (key, question) in questions(changes, reader) {
            let known = try key.rights.map { try seeing($0, reader) } ?? .master
            let start = ContinuousClock.now
            var past: [LiveGroup.Past] = []
            do {
                past = try reader.apart {
                    try groups[key]?.past(question, as: known, round: round, now, reader) ?? []
                }
                try checkTime(of: key, since: start)
            } catch {
                // For example, a regular expression takes too long with a new object. The other groups continue.
                past = []
                for queries in (groups[key]?.audiences ?? [:]).values {
                    for id in queries { try end(id, for: error, &news) }
                }
                groups[key] = nil
            }
            if past.isEmpty { continue }
            groups[key]?.remember(past, now: now, for: time)
            guard let group = groups[key] else { continue }
            for (audience, queries) in group.audiences {
                let events = try events(past, for: audience, reader)
                try telling.add(events, of: group, audience, to: queries) { try seeing(audience.rights, reader) }
            }
        }
    }

    /// The questions that the changes raise about the groups.
    private mutating func questions(
        _ changes: LiveChanges, _ reader: LiveReader
    ) -> [(key: LiveGroup.Key, question: LiveGroup.Question)] {
        var index = LiveIndex(changes, reader)
        var questions: [(key: LiveGroup.Key, question: LiveGroup.Question)] = []
        // In place: looking up each of a thousand groups takes longer than most of their answers.
        var place = groups.startIndex
        while place != groups.endIndex {
            if groups.values[place].idle == nil,
                let question = groups.values[place].question(changes, &index, at: reader.start)
            {
                questions.append((groups.keys[place], question))
            }
            groups.formIndex(after: &place)
        }
        return questions
    }

    /// Refuses conditions that took too long in two steps in a row: at each step all other queries would wait for them
    /// again. One slow step alone may be the database's or the machine's.
    private mutating func checkTime(of key: LiveGroup.Key, since start: ContinuousClock.Instant) throws(ParseError) {
        let limit = options.maximumLiveTime
        guard ContinuousClock.now - start > .seconds(limit) else {
            groups[key]?.slowSteps = 0
            return
        }
        groups[key]?.slowSteps += 1
        guard groups[key]?.slowSteps ?? 0 > 1 else { return }
        throw ParseError(
            .timeout,
            "evaluating the changes took longer than \(limit) seconds twice, and other live queries had to wait: make the conditions simpler, or fetch the objects from time to time"
        )
    }

    /// Ends the queries of the largest groups while all groups together hold too many objects.
    private mutating func narrow(_ news: inout LiveNews) {
        while followedObjects > options.maximumLiveObjects,
            let largest = groups.max(by: { $0.value.matched.count < $1.value.matched.count })?.key
        {
            let error = ParseError(
                .requestLimitExceeded,
                "all live queries together may follow \(options.maximumLiveObjects) objects, and more now meet the conditions: narrow them"
            )
            for id in (groups[largest]?.audiences ?? [:]).values.joined() { end(id, error, &news) }
            groups[largest] = nil
        }
    }
}
