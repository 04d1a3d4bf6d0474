import Foundation
import RelataRecords
import TestEngines
import Testing

/// Saving a record.
@Suite(.onEveryEngine) struct SavingTests {
    @Test func onlySetFieldsAreWritten() async throws {
        let store = try RecordStore.make()
        let (_, albums) = try await store.addMusic()
        var (one, other) = (albums[0], albums[0])
        one["year"] = 1960
        other["title"] = "Blue"
        try await store.save(one)
        let saved = try await store.save(other)
        let stored = try #require(try await store.refreshed(saved))
        #expect(stored["year"] == 1960 && stored["title"] == "Blue")
        #expect(saved.edits.isEmpty && saved["title"] == "Blue")
    }

    @Test func aNewRecordWithAnExistingKeyUpdatesThatObject() async throws {
        let store = try RecordStore.make()
        let saved = try await store.save(Record("Note", ["text": "one", "stars": 1]))
        let id = saved["id"]
        try await store.save(Record("Note", ["id": id, "stars": 2]))
        let stored = try #require(try await store.refreshed(saved))
        #expect(stored["text"] == "one" && stored["stars"] == 2)
        await #expect {
            try await store.insert(Record("Note", ["id": id, "stars": 3]))
        } throws: { if case RelataError.alreadyExists? = $0 as? RelataError { true } else { false } }
        try await store.delete(saved)
        await #expect {
            var gone = saved
            gone["stars"] = 4
            try await store.save(gone)
        } throws: { if case RelataError.notFound? = $0 as? RelataError { true } else { false } }
        #expect(try await store.count(RecordQuery("Note")) == 0)
    }

    /// A date with nanoseconds; a column keeps only the microseconds.
    @Test func savedDatesHaveTheStoredPrecision() async throws {
        let store = try RecordStore.make()
        let exact = Date(timeIntervalSinceReferenceDate: 750_000_000.123_456_789)
        let inserted = try await store.insert(Record("Alarm", ["rings": .date(exact)]))
        var changed = inserted
        changed["rings"] = .date(exact + 1)
        let updated = try await store.save(changed)
        let several = try await store.save([
            Record("Alarm", ["rings": .date(exact)]), Record("Alarm", ["rings": .date(exact + 2)]),
        ])
        for (saved, given) in [(updated, exact + 1), (several[0], exact), (several[1], exact + 2)] {
            let stored = try #require(try await store.refreshed(saved))
            #expect(saved["rings"] == stored["rings"])
            let date = try #require(stored["rings"].date)
            #expect(date != given && abs(date.timeIntervalSince(given)) < 0.000_001)
        }
        #expect(inserted["rings"].date != exact && inserted["rings"] == several[0]["rings"])
    }

    @Test func theFirstObjectOfAClassMaySetItsKeyAndTimes() async throws {
        let store = try RecordStore.make()
        let (id, time) = (UUID(), Date(timeIntervalSince1970: 0))
        let saved = try await store.save(Record("Later", ["id": .uuid(id), "createdAt": .date(time), "n": 1]))
        #expect(saved["id"] == .uuid(id) && saved["n"] == 1)
        #expect(try await store.count(RecordQuery("Later")) == 1)
    }

    /// Values that a link doesn't write aren't ignored silently.
    @Test func changesOfLinkedObjectsAreRefused() async throws {
        let store = try RecordStore.make()
        var label = try await store.save(Record("Label", ["name": "Columbia"]))
        label["name"] = "Blue Note"
        for value in [RecordValue.link(label), .links([RecordLink(label)])] {
            await #expect {
                try await store.save(Record("Album", ["label": value]))
            } throws: { error in
                "\(error)".contains("a link doesn't write")
            }
        }
        #expect(try await store.first(RecordQuery("Label"))?["name"] == "Columbia")
    }

    @Test func anObjectIsInAListOnce() async throws {
        let store = try RecordStore.make()
        let track = try await store.save(Record("Track", ["number": 1]))
        let album = try await store.save(Record("Album", ["tracks": .links([track, track])]))
        #expect(try album.relatedList("tracks").count == 1)
        let stored = try #require(try await store.first(RecordQuery("Album").including("tracks")))
        #expect(try stored.relatedList("tracks").count == 1)
    }

    @Test func newLinkedObjectsAreSavedFirst() async throws {
        let store = try RecordStore.make()
        let label = Record("Label", ["name": "Columbia"])
        let tracks = ["So What", "Blue in Green"].map { Record("Track", ["title": .text($0)]) }
        let album = try await store.save(
            Record("Album", ["title": "Kind of Blue", "label": .link(label), "tracks": .links(tracks)]))
        #expect(album["label"]["name"] == "Columbia" && album["label"].record?.isStored == true)
        #expect(try album.relatedList("tracks").allSatisfy(\.isStored))
        let found = try #require(try await store.first(RecordQuery("Album").including("tracks", "label")))
        #expect(found["tracks"].records.map { $0["title"] } == ["So What", "Blue in Green"])
        #expect(try found.related("label")?["name"] == "Columbia")
    }

    @Test func settingAListReplacesItInOrder() async throws {
        let store = try RecordStore.make()
        let tracks = try await store.save((1...4).map { Record("Track", ["number": .integer($0)]) })
        var album = try await store.save(Record("Album", ["tracks": .links(Array(tracks[0...2]))]))
        func numbers() async throws -> [Int64?] {
            try await store.first(RecordQuery("Album").including("tracks"))?["tracks"].records.map {
                $0["number"].integer
            }
                ?? []
        }
        #expect(try await numbers() == [1, 2, 3])
        album["tracks"] = .links([tracks[3], tracks[0]])
        album = try await store.save(album)
        #expect(try await numbers() == [4, 1])
        album["tracks"] = .links([tracks[3], tracks[0], tracks[1]])
        album = try await store.save(album)
        #expect(try await numbers() == [4, 1, 2])
        album["tracks"] = nil
        try await store.save(album)
        #expect(try await numbers() == [])
        #expect(try await store.count(RecordQuery("Track")) == 4)
    }

    @Test func bothSidesOfALinkAreTheSameLink() async throws {
        let store = try RecordStore.make()
        let (miles, albums) = try await store.addMusic()
        try await store.alter { try $0.addList("albums", of: "Album", to: "Artist", inverse: "artist") }
        let query = RecordQuery("Artist").including("albums.artist")
        let found = try #require(try await store.first(query))
        #expect(found["albums"].records.map { $0["title"] }.count == 2)
        #expect(found["albums"].records[0]["artist"]["name"] == "Miles Davis")
        let live = try await store.save(Record("Album", ["title": "Live-Evil"]))
        var artist = miles
        artist["albums"] = .links([live, albums[0]])
        try await store.save(artist)
        #expect(try await store.first(query)?["albums"].records.map { $0["title"] } == ["Live-Evil", "Kind of Blue"])
        #expect(try await store.refreshed(albums[1])?["artist"] == .null)
        #expect(try await store.refreshed(live)?["artist"].link?.key == miles.key)
        #expect(throws: RelataError.self) { try miles.relatedList("albums") }
    }

    @Test func requiredLinksLimitsCountsAndUniqueSetsAreEnforced() async throws {
        let store = try RecordStore.make()
        let (miles, albums) = try await store.addMusic()
        try await store.alter { schema in
            try schema.addClass("Track")
            try schema.addField("title", .text, to: "Track", isRequired: true)
            try schema.addField("plays", .integer, to: "Track", default: 0)
            try schema.addLink("album", to: "Album", in: "Track", isRequired: true, onTargetDelete: .cascade)
            try schema.addUnique("title", "album", in: "Track")
            try schema.addIndex("plays", in: "Track")
            try schema.addList("tracks", of: "Track", to: "Album", inverse: "album", maximum: 2)
        }
        func save(_ fields: [String: RecordValue]) async -> RelataError? {
            do {
                try await store.save(Record("Track", fields))
                return nil
            } catch { return error as? RelataError }
        }
        #expect(
            "\(await save(["title": "A"])!)".hasPrefix(
                "Track.album is required: set it to a .link to an object of Album"))
        #expect("\(await save(["album": .link(albums[0])])!)".hasPrefix("Track.title: is required"))
        #expect(await save(["title": "A", "album": .link(albums[0])]) == nil)
        #expect(try await store.first(RecordQuery("Track"))?["plays"] == 0)
        if case .uniqueViolation(let entity, let fields)? = await save(["title": "A", "album": .link(albums[0])]) {
            #expect(entity == "Track" && fields == ["title", "album"])
        } else {
            Issue.record("the same title twice")
        }
        #expect(await save(["title": "B", "album": .link(albums[0])]) == nil)
        let third = await save(["title": "C", "album": .link(albums[0])])
        #expect(third.map { "\($0)" }?.contains("must have at most 2, and has 3") == true)
        let missing = await save(["title": "D", "album": .link(RecordLink("Album", key: miles.key!))])
        if case .invalidReference? = missing {} else { Issue.record("\(String(describing: missing))") }
        #expect(try await store.count(RecordQuery("Track")) == 2)
    }

    @Test func staleObjectsWithARevisionAreConflicts() async throws {
        let store = try RecordStore.make()
        let note = try await store.save(Record("Note", ["text": "one"]))
        try await store.alter { try $0.countRevisions(in: "Note") }
        let read = try #require(try await store.refreshed(note))
        var (one, other) = (read, read)
        one["text"] = "two"
        other["text"] = "three"
        let saved = try await store.save(one)
        do {
            try await store.save(other)
            Issue.record("the conflict wasn't noticed")
        } catch RelataError.conflict(let conflict) {
            #expect((conflict.stored as? Record)?["text"] == "two" && (conflict.given as? Record)?["text"] == "three")
        }
        var again = saved
        again["text"] = "four"
        try await store.save(again)
        #expect(try await store.refreshed(note)?["text"] == "four")
        try await store.delete(again)
        await #expect {
            try await store.save(again)
        } throws: { if case RelataError.conflict? = $0 as? RelataError { true } else { false } }
    }

    @Test func stampsRecordCreationAndChanges() async throws {
        let store = try RecordStore.make()
        let note = try await store.save(Record("Note", ["text": "one"]))
        try await Task.sleep(for: .milliseconds(2))
        var changed = note
        changed["text"] = "two"
        let saved = try await store.save(changed)
        #expect(saved["createdAt"] == note["createdAt"])
        #expect(try #require(saved["updatedAt"].date) > #require(note["updatedAt"].date))
        #expect(try await store.refreshed(note) == saved)
    }
}
