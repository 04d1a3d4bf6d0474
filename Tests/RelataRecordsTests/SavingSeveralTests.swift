import Foundation
import RelataCore
import RelataRecords
import RelataEngine
import RelataEngines
import TestEngines
import Testing

/// Saving several records at once.
@Suite(.onEveryEngine) struct SavingSeveralTests {
    private func slots() async throws -> (store: RecordStore, slots: [Record]) {
        let store = try RecordStore.make()
        try await store.alter { schema in
            try schema.addClass("Slot")
            try schema.addField("place", .integer, to: "Slot", isRequired: true)
            try schema.addField("room", .text, to: "Slot", isRequired: true)
            try schema.addField("note", .text, to: "Slot")
            try schema.addUnique("place", "room", in: "Slot")
        }
        let slots = try await store.save((1...3).map { Record("Slot", ["place": .integer($0), "room": "A"]) })
        return (store, slots)
    }

    @Test func uniqueValuesAreExchangedWithinABatch() async throws {
        var (store, slots) = try await slots()
        for (place, slot) in slots.indices.enumerated() { slots[slot]["place"] = .integer((place + 1) % 3 + 1) }
        let saved = try await store.save(slots)
        #expect(saved.map { $0["place"] } == [2, 3, 1])
        #expect(saved.map { $0["room"] } == ["A", "A", "A"])
        var stored: [Record] = []
        for slot in saved { stored += [try #require(try await store.refreshed(slot))] }
        #expect(stored == saved)
    }

    /// The second slot's unique value isn't written, so it isn't given up.
    @Test func aUniqueValueThatIsKeptPreventsTheExchange() async throws {
        var (store, slots) = try await slots()
        slots[0]["place"] = 2
        slots[1]["note"] = "stays"
        let given = Array(slots[0...1])
        await #expect {
            try await store.save(given)
        } throws: { if case RelataError.uniqueViolation? = $0 as? RelataError { true } else { false } }
        #expect(try await store.fetch(RecordQuery("Slot", sort: "place")).map { $0["place"] } == [1, 2, 3])
    }

    @Test func duplicateObjectsAreMergedAndWrittenOnce() async throws {
        let (store, slots) = try await slots()
        var (one, other) = (slots[0], slots[0])
        one["note"] = "one"
        one["place"] = 7
        other["note"] = "other"
        let saved = try await store.save([one, other])
        #expect(saved[0] == saved[1])
        let stored = try #require(try await store.refreshed(slots[0]))
        #expect(stored["note"] == "other" && stored["place"] == 7)
    }

    /// The member is inserted with its owner, which it can't be without.
    @Test func newMembersOfAListMayNeedTheirOwner() async throws {
        let store = try RecordStore.make()
        try await store.addMusic()
        try await store.alter { schema in
            try schema.addClass("Track")
            try schema.addField("title", .text, to: "Track")
            try schema.addLink("album", to: "Album", in: "Track", isRequired: true, onTargetDelete: .cascade)
            try schema.addList("tracks", of: "Track", to: "Album", inverse: "album")
        }
        let album = try await store.save(
            Record("Album", ["title": "Milestones", "tracks": .links([Record("Track", ["title": "Sid's Ahead"])])]))
        #expect(try album.relatedList("tracks").map { $0["album"].link?.key } == [album.key])
        let found = try #require(try await store.first(RecordQuery("Track").including("album")))
        #expect(found["album"]["title"] == "Milestones")
    }

    /// Keys that the database assigns are known only once the row is there.
    @Test func newObjectsWhoseKeysTheDatabaseAssignsAreLinked() async throws {
        let folder = try TestDatabases()
        let connection = try DatabaseLocation(folder.path()).connect(isReadOnly: false)
        let (key, integer) = (connection.dialect.assignedKey, connection.dialect.integerType)
        for sql in [
            "CREATE TABLE \"Band\" (id \(key), name TEXT)",
            "CREATE TABLE \"Player\" (id \(key), name TEXT, band \(integer) REFERENCES \"Band\" (id))",
            "ALTER TABLE \"Band\" ADD COLUMN leader \(integer) REFERENCES \"Player\" (id)",
        ] { try connection.execute(sql) }
        try connection.close()
        let store = try RecordStore.open(folder.path())
        let band = try await store.save(
            Record("Band", ["name": "Quintet", "leader": .link(Record("Player", ["name": "Miles"]))]))
        #expect(band["leader"].record?.key == KeyValue(1) && band.key == KeyValue(1))
        let players = try await store.save(
            ["Red", "Paul"].map { name in
                Record("Player", ["name": .text(name), "band": .link(Record("Band", ["name": "New"]))])
            })
        #expect(players.map(\.key) == [KeyValue(2), KeyValue(3)])
        #expect(players.map { $0["band"].link?.key } == [KeyValue(2), KeyValue(3)])
        #expect(try await store.count(RecordQuery("Band")) == 3)
    }

    /// Objects with their own keys may lead to each other in a cycle.
    @Test func objectsThatReferToEachOtherAreSavedTogether() async throws {
        let store = try RecordStore.make()
        try await store.save(Record("Person", ["friend": .link(Record("Person", ["name": "first"]))]))
        let (ada, bob) = (UUIDs.one, UUIDs.two)
        let circle = Record(
            "Person",
            [
                "id": .uuid(ada), "name": "Ada",
                "friend": .link(
                    Record(
                        "Person",
                        [
                            "id": .uuid(bob), "name": "Bob",
                            "friend": .link(Record("Person", ["id": .uuid(ada)])),
                        ])),
            ])
        let saved = try await store.save(circle)
        #expect(saved["friend"]["name"] == "Bob")
        let stored = try #require(try await store.fetch("Person", id: .uuid(bob)))
        #expect(stored["friend"].link?.key == saved.key)
        #expect(try await store.count(RecordQuery("Person")) == 4)
    }

    @Test func failuresOfSeveralObjectsAreReportedTogether() async throws {
        let (store, slots) = try await slots()
        var stored = slots[0]
        stored["room"] = nil
        let given = [Record("Slot", ["room": "B"]), stored, Record("Slot", ["place": 9])]
        do {
            try await store.save(given)
            Issue.record("was saved")
        } catch RelataError.validation(let failures) {
            #expect(failures.map(\.property) == ["place", "room", "room"])
            #expect(failures.map(\.object) == ["Slot no. 1", "\(slots[0].reference!)", "Slot no. 3"])
        }
    }
}

private enum UUIDs {
    static let one = UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
    static let two = UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2))
}
