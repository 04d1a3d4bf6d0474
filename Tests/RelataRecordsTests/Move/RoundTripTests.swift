import Foundation
import RelataCore
import RelataEngine
import RelataEngines
import RelataSQLite
import TestEngines
import TestSupport
import Testing

@testable import RelataRecords

/// Exported data is unchanged after an import.
@Suite(.onEveryEngine) struct RoundTripTests {
    private let databases: TestDatabases
    private let folder: TemporaryFile

    init() throws {
        databases = try TestDatabases()
        folder = try TemporaryFile("exported")
    }

    @Test(arguments: DataFormat.allCases) func randomObjectsSurviveARoundTrip(_ format: DataFormat) async throws {
        for _ in 0..<(TestEngine.current == .sqlite ? 10 : 4) {
            let seed = UInt64.random(in: 0...UInt64.max)
            var objects = RandomObjects(seed: seed)
            let entities = objects.entities
            let stores = try (0..<2).map { _ in try RecordStore.make(mode: .production) }
            let changes = EntityChanges(entities, since: [])
            for store in stores { try await store.altering { try $0.apply(entities, changes) } }
            try await objects.save(in: stores[0])
            try? FileManager.default.removeItem(atPath: folder.path)
            let written = try await stores[0].export(to: .folder(folder.path), format: format)
            let read = try await stores[1].import(folder.path)
            #expect(try await stores[1].dump() == stores[0].dump(), "seed \(seed)")
            #expect(written.parts.map(\.rows).reduce(0, +) == read.parts.map(\.inserted).reduce(0, +), "seed \(seed)")
            for store in stores { try store.close() }
        }
    }

    @Test func oneFileCanContainSeveralClasses() async throws {
        let store = try RecordStore.make()
        try await store.addMusic()
        let file = folder.path + ".jsonl"
        try await store.export(to: .file(file))
        let copy = try RecordStore.make()
        let schema = try await store.schema()
        try await copy.deploy(schema)
        let report = try await copy.import(file)
        #expect(report.parts.map(\.name) == ["Artist", "Album"] && report.parts.map(\.inserted) == [1, 2])
        #expect(try await copy.dump() == store.dump())
    }

    @Test func aCopyIsTheSame() async throws {
        let store = try RecordStore.make()
        try await store.addMusic()
        let path = try databases.path("copy.sqlite")
        let report = try await store.copy(to: path)
        let rows = Dictionary(uniqueKeysWithValues: report.parts.map { ($0.name, $0.rows) })
        #expect(rows["Artist"] == 1 && rows["Album"] == 2, "\(report)")
        // Other tests use other schemas of the same database.
        #expect(report.omissions.allSatisfy { $0.hasPrefix("tables of other schemas") }, "\(report.omissions)")
        let copy = try RecordStore.open(path)
        #expect(try await copy.dump() == store.dump())
        // The copy is complete, so nothing may be written over it.
        await #expect(throws: RelataError.self) { try await store.copy(to: path) }
        #expect(try await copy.dump() == store.dump())
        try copy.close()
    }

    @Test(.enabled(if: SharedData.chinook != nil, "chinook.sqlite isn't beside the project"), .onSQLite)
    func databasesOfOtherProgramsSurviveARoundTrip() async throws {
        let original = try #require(SharedData.chinook)
        for format in DataFormat.allCases {
            let store = try RecordStore.make(DatabaseLocation(original), .production, readOnly, usesLog: false)
            let copy = try TemporaryFile("copy.sqlite")
            try Data(contentsOf: URL(fileURLWithPath: original)).write(to: URL(fileURLWithPath: copy.path))
            let connection = try Connection(path: copy.path)
            try connection.execute("PRAGMA foreign_keys = OFF")
            for table in try connection.lines("SELECT name FROM sqlite_master WHERE type = 'table'") {
                try connection.execute("DELETE FROM \"\(table)\"")
            }
            try connection.close()
            let empty = try RecordStore.make(DatabaseLocation(copy.path), .production, .init(), usesLog: false)
            let exported = folder.path + format.rawValue
            let report = try await store.export(to: .folder(exported), format: format)
            #expect(report.misfits.isEmpty && report.parts.count == 11)
            try await empty.import(exported)
            #expect(try await empty.dump() == store.dump())
            for name in ["Album", "Employee", "Invoice", "PlaylistTrack", "Track"] {
                let sql = "SELECT * FROM \"\(name)\" ORDER BY 1, 2"
                let rows = try [original, copy.path].map { try Connection(path: $0, isReadOnly: true).lines(sql) }
                #expect(rows[0] == rows[1])
            }
            try empty.close()
            try store.close()
        }
    }

    private var readOnly: RecordStore.Options {
        var options = RecordStore.Options()
        options.isReadOnly = true
        return options
    }

    @Test func microsecondsAndAllDigitsAreKept() async throws {
        let store = try RecordStore.make()
        let date = DateText.date(microseconds: 1_790_000_000_123_457)
        try await store.save(
            Record(
                "Thing",
                [
                    "count": .integer(Int64.max), "price": .decimal(Decimal(string: "0.1000000000000000000001") ?? 0),
                    "at": .date(date), "bytes": .data(Data([0, 255])), "none": nil, "empty": "",
                ]))
        try await store.export(["Thing"], to: .folder(folder.path), format: .csv)
        let text = try String(contentsOfFile: folder.path + "/Thing.csv", encoding: .utf8)
        let lines = text.components(separatedBy: "\r\n")
        #expect(lines.count == 3 && lines[2].isEmpty)
        for part in ["9223372036854775807", "0.1000000000000000000001", "2026-09-21T14:13:20.123457Z", "AP8=", ",\"\""]
        {
            #expect(lines[1].contains(part), "\(part) in \(lines[1])")
        }
    }

    @Test(.onSQLite) func aStoreIsBackedUp() async throws {
        let store = try RecordStore.inMemory()
        try await store.addMusic()
        let file = try TemporaryFile("copy.sqlite")
        try await store.backup(to: file.path, verifies: true)
        let copy = try RecordStore.open(file.path)
        #expect(try await copy.dump() == store.dump())
    }

    @Test(.onPostgres) func serversRefuseBackupsAndNameTheirTools() async throws {
        let store = try RecordStore.make()
        await #expect { try await store.backup(to: folder.path) } throws: { "\($0)".contains("pg_dump") }
    }
}
