import RelataCore
import RelataEngine
import RelataRecords
import RelataSQLite
import TestEngines
import Testing

/// Checks of stored records, and repairs of what they find.
@Suite struct CheckTests {
    /// Adds an album with three tracks.
    private func addAlbum(to store: RecordStore) async throws -> Record {
        try await store.alter { schema in
            try schema.addClass("Album")
            try schema.addClass("Track")
            try schema.addField("number", .integer, to: "Track")
            try schema.addLink("album", to: "Album", in: "Track")
            try schema.addList("tracks", of: "Track", to: "Album", inverse: "album")
        }
        let tracks = (1...3).map { Record("Track", ["number": .integer($0)]) }
        return try await store.save(Record("Album", ["tracks": .links(try await store.save(tracks))]))
    }

    /// Gives two tracks the same position.
    private func confuse(_ store: RecordStore) async throws {
        try await store.write { transaction in
            try transaction.connection.execute(
                #"UPDATE "Track" SET "albumPosition" = 5 WHERE "number" IN (1, 3)"#)
        }
    }

    @Test(.onEveryEngine) func findingsAreRepairedOnce() async throws {
        let store = try RecordStore.make()
        let album = try await addAlbum(to: store)
        #expect(try await store.check().isEmpty)
        try await confuse(store)
        let findings = try await store.check()
        #expect(findings.map(\.kind) == [.position] && findings.map(\.subject) == ["Album.tracks"])
        let report = try await store.repair(findings)
        #expect(report.repaired == findings && report.refused.isEmpty && report.remaining.isEmpty)
        #expect(try await store.check().isEmpty)
        let numbers = try await store.first(RecordQuery("Album").including("tracks"))?["tracks"].records.map {
            $0["number"]
        }
        // The track that was second is the last one now, and the others are before it.
        #expect(numbers.map { Set($0.prefix(2)) } == [1, 3] && numbers?.last == 2)
        #expect(try await store.refreshed(album) != nil)
        await #expect {
            try await store.repair(findings)
        } throws: { error in
            if case RelataError.busy? = error as? RelataError { true } else { false }
        }
    }

    @Test(.onEveryEngine) func callsWithoutAwaitDoTheSame() async throws {
        let store = try RecordStore.make()
        _ = try await addAlbum(to: store)
        try await confuse(store)
        func repaired() throws -> IntegrityRepairReport { try store.repair(store.check()) }
        #expect(try repaired().repaired.map(\.subject) == ["Album.tracks"])
        #expect(try await store.check().isEmpty)
        #expect(try repaired().repaired.isEmpty)
    }

    @Test func linksToLostRecordsAreUnset() async throws {
        let folder = try TestDatabases()
        let path = try folder.path()
        let made = try RecordStore.open(path)
        _ = try await addAlbum(to: made)
        try made.close()
        let connection = try Connection(path: path)
        try connection.execute(#"PRAGMA foreign_keys = OFF; DELETE FROM "Album""#)
        try connection.close()
        let store = try RecordStore.open(path)
        let findings = try await store.check()
        let finding = try #require(findings.first { $0.kind == .danglingReference })
        #expect(finding.subject == "Track.album" && finding.count == 3)
        let report = try await store.repair([finding])
        #expect(report.repaired == [finding] && report.remaining.isEmpty)
        #expect(try await store.count(RecordQuery("Track", where: "album == nil")) == 3)
    }
}
