import Foundation
import Relata
import RelataCore
import RelataRecords
import RelataEngine
import RelataEngines
import RelataSQLite
import TestEngines
import Testing

@Model private struct Harbour {
    @Attribute(.primaryKey) let name: String
    @Relationship(deleteRule: .cascade, inverse: \Ship.harbour) var ships: ToMany<Ship>
}

@Model private struct Ship {
    let id: ID<Ship>
    @Attribute(.notEmpty) var name: String
    var kind: Kind = .sail
    var tons: Decimal = 0
    var harbour: ToOne<Harbour>
    @Attribute(.revision) var revision: Int
    @Attribute(.updatedAt) var changed: Date

    enum Kind: String, Codable, CaseIterable { case sail, steam }
}

/// Files of models and of other programs.
@Suite(.timeLimit(.minutes(20))) struct OtherFilesTests {
    private func stores(_ path: String) throws -> (typed: Store, records: RecordStore) {
        var options = Store.Options()
        options.externalChangeDelay = 0.01
        let typed = try { try Store.open(path, for: Harbour.self, options: options) }()
        return (typed, try RecordStore.watching(path, mode: .production))
    }

    /// A change that a trigger ignores isn't one of an object that is gone.
    @Test(.onSQLite) func aChangeThatATriggerIgnoresIsRefused() async throws {
        let folder = try TestDatabases()
        let path = try folder.path("ignored.sqlite")
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE Tag (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO Tag VALUES (1, 'red');
            CREATE TRIGGER guard BEFORE UPDATE ON Tag BEGIN SELECT RAISE(IGNORE); END
            """)
        try connection.close()
        let records = try RecordStore.open(path, mode: .production)
        var tag = try #require(try await records.fetch("Tag", id: 1))
        tag["name"] = "blue"
        let changed = tag
        await #expect {
            try await records.save(changed)
        } throws: { error in
            if case RelataError.validation(let failures)? = error as? RelataError {
                failures.count == 1 && failures[0].message.contains("a trigger of the table Tag")
            } else {
                false
            }
        }
        #expect(try await records.fetch("Tag", id: 1)?["name"] == "red")
    }

    @Test(.onEveryEngine) func classesThatModelsDontHaveKeepTheirTypes() async throws {
        let folder = try TestDatabases()
        let path = try folder.path()
        let moment = Date(timeIntervalSince1970: 5)
        let server = try RecordStore.open(path)
        try await server.save(Record("Buoy", ["isLit": true, "placed": .date(moment)]))
        try server.close()
        try await Store.open(path, for: Harbour.self).close()
        let records = try RecordStore.open(path, mode: .production)
        let buoy = try #require(try await records.first(RecordQuery("Buoy")))
        #expect(buoy["isLit"] == true && buoy["placed"] == .date(moment), "\(buoy)")
        try records.close()
    }

    @Test(.onEveryEngine) func rulesOfModelsApplyToRecords() async throws {
        let folder = try TestDatabases()
        let (typed, records) = try stores(folder.path())
        let ship = try await typed.save(Ship(name: "Aurora", tons: 5000.5, harbour: Harbour(name: "Kiel")))
        var record = try #require(try await records.first(RecordQuery("Ship").including("harbour.ships")))
        #expect(record["id"].uuid == ship.id.uuid && record["tons"].decimal == 5000.5 && record["kind"] == "sail")
        #expect(record["harbour"]["name"] == "Kiel" && record["harbour"]["ships"].records.count == 1)
        record["kind"] = "steam"
        record["tons"] = .decimal(5001)
        let saved = try await records.save(record)
        let found = try #require(try await typed.fetch(ship.id))
        #expect(found.kind == .steam && found.tons == 5001 && found.revision == 2 && found.changed > ship.changed)
        // The earlier reader gets a conflict.
        await #expect {
            try await typed.save(ship)
        } throws: { if case RelataError.conflict? = $0 as? RelataError { true } else { false } }
        for (field, value) in [("name", " " as RecordValue), ("kind", "raft"), ("harbour", nil), ("tons", "many")] {
            var wrong = saved
            wrong[field] = value
            await #expect(throws: RelataError.self, "\(field)") { try await records.save(wrong) }
        }
        let harbour = try #require(try await records.fetch("Harbour", id: "Kiel"))
        let plan = try await records.deletionPlan(for: harbour)
        #expect(plan == (try await typed.deletionPlan(for: Harbour(name: "Kiel"))))
        #expect(try await records.delete(harbour).deletedCount == 2)
        #expect(try await typed.count(Ship.all) == 0)
    }

    @Test(.onEveryEngine) func storesOfModelsAndOfRecordsSeeEachOthersChanges() async throws {
        let folder = try TestDatabases()
        let (typed, records) = try stores(folder.path())
        var ships = typed.observe(countOf: Ship.all).makeAsyncIterator()
        var names = records.observe { tx in try tx.fetch(RecordQuery("Ship", sort: "name")).map { $0["name"] } }
            .makeAsyncIterator()
        var feed = records.changes.makeAsyncIterator()
        #expect(try await ships.next() == 0)
        #expect(try await names.next() == [])
        try await typed.save(Ship(name: "Aurora", harbour: Harbour(name: "Kiel")))
        #expect(try await names.next() == ["Aurora"])
        #expect(try await ships.next() == 1)
        #expect(try #require(await feed.next()).changes.allSatisfy { $0.kind == .unknown })
        let harbour = try #require(try await records.fetch("Harbour", id: "Kiel"))
        try await records.save(Record("Ship", ["name": "Borealis", "harbour": .link(harbour)]))
        #expect(try await ships.next() == 2)
        #expect(try await names.next() == ["Aurora", "Borealis"])
        // A third store creates a class.
        let development = try RecordStore.watching(folder.path())
        try await development.save(Record("Crew", ["name": "Ada"]))
        var crews = records.observe(countOf: RecordQuery("Crew")).makeAsyncIterator()
        #expect(try await crews.next() == 1)
        try await development.save(Record("Crew", ["name": "Bea", "rank": 2]))
        #expect(try await crews.next() == 2)
        #expect(try await typed.count(Ship.all) == 2)
        // The models can be opened again.
        try typed.close()
        let again = try await Store.open(folder.path(), for: Harbour.self)
        #expect(try await again.count(Ship.all) == 2)
        #expect(try await records.count(RecordQuery("Crew")) == 2)
    }

    @Test func tablesOfOtherProgramsAreUsedBesideNewClasses() async throws {
        let folder = try TestDatabases()
        let path = try folder.path()
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE artists (ArtistId INTEGER PRIMARY KEY, Name TEXT NOT NULL);
            CREATE TABLE albums (
                AlbumId INTEGER PRIMARY KEY, Title TEXT NOT NULL UNIQUE, Made DATETIME,
                ArtistId INTEGER NOT NULL REFERENCES artists (ArtistId) ON DELETE CASCADE);
            CREATE TABLE prices (Shop TEXT, Code TEXT, Price NUMERIC, PRIMARY KEY (Shop, Code)) WITHOUT ROWID;
            CREATE VIEW cheap AS SELECT * FROM prices;
            INSERT INTO artists VALUES (1, 'AC/DC');
            """)
        try connection.close()
        let store = try RecordStore.open(path)
        #expect(try await store.classes.map(\.name).sorted() == ["albums", "artists", "prices"])
        let artist = try #require(try await store.fetch("artists", id: 1))
        let album = try await store.save(Record("albums", ["title": "Let There Be Rock", "artist": .link(artist)]))
        #expect(album.key == KeyValue(.integer(1)) && album["artist"].link?.key == artist.key)
        #expect(try await store.first(RecordQuery("albums").including("artist"))?["artist"]["name"] == "AC/DC")
        try await store.save(Record("prices", ["shop": "A", "code": "1", "price": 5]))
        try await store.save(Record("prices", ["shop": "A", "code": "1", "price": 6]))
        #expect(try await store.fetch("prices", id: "A", "1")?["price"].real == 6)
        await #expect {
            try await store.save(Record("albums", ["title": "Let There Be Rock", "artist": .link(artist)]))
        } throws: { if case RelataError.uniqueViolation? = $0 as? RelataError { true } else { false } }
        await #expect(throws: RelataError.self) { try await store.save(Record("prices", ["shop": "B"])) }
        await #expect(throws: RelataError.self) { try await store.save(Record("Cheap", ["shop": "B"])) }
        // A field in another program's table, and a new class, both created by use.
        try await store.save(Record("Review", ["stars": 5, "album": .link(album)]))
        var changed = album
        changed["stars"] = 4
        try await store.save(changed)
        let reviews = RecordQuery("Review", where: "album.stars == 4 AND album.artist == %@", artist)
        #expect(try await store.count(reviews) == 1)
        #expect(try await store.delete(artist).deletedCount == 2)
        #expect(try await store.first(RecordQuery("Review"))?["album"] == .null)
        let check = try Connection(path: path, isReadOnly: true)
        #expect(try check.value(SQLStatement("SELECT count(*) FROM cheap")) == .integer(1))
        #expect(try check.values(SQLStatement("PRAGMA foreign_key_check")).isEmpty)
    }

    @Test(.onEveryEngine) func enablingAChangeLogDoesNotAdoptAFile() async throws {
        let folder = try TestDatabases()
        let path = try folder.path()
        let connection = try DatabaseLocation(path).connect(isReadOnly: false)
        try connection.execute("CREATE TABLE \"Harbour\" (name TEXT NOT NULL PRIMARY KEY, depth INTEGER)")
        try connection.close()
        let store = try RecordStore.watching(path, mode: .production, changeLog: true)
        try await store.save(Record("Harbour", ["name": "Kiel", "depth": 12]))
        #expect(try await store.changes(after: 0, atLeast: 1).map(\.change.kind) == [.insert])
        try store.close()
        await #expect {
            _ = try await Store.open(path, for: Harbour.self)
        } throws: { if case RelataError.schemaMismatch? = $0 as? RelataError { true } else { false } }
        #expect(try await RecordStore.open(path, mode: .production).first(RecordQuery("Harbour"))?["depth"] == 12)
    }

    @Test(.onEveryEngine) func filesOpenedForReadingStayUnchanged() async throws {
        let folder = try TestDatabases()
        let path = try folder.path()
        let made = try RecordStore.open(path)
        try await made.addMusic()
        try made.close()
        let file = try DatabaseLocation(path).file.map { URL(fileURLWithPath: $0) }
        let before = try file.map { try Data(contentsOf: $0) }
        var options = RecordStore.Options()
        options.isReadOnly = true
        let store = try RecordStore.open(path, options: options)
        #expect(try await store.count(RecordQuery("Album")) == 2)
        await #expect(throws: RelataError.self) { try await store.save(Record("Album", ["title": "A"])) }
        await #expect(throws: RelataError.self) { try await store.alter { try $0.addClass("Label") } }
        try store.close()
        #expect(try file.map { try Data(contentsOf: $0) } == before)
        if file == nil { return }
        #expect(throws: RelataError.self) { try RecordStore.open(folder.path("none.sqlite"), options: options) }
    }

    /// A column of floating-point numbers may hold integers, beyond 2⁵³ too.
    @Test func numericKeysAreLoggedAsStored() async throws {
        let folder = try TestDatabases()
        let connection = try Connection(path: folder.path())
        try connection.execute(
            """
            CREATE TABLE reals (id REAL PRIMARY KEY NOT NULL, name TEXT);
            CREATE TABLE numbers (id NUMERIC PRIMARY KEY NOT NULL, name TEXT);
            CREATE TABLE any (id DOUBLE, name TEXT, PRIMARY KEY (id, name));
            """)
        try connection.close()
        let store = try RecordStore.watching(folder.path(), changeLog: true)
        let names = ["reals", "numbers", "any"]
        for name in names {
            for key: RecordValue in [2, 2.5, -3.0, 1e18, .integer(9_007_199_254_740_993)] {
                _ = try? await store.insert(Record(name, ["id": key, "name": "n"]))
            }
        }
        let logged = try await store.changes(after: 0)
        let stored = try await store.read { transaction in
            try names.flatMap { name in
                try transaction.connection.values(SQLStatement("SELECT id FROM \(name) ORDER BY rowid")).map { $0[0] }
            }
        }
        #expect(stored.count >= 12)
        #expect(logged.flatMap { $0.change.keys.map { $0.values[0] } } == stored)
    }
}
