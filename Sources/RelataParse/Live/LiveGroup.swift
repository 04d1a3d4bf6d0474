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

    /// Live queries whose events are the same: their callers have equal rights, and they show the same.
    struct Audience: Sendable {
        struct Key: Hashable, Sendable {
            let rights: LiveRights
            let selection: Selection
            let watch: Set<String>?

            /// - Parameter known: The caller: what is hidden from it, it can't watch either.
            init(_ query: LiveQuery, as known: KnownCaller) {
                rights = LiveRights(known)
                selection = query.selection
                let hidden = known.hiddenFields[query.className] ?? []
                watch = query.watch?.filter { !hidden.contains($0) && !$0.hasPrefix("_") }
            }
        }

        /// One of its callers.
        var known: KnownCaller
        var queries: Set<LiveQueryID> = []
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
    var plan: QueryPlan?
    /// With whose eyes.
    var access: KnownCaller
    /// The classes whose objects decide as well which objects meet the conditions.
    var others: Set<String> = []
    /// The classes that ``plan`` was made for.
    var classes: ClassSet
    var matched: [KeyValue: Seen] = [:]
    var audiences: [Audience.Key: Audience] = [:]
    private(set) var past: [Past] = []
    /// The first round of which ``past`` tells all.
    private(set) var firstRound: Int
    /// Since when nobody follows it.
    var idleSince: ContinuousClock.Instant?

    init(_ found: LiveReader.Found, as known: KnownCaller, round: Int) {
        (key, plan, others, classes, matched) = (found.key, found.plan, found.others, found.classes, found.matched)
        access = known
        // What the round did before the group was there is known to nobody.
        firstRound = round + 1
    }

    /// Whether all that its queries look at is in other classes as it was.
    func isTheSame(in others: ClassSet) -> Bool {
        if classes.version == others.version { return true }
        guard classes.permissions == others.permissions, classes.guarded == others.guarded else { return false }
        return self.others.union([key.className]).allSatisfy {
            classes.schema[$0]?.entity == others.schema[$0]?.entity && classes.options[$0] == others.options[$0]
        }
    }

    /// How much of the past is kept.
    private static let maximumPast = 1000

    /// Remembers what became of objects.
    mutating func remember(_ events: [Past], now: ContinuousClock.Instant, for time: Duration) {
        let old = past.prefix { now - $0.time > time }.count
        if let last = past.prefix(old).last { firstRound = max(firstRound, last.round + 1) }
        past.removeFirst(old)
        past += events
        guard past.count > Self.maximumPast, let last = past.dropLast(Self.maximumPast).last else { return }
        // All of a round or nothing of it.
        firstRound = last.round + 1
        past.removeAll { $0.round < firstRound }
    }

    /// Takes note of what callers of some rights see now.
    mutating func renew(_ known: KnownCaller, _ rights: LiveRights) {
        if key.rights == rights { access = known }
        for audience in audiences.keys where audience.rights == rights { audiences[audience]?.known = known }
    }

    /// Whether an object that meets the conditions is there for a caller.
    static func shows(_ seen: Seen, to rights: LiveRights, _ readers: [KeyValue: Set<String>]) -> Bool {
        guard let list = seen.list, !rights.isMaster else { return true }
        return readers[list].map { !$0.isDisjoint(with: rights.principals) } ?? false
    }
}

/// One of a client's live queries.
struct LiveQueryID: Hashable, Sendable {
    let client: UInt64
    let requestID: Int64
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
