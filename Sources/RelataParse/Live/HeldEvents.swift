import RelataCore

/// The events of a live query that wait until the app's hooks have seen them, in order.
struct HeldEvents: Sendable {
    /// A waiting event.
    struct Event: Sendable {
        let told: LiveNews.Told
        let position: LivePosition
        /// The event's number among those of the query.
        let order: Int
        /// The number of the step that found it.
        let step: Int

        /// About how much memory it takes.
        fileprivate var size: Int { told.object.utf8.count + 64 }
    }

    /// Distinguishes these events from those of an earlier query with the same id.
    let number: Int
    let query: LiveQuery
    let caller: Caller
    /// The mask for the hooks, by the newest rights; `nil` if the hooks are gone.
    private(set) var mask: LiveMask?
    /// Calls the hooks.
    var work: Task<Void, Never>?
    /// The size of the waiting events.
    private(set) var size = 0
    private var events: [Event] = []
    private var first = 0
    private var last = (order: 0, step: 0)
    /// The last event by which each object went away.
    private var gone: [KeyValue: Int] = [:]

    init(number: Int, _ query: LiveQuery, _ caller: Caller) {
        (self.number, self.query, self.caller) = (number, query, caller)
    }

    /// Adds the events of a step.
    mutating func add(_ told: LiveNews.OfQuery) {
        mask = told.mask
        last.step += 1
        for (index, event) in told.events.enumerated() {
            last.order += 1
            if event.kind.isEnd { gone[event.key] = last.order }
            let event = Event(told: event, position: told.position(index), order: last.order, step: last.step)
            events.append(event)
            size += event.size
        }
    }

    /// Takes the next event. One whose object went away afterwards is passed over: the client may not see it any more.
    mutating func next() -> Event? {
        while first < events.count {
            let event = events[first]
            first += 1
            if first >= 1024 {
                events.removeFirst(first)
                first = 0
            }
            size -= event.size
            if !isOver(event) { return event }
        }
        return nil
    }

    /// Whether a later event says that the object went away.
    func isOver(_ event: Event) -> Bool {
        !event.told.kind.isEnd && gone[event.told.key].map { $0 > event.order } == true
    }
}

/// The events of all live queries that wait until the app's hooks have seen them.
struct HeldQueries: Sendable {
    private var events: [LiveQueryID: HeldEvents] = [:]
    /// The size of the waiting events by client. Adding up a client's queries for each of them would take quadratic time.
    private var sizes: [UInt64: Int] = [:]

    /// The waiting events of a query; `nil` if no hook is asked about it.
    subscript(id: LiveQueryID) -> HeldEvents? {
        get { events[id] }
        _modify {
            let before = events[id]?.size ?? 0
            yield &events[id]
            let size = size(of: id.client) - before + (events[id]?.size ?? 0)
            sizes[id.client] = size == 0 ? nil : size
        }
    }

    /// The size of a client's waiting events.
    func size(of client: UInt64) -> Int { sizes[client] ?? 0 }
}

extension LiveEvent.Kind {
    /// Whether the object doesn't meet the conditions any more.
    fileprivate var isEnd: Bool { self == .leave || self == .delete }
}
