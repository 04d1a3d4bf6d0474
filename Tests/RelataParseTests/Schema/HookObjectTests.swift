import Foundation
import Relata
import RelataParse
import Synchronization
import TestEngines
import Testing

@Model struct Desk {
    let id: Relata.ID<Desk>
    var name: String
    @Relationship(inverse: \Ticket.desk) var tickets: ToMany<Ticket>
}

@Model struct Ticket {
    let id: Relata.ID<Ticket>
    var title: String
    var points: Int = 0
    var desk: ToOne<Desk>?
    @Attribute(.createdAt) var made: Date
    @Attribute(.updatedAt) var changed: Date
    @Attribute(.revision) var version: Int
}

@Model struct Slip {
    let id: Int?
    var title: String
    @Attribute(.createdAt) var made: Date = .distantPast
    @Attribute(.updatedAt) var changed: Date = .distantPast
    @Attribute(.revision) var version: Int = 0
}

@Model struct Sheet {
    enum Color: String, Codable { case red, blue }
    struct Size: Codable, Hashable {
        var width: Double
        var names: [String]
    }

    let id: Relata.ID<Sheet>
    @Attribute(.text) var other: UUID
    var date: Date
    @Attribute(.iso8601) var printed: Date
    @Attribute(.seconds) var read: Date
    var price: Decimal
    var weight: Double
    var ratio: Float
    var small: Int8
    var isFine: Bool
    var bytes: Data
    var link: URL
    var color: Color
    var size: Size
    var notes: [String: String]?
    var unset: Date?
}

/// After an object is saved or deleted, hooks get it as it is stored.
@Suite(.onEveryEngine) struct HookObjectTests {
    /// The objects that the hooks got.
    private final class Given<M: Model>: Sendable {
        private let objects = Mutex<[M]>([])
        func add(_ object: M) { objects.withLock { $0.append(object) } }
        func take() -> [M] {
            objects.withLock { objects in
                defer { objects = [] }
                return objects
            }
        }
    }

    private let statements = SQLStatements()
    private let store: Store
    private let tickets = Given<Ticket>()
    private let slips = Given<Slip>()
    private let deleted = Given<Ticket>()

    init() throws {
        var options = Store.Options()
        options.trace = { [statements] sql, _ in statements.append(sql) }
        store = try Store.make(for: Desk.self, Slip.self, Sheet.self, options: options)
    }

    private func server(changes: Bool) throws -> TestServer {
        let (tickets, slips, deleted) = (tickets, slips, deleted)
        return TestServer(
            try ParseStore.serving(store) { hooks in
                if changes {
                    hooks.beforeSave(Ticket.self) { ticket, _ in
                        if ticket.title == "no" { throw ParseError(.validationError, "not this one") }
                        ticket.title = ticket.title.uppercased()
                    }
                    hooks.beforeSave(Slip.self) { slip, _ in slip.title = slip.title.uppercased() }
                }
                hooks.afterSave(Ticket.self) { tickets.add($0) }
                hooks.afterSave(Slip.self) { slips.add($0) }
                hooks.beforeDelete(Ticket.self) { ticket, transaction in
                    if changes { try transaction.update(Ticket.self, id: ticket.id) { $0.points += 1 } }
                }
                hooks.afterDelete(Ticket.self) { deleted.add($0) }
            })
    }

    /// Checks that the hooks' objects are stored, and can be saved.
    private func check(_ count: Int, _ source: SourceLocation = #_sourceLocation) async throws {
        let given = tickets.take()
        #expect(given.count == count, sourceLocation: source)
        for ticket in given {
            #expect(try await store.fetch(ticket.id) == ticket, sourceLocation: source)
            #expect(try await store.save(ticket).version == ticket.version + 1, sourceLocation: source)
        }
    }

    private func post(_ title: String) -> JSONValue {
        ["method": "POST", "path": "/parse/classes/Ticket", "body": ["title": .string(title)]]
    }

    @Test(arguments: [false, true]) func savedObjectsEqualTheStoredOnes(changes: Bool) async throws {
        let server = try server(changes: changes)
        let id = try await server.create("Ticket", ["title": "a"])
        try await check(1)
        try await server.send("PUT", "/classes/Ticket/\(id)", ["title": "b"])
        try await check(1)
        try await server.send("POST", "/batch", ["requests": [post("c"), post("d")]])
        try await check(2)
        let put: JSONValue = ["method": "PUT", "path": .string("/parse/classes/Ticket/\(id)"), "body": ["title": "e"]]
        let both: JSONValue = ["requests": [put, post("f")], "transaction": true]
        #expect(try await server.send("POST", "/batch", both).status == 200)
        try await check(2)
    }

    @Test(arguments: [false, true]) func objectsOfTheInverseEqualTheStoredOnes(changes: Bool) async throws {
        let server = try server(changes: changes)
        let ticket = Ticket(title: "a", made: .now, changed: .now, version: 0)
        try await store.insert(ticket)
        let member = pointer("Ticket", ticket.id.description)
        let desk = try await server.create("Desk", ["name": "d", "tickets": adding(member)])
        #expect(try await store.fetch(ticket.id)?.version == 2)
        #expect(try await store.fetch(ticket.id)?.title == (changes ? "A" : "a"))
        try await check(1)
        let removal: JSONValue = ["__op": "RemoveRelation", "objects": [member]]
        try await server.send("PUT", "/classes/Desk/\(desk)", ["tickets": removal])
        #expect(try await store.fetch(ticket.id)?.version == 4)
        #expect(try await store.fetch(ticket.id)?.desk == nil)
        try await check(1)
    }

    /// If several requests of a transaction change an object, the hook gets it as it is at the end.
    @Test(arguments: [false, true]) func anObjectThatIsSavedTwiceHasItsFinalState(changes: Bool) async throws {
        let server = try server(changes: changes)
        let id = try await server.create("Ticket", ["title": "a"])
        _ = tickets.take()
        let put: JSONValue = [
            "method": "PUT", "path": .string("/parse/classes/Ticket/\(id)"),
            "body": ["points": ["__op": "Increment", "amount": 1]],
        ]
        try await server.send("POST", "/batch", ["requests": [put, put], "transaction": true])
        let given = tickets.take()
        let stored = try #require(try await store.fetch(Ticket.all).first)
        #expect(given == [stored, stored] && stored.points == 2 && stored.version == 3)
    }

    @Test func refusedAndDeletedObjectsDoNotCountAsSaved() async throws {
        let server = try server(changes: true)
        let reply = try await server.send("POST", "/batch", ["requests": [post("no"), post("a")]])
        #expect(reply.json.array?[0]["error"]?["code"] == 142 && reply.json.array?[1]["success"] != nil)
        try await check(1)
        let id = try #require(try await store.fetch(Ticket.all).first).id
        let path = JSONValue.string("/parse/classes/Ticket/\(id)")
        let requests: JSONValue = [
            ["method": "PUT", "path": path, "body": ["title": "b"]], ["method": "DELETE", "path": path],
        ]
        #expect(try await server.send("POST", "/batch", ["requests": requests, "transaction": true]).status == 200)
        #expect(tickets.take().isEmpty && deleted.take().map(\.title) == ["B"])
    }

    /// A hook gets values of every type as they will be read from the store.
    @Test func valuesOfEveryTypeEqualTheStoredOnes() async throws {
        let given = Given<Sheet>()
        let server = TestServer(
            try ParseStore.serving(store) { hooks in
                hooks.beforeSave(Sheet.self) { sheet, change in
                    given.add(sheet)
                    if !change.isNew { sheet.notes = ["a": "b"] }
                }
                hooks.afterSave(Sheet.self) { given.add($0) }
            })
        let date: JSONValue = ["__type": "Date", "iso": "2026-03-01T12:00:00.123Z"]
        let id = try await server.create(
            "Sheet",
            [
                "other": .string(UUID().uuidString), "date": date, "printed": date, "read": date, "price": 12.5,
                "weight": 3, "ratio": 0.1, "small": -5, "isFine": true, "bytes": ["__type": "Bytes", "base64": "AAEC"],
                "link": "https://example.com/a", "color": "blue", "size": ["width": 2, "names": ["x", "y"]],
            ])
        let new = given.take()
        #expect(new.count == 2 && new.first == new.last && new.first?.weight == 3 && new.first?.small == -5)
        #expect(try await store.fetch(Sheet.all).first == new.first)
        let reply = try await server.send("PUT", "/classes/Sheet/\(id)", ["weight": 4, "unset": date])
        #expect(reply["notes"] == ["a": "b"] && reply["size"] == nil, "\(reply.json)")
        var known = given.take()
        known[0].notes = ["a": "b"]
        #expect(known.count == 2 && known[0] == known[1] && known[0].unset == known[0].date)
    }

    @Test(arguments: [false, true]) func objectsHaveTheKeyThatTheDatabaseAssigned(changes: Bool) async throws {
        let server = try server(changes: changes)
        let id = try await server.create("Slip", ["title": "a"])
        try await server.send("PUT", "/classes/Slip/\(id)", ["title": "b"])
        let given = slips.take()
        let stored = try #require(try await store.fetch(Slip.all).first)
        #expect(given.count == 2 && given.last == stored && given.first?.id == stored.id && "\(stored.id ?? 0)" == id)
        #expect(given.first?.version == 1 && stored.version == 2 && stored.title == (changes ? "B" : "b"))
        #expect(try await store.save(stored).version == 3)
    }

    @Test(arguments: [false, true]) func aRequestCountsAsOneRevision(changes: Bool) async throws {
        let server = try server(changes: changes)
        let made = try await server.send("POST", "/classes/Ticket", ["title": "a"])
        #expect(made["version"] == 1)
        let id = try #require(made["objectId"]?.string)
        let changed = try await server.send("PUT", "/classes/Ticket/\(id)", ["title": "b"])
        #expect(changed["version"] == 2)
        let again = try await server.send("PUT", "/classes/Ticket/\(id)", ["title": "B"])
        #expect(again["version"] == 3)
        let stored = try #require(try await store.fetch(Ticket.all).first)
        #expect(stored.version == 3)
    }

    @Test func anAppsChangesCostNoStatement() async throws {
        var counts: [[Int]] = []
        for changes in [false, true] {
            let server = try server(changes: changes)
            let desk = try await server.create("Desk", ["name": "d"])
            var id = ""
            func written(_ body: () async throws -> Void) async throws -> Int {
                statements.removeAll()
                try await body()
                return statements.all.count {
                    $0.hasPrefix("INSERT INTO \"Ticket\"") || $0.hasPrefix("UPDATE \"Ticket\"")
                }
            }
            counts.append([
                try await written { id = try await server.create("Ticket", ["title": "a"]) },
                try await written { try await server.send("PUT", "/classes/Ticket/\(id)", ["title": "b"]) },
                try await written {
                    let member = pointer("Ticket", id)
                    try await server.send("PUT", "/classes/Desk/\(desk)", ["tickets": adding(member)])
                },
            ])
        }
        #expect(counts == [[1, 1, 1], [1, 1, 1]])
    }

    @Test(arguments: [false, true]) func deletedObjectsHaveTheirLastState(changes: Bool) async throws {
        let server = try server(changes: changes)
        let id = try await server.create("Ticket", ["title": "a"])
        let stored = try #require(try await store.fetch(Ticket.all).first)
        try await server.send("DELETE", "/classes/Ticket/\(id)")
        var last = stored
        if changes { (last.points, last.version) = (1, 2) }
        var given = try #require(deleted.take().first)
        #expect(given.changed >= stored.changed)
        given.changed = stored.changed
        #expect(given == last)
    }
}
