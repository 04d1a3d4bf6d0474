import Foundation
import Relata
import RelataTesting
import Testing

@Model struct Locker {
    let id: ID<Locker>
    @Attribute(.unique) var number: Int
    @Attribute(.unique) var code: String
    @Attribute(.unique) var nickname: String?
    @Attribute(.unique) var seal: UUID
    @Attribute(.unique) var height: Double
    #Unique<Locker>([\.row, \.column])
    var row: Int
    var column: String

    init(_ number: Int) {
        self.init(
            number: number, code: "c\(number)", nickname: "n\(number)", seal: Locker.seal(number),
            height: Double(number) / 4, row: number % 3, column: "\(number / 3)")
    }

    static func seal(_ number: Int) -> UUID {
        withUnsafeBytes(of: (UInt64(0), UInt64(number))) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

/// A model with links, some of its own, so that objects are written one by one.
@Model struct Runner {
    let id: ID<Runner>
    @Attribute(.unique) var number: Int
    var pacer: ToOne<Runner>?
    var bib: ToOne<Bib>
    @Attribute(.revision) var revision: Int
}

@Model struct Bib {
    @Attribute(.primaryKey) let code: String
    @Relationship(inverse: \Runner.bib) var runner: HasOne<Runner>
}

/// Objects of one save that take each other's unique values.
@Suite struct ExchangeTests {
    @Test(arguments: Engine.allCases) func twoObjectsSwapUniqueValuesOfEveryKind(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Locker.self)
        let (one, two) = try store.insert(Locker(1), Locker(2))
        var (first, second) = (two, one)
        first = Locker(
            id: one.id, number: two.number, code: two.code, nickname: two.nickname, seal: two.seal, height: two.height,
            row: two.row, column: two.column)
        second = Locker(
            id: two.id, number: one.number, code: one.code, nickname: one.nickname, seal: one.seal, height: one.height,
            row: one.row, column: one.column)
        try store.update([first, second])
        #expect(try store.refresh(one) == first && store.refresh(two) == second)
        try store.save([one, two])
        #expect(try store.refresh(one) == one && store.refresh(two) == two)
    }

    /// A batch succeeds exactly if all values differ in the end, regardless of the order.
    @Test(arguments: Engine.inTurn(1...12)) func batchesMatchAnOracle(_ engine: Engine, _ seed: UInt64) throws {
        var random = SampleRandom(seed: seed)
        let store = try TestStore.make(engine, for: Locker.self)
        var stored = try store.insert((1...8).map { Locker($0) })
        var (done, refused) = (0, 0)
        for _ in 0..<60 {
            let places = stored.indices.shuffled(using: &random).prefix(Int.random(in: 1...8, using: &random))
            // The values of each property rotate among the objects; now and then a value comes from elsewhere.
            func values<Value>(_ property: KeyPath<Locker, Value>, _ other: (Int) -> Value) -> [Value] {
                var values = places.map { stored[$0][keyPath: property] }.shuffled(using: &random)
                if Int.random(in: 0..<25, using: &random) == 0 {
                    values[0] = other(Int.random(in: 1...12, using: &random))
                }
                return values
            }
            let numbers = values(\.number) { $0 }
            let codes = values(\.code) { "c\($0)" }
            let nicknames = values(\.nickname) { $0 < 7 ? nil : "n\($0)" }
            let seals = values(\.seal) { Locker.seal($0) }
            let heights = values(\.height) { Double($0) / 4 }
            let cells = values(\.gridPlace) { GridPlace(row: $0 % 3, column: "\($0 / 3)") }
            let batch = places.indices.map { index in
                Locker(
                    id: stored[places[index]].id, number: numbers[index], code: codes[index],
                    nickname: nicknames[index], seal: seals[index], height: heights[index], row: cells[index].row,
                    column: cells[index].column)
            }
            var expected = stored
            for (place, locker) in zip(places, batch) { expected[place] = locker }
            func areUnique<Value: Hashable>(_ property: KeyPath<Locker, Value>) -> Bool {
                Set(expected.map { $0[keyPath: property] }).count == expected.count
            }
            let named = expected.compactMap(\.nickname)
            let isAllowed =
                areUnique(\.number) && areUnique(\.code) && areUnique(\.seal) && areUnique(\.height)
                && areUnique(\.gridPlace) && Set(named).count == named.count
            let isUpdate = Bool.random(using: &random)
            let error = thrown { isUpdate ? try store.update(batch) : try store.save(batch) }
            if isAllowed {
                #expect(error == nil, "seed \(seed): \(String(describing: error))")
                stored = expected
                done += 1
            } else {
                #expect(error?.kind == "uniqueViolation", "seed \(seed)")
                refused += 1
            }
            let ids = Dictionary(uniqueKeysWithValues: stored.map { ($0.id, $0) })
            #expect(try store.fetch(Locker.all).allSatisfy { ids[$0.id] == $0 }, "seed \(seed)")
        }
        #expect(done > 10 && refused > 3)
    }

    @Test(arguments: Engine.allCases) func newObjectsTakeReleasedUniqueValues(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Locker.self)
        var old = try store.insert(Locker(1))
        var new = Locker(2)
        (new.number, new.code) = (old.number, old.code)
        #expect(thrown { try store.save([new, old]) }?.kind == "uniqueViolation")
        (old.number, old.code) = (7, "c7")
        try store.save([new, old])
        #expect(try store.fetch(Locker.sorted { $0.number }).map(\.id) == [new.id, old.id])
    }

    @Test(arguments: Engine.allCases) func aSwapIsOneChangeOfEachObject(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Runner.self)
        var runners = try await store.insert((1...3).map { Runner(number: $0, bib: ToOne(Bib(code: "\($0)"))) })
        var changes = store.changes.makeAsyncIterator()
        // Each takes the next one's number and bib, in a cycle; they refer to each other as well.
        let (numbers, bibs) = (runners.map(\.number), runners.map(\.bib))
        for index in runners.indices {
            runners[index].number = numbers[(index + 1) % 3]
            runners[index].bib = bibs[(index + 1) % 3]
            runners[index].pacer = ToOne(id: runners[(index + 2) % 3].id)
        }
        let saved = try await store.save(runners)
        #expect(saved.map(\.number) == [2, 3, 1] && saved.map(\.bib.id) == ["2", "3", "1"])
        #expect(saved.map(\.revision) == [2, 2, 2])
        let stored = try await store.fetch(Runner.sorted { $0.number })
        #expect(stored.map(\.bib.id) == ["1", "2", "3"] && stored.map(\.revision) == [2, 2, 2])
        #expect(stored.map(\.id) == [runners[2].id, runners[0].id, runners[1].id])
        let set = try #require(await changes.next())
        #expect(set.changes.map(\.keys.count).reduce(0, +) == 3)
        #expect(try await store.check().isEmpty)
    }

    @Test(arguments: Engine.allCases) func swapsOfRequiredPartnersStillDetectDanglingReferences(
        _ engine: Engine
    ) throws {
        let store = try TestStore.make(engine, for: Runner.self)
        var runners = try store.insert((1...3).map { Runner(number: $0, bib: ToOne(Bib(code: "\($0)"))) })
        (runners[0].bib, runners[1].bib) = (runners[1].bib, runners[0].bib)
        runners[2].bib = ToOne(id: "none")
        #expect(thrown { try store.save(runners) }?.reference == "Runner.bib")
        runners[2].bib = ToOne(id: "3")
        runners[2].pacer = ToOne(id: Runner.ID())
        #expect(thrown { try store.save(runners) }?.reference == "Runner.pacer")
        #expect(try store.fetch(Runner.sorted { $0.number }).map(\.bib.id) == ["1", "2", "3"])
        // Within a transaction that continues, references are checked as before.
        try store.write { tx in
            try tx.save([runners[0], runners[1]])
            #expect(thrown { try tx.insert(Runner(number: 9, bib: ToOne(id: "none"))) }?.reference == "Runner.bib")
            #expect(thrown { try tx.execute(#"UPDATE "Runner" SET "pacerId" = \#(UUID())"#) } != nil)
        }
        #expect(try store.fetch(Runner.sorted { $0.number }).map(\.bib.id) == ["2", "1", "3"])
    }

    @Test(arguments: Engine.embedded) func withoutDanglingReferencesNothingIsSearched(_ engine: Engine) throws {
        let log = StatementLog()
        let store = try TestStore.make(engine, for: Runner.self, options: log.options)
        var runners = try store.insert((1...20).map { Runner(number: $0, bib: ToOne(Bib(code: "\($0)"))) })
        _ = log.take()
        runners = try store.save(runners)
        let count = log.take().count
        (runners[0].bib, runners[1].bib) = (runners[1].bib, runners[0].bib)
        try store.save(runners)
        #expect(log.take().count < count + 10)
    }

    @Test(arguments: Engine.allCases) func swapsNeedTwoExtraStatements(_ engine: Engine) throws {
        let log = StatementLog()
        let store = try TestStore.make(engine, for: Locker.self, options: log.options)
        var lockers = try store.insert((1...20).map { Locker($0) })
        let inserting = log.take().count
        // New objects don't wait for others.
        try store.insert((21...40).map { Locker($0) })
        #expect(log.take().count <= inserting)
        lockers = try store.update(lockers)
        let updating = log.take().count
        let numbers = lockers.map(\.number)
        for index in lockers.indices { lockers[index].number = numbers[(index + 1) % numbers.count] }
        try store.update(lockers)
        #expect(log.take().count == updating + 1)
        #expect(try store.fetch(Locker.sorted { $0.code }.limit(20)).count == 20)
        #expect(try store.refresh(lockers[19]).number == numbers[0])
        // A single object has no partner for a swap.
        _ = log.take()
        try store.update(lockers[0])
        #expect(log.take().count == 1)
    }

    /// A new value belongs to no object yet.
    @Test(arguments: Engine.allCases) func newPartnersNeedNoSearchForHolders(_ engine: Engine) throws {
        let log = StatementLog()
        let store = try TestStore.make(engine, for: Citizen.self, options: log.options)
        func statements(_ count: Int) throws -> Int {
            let passports = (0..<count).map { number in
                Passport(number: "\(count).\(number)", holder: ToOne(Citizen(name: "\(count).\(number)")))
            }
            _ = log.take()
            _ = try store.save(passports)
            return log.take().count
        }
        // At most two statements for each object, and none for all of them together.
        let (few, many) = (try statements(2), try statements(12))
        #expect(few <= 4 && many <= 24 && few * 6 >= many)
    }

    @Test(arguments: Engine.allCases) func remainingConflictsAreTheSameError(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Locker.self, Runner.self)
        var lockers = try store.insert((1...3).map { Locker($0) })
        let before = lockers
        // The last one keeps the value that the first one takes.
        lockers[0].number = 2
        lockers[1].number = 3
        guard case .uniqueViolation("Locker", ["number"])? = thrown({ try store.update(lockers) }) else {
            Issue.record("no violation of Locker.number")
            return
        }
        // An object outside the batch keeps its values, and separate saves can't swap values.
        #expect(thrown { try store.update(Array(lockers.prefix(1))) }?.kind == "uniqueViolation")
        lockers[1].number = 1
        let results = try store.saveEach(Array(lockers.prefix(2)))
        #expect(results.allSatisfy { if case .failure = $0 { true } else { false } })
        #expect(try store.fetch(Locker.sorted { $0.number }) == before)
        var runners = try store.insert((1...2).map { Runner(number: $0, bib: ToOne(Bib(code: "\($0)"))) })
        runners[0].bib = runners[1].bib
        #expect(thrown { try store.save(runners) }?.reference == "Runner.bib")
    }

    @Test(arguments: Engine.allCases) func newObjectsWithoutKeysMayBeAnywhereInTheBatch(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: CheckedLocker.self)
        func codes() throws -> [String] { try store.fetch(CheckedLocker.sorted { $0.id }).map(\.code) }
        try store.insert(CheckedLocker(code: "a"), CheckedLocker(code: "b"))
        _ = try store.save([CheckedLocker(code: "c"), CheckedLocker(id: 1, code: "b"), CheckedLocker(id: 2, code: "a")])
        #expect(try codes() == ["b", "a", "c"])
        _ = try store.save([CheckedLocker(code: "d"), CheckedLocker(code: "b"), CheckedLocker(id: 1, code: "e")])
        #expect(try codes() == ["e", "a", "c", "d", "b"])
        // The value of a new object can't be taken over by an object that comes after it.
        let twice = [CheckedLocker(code: "f"), CheckedLocker(id: 1, code: "f")]
        #expect(thrown { try store.save(twice) }?.kind == "uniqueViolation")
        #expect(try codes() == ["e", "a", "c", "d", "b"])
    }

    /// An object that waits for its turn must not lose what other tables hold of its value.
    @Test(arguments: Engine.allCases) func rowsThatReferToAUniqueValueFollowIt(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Visitor.self)
        let (one, two) = try store.insert(Visitor(email: "a"), Visitor(email: "b"))
        try store.write { tx in
            try tx.execute(
                #"CREATE TABLE "Coat" ("id" INTEGER, "email" TEXT REFERENCES "Visitor" ("email") ON UPDATE CASCADE)"#)
            try tx.execute(#"INSERT INTO "Coat" VALUES (1, 'a'), (2, 'b')"#)
        }
        _ = try store.save([Visitor(id: one.id, email: "b"), Visitor(id: two.id, email: "a")])
        #expect(try store.fetch(Visitor.sorted { $0.id }).map(\.email) == ["b", "a"])
        #expect(try store.rows(#"SELECT "email" FROM "Coat" ORDER BY "id""#) == [["b"], ["a"]])
    }
}

@Model private struct CheckedLocker {
    @Attribute(.primaryKey) var id: Int?
    @Attribute(.unique) var code: String
}

@Model private struct Visitor {
    var id: Int?
    @Attribute(.unique) var email: String?
}

private struct GridPlace: Hashable {
    var row: Int
    var column: String
}

extension Locker {
    fileprivate var gridPlace: GridPlace { GridPlace(row: row, column: column) }
}
