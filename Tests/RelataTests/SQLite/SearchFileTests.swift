import Foundation
import Relata
import RelataCSQLite
import RelataEngine
import RelataSQLite
import RelataTesting
import Testing

/// Search indexes in files that other programs write, too.
@Suite struct SearchFileTests {
    private let path = TestStore.path()

    private func open() throws -> Store { try TestStore.open(path, for: [LongPlayer.self, Verse.self, Ballad.self]) }

    /// SQLite's own interface, with none of Relata's functions.
    private func runPlainly(_ sql: String) throws {
        var handle: OpaquePointer?
        try #require(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
        defer { sqlite3_close_v2(handle) }
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        #expect(code == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
    }

    @Test func writesOfOtherProgramsAreFoundAfterTheNextWrite() throws {
        let store = try open()
        try store.insert(LongPlayer(name: "Old"))
        try runPlainly(
            "INSERT INTO LongPlayer (name) VALUES ('Newest'); UPDATE LongPlayer SET name = 'Older' WHERE name = 'Old'")
        try store.insert(LongPlayer(name: "Mine"))
        #expect(try store.fetch(LongPlayer.search("newest OR older OR old")).count == 2)
        try runPlainly(
            "DELETE FROM LongPlayer WHERE name = 'Older'; INSERT INTO Verse VALUES ('x', 1, 'rosebud'); VACUUM")
        try store.close()
        let again = try open()
        #expect(try again.fetch(LongPlayer.search("older")).isEmpty)
        #expect(try again.fetch(Verse.search("rosebud")).count == 1)
        #expect(try again.check() == [])
    }

    @Test func wrongIndexesAreFoundAndRepaired() throws {
        let store = try open()
        try store.insert((1...5).map { Verse(book: "b", number: $0, text: "word\($0)") })
        try store.insert(LongPlayer(name: "Sound"))
        try runPlainly("DELETE FROM relata_search_Verse_index WHERE rowid = 1; DELETE FROM relata_search_Verse_changes")
        try runPlainly("INSERT INTO relata_search_LongPlayer_index (rowid, c_name) VALUES (77, 'ghost')")
        let findings = try store.check()
        #expect(findings.map(\.kind) == [.search, .search])
        #expect(findings.allSatisfy { $0.fix.contains("rebuildSearch") })
        try store.rebuildSearch()
        #expect(try store.check() == [])
        #expect(try store.fetch(Verse.search("word1")).count == 1)
        #expect(try store.fetch(LongPlayer.search("ghost")).isEmpty)
    }

    @Test func internalTablesAreHidden() throws {
        let store = try open()
        try store.insert(LongPlayer(name: "Sound"))
        try store.close()
        let connection = try Connection(path: path)
        let names = try Introspection.entities(of: connection).map(\.name)
        #expect(names.sorted() == ["Ballad", "LongPlayer", "Verse"])
        #expect(try Introspection.read(connection).notes.isEmpty)
        try connection.close()
    }

    @Test func searchesUseTheirIndex() throws {
        let recorder = StatementRecorder()
        let store = try Store.open(path, for: [LongPlayer.self, Verse.self, Ballad.self], options: recorder.options)
        try store.insert((1...50).map { LongPlayer(name: "word\($0) common") })
        for query in [LongPlayer.search("common").limit(3), LongPlayer.search("common").where { $0.name != "x" }] {
            let plan = try store.explain(query).plan
            #expect(plan.contains { $0.contains("VIRTUAL TABLE INDEX") }, "\(plan)")
            #expect(!plan.contains { $0.hasPrefix("SCAN t0") || $0.hasPrefix("SCAN LongPlayer") }, "\(plan)")
        }
    }

    @Test func observersOfASearchSeeWrites() async throws {
        let store = try open()
        try await store.insert(LongPlayer(name: "First moon"))
        var counts = store.observe(LongPlayer.search("moon")).makeAsyncIterator()
        #expect(try await counts.next()?.count == 1)
        try await store.insert(LongPlayer(name: "Second moon"))
        #expect(try await counts.next()?.count == 2)
        try await store.update(LongPlayer.where { $0.name == "First moon" }) { $0.name.set(to: "Sun") }
        #expect(try await counts.next()?.count == 1)
    }
}
