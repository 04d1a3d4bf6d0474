import Foundation
import Relata
import Testing

@Model struct Meeting {
    let id: UUID
    var begins: Date
    var ends: Date?
    @Attribute(.iso8601) var announced: Date?
    @Attribute(.seconds) var noted: Date?
    var hall: ToOne<MeetingRoom>?
    @Relationship(inverse: \MeetingMinute.meeting, ordered: true) var minutes: ToMany<MeetingMinute>
}

@Model struct MeetingRoom {
    @Attribute(.primaryKey) let name: String
    @Attribute(.range(0...)) var seats: Int = 1
    var opened: Date?
    @Attribute(.updatedAt) var updatedAt: Date
    @Attribute(.revision) var revision: Int
    var owner: ToOne<RoomOwner>?
    @Relationship(inverse: \Meeting.hall) var meetings: ToMany<Meeting>
}

/// Sets have no order, and so no unique text.
struct ShelfRules: Codable, Hashable, Sendable {
    var labels: Set<String>
}

@Model struct RuledShelf {
    let id: Int
    var rules: ShelfRules
    @Relationship(inverse: \RuledBook.shelf) var books: ToMany<RuledBook>
}

@Model struct RuledBook {
    let id: ID<RuledBook>
    var shelf: ToOne<RuledShelf>
}

@Model struct RoomOwner {
    let id: Int
    var name: String
    @Relationship(inverse: \MeetingRoom.owner) var hall: HasOne<MeetingRoom>
}

@Model struct MeetingMinute {
    var id: Int?
    var text: String
    var taken: Date?
    var meeting: ToOne<Meeting>?
}

@Model struct MeetingAlarm {
    let id: Int
    var rings: Date
}

/// A save returns the same object as a fetch afterwards.
@Suite struct SavedValueTests {
    /// A date with nanoseconds, which a column doesn't keep.
    private let exact = Date(timeIntervalSinceReferenceDate: 750_000_000.123_456_789)

    @Test(arguments: Engine.allCases) func datesReturnWithTheStoredPrecision(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Meeting.self, MeetingAlarm.self)
        let meeting = Meeting(
            id: UUID(), begins: exact, ends: exact, announced: exact, noted: exact,
            hall: ToOne(MeetingRoom(name: "a", opened: exact)),
            minutes: ToMany([MeetingMinute(text: "m", taken: exact)]))
        for saved in [try store.insert(meeting), try store.save([meeting])[0], try store.update(meeting)] {
            let stored = try #require(try store.fetch(Meeting.self, id: meeting.id))
            #expect(saved.begins == stored.begins && saved.begins != exact)
            #expect(saved.ends == stored.ends && saved.announced == stored.announced && saved.noted == stored.noted)
            let hall = try #require(try store.fetch(MeetingRoom.self, id: "a"))
            #expect(try saved.hall?.object.opened == hall.opened && hall.opened != exact)
        }
        let minutes = try store.save(
            Meeting(id: UUID(), begins: exact, minutes: ToMany([MeetingMinute(text: "m", taken: exact)])))
        #expect(minutes.minutes.loaded?.first?.taken == (try store.first(MeetingMinute.all))?.taken)
        // A model without links is saved in another way.
        let alarms = [MeetingAlarm(id: 1, rings: Date(timeIntervalSince1970: 5)), MeetingAlarm(id: 2, rings: exact)]
        for saved in [try store.insert(alarms), try store.save(alarms), try store.update(alarms)] {
            #expect(try store.fetch(MeetingAlarm.sorted { $0.id }) == saved)
        }
        let edited = try store.update(MeetingAlarm.self, id: 1) { $0.rings = exact }
        #expect(try store.fetch(MeetingAlarm.self, id: 1) == edited)
        let unchanged = try store.update(MeetingAlarm.self, id: 1) { $0.rings = exact }
        #expect(try store.fetch(MeetingAlarm.self, id: 1) == unchanged)
        let results = try store.saveEach([MeetingAlarm(id: 3, rings: exact)])
        #expect(try results.map { try $0.get() as? MeetingAlarm } == [try store.fetch(MeetingAlarm.self, id: 3)])
    }

    @Test(arguments: Engine.allCases) func aLinkedObjectWithASetIsUnchanged(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: RuledShelf.self)
        for number in 0..<20 {
            let labels = Set((0..<9).map { "\($0 * 31 + number)" })
            try store.insert(RuledShelf(id: number, rules: ShelfRules(labels: labels)))
            let shelf = try #require(try store.fetch(RuledShelf.self, id: number))
            try store.insert(RuledBook(shelf: shelf))
        }
        #expect(try store.count(RuledBook.all) == 20)
    }

    @Test(arguments: Engine.allCases) func staleLinkedObjectsAreRefused(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Meeting.self)
        let owner = try store.save(RoomOwner(id: 1, name: "o"))
        try store.update(RoomOwner.self, id: 1) { $0.name = "p" }
        let error = thrown { try store.insert(MeetingRoom(name: "a", owner: ToOne(owner))) }
        #expect(error?.description.contains("stored with another name") == true, "\(error as Any)")
        // The key alone sets the link.
        try store.insert(MeetingRoom(name: "a", owner: ToOne(id: owner.id)))
        #expect(try store.fetch(RoomOwner.self, id: 1)?.name == "p")
        // The revision shows that an object is outdated.
        let hall = try store.save(MeetingRoom(name: "b", seats: 4))
        try store.update(MeetingRoom.self, id: "b") { $0.seats = 6 }
        try store.insert(Meeting(id: UUID(), begins: exact, hall: ToOne(hall)))
        #expect(try store.fetch(MeetingRoom.self, id: "b")?.seats == 6)
    }

    @Test(arguments: Engine.allCases) func changesOfALinkedStoredObjectAreRefused(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Meeting.self)
        var hall = try store.insert(MeetingRoom(name: "a", seats: 4))
        hall.seats = 8
        let meeting = Meeting(id: UUID(), begins: exact, hall: ToOne(hall))
        let error = thrown { try store.save(meeting) }
        #expect(error?.description.contains("MeetingRoom a is stored with another seats") == true, "\(error as Any)")
        #expect(error?.description.contains("link it by its key, ToOne(id:), or save") == true, "\(error as Any)")
        #expect(try store.count(Meeting.all) == 0 && store.fetch(MeetingRoom.self, id: "a")?.seats == 4)
        // In a batch, in a list, and if each is saved separately.
        #expect(thrown { try store.save([Meeting(id: UUID(), begins: exact), meeting]) }?.kind == "invalidUse")
        var minutes = try store.insert(Meeting(id: UUID(), begins: exact, minutes: ToMany([MeetingMinute(text: "m")])))
        var minute = try #require(minutes.minutes.loaded?.first)
        minute.text = "n"
        minutes = try store.refresh(minutes)
        minutes.minutes.add(minute)
        #expect(thrown { try store.save(minutes) }?.kind == "invalidUse")
        let results = try store.saveEach([meeting, Meeting(id: UUID(), begins: exact)])
        #expect(results.map { (try? $0.get()) != nil } == [false, true])
        // The caller decides: the object too, or only its key.
        let (saved, _) = try store.save(meeting, hall)
        #expect(try saved.hall?.object.seats == 8 && store.fetch(MeetingRoom.self, id: "a")?.seats == 8)
        hall.seats = 9
        try store.save(Meeting(id: UUID(), begins: exact, hall: ToOne(id: hall.name)))
        #expect(try store.fetch(MeetingRoom.self, id: "a")?.seats == 8)
    }

    @Test(arguments: Engine.allCases) func unchangedLinkedObjectsAreAccepted(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Meeting.self)
        let owner = try store.insert(RoomOwner(id: 1, name: "o"))
        let hall = try store.insert(MeetingRoom(name: "a", seats: 4, opened: exact, owner: ToOne(owner)))
        // The object is given with another precision and older stamps, and is linked twice.
        var given = hall
        given.opened = exact
        given.revision = 0
        given.updatedAt = .distantPast
        try store.execute(#"UPDATE "MeetingRoom" SET "revision" = "revision" + 5"#)
        try store.save([
            Meeting(id: UUID(), begins: exact, hall: ToOne(given)),
            Meeting(id: UUID(), begins: exact, hall: ToOne(given)),
        ])
        // The save itself changes these references.
        var other = RoomOwner(id: 2, name: "p")
        other.hall.set(given)
        other = try store.save(other)
        #expect(try store.fetch(MeetingRoom.self, id: "a")?.owner?.id == 2)
    }

    @Test(arguments: Engine.allCases) func savedObjectsCanBeSavedAgainAfterOtherWrites(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Meeting.self)
        let owner = try store.insert(RoomOwner(id: 1, name: "o"))
        let given = try store.save(MeetingRoom(name: "a", owner: ToOne(owner)))
        var meeting = try store.save(Meeting(id: UUID(), begins: exact, hall: ToOne(given)))
        try store.update(MeetingRoom.self, id: "a") { $0.seats = 99 }
        try store.update(RoomOwner.self, id: 1) { $0.name = "changed" }
        meeting.begins = .distantPast
        meeting = try store.save(meeting)
        try store.save(meeting)
        #expect(try store.fetch(MeetingRoom.self, id: "a")?.seats == 99)
        #expect(try store.fetch(RoomOwner.self, id: 1)?.name == "changed")
    }

    @Test(arguments: Engine.allCases) func linkedStoredObjectsAreComparedWithOneStatement(_ engine: Engine) throws {
        let log = StatementLog()
        let store = try TestStore.make(engine, for: Meeting.self, options: log.options)
        let halls = try store.insert((1...50).map { MeetingRoom(name: "\($0)") })
        let meetings = halls.map { Meeting(id: UUID(), begins: exact, hall: ToOne($0)) }
        _ = log.take()
        try store.save(meetings)
        #expect(log.take().count { $0.hasPrefix("SELECT") } == 1)
        try store.save((1...50).map { Meeting(id: UUID(), begins: exact, hall: ToOne(MeetingRoom(name: "new \($0)"))) })
        #expect(log.take().count { $0.hasPrefix("SELECT") } == 0)
    }
}
