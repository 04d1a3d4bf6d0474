import Relata
import Testing

@Model struct Berth {
    @Attribute(.primaryKey) let deck: Int
    @Attribute(.primaryKey) let number: Int
    @Relationship(inverse: \Passenger.berth) var passenger: HasOne<Passenger>
}

@Model struct Passenger {
    @Attribute(.primaryKey) let name: String
    var berth: ToOne<Berth>?
}

/// One-to-ones, seen from both sides.
@Suite struct OneToOneTests {
    private func desks(_ engine: Engine) throws -> (store: Store, ada: Citizen, bob: Citizen, desk: Desk, other: Desk) {
        let store = try TestStore.make(engine, for: Citizen.self)
        let (ada, bob) = try store.insert(Citizen(name: "Ada"), Citizen(name: "Bob"))
        let (desk, other) = try store.insert(
            Desk(place: "window", user: ToOne(ada)), Desk(place: "door", user: ToOne(bob)))
        return (store, ada, bob, desk, other)
    }

    private func users(_ store: Store) throws -> [String: String] {
        let rows = try store.fetch(Desk.all.select { ($0.place, $0.user.name.or("nobody")) })
        return Dictionary(uniqueKeysWithValues: rows)
    }

    @Test(arguments: Engine.allCases) func aNewPartnerIsSavedFromEitherSide(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Citizen.self)
        let ada = try store.insert(Citizen(name: "Ada", passport: HasOne(Passport(number: "1", holder: .unset))))
        #expect(ada.passport.loaded?.holder.id == ada.id)
        #expect(try store.related(to: ada) { $0.passport }?.number == "1")
        let passport = try store.insert(Passport(number: "2", holder: ToOne(Citizen(name: "Bob"))))
        #expect(try store.fetch(passport.holder)?.name == "Bob")
        #expect(try store.fetch(Citizen.where { $0.passport.number == "2" }).map(\.name) == ["Bob"])
        let stored = try #require(try store.fetch(Citizen.self, id: 1))
        #expect(!stored.passport.isLoaded && stored.passport.loaded == nil)
        #expect(thrown { try stored.passport.object }?.kind == "notLoaded")
    }

    @Test(arguments: Engine.allCases) func settingTheKeyReassignsThePartner(_ engine: Engine) throws {
        let (store, ada, _, _, other) = try desks(engine)
        try store.update(other.id) { $0.user = ToOne(ada) }
        #expect(try users(store) == ["window": "nobody", "door": "Ada"])
        // The same by saving the whole value, and by inserting a new one.
        var whole = try store.refresh(other)
        whole.user = nil
        try store.save(whole)
        whole.user = ToOne(ada)
        try store.save(whole)
        try store.insert(Desk(place: "new", user: ToOne(ada)))
        #expect(try users(store) == ["window": "nobody", "door": "nobody", "new": "Ada"])
    }

    @Test(arguments: Engine.allCases) func settingTheInverseReassignsThePartner(_ engine: Engine) throws {
        let (store, _, _, desk, other) = try desks(engine)
        // By object and by key. The former user of the desk then has none.
        try store.update(Citizen.self, id: 1) { $0.desk.set(other) }
        #expect(try users(store) == ["window": "nobody", "door": "Ada"])
        try store.update(Citizen.self, id: 2) { $0.desk.set(id: desk.id) }
        #expect(try users(store) == ["window": "Bob", "door": "Ada"])
        try store.update(Citizen.self, id: 2) { $0.desk.set(id: other.id) }
        #expect(try users(store) == ["window": "nobody", "door": "Bob"])
        try store.update(Citizen.self, id: 2) { $0.desk.set(Desk(place: "new")) }
        #expect(try users(store) == ["window": "nobody", "door": "nobody", "new": "Bob"])
        try store.update(Citizen.self, id: 2) { $0.desk.set(nil) }
        #expect(try users(store) == ["window": "nobody", "door": "nobody", "new": "nobody"])
    }

    @Test(arguments: Engine.allCases) func oneObjectMayReplaceTwoPartners(_ engine: Engine) throws {
        let (store, ada, _, desk, other) = try desks(engine)
        try store.update(other.id) { $0.lamp = ToOne(Lamp(name: "red")) }
        let both = try store.save(Desk(place: "third", user: ToOne(ada), lamp: ToOne(id: "red")))
        #expect(try store.refresh(both).user?.id == ada.id && store.refresh(both).lamp?.id == "red")
        #expect(try store.refresh(desk).user == nil && store.refresh(other).lamp == nil)
    }

    @Test(arguments: Engine.allCases) func twoObjectsMaySwapPartners(_ engine: Engine) throws {
        let (store, ada, bob, desk, other) = try desks(engine)
        var (first, second) = (desk, other)
        first.user = ToOne(bob)
        second.user = ToOne(ada)
        let (saved, also) = try store.save(first, second)
        #expect(saved.user?.id == bob.id && also.user?.id == ada.id)
        #expect(try users(store) == ["window": "Bob", "door": "Ada"])
        var (one, two) = (ada, bob)
        one.desk.set(desk)
        two.desk.set(other)
        _ = try store.save(one, two)
        #expect(try users(store) == ["window": "Ada", "door": "Bob"])
    }

    @Test(arguments: Engine.allCases) func requiredPartnersCannotBeReassigned(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Citizen.self)
        let ada = try store.insert(Citizen(name: "Ada", passport: HasOne(Passport(number: "1", holder: .unset))))
        let bob = try store.insert(Citizen(name: "Bob", passport: HasOne(Passport(number: "2", holder: .unset))))
        let refused = [
            thrown { try store.insert(Passport(number: "3", holder: ToOne(ada))) },
            thrown { try store.update(Passport.self, id: "2") { $0.holder = ToOne(ada) } },
            thrown { try store.save(Passport(number: "2", holder: ToOne(ada))) },
            thrown { try store.update(Citizen.self, id: 1) { $0.passport.set(Passport(number: "3", holder: .unset)) } },
            thrown { try store.update(Citizen.self, id: 1) { $0.passport.set(id: "2") } },
            thrown { try store.update(Citizen.self, id: 1) { $0.passport.set(nil) } },
        ]
        for error in refused { #expect(error?.reference == "Passport.holder", "\(String(describing: error))") }
        #expect(try store.fetch(Passport.sorted { $0.number }).map(\.holder.id) == [ada.id, bob.id])
        // Once its holder has lost it, the passport may be taken.
        try store.delete(Passport.self, id: "1")
        try store.update(Citizen.self, id: 1) { $0.passport.set(id: "2") }
        #expect(try store.related(to: ada) { $0.passport }?.number == "2")
    }

    @Test(arguments: Engine.allCases) func requiredPartnersAreSwappedInOneBatch(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Citizen.self)
        let (ada, bob) = try store.insert(Citizen(name: "Ada"), Citizen(name: "Bob"))
        var (first, second) = try store.insert(
            Passport(number: "1", holder: ToOne(ada)), Passport(number: "2", holder: ToOne(bob)))
        (first.holder, second.holder) = (second.holder, first.holder)
        // One after the other isn't possible: for a moment, both would have the same partner.
        let error = thrown {
            try store.write { tx in
                try tx.save(first)
                try tx.save(second)
            }
        }
        #expect(error?.reference == "Passport.holder" && "\(error as Any)".contains("in one batch"))
        #expect(try store.fetch(Passport.sorted { $0.number }).map(\.holder.id) == [ada.id, bob.id])
        try store.save(first, second)
        #expect(try store.fetch(Passport.sorted { $0.number }).map(\.holder.id) == [bob.id, ada.id])
    }

    @Test(arguments: Engine.allCases) func partnersWithCompositeKeysAreReassigned(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Passenger.self)
        #expect(try Self.decksAfterABerthIsTaken(store) == [nil, 2, 1])
    }

    /// The decks of three passengers, of whom the last takes the berth of the first.
    static func decksAfterABerthIsTaken(_ store: Store) throws -> [Int?] {
        let (one, two) = try store.insert(Berth(deck: 1, number: 2), Berth(deck: 2, number: 1))
        try store.insert(Passenger(name: "a", berth: ToOne(one)), Passenger(name: "b", berth: ToOne(two)))
        try store.insert(Passenger(name: "c", berth: ToOne(one)))
        return try store.fetch(Passenger.sorted { $0.name }.including { $0.berth }).map { $0.berth?.loaded?.deck }
    }

    @Test func editsAreVisibleInTheValue() throws {
        var citizen = Citizen(id: 1, name: "Ada")
        #expect(!citizen.desk.isLoaded && !citizen.desk.hasEdits)
        let desk = Desk(place: "p")
        citizen.desk.set(desk)
        #expect(try citizen.desk.object == desk)
        #expect(citizen.desk.hasEdits)
        citizen.desk.set(nil)
        #expect(try citizen.desk.object == nil)
        citizen.desk.set(id: desk.id)
        #expect(!citizen.desk.isLoaded)
    }
}
