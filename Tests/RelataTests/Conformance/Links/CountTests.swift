import Relata
import Testing

/// Lists that declare the number of objects they must and may hold.
@Suite struct CountTests {
    private func members(_ count: Int) -> [Member] { (0..<count).map { Member(name: "\($0)") } }

    @Test(arguments: Engine.allCases) func aManyToManyKeepsItsCounts(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Squad.self)
        #expect(thrown { try store.insert(Squad(name: "empty")) }?.failures == ["members"])
        #expect(thrown { try store.insert(Squad(name: "full", members: ToMany(members(4)))) }?.failures == ["members"])
        #expect(try store.count(Squad.all) + store.count(Member.all) == 0)
        let squad = try store.insert(Squad(name: "s", members: ToMany(members(3))))
        #expect(thrown { try store.update(squad.id) { $0.members.add(Member(name: "x")) } }?.failures == ["members"])
        #expect(thrown { try store.update(squad.id) { $0.members.set([]) } }?.failures == ["members"])
        #expect(thrown { try store.insert(Member(name: "y", squads: ToMany([squad]))) }?.failures == ["members"])
        let stored = try store.related(to: squad) { $0.members }
        // The other side's counts hold as well.
        try store.insert(Squad(name: "t", members: ToMany([stored[0]])))
        #expect(thrown { try store.insert(Squad(name: "u", members: ToMany([stored[0]]))) }?.failures == ["squads"])
        #expect(try store.count(Squad.all) == 2)
        // A list may be emptied and filled within one save.
        try store.update(squad.id) {
            $0.members.add(Member(name: "z"))
            $0.members.remove(stored[0])
        }
        #expect(try store.count(squad.related { $0.members }) == 3)
        #expect(thrown { try store.delete(Member.all) }?.kind == "validation")
        #expect(try store.count(Member.all) == 4)
    }

    @Test(arguments: Engine.allCases) func aOneToManyKeepsItsCounts(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Boat.self)
        #expect(thrown { try store.insert(Boat(name: "empty")) }?.failures == ["crew"])
        var boat = Boat(name: "b")
        boat.crew.add([Sailor(name: "1"), Sailor(name: "2")])
        boat = try store.insert(boat)
        let other = try store.insert(Boat(name: "c", crew: ToMany([Sailor(name: "3")])))
        let third = try #require(other.crew.loaded?.first)
        let crew = try store.fetch(Sailor.sorted { $0.name })
        let refused: [(String, RelataError?)] = [
            ("a new one", thrown { try store.insert(Sailor(name: "4", boat: ToOne(boat))) }),
            ("by the key", thrown { try store.update(third.id) { $0.boat = ToOne(boat) } }),
            ("by the list and id", thrown { try store.update(boat.id) { $0.crew.add(id: third.id) } }),
            ("by the list and object", thrown { try store.update(boat.id) { $0.crew.add(third) } }),
            ("leaving, by the key", thrown { try store.update(third.id) { $0.boat = nil } }),
            ("leaving, by the list", thrown { try store.update(other.id) { $0.crew.remove(third) } }),
            ("leaving, whole", thrown { try store.save(Sailor(id: third.id, name: "3")) }),
            ("deleted", thrown { try store.delete(third) }),
            ("by query", thrown { try store.update(Sailor.where { $0.name == "3" }) { $0.boat.set(to: nil) } }),
        ]
        for (path, error) in refused { #expect(error != nil, "\(path)") }
        #expect(try store.fetch(Sailor.sorted { $0.name }) == crew)
        // If another boat takes its last sailor, the first one has none.
        try store.update(boat.id) { $0.crew.remove(crew[0]) }
        #expect(thrown { try store.update(boat.id) { $0.crew.add(id: third.id) } }?.failures == ["crew"])
        #expect(thrown { try store.update(boat.id) { $0.crew.set([third]) } }?.failures == ["crew"])
        // A boat may be deleted with its last sailor.
        #expect(try store.write { try $0.delete(other) }.deletedCount == 1)
    }

    @Test(arguments: Engine.allCases) func plansAndDeletionsNameListsThatWouldBecomeTooShort(_ engine: Engine) throws {
        let log = StatementLog()
        let store = try TestStore.make(engine, for: Boat.self, Squad.self, options: log.options)
        let boats = try store.insert(["a", "b", "c"].map { Boat(name: $0, crew: ToMany([Sailor(name: $0)])) })
        let sailors = try store.fetch(Sailor.sorted { $0.name })
        try store.insert(Sailor(name: "d", boat: ToOne(boats[2])))
        let plan = try store.deletionPlan(for: sailors).sorted()
        #expect(plan.isDenied && plan.blockers.isEmpty)
        #expect(
            plan.shortages.map(\.entity) == ["Boat", "Boat"] && plan.shortages.map(\.property) == ["crew", "crew"])
        #expect(
            Set(plan.shortages.map(\.key)) == Set(boats.prefix(2).map { ObjectKey(Boat.self, $0.id).reference.key }))
        #expect(plan.shortages.allSatisfy { $0.message == "must have at least 1, and would have 0" })
        #expect("\(plan)".contains("denied: nothing is deleted while\n  Boat "))
        #expect("\(plan)".contains(": crew must have at least 1, and would have 0"))
        let error = thrown { try store.delete(sailors) }
        guard case .validation(let failures) = error else { return #expect(error?.kind == "validation") }
        #expect(Set(failures) == Set(plan.shortages))
        #expect(try store.count(Sailor.all) == 4)

        // Objects that are deleted themselves need no members: the plan says what the deletion does, with the same
        // number of statements for many.
        let (one, both) = (try store.deletionPlan(for: boats[0]), try store.deletionPlan(for: boats))
        #expect(!one.isDenied && !both.isDenied)
        _ = log.take()
        #expect(thrown { try store.delete(sailors[0]) }?.failures == ["crew"])
        let few = log.take().count
        #expect(thrown { try store.delete(sailors) }?.failures == ["crew", "crew"])
        #expect(log.take().count == few)
        #expect(try store.delete(boats).sorted() == both.sorted())

        // From both sides of a many-to-many.
        let squad = try store.insert(Squad(name: "s", members: ToMany(members(2))))
        let plans = try [store.deletionPlan(for: Member.all), store.deletionPlan(for: squad)]
        #expect(plans.map(\.isDenied) == [true, false])
        #expect(plans[0].shortages.map(\.key) == [ObjectKey(Squad.self, squad.id).reference.key])
    }

    @Test(arguments: Engine.allCases) func bothSidesMayNeedTheOther(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Shelf.self)
        let shelf = try store.insert(Shelf(boxes: ToMany([Box()])))
        let box = try #require(shelf.boxes.loaded?.first)
        #expect(thrown { try store.insert(Box()) }?.failures == ["shelves"])
        // Setting a list removes the box from its only shelf.
        #expect(thrown { try store.update(shelf.id) { $0.boxes.set([Box()]) } }?.failures == ["shelves"])
        let second = try store.insert(Shelf(boxes: ToMany([box])))
        try store.update(shelf.id) { $0.boxes.set([Box()]) }
        #expect(try store.count(second.related { $0.boxes }) == 1)
        #expect(try store.count(Box.all) == 2)
    }
}
