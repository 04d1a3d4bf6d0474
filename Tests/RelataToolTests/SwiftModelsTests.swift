#if CommandLineTool
import Foundation
import Relata
import TestSupport
import Testing

/// The models in `Models` are compiled with the tests: the tool writes just these, and they open the files they were made
/// from.
@Suite struct SwiftModelsTests {
    @Test func theModelsOfAwkwardTablesAreWrittenAsTheyAreTested() throws {
        try expectModels("AwkwardModels.swift", of: try Self.awkward())
    }

    @Test func theModelsOfAwkwardTablesOpenTheirFileWithoutAChange() async throws {
        let file = try Self.awkward()
        let bytes = try file.bytes()
        let store = try await Store.open(
            file.path,
            for: [
                Class.self, StringRecord.self, Room.self, Lesson.self, Teacher.self, Badge.self, Subject.self,
                NotesWithoutKey.self, Orphan.self, Seat.self, 表.self,
            ], options: Self.readOnly)
        let lessons = try await store.fetch(
            Lesson.sorted { $0.id }.including {
                $0.room; $0.teacher; $0.substitute
            })
        #expect(try lessons.map { try $0.room?.object.seats } == [20, nil])
        #expect(try lessons.map { try $0.teacher.object.name } == ["Ada", "Ada"])
        #expect(try lessons[0].substitute?.object.name == "Ben")
        #expect(lessons[1].follows?.id == 1)
        #expect(lessons[0].extra == .object(["a": .integer(1)]))
        #expect(lessons[0].photo == Data([0, 255]))
        let words = try await store.fetch(Class.all)
        #expect(words.map { [$0.default, $0.func, $0.aBC, $0.quoteD, $0._1st] } == [["d", "f", "abc", "q", "one"]])
        #expect(words[0].hash2 == 3)
        #expect(try await store.fetch(StringRecord.all).map { [$0.type, $0.selfValue] } == [["t", "s"]])
        let ada = try #require(try await store.fetch(Teacher.self, id: 1))
        #expect(try await store.related(to: ada) { $0.subjects }.map(\.code) == ["M", "P"])
        #expect(try await store.fetch(NotesWithoutKey.sorted { $0.id }).map(\.text) == ["hello", "again"])
        #expect(try await store.fetch(Seat.where { $0.room.building == "A" }).count == 2)
        #expect(try await store.fetch(Badge.all.including { $0.teacher }).map { try $0.teacher.object.name } == ["Ben"])
        #expect(try await store.fetch(表.all).map(\.价格) == [3.5])
        #expect(try await store.fetch(Orphan.all).count == 1)
        try store.close()
        #expect(try file.bytes() == bytes)
    }

    @Test(.enabled(if: SharedData.chinook != nil, "chinook.sqlite isn't beside the project"))
    func theModelsOfChinookAreWrittenAsTheyAreTestedAndOpenIt() async throws {
        let file = try SampleFile(copyOf: try #require(SharedData.chinook))
        try expectModels("ChinookModels.swift", of: file)
        let bytes = try file.bytes()
        let store = try await Store.open(
            file.path,
            for: [
                Album.self, Artist.self, Customer.self, Employee.self, Genre.self, Invoice.self, InvoiceLine.self,
                MediaType.self, Playlist.self, Track.self,
            ], options: Self.readOnly)
        let albums = try await store.fetch(
            Album.where { $0.artist.name == "AC/DC" }.sorted { $0.title }.including { $0.tracks })
        #expect(albums.map(\.title) == ["For Those About To Rock We Salute You", "Let There Be Rock"])
        #expect(try albums.map { try $0.tracks.objects.count } == [10, 8])
        #expect(try await store.count(Playlist.all) == 18)
        try store.close()
        #expect(try file.bytes() == bytes)
    }

    // MARK: Support

    private static var readOnly: Store.Options {
        var options = Store.Options()
        options.isReadOnly = true
        return options
    }

    private func expectModels(_ name: String, of file: SampleFile) throws {
        let run = try file.run("inspect", "--format", "swift")
        #expect(run.exitCode == 0)
        let models = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Models/\(name)")
        #expect(run.output == (try String(contentsOf: models, encoding: .utf8)))
    }

    private static func awkward() throws -> SampleFile {
        try SampleFile(tables, name: "awkward.sqlite")
    }

    private static let tables = #"""
        CREATE TABLE "class" (
            "init" INTEGER PRIMARY KEY AUTOINCREMENT,
            "default" TEXT NOT NULL DEFAULT 'x',
            "func" TEXT UNIQUE,
            "hash" INTEGER,
            "a b-c" TEXT,
            "quote""d" TEXT,
            "1st" TEXT
        );
        CREATE TABLE "String" (id INTEGER PRIMARY KEY, "Type" TEXT, "self" TEXT);
        CREATE TABLE rooms (building TEXT NOT NULL, number INTEGER NOT NULL, seats INTEGER, PRIMARY KEY (building, number)) WITHOUT ROWID;
        CREATE TABLE lessons (
            id INTEGER PRIMARY KEY,
            building TEXT, number INTEGER,
            starts_at DATETIME NOT NULL,
            teacher_id INTEGER NOT NULL REFERENCES teachers(id) ON DELETE CASCADE,
            substitute_id INTEGER REFERENCES teachers(id) ON DELETE SET NULL,
            follows INTEGER REFERENCES lessons(id),
            price DECIMAL(10,2), done BOOLEAN NOT NULL DEFAULT 0, photo BLOB, extra JSON,
            length INTEGER GENERATED ALWAYS AS (number * 2) VIRTUAL,
            UNIQUE (building, number, starts_at),
            FOREIGN KEY (building, number) REFERENCES rooms(building, number)
        );
        CREATE INDEX lessons_by_start ON lessons (starts_at, price);
        CREATE TABLE teachers (id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE) STRICT;
        CREATE TABLE badges (teacher INTEGER PRIMARY KEY REFERENCES teachers(id) ON DELETE CASCADE, color TEXT);
        CREATE TABLE subjects (code TEXT PRIMARY KEY NOT NULL, title TEXT);
        CREATE TABLE teachers_subjects (
            teacher_id INTEGER NOT NULL REFERENCES teachers(id), subject TEXT NOT NULL REFERENCES subjects(code),
            PRIMARY KEY (teacher_id, subject));
        CREATE TABLE notes_without_key (text TEXT, lesson INTEGER);
        CREATE TABLE orphans (id INTEGER PRIMARY KEY, nowhere INTEGER REFERENCES missing(id));
        CREATE TABLE seats (building TEXT NOT NULL, number INTEGER NOT NULL, seat INTEGER NOT NULL, label,
            PRIMARY KEY (building, number, seat), FOREIGN KEY (building, number) REFERENCES rooms ON DELETE CASCADE);
        CREATE TABLE "表" ("名前" TEXT PRIMARY KEY NOT NULL, "价格" REAL);
        CREATE VIEW busy AS SELECT id, starts_at FROM lessons;
        CREATE TRIGGER lessons_touch AFTER UPDATE ON lessons BEGIN SELECT 1; END;
        INSERT INTO "class" ("default", "func", "hash", "a b-c", "quote""d", "1st") VALUES ('d', 'f', 3, 'abc', 'q', 'one');
        INSERT INTO "String" VALUES (1, 't', 's');
        INSERT INTO rooms VALUES ('A', 1, 20), ('A', 2, NULL);
        INSERT INTO teachers VALUES (1, 'Ada'), (2, 'Ben');
        INSERT INTO lessons (building, number, starts_at, teacher_id, substitute_id, price, photo, extra) VALUES ('A', 1, '2026-03-02 09:00', 1, 2, 12.5, x'00ff', '{"a":1}'), (NULL, NULL, '2026-03-03', 1, NULL, NULL, NULL, NULL);
        UPDATE lessons SET follows = 1 WHERE id = 2;
        INSERT INTO badges VALUES (2, 'blue');
        INSERT INTO subjects VALUES ('M', 'Maths'), ('P', NULL);
        INSERT INTO teachers_subjects VALUES (1, 'M'), (1, 'P'), (2, 'M');
        INSERT INTO notes_without_key VALUES ('hello', 1), ('again', 1);
        INSERT INTO orphans VALUES (1, NULL);
        INSERT INTO seats VALUES ('A', 1, 1, 'front'), ('A', 1, 2, 'back');
        INSERT INTO "表" VALUES ('茶', 3.5);
        """#
}
#endif
