import Foundation
import RelataCore

/// The rights of a caller. Callers with equal rights see the same objects and fields.
struct LiveRights: Hashable, Sendable {
    let isMaster: Bool
    let principals: Set<String>

    init(_ known: KnownCaller) {
        isMaster = known.isMaster
        principals = known.isMaster ? [] : known.principals
    }
}

/// The live queries with the same conditions, and the objects that meet them.
///
/// The objects are those of the last read of the database. The group compares them with those of the next read, so it
/// finds the objects that entered or left without knowing their earlier values.
struct LiveGroup: Sendable {
    /// The properties that distinguish groups.
    struct Key: Hashable, Sendable {
        let className: String
        let condition: String
        /// The rights under which the conditions are evaluated. `nil` if they read only the object itself: then all
        /// callers share the matching objects.
        let rights: LiveRights?
    }

    /// The remembered state of an object that meets the conditions.
    struct Seen: Hashable, Sendable {
        /// The object's update stamp, as a number.
        let stamp: Int
        /// The object's access list, if all callers share the group.
        let list: KeyValue?
    }

    /// The queries with the same events: their callers have equal rights, and their selections are equal.
    struct Audience: Hashable, Sendable {
        let rights: LiveRights
        /// The fields that are hidden from these callers.
        let hidden: Set<String>
        let selection: Selection
        let watch: Set<String>?

        /// - Parameters:
        ///   - watch: The properties whose changes are reported; `nil` for all.
        ///   - known: The caller.
        init(_ query: LiveQuery, watching watch: Set<String>?, as known: KnownCaller) {
            rights = LiveRights(known)
            selection = query.selection
            hidden = known.hiddenFields[query.className] ?? []
            self.watch = watch
        }
    }

    /// A past event of an object, kept for clients that reconnect after an interruption.
    struct Past: Sendable {
        let round: Int
        let time: ContinuousClock.Instant
        let key: KeyValue
        let before: Seen?
        let after: Seen?
        let change: LiveChanges.OfObject
    }

    let key: Key
    /// The query; `nil` while the class doesn't exist.
    let plan: QueryPlan?
    /// The other classes whose objects affect the conditions.
    let others: Set<String>
    /// The classes for which ``plan`` was made.
    private var classes: ClassSet
    /// A text that an object must contain; `nil` if there is none by which to find objects.
    private let term: LiveIndex.Term?
    /// The statement for changed objects. A change of these classes makes a new group.
    private let statement = LiveStatement()
    /// Whether all callers who see an object see the same content.
    let sharesContent: Bool
    private(set) var matched: [KeyValue: Seen]
    /// A moment before ``matched`` was read: objects that were created by then are no new ones.
    private(set) var readAt: Date
    var audiences: [Audience: Set<LiveQueryID>] = [:]
    /// The number of steps in a row in which the conditions took too long.
    var slowSteps = 0
    private(set) var past: [Past] = []
    /// The first round since which ``past`` is complete.
    private(set) var firstRound: Int
    /// The time since which no query follows the group, and the last round before. An idle group isn't read.
    private(set) var idle: (since: ContinuousClock.Instant, round: Int)?

    init(_ found: LiveReader.Found, round: Int, at moment: Date) {
        readAt = moment
        term = found.term
        (key, plan, others, classes, matched) = (found.key, found.plan, found.others, found.classes, found.matched)
        sharesContent = found.sharesContent
        // The events of the current round before the group existed are unknown.
        firstRound = round + 1
    }

    /// Notes whether any query follows the group.
    mutating func rest(after round: Int) {
        if !audiences.isEmpty {
            idle = nil
        } else if idle == nil {
            idle = (.now, round)
        }
    }

    /// Whether all that the group's queries read is the same in other classes.
    mutating func isTheSame(in others: ClassSet) -> Bool {
        if classes.version == others.version { return true }
        guard classes.permissions == others.permissions, classes.guarded == others.guarded,
            self.others.union([key.className]).allSatisfy({
                classes.schema[$0]?.entity == others.schema[$0]?.entity && classes.options[$0] == others.options[$0]
            })
        else { return false }
        classes = others
        return true
    }

    /// The maximum number of past events.
    private static let maximumPast = 1000

    // MARK: Events of the group's objects

    /// A question about the group's objects.
    struct Question {
        let changed: [KeyValue: LiveChanges.OfObject]
        /// Whether unchanged objects may have started or stopped meeting the conditions, too.
        let isAboutAll: Bool
        /// The moment before which objects were read that aren't new.
        let since: Date
    }

    /// The question that changes raise; `nil` if they don't affect the group.
    ///
    /// - Parameters:
    ///   - index: The changed objects by their texts.
    ///   - moment: A moment before the read that answers the question.
    mutating func question(_ changes: LiveChanges, _ index: inout LiveIndex, at moment: Date) -> Question? {
        let own = changes.classes[key.className]
        let isAboutAll = own?.isUnknown == true || others.contains { changes.classes[$0] != nil }
        guard own != nil || isAboutAll else { return nil }
        let since = readAt
        readAt = moment
        if !isAboutAll, let term,
            let candidates = index.candidates(term, key.className, before: matched)
        {
            return candidates.isEmpty ? nil : Question(changed: candidates, isAboutAll: false, since: since)
        }
        return Question(changed: own?.objects ?? [:], isAboutAll: isAboutAll, since: since)
    }

    /// The events of the group's objects.
    func past(
        _ question: Question, as known: KnownCaller, round: Int, _ time: ContinuousClock.Instant, _ reader: LiveReader
    ) throws -> [Past] {
        guard let plan else { return [] }
        let keys = question.isAboutAll ? nil : Array(question.changed.keys)
        let found = try reader.matching(plan, of: key, as: known, among: keys, statement)
        var candidates = concerned(question.changed, found)
        if question.isAboutAll {
            let others = found.filter { matched[$0.key] != $0.value && candidates[$0.key] == nil }.map(\.key)
            let new = try reader.created(others.filter { matched[$0] == nil }, of: plan.entity, after: question.since)
            for key in others { candidates[key] = .unknown(isInserted: new.contains(key)) }
            for key in matched.keys where found[key] == nil && candidates[key] == nil {
                candidates[key] = .unknown()
            }
        }
        // The read covers changes that will be told later, such as the deletion of an object after its change.
        let gone = candidates.filter { !$0.value.isDeleted && matched[$0.key] != nil && found[$0.key] == nil }
        let existing = try reader.existing(Array(gone.keys), of: plan.entity)
        for key in gone.keys where !existing.contains(key) { candidates[key]?.isDeleted = true }
        return candidates.sorted { $0.value.order < $1.value.order }.compactMap { key, change in
            let (before, after) = (matched[key], found[key])
            if before == nil, after == nil { return nil }
            // The query began after the insertion.
            if change.isInserted, change.fields == [], before == after { return nil }
            return Past(round: round, time: time, key: key, before: before, after: after, change: change)
        }
    }

    /// The objects whose state differs from that in another group, or that were changed.
    func differences(from other: LiveGroup, _ changed: [KeyValue: LiveChanges.OfObject]) -> Set<KeyValue> {
        var keys = Set(matched.keys.filter { matched[$0] != other.matched[$0] })
        keys.formUnion(other.matched.keys.filter { matched[$0] == nil })
        keys.formUnion(changed.keys.filter { matched[$0] != nil || other.matched[$0] != nil })
        return keys
    }

    /// The changes of objects that meet the conditions, or met them before. Most changes affect few of many groups.
    private func concerned(
        _ changed: [KeyValue: LiveChanges.OfObject], _ found: [KeyValue: Seen]
    ) -> [KeyValue: LiveChanges.OfObject] {
        var concerned: [KeyValue: LiveChanges.OfObject] = [:]
        func add(_ keys: some Sequence<KeyValue>, in others: [KeyValue: some Any]) {
            for key in keys where others[key] != nil { concerned[key] = changed[key] }
        }
        add(found.keys, in: changed)
        if changed.count < matched.count { add(changed.keys, in: matched) } else { add(matched.keys, in: changed) }
        return concerned
    }

    /// Combines the events of each object over several rounds into one.
    static func combined(_ past: [Past]) -> [Past] {
        var combined: [KeyValue: Past] = [:]
        for step in past {
            guard let first = combined[step.key] else {
                combined[step.key] = step
                continue
            }
            var change = step.change
            change.isInserted = first.change.isInserted || step.change.isInserted
            change.fields = first.change.fields.flatMap { fields in step.change.fields.map(fields.union) }
            combined[step.key] = Past(
                round: step.round, time: step.time, key: step.key, before: first.before, after: step.after,
                change: change)
        }
        return combined.values.map { step in
            guard step.before == nil, step.after == nil else { return step }
            // An interrupted client may have received the object in between.
            let between = past.last { $0.key == step.key && $0.after != nil }?.after
            return Past(
                round: step.round, time: step.time, key: step.key, before: between, after: nil, change: step.change)
        }.sorted { ($0.round, $0.change.order) < ($1.round, $1.change.order) }
    }

    /// Applies events to the matching objects, and keeps them for a while.
    mutating func remember(_ events: [Past], now: ContinuousClock.Instant, for time: Duration) {
        for step in events { matched[step.key] = step.after }
        let old = past.prefix { now - $0.time > time }.count
        if let last = past.prefix(old).last { firstRound = max(firstRound, last.round + 1) }
        past.removeFirst(old)
        past += events
        guard past.count > Self.maximumPast, let last = past.dropLast(Self.maximumPast).last else { return }
        // A round is kept completely or not at all.
        firstRound = last.round + 1
        past.removeAll { $0.round < firstRound }
    }

    /// Whether a caller sees an object that meets the conditions.
    static func shows(_ seen: Seen, to rights: LiveRights, _ readers: [KeyValue: Set<String>]) -> Bool {
        guard let list = seen.list, !rights.isMaster else { return true }
        return readers[list].map { !$0.isDisjoint(with: rights.principals) } ?? false
    }
}

/// One of a client's live queries.
struct LiveQueryID: Hashable, Comparable, Sendable {
    let client: UInt64
    let requestID: Int64

    static func < (one: Self, other: Self) -> Bool {
        (one.client, one.requestID) < (other.client, other.requestID)
    }
}

/// An event of an object, as a live query sees it.
struct LiveEvent: Sendable {
    typealias Kind = CloudEvent.Kind

    let kind: Kind
    let key: KeyValue

    /// - Returns: `nil` if the query doesn't see the event.
    init?(
        _ key: KeyValue, _ change: LiveChanges.OfObject, before: Bool, after: Bool, watch: Set<String>? = nil
    ) {
        self.key = key
        switch (before, after) {
        case (false, false): return nil
        case (false, true): kind = change.isInserted ? .create : .enter
        case (true, false): kind = change.isDeleted ? .delete : .leave
        case (true, true):
            if let watch, let fields = change.fields, watch.isDisjoint(with: fields) { return nil }
            kind = .update
        }
    }
}
