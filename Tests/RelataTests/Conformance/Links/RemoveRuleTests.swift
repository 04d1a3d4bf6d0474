import Relata
import Testing

@Model struct Bill {
    var id: Int?
    var shop: String
    @Relationship(deleteRule: .cascade, removeRule: .delete, inverse: \BillLine.bill, ordered: true)
    var lines: ToMany<BillLine>
    @Relationship(deleteRule: .cascade, removeRule: .delete, inverse: \Guarantee.bill)
    var guarantee: HasOne<Guarantee>
}

@Model struct BillLine {
    var id: Int?
    var text: String
    var bill: ToOne<Bill>
    @Relationship(deleteRule: .cascade, inverse: \LineNote.line) var notes: ToMany<LineNote>
}

@Model struct LineNote {
    let id: ID<LineNote>
    var text: String
    var line: ToOne<BillLine>
    @Relationship(inverse: \LineStamp.note) var stamps: ToMany<LineStamp>
}

@Model struct LineStamp {
    let id: ID<LineStamp>
    var note: ToOne<LineNote>
}

@Model struct Guarantee {
    @Attribute(.primaryKey) let number: Int
    var bill: ToOne<Bill>
}

/// A member of an optional link that is deleted when it is taken out.
@Model struct Punnet {
    var id: Int?
    @Relationship(removeRule: .delete, inverse: \Apple.punnet, minimum: 1) var apples: ToMany<Apple>
}

@Model struct Apple {
    @Attribute(.primaryKey) let name: String
    var punnet: ToOne<Punnet>?
}

@Model struct Window {
    var id: Int?
    @Relationship(deleteRule: .cascade, removeRule: .delete, inverse: \WindowTicket.queue, order: \WindowTicket.place)
    var tickets: ToMany<WindowTicket>
}

@Model struct WindowTicket {
    #Unique<WindowTicket>([\.queue, \.place])
    var id: Int?
    var holder: String
    var place: Int = 0
    var queue: ToOne<Window>
}

/// Objects that are deleted when an edit takes them out of the view of a to-one.
@Suite struct RemoveRuleTests {
    private func bill(_ engine: Engine) throws -> (Store, Bill) {
        let store = try TestStore.make(engine, for: Bill.self)
        let lines = "abcd".map { BillLine(text: "\($0)") }
        return (store, try store.save(Bill(shop: "corner", lines: ToMany(lines))))
    }

    private func texts(_ store: Store) throws -> String {
        try store.fetch(BillLine.sorted { $0.id }).map(\.text).joined()
    }

    @Test(arguments: Engine.allCases) func removedMembersAreDeletedByTheRule(_ engine: Engine) throws {
        var (store, bill) = try bill(engine)
        let line = try #require(bill.lines.loaded?[1])
        try store.insert(LineNote(text: "broken", line: ToOne(line)))
        bill.lines.remove(line)
        bill = try store.save(bill)
        #expect(try texts(store) == "acd")
        #expect(bill.lines.loaded?.map(\.text) == ["a", "c", "d"])
        // The line's own delete rules apply.
        #expect(try store.count(LineNote.all) == 0)
        try store.update(Bill.self, id: 1) { $0.lines.remove(id: 3) }
        #expect(try texts(store) == "ad")
    }

    @Test(arguments: Engine.allCases) func settingMembersDeletesTheOthers(_ engine: Engine) throws {
        var (store, bill) = try bill(engine)
        let lines = try #require(bill.lines.loaded)
        bill.lines.set([BillLine(text: "e"), lines[3], lines[0]])
        bill = try store.save(bill)
        #expect(try store.related(to: bill) { $0.lines }.map(\.text) == ["e", "d", "a"])
        #expect(try store.count(BillLine.all) == 3)
        bill.lines.set([])
        bill = try store.save(bill)
        #expect(try store.count(BillLine.all) == 0)
    }

    @Test(arguments: Engine.allCases) func movedMembersAreKept(_ engine: Engine) throws {
        var (store, bill) = try bill(engine)
        let line = try #require(bill.lines.loaded?[0])
        var other = try store.save(Bill(shop: "market"))
        bill.lines.remove(line)
        other.lines.add(line)
        // The order of the two doesn't matter.
        (bill, other) = try store.save(bill, other)
        #expect(try store.related(to: other) { $0.lines }.map(\.id) == [1])
        other.lines.remove(line)
        bill.lines.add(line)
        (bill, other) = try store.save(bill, other)
        #expect(try store.related(to: bill) { $0.lines }.map(\.text) == ["b", "c", "d", "a"])
        // The line is taken out and put back.
        bill.lines.remove(line)
        bill.lines.place(line, after: nil)
        bill = try store.save(bill)
        #expect(try store.related(to: bill) { $0.lines }.map(\.text) == ["a", "b", "c", "d"])
    }

    @Test(arguments: Engine.allCases) func aRefusedDeletionRefusesTheSave(_ engine: Engine) throws {
        var (store, bill) = try bill(engine)
        let line = try #require(bill.lines.loaded?[1])
        try store.insert(LineStamp(note: ToOne(LineNote(text: "kept", line: ToOne(line)))))
        bill.shop = "renamed"
        bill.lines.remove(line)
        let error = thrown { try store.save(bill) }
        #expect(error?.kind == "deleteDenied", "\(String(describing: error))")
        #expect(try texts(store) == "abcd")
        #expect(try store.fetch(Bill.self, id: 1)?.shop == "corner")
    }

    @Test(arguments: Engine.allCases) func thePartnerOfAHasOneIsReplaced(_ engine: Engine) throws {
        var (store, bill) = try bill(engine)
        bill.guarantee.set(Guarantee(number: 1, bill: .unset))
        bill = try store.save(bill)
        bill.guarantee.set(Guarantee(number: 2, bill: .unset))
        bill = try store.save(bill)
        #expect(try store.fetch(Guarantee.all).map(\.number) == [2])
        // Only an edit of the view deletes the earlier partner.
        #expect(thrown { try store.insert(Guarantee(number: 3, bill: ToOne(bill))) }?.kind == "requiredReference")
        bill.guarantee.set(nil)
        bill = try store.save(bill)
        #expect(try store.count(Guarantee.all) == 0)
        #expect(try store.related(to: bill) { $0.guarantee } == nil)
    }

    @Test(arguments: Engine.allCases) func partnersOfHasOnesAreSwapped(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Bill.self)
        var (first, second) = try store.save(
            Bill(shop: "1", guarantee: HasOne(Guarantee(number: 1, bill: .unset))),
            Bill(shop: "2", guarantee: HasOne(Guarantee(number: 2, bill: .unset))))
        let guarantees = (try #require(first.guarantee.loaded), try #require(second.guarantee.loaded))
        var (one, two) = guarantees
        one.bill = ToOne(second)
        two.bill = ToOne(first)
        try store.save(one, two)
        #expect(try store.fetch(Guarantee.sorted { $0.number }).map(\.bill.id) == [2, 1])
        first = try store.refresh(first)
        second = try store.refresh(second)
        #expect(try store.related(to: first) { $0.guarantee }?.number == 2)
    }

    @Test(arguments: Engine.allCases) func optionalLinksMayDeleteToo(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Punnet.self)
        var punnet = try store.save(Punnet(apples: ToMany([Apple(name: "red"), Apple(name: "green")])))
        try store.insert(Apple(name: "loose"))
        punnet.apples.remove(id: "red")
        punnet = try store.save(punnet)
        #expect(try store.fetch(Apple.sorted { $0.name }).map(\.name) == ["green", "loose"])
        // A list keeps its minimum, and members unset by their own to-one stay.
        punnet.apples.remove(id: "green")
        #expect(thrown { try store.save(punnet) }?.kind == "validation")
        #expect(try store.count(Apple.all) == 2)
    }

    @Test(arguments: Engine.allCases) func uniquePositionsAreFreed(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Window.self)
        func holders(_ queue: Window) throws -> String {
            try store.related(to: queue) { $0.tickets }.map(\.holder).joined()
        }
        var queue = try store.save(Window(tickets: ToMany("abc".map { WindowTicket(holder: "\($0)") })))
        queue.tickets.remove(id: 3)
        queue.tickets.add(WindowTicket(holder: "d"))
        queue = try store.save(queue)
        #expect(try holders(queue) == "abd")
        let first = try #require(queue.tickets.loaded?[0])
        queue.tickets.set([WindowTicket(holder: "e"), first, WindowTicket(holder: "f")])
        queue = try store.save(queue)
        #expect(try holders(queue) == "eaf")
        #expect(try store.count(WindowTicket.all) == 3)
    }

    @Test(arguments: Engine.allCases) func observersSeeTheDeletion(_ engine: Engine) async throws {
        let (store, bill) = try bill(engine)
        let feed = store.changes
        try await store.update(Bill.self, id: bill.id) { $0.lines.remove(id: 2) }
        for await set in feed {
            let deleted = set.changes.filter { $0.kind == .delete }
            #expect(deleted.map(\.entity) == ["BillLine"] && deleted.first?.keys.count == 1, "\(set.changes)")
            break
        }
    }
}
