import Foundation
import Relata
import RelataCore
import RelataEngine
import RelataSQLite
import Testing

private enum Status: String, CaseIterable, Sendable { case lent, shelved }
private struct Address: Codable, Hashable, Sendable { var city: String }

@Model private struct Volume {
    var id: Int?
    var status: Status = .shelved
    var address: Address?
}

/// Values that a typed column of another engine would refuse.
@Suite struct UndecodableColumnTests {
    @Test func filesRecordTheCasesOfAnEnum() throws {
        let path = TestStore.path()
        let store = try TestStore.open(path, for: [Volume.self])
        _ = try store.save([
            Volume(id: 1), Volume(id: 2, address: Address(city: "Oslo")), Volume(id: 3),
        ])
        try store.execute("UPDATE Volume SET status = 'lost' WHERE id = 1")
        try store.execute("UPDATE Volume SET address = 'Oslo' WHERE id = 2")
        try store.close()
        let connection = try Connection(path: path)
        let schema = try Schema(try Introspection.entities(of: connection))
        #expect(
            try IntegrityCheck.run(connection, schema: schema).map(\.description) == [
                "Volume.status: 1 object holds a value that its enum doesn't have (Volume 1 holds lost)",
                "Volume.address: 1 object holds invalid JSON (Volume 2 holds Oslo)",
            ])
    }

    @Test(arguments: Engine.sqlite) func invalidJSONIsAnError(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: RichSample.self)
        try store.insert(RichSample())
        try store.execute("UPDATE RichSample SET color = 'red', place = '{'")
        #expect(thrown { try store.fetch(RichSample.all) }?.kind == "corruptStore")
    }

    @Test(arguments: Engine.sqlite) func aKeyMayBeStoredAsText(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Badge.self)
        var badge = Badge(name: "b")
        badge.pins.add(Pin())
        badge = try store.insert(badge)
        #expect(
            try store.rows("SELECT typeof(b.id), typeof(badgeId), badgeId FROM Badge AS b, Pin WHERE name = 'b'")
                == [["text", "text", .text(badge.id.description)]])
    }
}
