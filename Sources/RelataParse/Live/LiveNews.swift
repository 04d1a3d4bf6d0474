import RelataCore

/// The messages to clients after a step.
struct LiveNews: Sendable {
    /// An event with its object as JSON.
    struct Told: Sendable {
        let kind: LiveEvent.Kind
        let key: KeyValue
        let object: String
    }

    /// The events for one query.
    struct OfQuery: Sendable {
        let events: [Told]
        /// The position for a client that has received only some of the events.
        let from: LivePosition
        /// The position for a client that has received all of them.
        let to: LivePosition
        /// The mask for hooks of the class's events; `nil` if there are none.
        let mask: LiveMask?
        /// The ends of the messages, which all queries with these events share; empty if hooks are asked first.
        let endings: [String]

        init(events: [Told], from: LivePosition, to: LivePosition, mask: LiveMask?) {
            (self.events, self.from, self.to, self.mask) = (events, from, to, mask)
            guard mask == nil else {
                endings = []
                return
            }
            let (first, last) = (from.text, to.text)
            endings = events.enumerated().map { index, event in
                LiveNews.ending(event.object, index == events.count - 1 ? last : first)
            }
        }

        /// The position that goes with an event. A client that is interrupted before the last event gets all of them
        /// again.
        func position(_ index: Int) -> LivePosition { index == events.count - 1 ? to : from }
    }

    /// The end of an event's message.
    static func ending(_ object: String, _ position: String) -> String {
        ",\"position\":\"" + position + "\",\"object\":" + object + "}"
    }

    var told: [LiveQueryID: OfQuery] = [:]
    /// The queries that ended, each with the reason.
    var ended: [LiveQueryID: ParseError] = [:]
}

/// The start of a live query.
struct LiveStart: Sendable {
    var position: LivePosition
    /// The objects that meet the conditions, if the client asked for them.
    var objects: [String]?
    /// The missed events of a client that resumes; `nil` if the query isn't resumed.
    var missed: LiveNews.OfQuery?
}

/// A position in the events of a query, from which a client can resume: `2k8f-7-1x9`.
struct LivePosition: Hashable, Sendable {
    let epoch: String
    let round: Int
    /// A hash of the client's rights at that time. With other rights the client would have received other events.
    let rights: Int

    init(epoch: String, round: Int, rights: Int) { (self.epoch, self.round, self.rights) = (epoch, round, rights) }

    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let round = Int(parts[1]), let rights = UInt(parts[2], radix: 36) else { return nil }
        self.init(epoch: String(parts[0]), round: round, rights: Int(bitPattern: rights))
    }

    var text: String { "\(epoch)-\(round)-\(String(UInt(bitPattern: rights), radix: 36))" }
}

/// Events to send, and the objects that they show. Each object is read once for all callers who see the same content.
struct LiveTelling {
    private struct Request {
        let events: [LiveEvent]
        let queries: Set<LiveQueryID>
        let content: LiveReader.Content
        /// The caller may no longer see an object that leaves a query: each caller reads it with its own rights.
        let leaving: LiveReader.Content

        func content(_ event: LiveEvent) -> LiveReader.Content { event.kind == .leave ? leaving : content }
    }

    /// The events of some queries, or the error that prevents reading their objects.
    struct Told {
        let queries: Set<LiveQueryID>
        let events: Result<[LiveNews.Told], ParseError>
    }

    private var requests: [Request] = []
    private var keys: [LiveReader.Content: (known: KnownCaller, keys: Set<KeyValue>)] = [:]

    /// Adds events.
    ///
    /// - Parameters:
    ///   - isShared: Whether one reading of an object may serve all callers who see it. Events from before this step
    ///     are read for each caller, who may no longer see the object.
    ///   - known: Returns the caller and its access. Called only if needed.
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

    /// Reads the objects of the events.
    func told(_ reader: LiveReader) throws -> [Told] {
        var objects: [LiveReader.Content: [KeyValue: String]] = [:]
        var problems: [LiveReader.Content: ParseError] = [:]
        for (content, wanted) in keys {
            do {
                objects[content] = try reader.apart {
                    try reader.objects(Array(wanted.keys), content, as: wanted.known)
                }
            } catch  where ParseError(error).status < 500 {
                // The other queries get their objects.
                problems[content] = ParseError(error)
            }
        }
        return requests.map { request in
            if let problem = problems[request.content] ?? problems[request.leaving] {
                return Told(queries: request.queries, events: .failure(problem))
            }
            let told = request.events.compactMap { event -> LiveNews.Told? in
                if let object = objects[request.content(event)]?[event.key] {
                    return LiveNews.Told(kind: event.kind, key: event.key, object: object)
                }
                // The caller doesn't see the object any more.
                guard event.kind == .leave || event.kind == .delete else { return nil }
                let name = reader.name(event.key, of: request.content.className)
                return LiveNews.Told(kind: event.kind, key: event.key, object: name)
            }
            return Told(queries: request.queries, events: .success(told))
        }
    }
}
