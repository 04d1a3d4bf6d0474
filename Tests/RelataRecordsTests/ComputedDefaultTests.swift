import Foundation
import RelataEngine
import RelataEngines
import RelataRecords
import TestEngines
import Testing

/// Columns of other programs' tables whose defaults the database computes.
@Suite(.onEveryEngine) struct ComputedDefaultTests {
    private func store(_ sql: String) throws -> (RecordStore, TestDatabases) {
        let folder = try TestDatabases()
        let connection = try DatabaseLocation(folder.path()).connect(isReadOnly: false)
        for statement in sql.split(separator: ";") { try connection.execute(String(statement)) }
        try connection.close()
        return (try RecordStore.open(folder.path(), mode: .production), folder)
    }

    @Test func missingFieldsGetTheDefault() async throws {
        let (store, folder) = try store(
            """
            CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
            INSERT INTO author VALUES (7, 'Mei');
            CREATE TABLE note (id INTEGER PRIMARY KEY, made TEXT NOT NULL DEFAULT (upper('now')),
                kind TEXT NOT NULL DEFAULT 'plain', lucky DOUBLE PRECISION DEFAULT (abs(-3.5)), text TEXT,
                author INTEGER NOT NULL DEFAULT 7 REFERENCES author)
            """)
        defer { withExtendedLifetime(folder) {} }
        let saved = try await store.insert(Record("note", ["id": 1, "text": "a"]))
        for note in [saved, try #require(try await store.fetch("note", id: 1))] {
            #expect(note["made"] == "NOW" && note["kind"] == "plain" && note["lucky"].real == 3.5, "\(note)")
            #expect(note["author"].link?.key == KeyValue(.integer(7)))
        }
        let given = try await store.insert(Record("note", ["id": 2, "made": "then", "lucky": nil]))
        #expect(
            given["made"] == "then" && given["lucky"] == .null && given["author"].link?.key == KeyValue(.integer(7)))
        var changed = saved
        changed["text"] = "b"
        #expect(try await store.save(changed)["made"] == "NOW")
        await #expect(throws: RelataError.self) { try await store.insert(Record("note", ["id": 3, "made": nil])) }
    }

    @Test func eachObjectGetsItsOwnDefault() async throws {
        let (store, folder) = try store(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, number DOUBLE PRECISION NOT NULL DEFAULT (random()))
            """)
        defer { withExtendedLifetime(folder) {} }
        let saved = try await store.save((1...20).map { Record("note", ["id": .integer($0)]) })
        #expect(Set(saved.map { "\($0["number"])" }).count == 20)
        #expect(
            try await store.fetch(RecordQuery("note", sort: "id")).map { $0["number"] } == saved.map { $0["number"] })
    }

    @Test func theKeyMayHaveADefault() async throws {
        let (store, folder) = try store(
            """
            CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL DEFAULT ('n' || abs(-1)), text TEXT)
            """)
        defer { withExtendedLifetime(folder) {} }
        #expect(try await store.insert(Record("note", ["text": "a"])).key == KeyValue(.text("n1")))
        await #expect {
            try await store.insert(Record("note", ["text": "b"]))
        } throws: { if case RelataError.alreadyExists? = $0 as? RelataError { true } else { false } }
        #expect(try await store.fetch("note", id: "n1")?["text"] == "a")
    }

    /// The file remembers its classes once they were changed, and their defaults still are the database's.
    @Test func defaultsStayWhenAClassGetsAField() async throws {
        let (first, folder) = try store(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)
            """)
        try await first.alter { try $0.addField("stars", .integer, to: "note") }
        #expect(try await first.insert(Record("note", ["id": 1, "stars": 3]))["made"].text?.isEmpty == false)
        try first.close()
        let store = try RecordStore.open(folder.path(), mode: .production)
        #expect(try await store.insert(Record("note", ["id": 2]))["made"].text?.isEmpty == false)
        #expect(try await store.fetch("note", id: 2)?["stars"] == .null)
    }
}

/// A default that only SQLite accepts.
@Suite struct SQLiteDefaultTests {
    @Test func aNameIsAText() async throws {
        let folder = try TestDatabases()
        let connection = try DatabaseLocation(folder.path()).connect(isReadOnly: false)
        try connection.execute(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, kind TEXT NOT NULL DEFAULT plain,
                count INTEGER DEFAULT ('4' + 1), day TEXT DEFAULT CURRENT_DATE, text INTEGER DEFAULT (1 || '2'));
            """)
        try connection.close()
        let store = try RecordStore.open(folder.path(), mode: .production)
        let note = try await store.insert(Record("note", [:]))
        #expect(note["kind"] == "plain" && note["count"] == 5 && note["text"] == 12)
        #expect(note["day"].text?.count == 10)
        #expect(try await store.fetch("note", id: 1).map { $0["text"] } == 12)
    }
}
