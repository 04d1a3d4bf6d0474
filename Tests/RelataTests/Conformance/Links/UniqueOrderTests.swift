import Relata
import Testing

@Model struct TicketQueue {
    var id: Int?
    var name: String
    @Relationship(inverse: \QueueTicket.queue, order: \QueueTicket.place) var tickets: ToMany<QueueTicket>
}

@Model struct QueueTicket {
    #Unique<QueueTicket>([\.queue, \.place])
    var id: Int?
    var holder: String
    var place: Int = 0
    @Attribute(.revision) var revision: Int
    var queue: ToOne<TicketQueue>?
}

/// Lists that are ordered by an attribute which is unique within its owner.
@Suite struct UniqueOrderTests {
    private func holders(_ store: Store, _ queue: TicketQueue) throws -> String {
        let tickets = try store.related(to: queue) { $0.tickets }
        #expect(tickets.map(\.place) == tickets.map(\.place).sorted())
        return tickets.map(\.holder).joined()
    }

    @Test(arguments: Engine.allCases) func membersAreInsertedAndMoved(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: TicketQueue.self)
        var queue = try store.save(TicketQueue(name: "q", tickets: ToMany("abcd".map { QueueTicket(holder: "\($0)") })))
        #expect(try holders(store, queue) == "abcd")
        let saved = try #require(queue.tickets.loaded)
        #expect(try saved.map(\.place) == store.related(to: queue) { $0.tickets }.map(\.place))
        try queue.tickets.move(from: 0, to: 3)
        try queue.tickets.move(from: 0, to: 2)
        queue = try store.save(queue)
        #expect(try holders(store, queue) == "cdba")
        queue.tickets.set(saved.reversed())
        queue = try store.save(queue)
        #expect(try holders(store, queue) == "dcba")
        queue.tickets.add([QueueTicket(holder: "e"), QueueTicket(holder: "f")])
        queue.tickets.place(QueueTicket(holder: "x"), after: nil)
        queue = try store.save(queue)
        #expect(try holders(store, queue) == "xdcbaef")
    }

    @Test(arguments: Engine.allCases) func membersJoinFromAnotherListAtTheSamePlace(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: TicketQueue.self)
        let first = try store.save(TicketQueue(name: "1", tickets: ToMany("ab".map { QueueTicket(holder: "\($0)") })))
        var second = try store.save(TicketQueue(name: "2", tickets: ToMany("cd".map { QueueTicket(holder: "\($0)") })))
        let tickets = try store.related(to: first) { $0.tickets }
        second.tickets.place(tickets[0], after: nil)
        second.tickets.add(id: try #require(tickets[1].id))
        second = try store.save(second)
        #expect(try holders(store, second) == "acdb" && holders(store, first) == "")
    }

    /// Places are put between the same two until no gap is left, and all get new ones.
    @Test(arguments: Engine.allCases) func positionsAreRenumberedWhenGapsRunOut(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: TicketQueue.self)
        var queue = try store.save(TicketQueue(name: "q", tickets: ToMany("az".map { QueueTicket(holder: "\($0)") })))
        var expected = "z"
        for _ in 0..<40 {
            let first = try #require(try store.first(QueueTicket.where { $0.holder == "a" }))
            queue.tickets.place(QueueTicket(holder: "m"), after: first)
            queue = try store.save(queue)
            expected = "m" + expected
            #expect(try holders(store, queue) == "a" + expected)
        }
        // The same with positions that are adjacent from the beginning.
        let dense = try store.save(TicketQueue(name: "d"))
        let dense1 = try #require(dense.id)
        try store.insert((1...5).map { QueueTicket(holder: "\($0)", place: $0, queue: ToOne(id: dense1)) })
        let third = try #require(try store.first(QueueTicket.where { $0.holder == "3" }))
        try store.update(TicketQueue.self, id: dense1) { $0.tickets.place(QueueTicket(holder: "x"), after: third) }
        #expect(try holders(store, dense) == "123x45")
    }
}
