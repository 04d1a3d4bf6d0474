import Foundation
import RelataCore

/// What a caller's eyes have in common with those of others: who have equal rights see the same.
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
/// Which objects those are is known from the last time that the database was asked, so that an object is known to have
/// entered or left without what it was before.
struct LiveGroup: Sendable {
    /// What tells one group from another.
    struct Key: Hashable, Sendable {
        let className: String
        let condition: String
        /// Whose eyes the conditions see with; `nil` where they look at nothing but the object itself, so that all callers
        /// share what meets them.
        let rights: LiveRights?
    }

    /// What is remembered of an object that meets the conditions.
    struct Seen: Hashable, Sendable {
        /// What it says of when it was changed.
        let stamp: Int
        /// Its access list, where all callers share the group.
        let list: KeyValue?
    }

    /// Those whose events are the same: their rights are equal, and their queries show the same.
    struct Audience: Hashable, Sendable {
        let rights: LiveRights
        /// The fields that they don't get.
        let hidden: Set<String>
        let selection: Selection
        let watch: Set<String>?

        /// - Parameter known: The caller: what is hidden from it, it can't watch either.
        init(_ query: LiveQuery, as known: KnownCaller) {
            rights = LiveRights(known)
            selection = query.selection
            let hidden = known.hiddenFields[query.className] ?? []
            self.hidden = hidden
            let unwatched = known.fieldsHidden(inSomeOf: query.className)
            watch = query.watch?.filter { !unwatched.contains($0) && !$0.hasPrefix("_") }
        }
    }

    /// Something that became of an object, for those who come back after an interruption.
    struct Past: Sendable {
        let round: Int
        let time: ContinuousClock.Instant
        let key: KeyValue
        let before: Seen?
        let after: Seen?
        let change: LiveChanges.OfObject
    }

    let key: Key
    /// What is asked; `nil` while there is no such class.
    let plan: QueryPlan?
    /// The classes whose objects decide as well which objects meet the conditions.
    let others: Set<String>
    /// The classes that ``plan`` was made for.
    private var classes: ClassSet
    /// Whether all who see an object see the same of it.
    let sharesContent: Bool
    private(set) var matched: [KeyValue: Seen]
    var audiences: [Audience: Set<LiveQueryID>] = [:]
    private(set) var past: [Past] = []
    /// The first round of which ``past`` tells all.
    private(set) var firstRound: Int
    /// Since when nobody follows it, and after which round: nothing is read for it from then on.
    private(set) var idle: (since: ContinuousClock.Instant, round: Int)?

    init(_ found: LiveReader.Found, round: Int) {
        (key, plan, others, classes, matched) = (found.key, found.plan, found.others, found.classes, found.matched)
        sharesContent = found.sharesContent
        // What the round did before the group was there is known to nobody.
        firstRound = round + 1
    }

    /// Takes note of whether somebody follows it.
    mutating func rest(after round: Int) {
        if !audiences.isEmpty {
            idle = nil
        } else if idle == nil {
            idle = (.now, round)
        }
    }

    /// Whether all that its queries look at is in other classes as it was.
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

    /// How much of the past is kept.
    private static let maximumPast = 1000

    // MARK: What becomes of its objects

    /// What is asked about its objects.
    struct Question {
        let changed: [KeyValue: LiveChanges.OfObject]
        /// Whether other objects may have begun to meet the conditions, or ceased to.
        let isAboutAll: Bool
    }

    /// What changes have one ask; `nil` where they don't concern the group.
    func question(_ changes: LiveChanges) -> Question? {
        let own = changes.classes[key.className]
        let isAboutAll = own?.isUnknown == true || others.contains { changes.classes[$0] != nil }
        guard own != nil || isAboutAll else { return nil }
        return Question(changed: own?.objects ?? [:], isAboutAll: isAboutAll)
    }

    /// What became of its objects.
    func past(
        _ question: Question, as known: KnownCaller, round: Int, _ time: ContinuousClock.Instant, _ reader: LiveReader
    ) throws -> [Past] {
        guard let plan else { return [] }
        let keys = question.isAboutAll ? nil : Array(question.changed.keys)
        let found = try reader.matching(plan, of: key, as: known, among: keys)
        var candidates = concerned(question.changed, found)
        if question.isAboutAll {
            for (key, seen) in found where matched[key] != seen { candidates[key] = candidates[key] ?? .unknown }
            let gone = matched.keys.filter { found[$0] == nil && candidates[$0] == nil }
            let existing = try reader.existing(gone, of: plan.entity)
            for key in gone {
                var change = LiveChanges.OfObject.unknown
                change.isDeleted = !existing.contains(key)
                candidates[key] = change
            }
        }
        return candidates.sorted { $0.value.order < $1.value.order }.compactMap { key, change in
            let (before, after) = (matched[key], found[key])
            if before == nil, after == nil { return nil }
            // The query began when it was there already.
            if change.isInserted, change.fields == [], before == after { return nil }
            return Past(round: round, time: time, key: key, before: before, after: after, change: change)
        }
    }

    /// The objects that are something else in another group, or that were changed.
    func differences(from other: LiveGroup, _ changed: [KeyValue: LiveChanges.OfObject]) -> Set<KeyValue> {
        var keys = Set(matched.keys.filter { matched[$0] != other.matched[$0] })
        keys.formUnion(other.matched.keys.filter { matched[$0] == nil })
        keys.formUnion(changed.keys.filter { matched[$0] != nil || other.matched[$0] != nil })
        return keys
    }

    /// The changes of objects that meet the conditions, or did. Most changes concern few of many groups.
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

    /// What became of objects over several rounds, as one step each.
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
            // A client that was interrupted may have been told of it.
            let between = past.last { $0.key == step.key && $0.after != nil }?.after
            return Past(
                round: step.round, time: step.time, key: step.key, before: between, after: nil, change: step.change)
        }.sorted { ($0.round, $0.change.order) < ($1.round, $1.change.order) }
    }

    /// Takes note of what became of objects, and remembers it for a while.
    mutating func remember(_ events: [Past], now: ContinuousClock.Instant, for time: Duration) {
        for step in events { matched[step.key] = step.after }
        let old = past.prefix { now - $0.time > time }.count
        if let last = past.prefix(old).last { firstRound = max(firstRound, last.round + 1) }
        past.removeFirst(old)
        past += events
        guard past.count > Self.maximumPast, let last = past.dropLast(Self.maximumPast).last else { return }
        // All of a round or nothing of it.
        firstRound = last.round + 1
        past.removeAll { $0.round < firstRound }
    }

    /// Whether an object that meets the conditions is there for a caller.
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

/// What happened to an object, as a live query sees it.
struct LiveEvent: Sendable {
    /// Parse's own kinds.
    enum Kind: String, Sendable {
        /// It is new, and meets the conditions.
        case create
        /// It was there, and meets the conditions now.
        case enter
        /// It was changed, and meets the conditions as before.
        case update
        /// It doesn't meet the conditions any more.
        case leave
        case delete
    }

    let kind: Kind
    let key: KeyValue

    /// - Returns: `nil` where the query sees nothing of it.
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
