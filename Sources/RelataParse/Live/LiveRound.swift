import RelataCore

/// What became of the objects of live queries by some transactions: found out from one state of the store.
struct LiveRound: Sendable {
    /// A group, and what is asked of it.
    struct Question: Sendable {
        var group: LiveGroup
        let changed: [KeyValue: LiveChanges.OfObject]
        /// Whether other objects may have begun to meet the conditions, or ceased to.
        let isAboutAll: Bool
    }

    /// What became of a group.
    struct Answer: Sendable {
        let key: LiveGroup.Key
        /// Whether the classes are others now, so that its queries must be read anew.
        var isOutdated = false
        var past: [LiveGroup.Past] = []
        var told: [LiveGroup.Audience.Key: [Told]] = [:]
    }

    /// An event, and the object that it shows.
    struct Told: Sendable {
        let kind: LiveEvent.Kind
        let object: String
    }

    let number: Int
    let time: ContinuousClock.Instant
    /// Who may read by the lists that are known.
    private(set) var readers: [KeyValue: Set<String>]

    init(_ number: Int, _ time: ContinuousClock.Instant, readers: [KeyValue: Set<String>]) {
        (self.number, self.time, self.readers) = (number, time, readers)
    }

    /// Answers questions.
    mutating func answers(_ questions: [Question], _ reader: LiveReader) throws -> [Answer] {
        var answers: [Answer] = []
        for question in questions {
            let group = question.group
            var answer = Answer(key: group.key)
            if !group.isTheSame(in: reader.classes) {
                answer.isOutdated = true
            } else if let plan = group.plan {
                answer.past = try past(question, plan, reader)
                try know(answer.past, reader)
            }
            answers.append(answer)
        }
        var wanted = Wanted()
        for (index, question) in questions.enumerated() {
            for (key, audience) in question.group.audiences {
                let events = events(answers[index].past, for: key)
                if !events.isEmpty { wanted.add(events, of: question.group, key, audience) }
            }
        }
        let objects = try wanted.objects(reader)
        for (index, question) in questions.enumerated() {
            for (key, events) in wanted.events[question.group.key] ?? [:] {
                answers[index].told[key.audience] = events.compactMap { event in
                    told(event, objects[key.content(event)]?[event.key], question.group.key.className, reader)
                }
            }
        }
        return answers
    }

    /// The objects of a group that a caller sees.
    mutating func seen(
        _ group: LiveGroup, by rights: LiveRights, _ reader: LiveReader
    ) throws -> [KeyValue: LiveGroup.Seen] {
        try know(Set(group.matched.values.compactMap(\.list)), reader)
        return group.matched.filter { LiveGroup.shows($0.value, to: rights, readers) }
    }

    /// Finds out who may read what became something else.
    mutating func know(_ past: [LiveGroup.Past], _ reader: LiveReader) throws {
        try know(Set(past.flatMap { [$0.before?.list, $0.after?.list].compactMap(\.self) }), reader)
    }

    private mutating func know(_ lists: Set<KeyValue>, _ reader: LiveReader) throws {
        let unknown = lists.filter { readers[$0] == nil }
        if !unknown.isEmpty { readers.merge(try reader.readers(of: unknown)) { _, new in new } }
    }

    /// Events with their objects, as one caller sees them.
    func told(
        _ events: [LiveEvent], _ content: LiveReader.Content, as known: KnownCaller, _ reader: LiveReader
    ) throws -> [Told] {
        let objects = try reader.objects(events.filter { $0.kind != .delete }.map(\.key), content, as: known)
        return events.compactMap { told($0, objects[$0.key], content.className, reader) }
    }

    /// An event with its object; `nil` where the object isn't seen after all.
    private func told(_ event: LiveEvent, _ object: String?, _ className: String, _ reader: LiveReader) -> Told? {
        if let object { return Told(kind: event.kind, object: object) }
        guard event.kind == .leave || event.kind == .delete else { return nil }
        return Told(kind: event.kind, object: reader.name(event.key, of: className))
    }

    /// What a query is told that sees other objects than before.
    ///
    /// - Parameters:
    ///   - old: The group that it was in, and who saw it so.
    ///   - group: The group that it is in, with its audience and a caller.
    mutating func difference(
        from old: LiveGroup, seenBy rights: LiveRights, to group: LiveGroup, _ audience: LiveGroup.Audience.Key,
        as known: KnownCaller, _ changes: LiveChanges, _ reader: LiveReader
    ) throws -> [Told] {
        let (before, after) = (try seen(old, by: rights, reader), try seen(group, by: audience.rights, reader))
        let gone = before.keys.filter { after[$0] == nil }
        let existing = try reader.existing(gone, of: group.key.className)
        let changed = after.filter { before[$0.key]?.stamp != $0.value.stamp }.keys
        let events = (gone + changed).compactMap { key in
            var change = changes.classes[group.key.className]?.objects[key] ?? .unknown
            change.isDeleted = after[key] == nil && !existing.contains(key)
            return LiveEvent(
                key, change, before: before[key] != nil, after: after[key] != nil, watch: audience.watch)
        }
        let content = LiveReader.Content(group.key.className, audience, known, isShared: false)
        return try told(events, content, as: known, reader)
    }

    private func past(
        _ question: Question, _ plan: QueryPlan, _ reader: LiveReader
    ) throws -> [LiveGroup.Past] {
        let group = question.group
        let keys = question.isAboutAll ? nil : Array(question.changed.keys)
        let found = try reader.matching(plan, of: group.key, as: group.access, among: keys)
        var candidates = question.changed
        if question.isAboutAll {
            for (key, seen) in found where group.matched[key] != seen {
                candidates[key] = candidates[key] ?? .unknown
            }
            let gone = group.matched.keys.filter { found[$0] == nil && candidates[$0] == nil }
            let existing = try reader.existing(gone, of: plan.entity)
            for key in gone {
                var change = LiveChanges.OfObject.unknown
                change.isDeleted = !existing.contains(key)
                candidates[key] = change
            }
        }
        return candidates.sorted { $0.value.order < $1.value.order }.compactMap { key, change in
            let (before, after) = (group.matched[key], found[key])
            if before == nil, after == nil { return nil }
            // The query began when it was there already.
            if change.isInserted, change.fields == [], before == after { return nil }
            return LiveGroup.Past(
                round: number, time: time, key: key, before: before, after: after, change: change)
        }
    }

    /// What an audience sees of what became of objects.
    func events(_ past: [LiveGroup.Past], for audience: LiveGroup.Audience.Key) -> [LiveEvent] {
        past.compactMap { past in
            func shows(_ seen: LiveGroup.Seen?) -> Bool {
                seen.map { LiveGroup.shows($0, to: audience.rights, readers) } ?? false
            }
            return LiveEvent(
                past.key, past.change, before: shows(past.before), after: shows(past.after), watch: audience.watch)
        }
    }

    /// The objects that events show: each is read once for all who see the same of it.
    private struct Wanted {
        struct AudienceKey: Hashable {
            let audience: LiveGroup.Audience.Key
            let content: LiveReader.Content
            /// An object that leaves a query may be one that the caller doesn't see any more: each asks with its own rights.
            let leaving: LiveReader.Content

            func content(_ event: LiveEvent) -> LiveReader.Content { event.kind == .leave ? leaving : content }
        }

        private(set) var events: [LiveGroup.Key: [AudienceKey: [LiveEvent]]] = [:]
        private var keys: [LiveReader.Content: (known: KnownCaller, keys: Set<KeyValue>)] = [:]

        mutating func add(
            _ events: [LiveEvent], of group: LiveGroup, _ key: LiveGroup.Audience.Key, _ audience: LiveGroup.Audience
        ) {
            let (name, known) = (group.key.className, audience.known)
            let wanting = AudienceKey(
                audience: key, content: LiveReader.Content(name, key, known, isShared: group.key.rights == nil),
                leaving: LiveReader.Content(name, key, known, isShared: false))
            self.events[group.key, default: [:]][wanting] = events
            for event in events where event.kind != .delete {
                keys[wanting.content(event), default: (known, [])].keys.insert(event.key)
            }
        }

        func objects(_ reader: LiveReader) throws -> [LiveReader.Content: [KeyValue: String]] {
            var objects: [LiveReader.Content: [KeyValue: String]] = [:]
            for (content, wanted) in keys {
                objects[content] = try reader.objects(Array(wanted.keys), content, as: wanted.known)
            }
            return objects
        }
    }
}
