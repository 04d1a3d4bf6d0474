import RelataCore

/// What clients are told of a step.
struct LiveNews: Sendable {
    /// An event, and the object that it shows.
    struct Told: Sendable {
        let kind: LiveEvent.Kind
        let object: String
    }

    /// What one query is told.
    struct OfQuery: Sendable {
        let events: [Told]
        /// Where the client goes on that didn't get all of them.
        let from: LivePosition
        /// Where one goes on that did.
        let to: LivePosition
    }

    var told: [LiveQueryID: OfQuery] = [:]
    /// The queries that are at their end, with the reason.
    var ended: [LiveQueryID: ParseError] = [:]
}

/// What a live query begins with.
struct LiveStart: Sendable {
    var position: LivePosition
    /// The objects that meet the conditions, where they were asked for.
    var objects: [String]?
    /// What happened since the client was here last; `nil` where it begins anew.
    var missed: LiveNews.OfQuery?
}

/// A place in what a client is told, from which it can go on: `2k8f-7-1x9`.
struct LivePosition: Hashable, Sendable {
    let epoch: String
    let round: Int
    /// Stands for the rights that the client had: with others it would have been told other things.
    let rights: Int

    init(epoch: String, round: Int, rights: Int) { (self.epoch, self.round, self.rights) = (epoch, round, rights) }

    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let round = Int(parts[1]), let rights = UInt(parts[2], radix: 36) else { return nil }
        self.init(epoch: String(parts[0]), round: round, rights: Int(bitPattern: rights))
    }

    var text: String { "\(epoch)-\(round)-\(String(UInt(bitPattern: rights), radix: 36))" }
}

/// Events that are to be told, and the objects that they show: each is read once for all who see the same of it.
struct LiveTelling {
    private struct Request {
        let events: [LiveEvent]
        let queries: Set<LiveQueryID>
        let content: LiveReader.Content
        /// An object that leaves a query may be one that the caller doesn't see any more: each asks with its own rights.
        let leaving: LiveReader.Content

        func content(_ event: LiveEvent) -> LiveReader.Content { event.kind == .leave ? leaving : content }
    }

    /// The events of some queries, or why their objects can't be shown.
    struct Told {
        let queries: Set<LiveQueryID>
        let events: Result<[LiveNews.Told], ParseError>
    }

    private var requests: [Request] = []
    private var keys: [LiveReader.Content: (known: KnownCaller, keys: Set<KeyValue>)] = [:]

    /// Adds events.
    ///
    /// - Parameters:
    ///   - isShared: Whether the objects may be read for all who see them. What is older than this reading must be read for
    ///     each caller, who may not see the object any more.
    ///   - known: The caller with what it may see; asked for where it matters.
    mutating func add(
        _ events: [LiveEvent], of group: LiveGroup, _ audience: LiveGroup.Audience, isShared: Bool = true,
        to queries: Set<LiveQueryID>, as known: () throws -> KnownCaller
    ) rethrows {
        if events.isEmpty { return }
        let request = Request(
            events: events, queries: queries, content: LiveReader.Content(group, audience, isShared: isShared),
            leaving: LiveReader.Content(group, audience, isShared: false))
        requests.append(request)
        for event in events where event.kind != .delete {
            let content = request.content(event)
            if keys[content] == nil { keys[content] = (content.rights == nil ? .master : try known(), []) }
            keys[content]?.keys.insert(event.key)
        }
    }

    /// Reads the objects.
    func told(_ reader: LiveReader) throws -> [Told] {
        var objects: [LiveReader.Content: [KeyValue: String]] = [:]
        var problems: [LiveReader.Content: ParseError] = [:]
        for (content, wanted) in keys {
            do {
                objects[content] = try reader.apart {
                    try reader.objects(Array(wanted.keys), content, as: wanted.known)
                }
            } catch  where ParseError(error).status < 500 {
                // Others see their objects all the same.
                problems[content] = ParseError(error)
            }
        }
        return requests.map { request in
            if let problem = problems[request.content] ?? problems[request.leaving] {
                return Told(queries: request.queries, events: .failure(problem))
            }
            let told = request.events.compactMap { event -> LiveNews.Told? in
                if let object = objects[request.content(event)]?[event.key] {
                    return LiveNews.Told(kind: event.kind, object: object)
                }
                // Another object isn't seen after all.
                guard event.kind == .leave || event.kind == .delete else { return nil }
                return LiveNews.Told(kind: event.kind, object: reader.name(event.key, of: request.content.className))
            }
            return Told(queries: request.queries, events: .success(told))
        }
    }
}
