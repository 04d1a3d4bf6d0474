import Relata
import Testing

@Model struct Guest {
    @Attribute(.primaryKey) let number: Int
    @Attribute(.unique) var email: String
    @Attribute(.range(18...)) var age: Int
    var room: ToOne<Room>?
}

@Model struct Room {
    @Attribute(.primaryKey) let number: Int
    @Relationship(deleteRule: .deny, inverse: \Guest.room) var guests: ToMany<Guest>
}

/// Tells a person what went wrong, where the program knows.
func explanation(of error: any Error) -> String {
    switch error {
    case RelataError.uniqueViolation(_, let properties):
        "That \(properties.joined(separator: " and ")) is taken."
    case RelataError.validation(let failures):
        failures.map { "\($0.property ?? $0.entity) \($0.message)" }.joined(separator: ", ")
    case RelataError.deleteDenied(let blockers):
        "Still in use by \(blockers.map { "\($0.object)" }.joined(separator: ", "))."
    case RelataError.invalidReference(_, let property, let key):
        "There is no \(property) \(key.map { "\($0)" } ?? "")."
    default:
        "\(error)"
    }
}

@Test func errors() async throws {
    try await example {
        let store = try await Store.open(temporary("hotel.sqlite"), for: Guest.self)
        try await store.save(Guest(number: 1, email: "ada@example.org", age: 36, room: ToOne(Room(number: 12))))

        func attempt(_ work: () async throws -> Void) async {
            do { try await work() } catch { print(explanation(of: error)) }
        }
        await attempt { try await store.save(Guest(number: 2, email: "ada@example.org", age: 40)) }
        await attempt { try await store.save(Guest(number: 2, email: "ben@example.org", age: 12)) }
        await attempt { try await store.delete(Room.self, id: 12) }
        await attempt {
            try await store.save(Guest(number: 3, email: "cleo@example.org", age: 30, room: ToOne(id: 13)))
        }
        await attempt { try await store.insert(Guest(number: 1, email: "eve@example.org", age: 30)) }
        await attempt { print(try await store.fetch(Guest.all)[0].room?.object.number ?? 0) }
        // docs: hide
        try printed(in: "Documentation/Errors.md")
        // docs: show
    }
}

enum Status: String, CaseIterable { case arrived, left }

@Model struct Visit {
    @Attribute(.primaryKey) let number: Int
    var status: Status = .arrived
}

@Test func valuesThatCantBeRead() async throws {
    try await example {
        // docs: hide
        let store = try await Store.open(temporary("hotel.sqlite"), for: Visit.self)
        try await store.save((1...3).map { Visit(number: $0) })
        try await store.execute("UPDATE Visit SET status = 'lost' WHERE number = 2")
        // docs: show
        let visits = Visit.sorted { $0.number }
        print(try await store.fetch(visits.skippingUndecodable { print("left out:", $0) }).map(\.number))
        // docs: hide
        try printed(in: "Documentation/Errors.md")
        // docs: show

        for finding in try await store.check() { print(finding) }
        // docs: hide
        try printed(in: "Documentation/Errors.md")
        // docs: show

        let findings = try await store.check()
        for finding in findings { print(finding.repair?.description ?? "by hand: \(finding.fix)") }
        let report = try await store.repair(findings)
        print("\(report.repaired.count) fixed, \(report.refused.count) refused, \(report.remaining.count) left")
        // docs: hide
        try printed(in: "Documentation/Errors.md")
        // docs: show
    }
}
