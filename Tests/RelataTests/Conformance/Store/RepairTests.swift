import Relata
import Testing

/// The damage that `store.repair(_:)` fixes.
@Suite struct RepairTests {
    private func albums(_ engine: Engine) throws -> (Store, Album) {
        let store = try TestStore.make(engine, for: Album.self, Song.self, Playlist.self)
        let songs = ["So What", "Blue in Green", "All Blues"].map { Song(title: $0) }
        let album = try store.save(Album(title: "Kind of Blue", songs: ToMany(songs)))
        try store.save(Album(title: "Porgy and Bess", songs: ToMany([Song(title: "Summertime")])))
        try store.execute(#"UPDATE "Song" SET "albumPosition" = 5 WHERE "title" IN ('So What', 'All Blues')"#)
        return (store, album)
    }

    @Test(arguments: Engine.allCases) func findingsAreRepairedOnce(_ engine: Engine) async throws {
        let (store, album) = try albums(engine)
        let findings = try await store.check()
        #expect(findings.map(\.subject) == ["Album.songs"])
        #expect(findings.first?.repair?.sql.count == 1)
        let report = try await store.repair(findings)
        #expect(report.repaired.map(\.subject) == ["Album.songs"] && report.refused.isEmpty)
        #expect(report.remaining.isEmpty)
        #expect(try await store.check().isEmpty)
        let songs = try await store.related(to: album) { $0.songs }
        // In the order in which they were read.
        #expect(songs.map(\.title) == ["So What", "All Blues", "Blue in Green"])
        // Findings that were fixed in the meantime no longer exist.
        await #expect(throws: RelataError.self) { try await store.repair(findings) }
        #expect(try await store.repair([]).remaining.isEmpty)
    }

    @Test(arguments: Engine.allCases) func repairsBelongToTheirTransaction(_ engine: Engine) throws {
        struct Stop: Error {}
        let (store, _) = try albums(engine)
        #expect(throws: Stop.self) {
            try store.write { transaction in
                #expect(try transaction.repair(transaction.check()).repaired.count == 1)
                throw Stop()
            }
        }
        #expect(try store.check().count == 1)
    }

    @Test(arguments: Engine.allCases) func ambiguousFindingsHaveNoRepair(_ engine: Engine) async throws {
        let (store, _) = try albums(engine)
        let observed = try await store.check()
        #expect(observed.allSatisfy { $0.repair != nil })
        let volumes = try TestStore.make(engine, for: Undecided.self)
        _ = try await volumes.save(Undecided(choice: .left))
        try await volumes.execute(#"UPDATE "Undecided" SET "choice" = 'neither'"#)
        let findings = try await volumes.check()
        #expect(findings.map(\.kind) == [.undecodable] && findings.allSatisfy { $0.repair == nil })
        let report = try await volumes.repair(findings)
        #expect(report.repaired.isEmpty && report.refused.isEmpty && report.remaining == findings)
    }
}

@Model private struct Undecided {
    enum Choice: String, CaseIterable { case left, right }

    var id: Int?
    var choice: Choice
}
