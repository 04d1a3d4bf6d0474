import Relata
import RelataCore
import RelataTesting
import Synchronization
import TestSupport
import Testing

@Model private struct Cellar {
    var id: Int?
    var name: String
    var level: Int
    @Relationship(deleteRule: .nullify, inverse: \Bottle.cellar) var bottles: ToMany<Bottle>
}

@Model private struct Bottle {
    var id: Int?
    var name: String
    var level: Int
    var cellar: ToOne<Cellar>?
}

/// One is in each transaction. Nothing that is observed depends on it.
@Model private struct Stamp {
    var id: Int?
}

/// Random writes with full access while observers have less: they are told what they see, whenever it changes, and
/// nothing else.
struct ObservationOracleTests {
    @Test(.timeLimit(.minutes(20)), arguments: Engine.inTurn(1...6))
    func observersAreToldOnlyOfWhatTheySee(_ engine: Engine, _ seed: UInt64) async throws {
        var run = try ObservationRun(engine, seed)
        try await run.compare()
        for _ in 0..<40 {
            try await run.writeAtRandom()
            try await run.compare()
        }
        // Each observer is told of this, and of nothing between it and what it was told before.
        try await run.write([
            .addCellar(98, "end", level: 3), .addBottle(98, "a", level: 2, cellar: 98),
            .addBottle(99, "a", level: 2, cellar: nil), .removeBottle(1), .addBottle(1, "end", level: 1, cellar: nil),
            .removeCellar(1), .addCellar(1, "end", level: 2),
        ])
        try await run.compare()
        run.compareHistories()
    }
}

// MARK: The oracle

/// The stored objects, with the levels that hide them.
private struct PlainCellars {
    struct Item {
        var name: String
        var level: Int
        var cellar: Int?
    }

    /// The entities whose objects with level 0 are hidden.
    let guarded: Set<String>
    var cellars: [Int: Item] = [:]
    var bottles: [Int: Item] = [:]

    private func isSeen(_ item: Item, _ entity: String) -> Bool { item.level > 0 || !guarded.contains(entity) }

    private func cellar(_ id: Int?) -> Item? { id.flatMap { cellars[$0] }.flatMap { isSeen($0, "Cellar") ? $0 : nil } }

    private var seenCellars: [(key: Int, value: Item)] {
        cellars.filter { isSeen($0.value, "Cellar") }.sorted { $0.key < $1.key }
    }

    private var seenBottles: [(key: Int, value: Item)] {
        bottles.filter { isSeen($0.value, "Bottle") }.sorted { $0.key < $1.key }
    }

    /// The results that the observers see, in their order.
    var texts: [String] {
        let bottles = seenBottles
        func text(_ id: Int, _ item: Item) -> String { "\(id) \(item.name) \(item.level)" }
        /// The key of a hidden cellar stays in the row.
        func row(_ id: Int, _ item: Item) -> String { "\(text(id, item)) \(item.cellar ?? 0)" }
        let first = bottles.first { $0.key == 1 }
        return [
            bottles.map { row($0, $1) + " (\(cellar($1.cellar).map { "\($0.name) \($0.level)" } ?? "-"))" }.joined(
                separator: ", "),
            seenCellars.map { id, item in
                "\(text(id, item)): " + bottles.filter { $1.cellar == id }.map { text($0, $1) }.joined(separator: ", ")
            }.joined(separator: "; "),
            "\(bottles.filter { $1.cellar == nil || cellar($1.cellar)?.level ?? 2 == 2 }.map(\.key))",
            "\(bottles.filter { $1.name == "a" }.count)",
            "\(seenCellars.filter { id, _ in !bottles.contains { $1.cellar == id } }.count)",
            first.map { row($0.key, $0.value) } ?? "none",
            cellar(1).map { text(1, $0) } ?? "none",
        ]
    }
}

/// A write to a store, and to the oracle's copy.
private enum RandomWrite: Sendable {
    case addCellar(Int, String, level: Int)
    case addBottle(Int, String, level: Int, cellar: Int?)
    case removeCellar(Int)
    case removeBottle(Int)
    case renameBottle(Int, String)
    case move(Int, cellar: Int?)
    /// Only the column that hides objects is written, of all objects with a level.
    case gradeCellars(Int, level: Int)
    case gradeBottles(Int, level: Int)

    func apply(to tx: WriteTransaction) throws {
        switch self {
        case .addCellar(let id, let name, let level): try tx.insert(Cellar(id: id, name: name, level: level))
        case .addBottle(let id, let name, let level, let cellar):
            try tx.insert(Bottle(id: id, name: name, level: level, cellar: cellar.map { ToOne(id: $0) }))
        case .removeCellar(let id): try tx.delete(Cellar.self, id: id)
        case .removeBottle(let id): try tx.delete(Bottle.self, id: id)
        case .renameBottle(let id, let name): try tx.update(Bottle.self, id: id) { $0.name = name }
        case .move(let id, let cellar): try tx.update(Bottle.self, id: id) { $0.cellar = cellar.map { ToOne(id: $0) } }
        case .gradeCellars(let old, let level):
            try tx.update(Cellar.where { $0.level == old }) { $0.level.set(to: level) }
        case .gradeBottles(let old, let level):
            try tx.update(Bottle.where { $0.level == old }) { $0.level.set(to: level) }
        }
    }

    func apply(to plain: inout PlainCellars) {
        switch self {
        case .addCellar(let id, let name, let level): plain.cellars[id] = PlainCellars.Item(name: name, level: level)
        case .addBottle(let id, let name, let level, let cellar):
            plain.bottles[id] = PlainCellars.Item(name: name, level: level, cellar: cellar)
        case .removeCellar(let id):
            plain.cellars[id] = nil
            for bottle in plain.bottles.keys where plain.bottles[bottle]?.cellar == id {
                plain.bottles[bottle]?.cellar = nil
            }
        case .removeBottle(let id): plain.bottles[id] = nil
        case .renameBottle(let id, let name): plain.bottles[id]?.name = name
        case .move(let id, let cellar): plain.bottles[id]?.cellar = cellar
        case .gradeCellars(let old, let level):
            for id in plain.cellars.keys where plain.cellars[id]?.level == old { plain.cellars[id]?.level = level }
        case .gradeBottles(let old, let level):
            for id in plain.bottles.keys where plain.bottles[id]?.level == old { plain.bottles[id]?.level = level }
        }
    }

    /// One that can be applied.
    init(_ plain: PlainCellars, _ random: inout SampleRandom) {
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        let (id, name, level) = (number(1...8), number(0...1) == 0 ? "a" : "b", number(0...3))
        let cellar = number(0...3) == 0 ? nil : plain.cellars.keys.sorted().randomElement(using: &random)
        let (place, hasBottle) = (id % 4 + 1, plain.bottles[id] != nil)
        self =
            switch number(0...9) {
            case 0...1 where plain.cellars[place] == nil: .addCellar(place, name, level: level)
            case 0: .removeCellar(place)
            case 1...2: .gradeCellars(level, level: number(0...3))
            case 3...4: .gradeBottles(level, level: number(0...3))
            case 5 where hasBottle: .removeBottle(id)
            case 6 where hasBottle: .renameBottle(id, name)
            case 7... where hasBottle: .move(id, cellar: cellar)
            default: hasBottle ? .removeBottle(id) : .addBottle(id, name, level: level, cellar: cellar)
            }
    }
}

// MARK: Observers

/// One observer, and the values that it was told.
private struct Follower {
    final class Told: Sendable {
        let texts = Mutex<[String]>([])
        var last: String? { texts.withLock { $0.last } }
        func add(_ text: String) { texts.withLock { $0.append(text) } }
    }

    let told = Told()
    let task: Task<Void, Never>
    /// The values that it should be told.
    var expected: [String] = []

    init<Values: AsyncSequence & Sendable>(
        _ values: Values, _ text: @escaping @Sendable (Values.Element) throws -> String
    ) {
        task = Task { [told] in
            do {
                for try await value in values { told.add(try text(value)) }
            } catch {
                told.add("\(error)")
            }
        }
    }
}

private struct ObservationRun {
    let all: Store
    let note: String
    var random: SampleRandom
    var plain: PlainCellars
    var followers: [Follower]
    var feed: ChangeFeed.Iterator
    var stamp = 0

    init(_ engine: Engine, _ seed: UInt64) throws {
        random = SampleRandom(seed: seed)
        let choices: [Set<String>] = [["Cellar"], ["Bottle"], ["Cellar", "Bottle"]]
        let guarded = choices.randomElement(using: &random) ?? []
        note = "seed \(seed), guarded \(guarded.sorted())"
        plain = PlainCellars(guarded: guarded)
        all = try TestStore.make(engine, for: Cellar.self, Bottle.self, Stamp.self)
        let isSeen = ExpressionNode.comparison(.greater, .property(scope: 0, path: ["level"]), .value(0), [])
        let seen = try all.seeing(Dictionary(uniqueKeysWithValues: guarded.map { ($0, isSeen) }))
        feed = seen.changes.makeAsyncIterator()
        followers = Self.followers(of: seen)
    }

    /// In the order of ``PlainCellars/texts``.
    private static func followers(of store: Store) -> [Follower] {
        @Sendable func text(_ cellar: Cellar) -> String { "\(cellar.id ?? 0) \(cellar.name) \(cellar.level)" }
        @Sendable func text(_ bottle: Bottle) -> String { "\(bottle.id ?? 0) \(bottle.name) \(bottle.level)" }
        @Sendable func row(_ bottle: Bottle) -> String { "\(text(bottle)) \(bottle.cellar?.id ?? 0)" }
        return [
            Follower(store.observe(Bottle.sorted { $0.id }.including { $0.cellar })) { bottles in
                bottles.map { row($0) + " (\($0.cellar?.loaded.map { "\($0.name) \($0.level)" } ?? "-"))" }.joined(
                    separator: ", ")
            },
            Follower(store.observe(Cellar.sorted { $0.id }.including { $0.bottles.sorted { $0.id } })) { cellars in
                try cellars.map { cellar in
                    "\(text(cellar)): " + (try cellar.bottles.objects.map { text($0) }.joined(separator: ", "))
                }.joined(separator: "; ")
            },
            // Neither of these reads the column that hides objects, but for the access.
            Follower(
                store.observe(
                    Bottle.where { $0.cellar == nil || $0.cellar.level == 2 }.sorted { $0.id }.select { $0.id })
            ) { "\($0.map { $0 ?? 0 })" },
            Follower(store.observe(countOf: Bottle.where { $0.name == "a" })) { "\($0)" },
            Follower(store.observe(countOf: Cellar.where { $0.bottles.count == 0 })) { "\($0)" },
            Follower(store.observe(Bottle.self, id: 1)) { $0.map { row($0) } ?? "none" },
            Follower(store.observe(Cellar.self, id: 1)) { $0.map { text($0) } ?? "none" },
        ]
    }

    /// Some writes in a transaction, which now and then is rolled back.
    mutating func writeAtRandom() async throws {
        var after = plain
        var writes: [RandomWrite] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let write = RandomWrite(after, &random)
            write.apply(to: &after)
            writes.append(write)
        }
        if Int.random(in: 0...7, using: &random) > 0 { return try await write(writes) }
        let planned = writes
        await #expect(throws: Undone.self) {
            try await all.write { tx in
                for write in planned { try write.apply(to: tx) }
                throw Undone()
            }
        }
    }

    private struct Undone: Error {}

    mutating func write(_ writes: [RandomWrite]) async throws {
        stamp += 1
        let stamp = stamp
        try await all.write { tx in
            for write in writes { try write.apply(to: tx) }
            try tx.insert(Stamp(id: stamp))
        }
        for write in writes { write.apply(to: &plain) }
        let set = try #require(await feed.next())
        #expect(set.keys(of: "Stamp", .insert).map(\.values) == [[.integer(Int64(stamp))]], "\(note): \(set)")
        for change in set.changes where plain.guarded.contains(change.entity) {
            #expect(change == Change(entity: change.entity, kind: .unknown), "\(note): \(set)")
        }
    }

    /// Waits until each observer has been told the values that it sees.
    mutating func compare() async throws {
        for (number, text) in plain.texts.enumerated() {
            if followers[number].expected.last != text { followers[number].expected.append(text) }
            let told = followers[number].told
            await waitUntil { told.last == text }
            try #require(told.last == text, "\(note), observer \(number), stamp \(stamp)")
        }
    }

    /// Expects that no observer was told anything else, or anything twice.
    func compareHistories() {
        for (number, follower) in followers.enumerated() {
            follower.task.cancel()
            let told = follower.told.texts.withLock { $0 }
            #expect(told == follower.expected, "\(note), observer \(number)")
        }
    }
}
