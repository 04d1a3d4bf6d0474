import Foundation
import RelataCore

/// The state of all live queries: their callers, and the objects that met the conditions in the last read of the store.
///
/// It changes only during a read of one state of the store, so all its parts belong to the same state.
struct LiveState: Sendable {
    /// A live query and its group.
    struct Followed: Sendable {
        let query: LiveQuery
        let caller: Caller
        let group: LiveGroup.Key
        let audience: LiveGroup.Audience
    }

    /// A caller with live queries.
    struct Follower: Sendable {
        var rights: LiveRights
        var session: KnownCaller.SignedIn?
        var queries: Set<LiveQueryID> = []
    }

    /// The access of callers with the same rights.
    private struct Eyes: Sendable {
        let identity: KnownCaller
        /// `nil` if it must be read again.
        var known: KnownCaller?
        /// The version of the classes from which it was read.
        var version: Int64 = 0
    }

    let options: ParseService.Options
    /// Distinguishes the rounds of this process from those of others.
    private let epoch = String(UInt64.random(in: 1 ... .max), radix: 36)
    /// The number of the last round. A step begins a round, and so does a new group between two steps.
    var round = 0
    /// The version of the classes in the last step, which all groups have seen.
    var classesVersion: Int64?
    /// The last round whose events all groups contain.
    var settledRound = 0
    private(set) var queries: [LiveQueryID: Followed] = [:]
    var groups: [LiveGroup.Key: LiveGroup] = [:]
    var followers: [Caller: Follower] = [:]
    private var eyes: [LiveRights: Eyes] = [:]
    /// The users and roles that each known access list allows to read. An access list never changes.
    private var readers: [KeyValue: Set<String>] = [:]
    /// The changes that were committed while some groups were idle, and the first round since which they are complete.
    private var log: [(round: Int, time: ContinuousClock.Instant, changes: LiveChanges)] = []
    private var firstChanges = 0
    /// The error that interrupted a step. The state is unusable then.
    var failure: (any Error)?

    init(options: ParseService.Options) { self.options = options }

    // MARK: Queries

    /// Begins a live query, or replaces the one with its number. Call ``catchUp(_:_:)`` first and deliver its news.
    ///
    /// - Throws: ``ParseError`` for conditions that can't be followed, and for classes that the caller may not read.
    ///   Then the state of the queries is unchanged.
    mutating func follow(
        _ id: LiveQueryID, _ query: LiveQuery, as caller: Caller, _ reader: LiveReader
    ) throws -> LiveStart {
        let identity = try reader.identity(caller)
        let rights = LiveRights(identity)
        // There are many access lists, and callers who share a group don't need theirs.
        defer { if queries[id]?.group.rights == nil { eyes[rights]?.known = nil } }
        let place = try place(of: query, as: identity, reader)
        let here = position(round, rights)
        var start = LiveStart(position: here)
        if let after = query.after.flatMap(LivePosition.init), isKnown(after, rights, place.group),
            let missed = try missed(since: after, place, reader)
        {
            // Until the missed events are sent, the client's position is the old one.
            if !missed.isEmpty { start.position = after }
            start.missed = LiveNews.OfQuery(
                events: missed, from: after, to: here, mask: reader.mask(of: query, as: identity))
        } else if query.wantsObjects {
            start.objects = try objects(in: place, reader)
        }
        end(id)
        enter(id, query, caller, identity, place)
        return start
    }

    /// The group, audience and caller of a query that begins.
    private struct Place {
        let group: LiveGroup
        let audience: LiveGroup.Audience
        let known: KnownCaller
    }

    /// Finds or makes the group of a query. A new group isn't added to the others until a query enters it.
    private mutating func place(
        of query: LiveQuery, as identity: KnownCaller, _ reader: LiveReader
    ) throws -> Place {
        let known = try seeing(identity, reader)
        let found = try reader.group(of: query.className, query.condition, as: known)
        let watch = try reader.watched(by: query, as: known)
        try wake(found.key, known, reader)
        // Earlier events of a new group are unknown, so it needs a new round. A step has begun one already.
        if groups[found.key] == nil, settledRound == round {
            round += 1
            settledRound = round
        }
        let group = try groups[found.key] ?? LiveGroup(filled(found, as: known, reader), round: round, at: reader.start)
        return Place(group: group, audience: LiveGroup.Audience(query, watching: watch, as: known), known: known)
    }

    /// Finds the events of the other queries of the same class, if the class has changed.
    mutating func catchUp(_ query: LiveQuery, _ reader: LiveReader) throws -> LiveNews {
        let groups = groups.keys.filter { $0.className == query.className }
        guard groups.contains(where: { self.groups[$0]?.isTheSame(in: reader.classes) == false }) else {
            return LiveNews()
        }
        // Their rights must be as new as the objects that they get.
        return try step(LiveChanges(unknownOf: [InternalClasses.role, InternalClasses.session]), reader)
    }

    /// The events that a client missed; `nil` if they are too large to be sent at once.
    private mutating func missed(
        since after: LivePosition, _ place: Place, _ reader: LiveReader
    ) throws -> [LiveNews.Told]? {
        let past = LiveGroup.combined(place.group.past.filter { $0.round > after.round })
        var telling = LiveTelling()
        telling.add(
            try events(past, for: place.audience, reader), of: place.group, place.audience, isShared: false, to: [],
            as: { place.known })
        let missed = try telling.told(reader).first?.events.get() ?? []
        return missed.reduce(0) { $0 + $1.object.utf8.count } > options.maximumLiveBacklog ? nil : missed
    }

    /// Finds the events of a group since it became idle.
    private mutating func wake(_ key: LiveGroup.Key, _ known: KnownCaller, _ reader: LiveReader) throws {
        guard let idle = groups[key]?.idle else { return }
        guard groups[key]?.isTheSame(in: reader.classes) == true, firstChanges <= idle.round + 1 else {
            groups[key] = nil
            return
        }
        var changes = LiveChanges([])
        for entry in log where entry.round > idle.round { changes.add(entry.changes) }
        var index = LiveIndex(changes, reader)
        guard let question = groups[key]?.question(changes, &index, at: reader.start) else { return }
        let (now, time) = (ContinuousClock.now, resumeTime)
        do {
            let own = key.rights == nil ? KnownCaller.master : known
            let past = try reader.apart { try groups[key]?.past(question, as: own, round: round, now, reader) ?? [] }
            groups[key]?.remember(past, now: now, for: time)
        } catch {
            // The group is built again.
            groups[key] = nil
        }
    }

    /// Keeps committed changes for idle groups.
    mutating func keep(_ changes: LiveChanges) {
        guard groups.values.contains(where: { $0.idle != nil }) else {
            log = []
            firstChanges = round + 1
            return
        }
        let now = ContinuousClock.now
        log.append((round, now, changes))
        forgetChanges(now)
    }

    private mutating func forgetChanges(_ now: ContinuousClock.Instant) {
        var objects = log.reduce(0) { $0 + $1.changes.objectCount }
        var old = 0
        while old < log.count, now - log[old].time > resumeTime || objects > Self.maximumKept {
            objects -= log[old].changes.objectCount
            firstChanges = log[old].round + 1
            old += 1
        }
        log.removeFirst(old)
    }

    /// The maximum number of changed objects that are kept for idle groups.
    private static let maximumKept = 10_000

    /// Whether all events of a group since a client's position are known.
    private func isKnown(_ position: LivePosition, _ rights: LiveRights, _ group: LiveGroup) -> Bool {
        guard position.epoch == epoch, position.rights == rights.hashValue else { return false }
        return position.round <= round && group.firstRound <= position.round + 1
    }

    private mutating func objects(in place: Place, _ reader: LiveReader) throws -> [String] {
        try know(place.group, reader)
        let seen = place.group.matched.filter { shows($0.value, to: place.audience.rights) }.keys.sorted {
            $0.description < $1.description
        }
        // The access to the objects was read earlier than their content.
        let content = LiveReader.Content(place.group, place.audience, isShared: false)
        let shown = try reader.objects(seen, content, as: place.known)
        let size = shown.values.reduce(0) { $0 + $1.utf8.count + 1 }
        guard size <= options.maximumLiveBacklog else {
            throw ParseError(
                .requestLimitExceeded,
                "the results would take \(size) bytes, and at most \(options.maximumLiveBacklog) are sent to a client at once: fetch them instead, or ask for fewer keys"
            )
        }
        return seen.compactMap { shown[$0] }
    }

    private func filled(
        _ found: LiveReader.Found, as known: KnownCaller, _ reader: LiveReader
    ) throws -> LiveReader.Found {
        let others = followedObjects
        guard let filled = try reader.filled(found, as: known, limit: options.maximumLiveObjects - others) else {
            throw ParseError(
                others == 0 ? .invalidQuery : .requestLimitExceeded,
                "all live queries together may follow \(options.maximumLiveObjects) objects, and this one would exceed that: narrow its conditions"
            )
        }
        return filled
    }

    /// The number of remembered objects of all groups.
    var followedObjects: Int { groups.values.reduce(0) { $0 + $1.matched.count } }

    private mutating func enter(
        _ id: LiveQueryID, _ query: LiveQuery, _ caller: Caller, _ identity: KnownCaller, _ place: Place
    ) {
        let key = place.group.key
        if groups[key] == nil { groups[key] = place.group }
        groups[key]?.audiences[place.audience, default: []].insert(id)
        groups[key]?.rest(after: settledRound)
        queries[id] = Followed(query: query, caller: caller, group: key, audience: place.audience)
        // An existing follower keeps its rights until ``step(_:_:)`` reads them, and its other queries, again.
        let follower = Follower(rights: LiveRights(identity), session: identity.session)
        followers[caller, default: follower].queries.insert(id)
    }

    /// Puts a query that left its group into the group that its conditions and rights belong to now.
    ///
    /// - Throws: as ``follow(_:_:as:_:)``.
    mutating func enter(_ id: LiveQueryID, again followed: Followed, _ reader: LiveReader) throws -> Followed? {
        guard let follower = followers[followed.caller] else { return nil }
        guard let identity = eyes[follower.rights]?.identity else { throw LiveStateIsBroken() }
        enter(id, followed.query, followed.caller, identity, try place(of: followed.query, as: identity, reader))
        return queries[id]
    }

    /// Ends a live query.
    mutating func end(_ id: LiveQueryID) {
        guard let followed = queries.removeValue(forKey: id) else { return }
        followers[followed.caller]?.queries.remove(id)
        if followers[followed.caller]?.queries.isEmpty == true { followers[followed.caller] = nil }
        leave(id, followed)
    }

    /// Removes a query from its group.
    mutating func leave(_ id: LiveQueryID, _ followed: Followed) {
        groups[followed.group]?.audiences[followed.audience]?.remove(id)
        if groups[followed.group]?.audiences[followed.audience]?.isEmpty == true {
            groups[followed.group]?.audiences[followed.audience] = nil
        }
        groups[followed.group]?.rest(after: settledRound)
    }

    /// Removes groups that were idle for too long, and data that no query uses.
    ///
    /// - Returns: Whether there are still idle groups.
    mutating func sweep() -> Bool {
        let now = ContinuousClock.now
        groups = groups.filter { $0.value.idle.map { now - $0.since < resumeTime } ?? true }
        forgetChanges(now)
        let used = Set(
            followers.values.map(\.rights) + groups.keys.compactMap(\.rights)
                + groups.values.flatMap { $0.audiences.keys.map(\.rights) })
        eyes = eyes.filter { used.contains($0.key) }
        if groups.isEmpty { readers = [:] }
        return groups.values.contains { $0.idle != nil }
    }

    /// The time that events are kept for clients that reconnect.
    var resumeTime: Duration { .seconds(options.liveResumeTime) }

    // MARK: Access

    func position(_ round: Int, _ rights: LiveRights) -> LivePosition {
        LivePosition(epoch: epoch, round: round, rights: rights.hashValue)
    }

    /// A caller with its access.
    private mutating func seeing(_ identity: KnownCaller, _ reader: LiveReader) throws -> KnownCaller {
        let rights = LiveRights(identity)
        if let there = eyes[rights], there.version == reader.classes.version, let known = there.known { return known }
        let known = try reader.seeing(identity)
        eyes[rights] = Eyes(identity: identity, known: known, version: reader.classes.version)
        return known
    }

    /// The mask of a query's caller for hooks of events; `nil` without hooks.
    func mask(of followed: Followed, _ reader: LiveReader) throws -> LiveMask? {
        guard let identity = eyes[followed.audience.rights]?.identity else { throw LiveStateIsBroken() }
        return reader.mask(of: followed.query, as: identity)
    }

    /// The access of callers with these rights.
    mutating func seeing(_ rights: LiveRights, _ reader: LiveReader) throws -> KnownCaller {
        guard let identity = eyes[rights]?.identity else { throw LiveStateIsBroken() }
        return try seeing(identity, reader)
    }

    /// Sets the identity of a caller.
    ///
    /// - Returns: The caller's queries that are still in groups or audiences of other rights.
    mutating func know(_ caller: Caller, as identity: KnownCaller) -> [LiveQueryID] {
        let rights = LiveRights(identity)
        followers[caller]?.session = identity.session
        followers[caller]?.rights = rights
        if eyes[rights] == nil { eyes[rights] = Eyes(identity: identity) }
        return (followers[caller]?.queries ?? []).filter { queries[$0]?.audience.rights != rights }
    }

    /// Forgets the access of callers who are named by new access lists; of all callers if `principals` is `nil`.
    mutating func readAnew(_ principals: Set<String>?) {
        for rights in eyes.keys where principals?.isDisjoint(with: rights.principals) != true {
            eyes[rights]?.known = nil
        }
    }

    /// Whether a caller sees an object that meets the conditions. The object's access list must be known.
    func shows(_ seen: LiveGroup.Seen?, to rights: LiveRights) -> Bool {
        seen.map { LiveGroup.shows($0, to: rights, readers) } ?? false
    }

    /// Reads who may read the objects of a group.
    mutating func know(_ group: LiveGroup, _ reader: LiveReader) throws {
        try know(Set(group.matched.values.compactMap(\.list)), reader)
    }

    /// An audience's events from those of the objects.
    mutating func events(
        _ past: [LiveGroup.Past], for audience: LiveGroup.Audience, _ reader: LiveReader
    ) throws -> [LiveEvent] {
        try know(Set(past.flatMap { [$0.before?.list, $0.after?.list].compactMap(\.self) }), reader)
        let rights = audience.rights
        return past.compactMap { past in
            LiveEvent(
                past.key, past.change, before: shows(past.before, to: rights), after: shows(past.after, to: rights),
                watch: audience.watch)
        }
    }

    private static let maximumReaders = 100_000

    /// Forgets the readers of access lists if there are very many.
    mutating func forgetReaders() { if readers.count > Self.maximumReaders { readers = [:] } }

    /// Reads who may read by these access lists, unless they are known.
    private mutating func know(_ lists: Set<KeyValue>, _ reader: LiveReader) throws {
        let unknown = lists.filter { readers[$0] == nil }
        if !unknown.isEmpty { readers.merge(try reader.readers(of: unknown)) { _, new in new } }
    }
}

/// A value is missing that the state must contain.
struct LiveStateIsBroken: Error {}
