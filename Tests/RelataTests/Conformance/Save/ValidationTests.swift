import Foundation
import Relata
import Testing

enum Reason: Error, CustomStringConvertible {
    case backwards
    var description: String { "starts after it ends" }
}

@Model struct Event {
    let id: ID<Event>
    @Attribute(.notEmpty, .length(...10)) var title: String
    @Attribute(.range(1...5)) var stars: Int = 3
    @Attribute(.range(0.5...)) var weight: Double = 1
    @Attribute(.range(...100)) var price: Decimal = 1
    @Attribute(.pattern("[A-Z]{2}[0-9]+")) var code: String?
    @Attribute(.length(1...2)) var bytes: Data = Data([1])
    @Attribute(.notEmpty) var tags: [String] = ["t"]
    var start: Int = 0
    var end: Int = 0
    var venue: ToOne<Venue>?

    func validate() throws {
        if start > end { throw Reason.backwards }
    }
}

@Model struct Venue {
    let id: ID<Venue>
    @Attribute(.unique, .notEmpty) var name: String
    @Attribute(.range(1...)) var seats: Int = 1
    @Relationship(inverse: \Event.venue) var events: ToMany<Event>
}

@Model struct Score {
    let id: ID<Score>
    @Attribute(.unique) var player: String
    @Attribute(.range(0...10)) var points: Int

    func validate() throws {
        if player == "cheat" {
            throw RelataError.validation([
                ValidationFailure(entity: "Score", property: "player", key: nil, message: "may not play")
            ])
        }
    }
}

@Model struct Counter {
    var id: Int?
    @Attribute(.range(0...9_007_199_254_740_993)) var value: Int
}

/// Limits and `validate()`, on every way into the store.
@Suite struct ValidationTests {
    @Test(arguments: Engine.allCases) func severalObjectsWithValidationAreSaved(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Score.self)
        try store.save((1...3).map { Score(player: "\($0)", points: $0) })
        #expect(try store.count(Score.all) == 3)
        let mixed = ["4", "cheat", "5"].map { Score(player: $0, points: 1) }
        #expect(thrown { try store.save(mixed) }?.kind == "validation")
        #expect(try store.count(Score.all) == 3)
    }

    @Test(arguments: Engine.allCases) func failuresNameTheObjectIfThereAreSeveral(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Counter.self, Event.self)
        let alone = thrown { try store.save(Counter(value: -1)) }
        #expect(alone?.description == "Counter.value: must be at least 0, and is -1")
        let counters = [Counter(value: 1), Counter(value: -1), Counter(id: 7, value: -2)]
        #expect(
            thrown { try store.save(counters) }?.description
                == "Counter no. 2, value: must be at least 0, and is -1; Counter 7, value: must be at least 0, and is -2"
        )
        let (good, bad) = (Event(title: "a"), Event(title: "b", start: 2, end: 1))
        #expect(thrown { try store.save([good, bad]) }?.description == "Event \(bad.id): starts after it ends")
        try store.insert([Counter(id: 1, value: 1), Counter(id: 2, value: 5)])
        #expect(
            thrown { try store.update(Counter.all) { $0.value.set(to: $0.value - 3) } }?.description
                == "Counter 1, value: must be at least 0, and is -2")
        #expect(try store.count(Counter.where { $0.value < 0 }) == 0)
    }

    @Test(arguments: Engine.allCases) func everyFailureIsListed(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Event.self)
        let bad = Event(
            title: " \n", stars: 6, weight: 0.4, price: 100.01, code: "A1", bytes: Data([1, 2, 3]), tags: [], start: 2,
            end: 1)
        let long = Event(title: "12345678901")
        guard case .validation(let failures)? = thrown({ try store.insert([bad, Event(title: "ok"), long]) }) else {
            Issue.record("no failures")
            return
        }
        let properties = ["title", "stars", "weight", "price", "code", "bytes", "tags", nil, "title"]
        #expect(failures.map(\.property) == properties)
        #expect(failures.last?.key == KeyValue(.uuid(long.id.uuid)))
        #expect(failures.allSatisfy { $0.entity == "Event" })
        #expect(failures[7].message == "starts after it ends")
        #expect(try store.count(Event.all) == 0)
    }

    @Test(arguments: Engine.allCases) func bothEndsOfALimitAreAllowed(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Event.self)
        let events = [
            Event(title: "a", stars: 1, weight: 0.5, price: 100, code: nil, bytes: Data([1])),
            Event(title: "1234567890", stars: 5, weight: 1e300, price: -1000, code: "AB0", bytes: Data([1, 2])),
            Event(title: "👩‍👩‍👧‍👦👩‍👩‍👧‍👦", code: "ZZ123456789", tags: [""]),
        ]
        #expect(try store.insert(events) == events)
    }

    @Test(arguments: Engine.allCases) func everySavePathIsChecked(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Event.self)
        let venue = try store.insert(Venue(name: "v"))
        var event = try store.insert(Event(title: "ok", venue: ToOne(venue)))
        let stored = try store.refresh(event)
        event.stars = 0
        let new = Event(title: "")
        let paths: [(String, RelataError?)] = [
            ("insert", thrown { try store.insert(new) }),
            ("insert several", thrown { try store.insert([Event(title: "fine"), new]) }),
            ("insert mixed", thrown { try store.insert(Venue(name: "w"), new) }),
            ("update", thrown { try store.update(event) }),
            ("update several", thrown { try store.update([event]) }),
            ("update mixed", thrown { try store.update(event, venue) }),
            ("save", thrown { try store.save(event) }),
            ("save new", thrown { try store.save(new) }),
            ("save mixed", thrown { try store.save(venue, event) }),
            ("save any", thrown { try store.save([venue, new] as [any Model]) }),
            ("update one", thrown { try store.update(event.id) { $0.stars = 9 } }),
            ("update one, own rule", thrown { try store.update(event.id) { $0.start = 9 } }),
            ("update by query", thrown { try store.update(Event.all) { $0.stars.set(to: 7) } }),
            ("update by query, computed", thrown { try store.update(Event.all) { $0.stars.set(to: $0.stars * 2) } }),
            ("update by query, own rule", thrown { try store.update(Event.all) { $0.start.set(to: 1) } }),
            ("nested", thrown { try store.save(Event(title: "ok", venue: ToOne(Venue(name: " ")))) }),
            ("listed", thrown { try store.update(venue.id) { $0.events.add(new) } }),
            ("matching", thrown { try store.save(Venue(name: "v", seats: 0), matching: { $0.name }) }),
            ("matching new", thrown { try store.save(Venue(name: "x", seats: 0), matching: { $0.name }) }),
        ]
        for (path, error) in paths { #expect(error?.kind == "validation", "\(path)") }
        let results = try store.saveEach([event, new, Venue(name: "each")])
        #expect(results.map { (try? $0.get()) != nil } == [false, false, true])
        #expect(try store.fetch(Event.all) == [stored])
        #expect(try store.fetch(Venue.sorted { $0.name }).map(\.seats) == [1, 1])
    }

    @Test(arguments: Engine.allCases) func modelsWithoutLinksAreCheckedToo(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Score.self)
        let score = try store.insert(Score(player: "a", points: 10))
        let bad = Score(player: "cheat", points: 11)
        #expect(thrown { try store.insert([Score(player: "b", points: 1), bad]) }?.failures == ["points", "player"])
        #expect(thrown { try store.save(Score(id: score.id, player: "a", points: -1)) }?.failures == ["points"])
        #expect(thrown { try store.update(Score(id: score.id, player: "cheat", points: 0)) }?.failures == ["player"])
        #expect(
            thrown { try store.save(Score(player: "a", points: 11), matching: { $0.player }) }?.kind == "validation")
        #expect(thrown { try store.update(Score.all) { $0.points.set(to: $0.points + 1) } }?.failures == ["points"])
        #expect(try store.fetch(Score.all) == [score])
    }

    @Test(arguments: Engine.allCases) func aLargeIntegerIsComparedExactly(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Counter.self)
        try store.insert(Counter(value: 9_007_199_254_740_993))
        let error = thrown { try store.insert(Counter(value: 9_007_199_254_740_994)) }
        #expect(error?.failures == ["value"])
        #expect("\(error as Any)".contains("at most 9007199254740993"))
    }
}
