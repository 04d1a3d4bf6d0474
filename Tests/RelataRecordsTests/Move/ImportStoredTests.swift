import Foundation
import RelataCore
import RelataEngine
import Synchronization
import TestEngines
import TestSupport
import Testing

@testable import RelataRecords

/// The effect of an import on existing objects: none, unless it updates them.
@Suite(.onEveryEngine) struct ImportStoredTests {
    private let folder: TemporaryFile

    init() throws { folder = try TemporaryFile("files") }

    /// Mixes with one song at least, or two at most.
    private func store(minimum: Int? = nil, maximum: Int? = nil) async throws -> RecordStore {
        let store = try RecordStore.make(mode: .production)
        let list = Relationship(
            "songs", target: "Song", kind: .manyToMany(), order: .stored, minimumCount: minimum, maximumCount: maximum)
        let view = Relationship("sequels", target: "Mix", kind: .toMany(inverse: "prequel"), order: .stored)
        let entities = [
            Entity(
                name: "Mix",
                properties: [
                    .attribute(Attribute("id", type: .integer)), .relationship(list),
                    .relationship(Relationship("prequel", target: "Mix", kind: .toOne(isOptional: true))),
                    .relationship(view),
                ]),
            Entity(
                name: "Song",
                properties: [
                    .attribute(Attribute("id", type: .integer)),
                    .relationship(Relationship("cover", target: "Song", kind: .toOne(isOptional: true))),
                ]),
        ]
        try await store.altering { try $0.apply(entities, EntityChanges(entities, since: [])) }
        return store
    }

    private func write(_ text: String, to name: String) throws {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        try text.write(toFile: folder.path + "/" + name, atomically: false, encoding: .utf8)
    }

    private var skipping: ImportOptions {
        var options = ImportOptions()
        options.onConflict = .skip
        options.skipsBadRows = true
        return options
    }

    private func keys(_ name: String, in store: RecordStore) async throws -> [RecordValue] {
        try await store.fetch(RecordQuery(name, sort: "id")).map { $0["id"] }
    }

    /// Runs SQL past the rules, as another program would.
    private func execute(in store: RecordStore, _ sql: @Sendable (Schema) -> String) async throws {
        try await store.write { try $0.connection.execute(sql($0.schema)) }
    }

    private static let setsPlaces: @Sendable (Schema, Int64) -> String = { schema, place in
        let join = schema.joins[0]
        return "UPDATE \"\(join.table)\" SET \"\(join.orderColumn ?? "")\" = \(place)"
    }

    @Test func anObjectWithTooFewMembersThatIsSkippedStays() async throws {
        let store = try await store(minimum: 1)
        try await execute(in: store) { "INSERT INTO \"\($0.tables[0].sqlName)\" (id) VALUES (1)" }
        try write("id\n1\n2\n", to: "Mix.csv")
        let report = try await store.import(folder.path, options: skipping)
        #expect(try await keys("Mix", in: store) == [1])
        #expect(report.parts.map(\.skipped) == [1] && report.parts.map(\.inserted) == [0])
        #expect(report.badRows.map(\.description) == ["Mix.csv:3: songs: must have at least 1, and has 0"])
    }

    @Test func anObjectThatGetsTooManyMembersRefusesTheImport() async throws {
        let store = try await store(maximum: 1)
        let song = try await store.save(Record("Song", ["id": 1]))
        _ = try await store.save(Record("Mix", ["id": 1, "songs": .links([song])]))
        try write("id\n1\n", to: "Mix.csv")
        try write("id\n2\n", to: "Song.csv")
        try write("mixId,songId\n1,2\n", to: "Mix.songs.csv")
        await #expect { try await store.import(folder.path, options: skipping) } throws: {
            "\($0)".contains("must have at most 1, and has 2")
        }
        for name in ["Mix", "Song"] { #expect(try await keys(name, in: store) == [1]) }
    }

    @Test(.onSQLite) func existingDanglingRowsStay() async throws {
        let store = try await store()
        let schema = try await store.read { $0.schema }
        let column = try #require(schema.references(of: 1).first?.columns.first)
        try await store.pool.alone { connection in
            try connection.execute("PRAGMA foreign_keys = OFF")
            try connection.execute("INSERT INTO \"\(schema.tables[1].sqlName)\" (id, \"\(column)\") VALUES (1, 99)")
            try connection.execute("PRAGMA foreign_keys = ON")
        }
        try write("id,cover\n1,99\n2,98\n3,\n", to: "Song.csv")
        let report = try await store.import(folder.path, options: skipping)
        #expect(report.badRows.map(\.description) == ["Song.csv:3: cover: leads to Song 98, which doesn't exist"])
        #expect(try await keys("Song", in: store) == [1, 3])
    }

    @Test func rowsOfAnEarlierBatchStay() async throws {
        let store = try await store(maximum: 1)
        let rows = [
            "{\"@class\":\"Song\",\"id\":1}", "{\"@class\":\"Mix\",\"id\":1}",
            "{\"@class\":\"Mix.songs\",\"mixId\":1,\"songId\":1}", "{\"@class\":\"Song\",\"id\":2}",
            "{\"@class\":\"Mix.songs\",\"mixId\":1,\"songId\":2}", "{\"@class\":\"Song\",\"id\":3}",
        ]
        try write(rows.joined(separator: "\n"), to: "all.jsonl")
        var options = skipping
        options.batchSize = 3
        await #expect { try await store.import(folder.path + "/all.jsonl", options: options) } throws: {
            "\($0)".contains("must have at most 1")
        }
        for name in ["Mix", "Song"] { #expect(try await keys(name, in: store) == [1], "the first batch is there") }
    }

    @Test func badRowsOfLaterBatchesAreFoundAtTheirLines() async throws {
        let store = try await store()
        let rows = (1...40).map { $0 % 8 == 0 ? "\($0),\(1000 + $0)" : "\($0),\($0 % 8 == 1 ? "" : "\($0 - 1)")" }
        try write((["id,cover"] + rows).joined(separator: "\n"), to: "Song.csv")
        var options = skipping
        options.batchSize = 8
        let report = try await store.import(folder.path, options: options)
        #expect(report.badRows.map(\.line) == [9, 17, 25, 33, 41])
        #expect(try await keys("Song", in: store).count == 35)
    }

    @Test func linksWithoutAPositionAreAppended() async throws {
        let store = try await store()
        let songs = try await store.save((1...4).map { Record("Song", ["id": .integer(Int64($0))]) })
        _ = try await store.save(Record("Mix", ["id": 1, "songs": .links([songs[0], songs[3]])]))
        // A number far above those of the file's rows.
        try await execute(in: store) { Self.setsPlaces($0, 1_000_000) }
        try write("mixId,songId\n1,3\n1,2\n", to: "Mix.songs.csv")
        try write("id,prequel\n2,1\n3,1\n4,\n", to: "Mix.csv")
        try await store.import(folder.path)
        let query = RecordQuery("Mix", where: "id == 1").including("songs", "sequels")
        let found = try #require(try await store.fetch(query).first)
        #expect(try found.relatedList("songs").map { $0["id"] } == [1, 4, 3, 2])
        #expect(try found.relatedList("sequels").map { $0["id"] } == [2, 3])
    }

    @Test func theLargestPositionIsRefused() async throws {
        let store = try await store()
        let songs = try await store.save((1...2).map { Record("Song", ["id": .integer(Int64($0))]) })
        _ = try await store.save(Record("Mix", ["id": 1, "songs": .links([songs[0]])]))
        try await execute(in: store) { Self.setsPlaces($0, .max) }
        try write("mixId,songId\n1,2\n", to: "Mix.songs.csv")
        await #expect { try await store.import(folder.path) } throws: { "\($0)".contains("no position is left after") }
    }

    @Test func theSmallestIntegerIsImported() async throws {
        let store = try await store()
        try write("{\"id\":-9223372036854775808}\n{\"id\":-9.223372036854775808e18}\n", to: "Song.jsonl")
        let error = await #expect(throws: RelataError.self) { try await store.import(folder.path) }
        #expect("\(error as Any)".contains("\"-9.223372036854775808e18\" isn't an integer"))
        try write("{\"id\":-9223372036854775808}\n{\"id\":1e3}\n", to: "Song.jsonl")
        try await store.import(folder.path)
        #expect(try await keys("Song", in: store) == [.integer(.min), 1000])
    }

    @Test func importsDoNotBlockSwiftsThreads() async throws {
        let store = try await store()
        let rows = (1...2 * DataProgress.step).map(String.init)
        try write("id\n" + rows.joined(separator: "\n"), to: "Song.csv")
        let threads = Threads()
        try await store.import(folder.path + "/Song.csv") { _ in threads.note() }
        try await store.export(["Song"], to: .file(folder.path + "/out.csv"), format: .csv) { _ in threads.note() }
        #expect(threads.names == ["relata"])
    }
}

/// The names of threads.
private final class Threads: Sendable {
    private let found = Mutex<Set<String>>([])

    func note() { found.withLock { _ = $0.insert(Thread.current.name ?? "") } }

    var names: Set<String> { found.withLock { $0 } }
}
