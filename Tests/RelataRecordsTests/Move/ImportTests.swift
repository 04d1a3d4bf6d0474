import Foundation
import RelataCore
import RelataEngine
import TestEngines
import TestSupport
import Testing

@testable import RelataRecords

/// Imports into stores with rows of other programs, and of bad rows.
@Suite(.onEveryEngine) struct ImportTests {
    private let folder: TemporaryFile

    init() throws { folder = try TemporaryFile("files") }

    /// Artists with albums, whose keys are numbers.
    private func store() async throws -> RecordStore {
        let store = try RecordStore.make(mode: .production)
        let entities = [
            Entity(
                name: "Artist",
                properties: [
                    .attribute(Attribute("id", type: .integer)),
                    .attribute(Attribute("name", type: .text, limits: [.notEmpty])),
                    .relationship(Relationship("friends", target: "Artist", kind: .manyToMany(), order: .stored)),
                    .relationship(Relationship("teacher", target: "Artist", kind: .toOne(isOptional: true))),
                ], uniques: [["name"]]),
            Entity(
                name: "Album",
                properties: [
                    .attribute(Attribute("id", type: .integer, isOptional: true)),
                    .attribute(Attribute("title", type: .text)),
                    .attribute(Attribute("year", type: .integer, isOptional: true)),
                    .relationship(Relationship("artist", target: "Artist", kind: .toOne(isOptional: false))),
                    .attribute(Attribute("revision", type: .integer)),
                ], isKeyAssigned: true, revision: "revision"),
        ]
        try await store.altering { try $0.apply(entities, EntityChanges(entities, since: [])) }
        return store
    }

    private func write(_ text: String, to name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        let path = folder.path + "/" + name
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        return path
    }

    private func failures(_ body: () async throws -> ImportReport) async throws -> [String] {
        do {
            _ = try await body()
            return []
        } catch RelataError.validation(let failures) {
            return failures.map { "\($0.object ?? "") \($0.property ?? ""): \($0.message)" }
        }
    }

    /// The planner's estimate of the number of rows in a table; `nil` if the table hasn't been analysed.
    private func countedRows(_ table: String, _ store: RecordStore) async throws -> Int? {
        try await store.pool.alone { connection in
            let isSQLite = connection.dialect == .sqlite
            if isSQLite, try !connection.driver.hasTable("sqlite_stat1", connection) { return nil }
            let query =
                isSQLite
                ? "SELECT max(stat) FROM sqlite_stat1 WHERE tbl = '\(table)'"
                : "SELECT reltuples::bigint::text FROM pg_class WHERE oid = '\"\(table)\"'::regclass"
            guard case .text(let text)? = try connection.value(SQLStatement(query)) else { return nil }
            return text.split(separator: " ").first.flatMap { Int($0) }
        }
    }

    @Test func largeImportsUpdatePlannerStatistics() async throws {
        let store = try await store()
        let rows = (1...10_000).map { "\($0),artist \($0)" }
        let few = try write("id,name\n" + rows.prefix(100).joined(separator: "\n"), to: "few.csv")
        let many = try write("id,name\n" + rows.joined(separator: "\n"), to: "many.csv")
        var options = ImportOptions()
        options.className = "Artist"
        try await store.import(few, options: options)
        #expect(try await (countedRows("Artist", store) ?? 0) <= 100)
        options.onConflict = .update
        options.isDryRun = true
        try await store.import(many, options: options)
        #expect(try await (countedRows("Artist", store) ?? 0) <= 100)
        options.isDryRun = false
        try await store.import(many, options: options)
        #expect(try await countedRows("Artist", store) == 10_000)
    }

    @Test func compactingKeepsAllObjects() async throws {
        let store = try await store()
        let file = try write("id,name\n1,Ann\n2,Bob\n", to: "Artist.csv")
        try await store.import(file)
        try await store.compact()
        #expect(try await countedRows("Artist", store) == 2)
        #expect(try await store.count(RecordQuery("Artist")) == 2)
    }

    @Test func csvFilesOfOtherProgramsAreRead() async throws {
        let store = try await store()
        // A byte-order mark, names in any case, line feeds alone, quotes, blank lines, no end of the last line.
        _ = try write("\u{FEFF}ID,Name\n1,\"Miles \"\"Prince\"\" Davis\"\n\n2,\"two\nlines\"", to: "Artist.csv")
        _ = try write("title;artistId;year\r\nKind of Blue;1;1959\r\n\"a; b\";2;\r\n", to: "album.csv")
        let report = try await store.import(folder.path)
        #expect(report.parts.map(\.inserted) == [2, 2])
        let artists = try await store.fetch(RecordQuery("Artist", sort: "id"))
        #expect(artists.map { $0["name"] } == ["Miles \"Prince\" Davis", "two\nlines"])
        let albums = try await store.fetch(RecordQuery("Album", sort: "id"))
        #expect(albums.map { $0["title"] } == ["Kind of Blue", "a; b"] && albums.map { $0["year"] } == [1959, nil])
        #expect(albums.map { $0["revision"] } == [1, 1])
        #expect(albums.map { $0["artist"].link?.key } == [KeyValue(1), KeyValue(2)])
    }

    @Test func badRowsAreNamedAndNothingIsImported() async throws {
        let store = try await store()
        _ = try write("id,name\n1,Miles\nx,Coltrane\n3,\"\"\n4\n1,Monk\n5,Miles\n", to: "Artist.csv")
        _ = try write(
            """
            {"id": 1, "title": "A", "artist": 1}
            {"id": 2, "title": "B", "artist": 99}
            {"id": 3, "title": "C", "artist": 1, "tracks": 3}
            {"id": 4, "title": 5, "artist": 1}
            {"id": 5, "artist": 1}
            nonsense
            {"id": 7, "title": "D", "artist": 1} {}

            """, to: "Album.jsonl")
        let failures = try await failures { try await store.import(folder.path) }
        #expect(
            failures == [
                "Artist.csv, line 3 id: \"x\" isn't an integer",
                "Artist.csv, line 4 name: must not be empty",
                "Artist.csv, line 5 : has 1 field, and the line of names 2",
                "Artist.csv, line 6 : Artist 1 already exists",
                "Artist.csv, line 7 name: another Artist has the same name",
                "Album.jsonl, line 3 tracks: Album has no such field: it has id, title, year, artist, revision",
                "Album.jsonl, line 4 title: \"5\" isn't text: write it as a JSON string",
                "Album.jsonl, line 5 title: has no value, and must have one: empty text is written as \"\"",
                "Album.jsonl, line 6 : each line must be a JSON object, and this one isn't",
                "Album.jsonl, line 7 : something follows the JSON object on the line",
                "Album.jsonl, line 2 artist: leads to Artist 99, which doesn't exist",
            ])
        for name in ["Artist", "Album"] { #expect(try await store.count(RecordQuery(name)) == 0) }
    }

    @Test func badRowsAndRowsThatReferToThemAreSkipped() async throws {
        let store = try await store()
        _ = try write("id,name,teacher\n1,Miles,\n2,Herbie,9\n3,Wayne,2\n4,Ron,1\n", to: "Artist.csv")
        _ = try write("artistId,friendId\n1,4\n4,3\n", to: "Artist.friends.csv")
        _ = try write("id,title,artist\n1,A,1\n2,B,3\n", to: "Album.csv")
        var options = ImportOptions()
        options.skipsBadRows = true
        let report = try await store.import(folder.path, options: options)
        #expect(
            Set(report.badRows.map(\.description)) == [
                "Artist.csv:3: teacher: leads to Artist 9, which doesn't exist",
                "Artist.csv:4: teacher: leads to Artist 2, which is on a bad row",
                "Artist.friends.csv:3: friendId: leads to Artist 3, which is on a bad row",
                "Album.csv:3: artist: leads to Artist 3, which is on a bad row",
            ])
        #expect(try await store.fetch(RecordQuery("Artist", sort: "id")).map { $0["id"] } == [1, 4])
        #expect(try await store.fetch(RecordQuery("Album")).map { $0["title"] } == ["A"])
        let miles = try await store.fetch(RecordQuery("Artist", where: "id == 1").including("friends"))
        #expect(try miles[0].relatedList("friends").map { $0["name"] } == ["Ron"])
        #expect(report.parts.map(\.inserted) == [2, 1, 1] && report.parts.map(\.bad) == [2, 1, 1])
    }

    @Test func rowsMayReferToEachOtherInCycles() async throws {
        let store = try await store()
        _ = try write("id,name,teacher\n1,Miles,2\n2,Herbie,1\n3,Wayne,3\n", to: "Artist.csv")
        #expect(try await store.import(folder.path).parts.map(\.inserted) == [3])
        #expect(
            try await store.fetch(RecordQuery("Artist", sort: "id")).map { $0["teacher"].link?.key?.values } == [
                [2], [1], [3],
            ])
    }

    @Test(arguments: ImportOptions.Conflict.allCases)
    func existingObjectsAreRefusedSkippedOrUpdated(_ conflict: ImportOptions.Conflict) async throws {
        let store = try await store()
        _ = try await store.save(Record("Artist", ["id": 1, "name": "Miles"]))
        _ = try await store.save(
            Record(
                "Album",
                ["id": 7, "title": "Old", "year": 1950, "artist": .link(RecordLink("Artist", key: KeyValue(1)))]))
        let path = try write("id,title,artist\n7,New,1\n8,Other,1\n8,Again,1\n", to: "Album.csv")
        var options = ImportOptions()
        options.onConflict = conflict
        let failures = try await failures { try await store.import(path, options: options) }
        let albums = try await store.fetch(RecordQuery("Album", sort: "id"))
        let titles = albums.map { $0["title"] }
        switch conflict {
        case .refuse:
            #expect(
                failures == [
                    "Album.csv, line 2 : Album 7 already exists", "Album.csv, line 4 : Album 8 already exists",
                ])
            #expect(titles == ["Old"])
        case .skip: #expect(failures.isEmpty && titles == ["Old", "Other"])
        case .update:
            #expect(failures.isEmpty && titles == ["New", "Again"])
            #expect(albums[0]["year"] == 1950, "what the file doesn't give stays")
            #expect(albums.map { $0["revision"] } == [2, 2])
        }
    }

    @Test func aDryRunFindsBadRowsAndImportsNothing() async throws {
        let store = try await store()
        let path = try write("id,name\n1,Miles\n1,Monk\n", to: "Artist.csv")
        var options = ImportOptions()
        options.isDryRun = true
        let report = try await store.import(path, options: options)
        #expect(report.badRows.map(\.line) == [3] && report.parts.map(\.inserted) == [1])
        #expect(try await store.count(RecordQuery("Artist")) == 0)
    }

    @Test func importsResumeAtTheLastBatch() async throws {
        let store = try await store()
        let rows = (1...10).map { "\($0),Artist \($0)" }
        let path = try write((["id,name"] + rows + ["x,bad"]).joined(separator: "\n"), to: "Artist.csv")
        var options = ImportOptions()
        options.batchSize = 4
        let failures = try await failures { try await store.import(path, options: options) }
        #expect(failures == ["Artist.csv, line 12 id: \"x\" isn't an integer"])
        #expect(try await store.count(RecordQuery("Artist")) == 8, "two batches are there")
        #expect(await thrown { try await store.import(path) }.contains("continue it with a batch size"))
        let other = try write("id,title,artist\n", to: "Album.csv")
        #expect(
            await thrown { try await store.import(other, options: options) }.contains("isn't finished, of Artist.csv"))
        // The bad row is fixed, and imported rows aren't imported again.
        _ = try write((["id,name"] + rows + ["11,good"]).joined(separator: "\n"), to: "Artist.csv")
        let report = try await store.import(path, options: options)
        #expect(report.resumedAfter == 8 && report.parts.map(\.inserted) == [3])
        #expect(try await store.count(RecordQuery("Artist")) == 11)
        #expect(try await store.import(other).parts.isEmpty, "no trace is left")
    }

    @Test func filesChangedBeforeTheResumePointAreRefused() async throws {
        let store = try await store()
        let path = try write("id,name\n1,A\n2,B\nx,C\n", to: "Artist.csv")
        var options = ImportOptions()
        options.batchSize = 2
        #expect(try await failures { try await store.import(path, options: options) }.count == 1)
        _ = try write("id,name\n1,Z\n2,B\n3,C\n", to: "Artist.csv")
        #expect(
            await thrown { try await store.import(path, options: options) }.contains(
                "was changed within the 4 KB before line 4"))
    }

    private func thrown(_ body: () async throws -> ImportReport) async -> String {
        do {
            _ = try await body()
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func classesAreCreatedOnRequest() async throws {
        let store = try RecordStore.make(mode: .production)
        let path = try write(
            "Id,First Name,Height,Member,Joined,Zip\n1,Ada,1.7,true,2026-01-02,01234\n2,Bob,2,false,,99999\n",
            to: "Person.csv")
        #expect(await thrown { try await store.import(path) }.contains("there is no class Person"))
        var options = ImportOptions()
        options.createsClasses = true
        let report = try await store.import(path, options: options)
        #expect(report.createdClasses == ["Person"])
        let people = try await store.fetch(RecordQuery("Person", sort: "id"))
        #expect(people.map { $0["firstName"] } == ["Ada", "Bob"])
        #expect(people.map { $0["height"].real } == [1.7, 2] && people.map { $0["member"] } == [true, false])
        #expect(people[0]["joined"].date != nil && people[1]["joined"].isNull)
        #expect(people.map { $0["zip"] } == ["01234", "99999"], "digits that aren't a number stay as they are")
        // The database continues counting behind the keys of the file.
        #expect(try await store.save(Record("Person", ["firstName": "Cy"])).key == KeyValue(3))
    }

    @Test func countsOfListsAreChecked() async throws {
        let store = try RecordStore.make()
        try await store.alter { schema in
            try schema.addClass("Song")
            try schema.addField("name", .text, to: "Song")
            try schema.addClass("Mix")
            try schema.addList("songs", of: "Song", to: "Mix", minimum: 1)
        }
        let id = UUID().uuidString.lowercased()
        let path = try write("{\"@class\": \"Mix\", \"id\": \"\(id)\"}\n", to: "all.jsonl")
        let failures = try await failures { try await store.import(path) }
        #expect(failures == ["all.jsonl, line 1 songs: must have at least 1, and has 0"])
    }

    @Test func observersSeeImportedObjects() async throws {
        let store = try await store()
        let path = try write("id,name\n1,Miles\n2,Monk\n", to: "Artist.csv")
        var counts = store.observe(RecordQuery("Artist")).makeAsyncIterator()
        #expect(try await counts.next()?.count == 0)
        try await store.import(path)
        #expect(try await counts.next()?.count == 2)
    }

    @Test func csvFilesWithUnknownFieldsAreRefused() async throws {
        let store = try await store()
        let path = try write("id,nmae\n1,x\n", to: "Artist.csv")
        #expect(await thrown { try await store.import(path) }.contains("nmae: Artist has no such field"))
        let list = try write("id,name,friends\n1,x,2\n", to: "Artist.csv")
        #expect(await thrown { try await store.import(list) }.contains("its links are rows of Artist.friends"))
    }

    @Test func filesWithoutAFormatAreRefused() async throws {
        let store = try await store()
        let path = try write("id,name\n1,Ann\n", to: "Artist.txt")
        #expect(await thrown { try await store.import(path) }.contains("the name doesn't show the format"))
        var options = ImportOptions()
        options.format = .csv
        options.className = "Artist"
        #expect(try await store.import(path, options: options).parts.map(\.inserted) == [1])
    }

    @Test func foldersAreReadByTheNamesOfTheirFiles() async throws {
        let store = try await store()
        _ = try write("id,name\n1,Ann\n", to: "Artist.csv")
        _ = try write(#"{"id":2,"name":"Bob"}"# + "\n", to: "Artist.jsonl")
        _ = try write("nothing to import", to: "readme.txt")
        #expect(await thrown { try await store.import(folder.path) }.contains("contains Artist twice"))
        var options = ImportOptions()
        options.className = "Artist"
        #expect(
            await thrown { try await store.import(folder.path, options: options) }.contains(
                "name a class for a file only"))
        #expect(try await store.count(RecordQuery("Artist")) == 0)
        options.className = nil
        options.format = .jsonLines
        #expect(try await store.import(folder.path, options: options).parts.map(\.inserted) == [1])
        #expect(try await store.fetch(RecordQuery("Artist")).map { $0["name"] } == ["Bob"])
    }
}
