import Relata
import RelataEngine
import RelataSQLite
import Testing

@Model(table: "artist") struct AdoptedArtist {
    let id: String
    @Relationship(deleteRule: .cascade, inverse: \AdoptedAlbum.artist) var albums: ToMany<AdoptedAlbum>
}

@Model(table: "album") struct AdoptedAlbum {
    let id: Int
    @Relationship(columns: ["artist"]) var artist: ToOne<AdoptedArtist>?
}

@Model(table: "label") struct AdoptedLabel {
    let id: Int
    @Relationship(deleteRule: .cascade, inverse: \AdoptedRecord.label) var records: ToMany<AdoptedRecord>
}

@Model(table: "record") struct AdoptedRecord {
    let id: Int
    @Relationship(columns: ["label"]) var label: ToOne<AdoptedLabel>?
}

/// Models of tables that other programs made.
@Suite struct AdoptedFileTests {
    /// SQLite compares a reference by the collation of the column that it refers to, which no model declares.
    @Test func deletionsCompareReferencesLikeTheFile() throws {
        let path = TestStore.path()
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE artist (id TEXT COLLATE NOCASE PRIMARY KEY NOT NULL);
            CREATE TABLE album (id INTEGER PRIMARY KEY NOT NULL, artist TEXT REFERENCES artist (id) ON DELETE CASCADE);
            CREATE INDEX album_artist ON album (artist);
            INSERT INTO artist VALUES ('Abc'), ('other'); INSERT INTO album VALUES (1, 'ABC'), (2, 'Abc'), (3, 'other');
            """)
        try connection.close()
        let store = try TestStore.open(path, for: [AdoptedArtist.self, AdoptedAlbum.self])
        let plan = try store.deletionPlan(for: AdoptedArtist(id: "Abc"))
        #expect(plan.deletedCount == 3)
        #expect(try store.delete(AdoptedArtist.self, id: "Abc").deletedCount == 3)
        #expect(try store.count(AdoptedAlbum.all) == 1)
    }

    @Test func secondReferencesInAColumnAreIgnored() throws {
        let path = TestStore.path()
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE artist (id TEXT PRIMARY KEY NOT NULL, code TEXT UNIQUE);
            CREATE TABLE album (id INTEGER PRIMARY KEY NOT NULL, artist TEXT REFERENCES artist (id) ON DELETE CASCADE,
                FOREIGN KEY (artist) REFERENCES artist (code) ON DELETE CASCADE);
            CREATE INDEX album_artist ON album (artist);
            INSERT INTO artist VALUES ('a', 'b'), ('b', 'a'); INSERT INTO album VALUES (1, 'a');
            """)
        try connection.close()
        let store = try TestStore.open(path, for: [AdoptedArtist.self, AdoptedAlbum.self])
        let error = thrown { try store.deletionPlan(for: AdoptedArtist(id: "b")) }
        #expect(error?.description.contains("which the models don't declare") == true, "\(error as Any)")
    }

    /// Artists whose keys the albums spell otherwise.
    private func otherwiseSpelled(_ artist: String = "TEXT COLLATE NOCASE", _ album: String = "TEXT") throws -> String {
        let path = TestStore.path()
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE artist (id \(artist) PRIMARY KEY NOT NULL);
            CREATE TABLE album (id INTEGER PRIMARY KEY NOT NULL, artist \(album) REFERENCES artist (id) ON DELETE CASCADE);
            CREATE INDEX album_artist ON album (artist);
            """)
        try connection.close()
        return path
    }

    private func expectLinks(
        _ store: Store, _ pairs: [String: [Int]], location: SourceLocation = #_sourceLocation
    ) throws {
        let all = pairs.keys.sorted()
        let linked = pairs.flatMap { name, albums in albums.map { ($0, name) } }.sorted { $0.0 < $1.0 }
        let artists = try store.fetch(AdoptedArtist.sorted { $0.id }.including { $0.albums })
        #expect(artists.map(\.id) == all, sourceLocation: location)
        for artist in artists {
            #expect(try artist.albums.objects.map(\.id).sorted() == pairs[artist.id], sourceLocation: location)
            let related = try store.related(to: artist) { $0.albums }
            #expect(related.map(\.id).sorted() == pairs[artist.id], sourceLocation: location)
            let count = pairs[artist.id]?.count ?? 0
            let first = try store.fetch(AdoptedArtist.where { $0.id == artist.id }.including { $0.albums.limit(1) })
            #expect(
                try first.first?.albums.objects.map(\.id) == pairs[artist.id].map { Array($0.prefix(1)) },
                sourceLocation: location)
            #expect(
                try store.fetch(AdoptedAlbum.where { $0.artist == artist }.sorted { $0.id }).map(\.id)
                    == pairs[artist.id], sourceLocation: location)
            #expect(
                try store.count(AdoptedArtist.where { $0.id == artist.id && $0.albums.count == count }) == 1,
                sourceLocation: location)
        }
        let albums = try store.fetch(AdoptedAlbum.where { $0.artist != nil }.sorted { $0.id }.including { $0.artist })
        #expect(try albums.map { try $0.artist?.object.id } == linked.map(\.1), sourceLocation: location)
        for (album, name) in linked {
            #expect(
                try store.fetch(AdoptedAlbum.where { $0.artist.id == name }.sorted { $0.id }).map(\.id).contains(album),
                sourceLocation: location)
        }
        #expect(
            try store.count(AdoptedArtist.where { $0.albums.any { $0.id > 0 } })
                == pairs.values.filter { !$0.isEmpty }.count, sourceLocation: location)
        let shapes = try store.fetch(AdoptedArtistAlbums.all.sorted { $0.id })
        #expect(shapes.map { $0.albums.map(\.id).sorted() } == all.map { pairs[$0] }, sourceLocation: location)
        #expect(shapes.map(\.count) == all.map { pairs[$0]?.count }, sourceLocation: location)
        let names = try store.fetch(AdoptedAlbumArtist.all.sorted { $0.id })
        #expect(names.compactMap { $0.artist?.id } == linked.map(\.1), sourceLocation: location)
        for (name, numbers) in pairs {
            #expect(
                try store.deletionPlan(for: AdoptedArtist(id: name)).deletedCount == 1 + numbers.count,
                sourceLocation: location)
        }
    }

    @Test(arguments: ["NOCASE", "RTRIM"]) func queriesCompareReferencesLikeTheFile(collation: String) throws {
        let path = try otherwiseSpelled("TEXT COLLATE \(collation)")
        let connection = try Connection(path: path)
        let other = collation == "NOCASE" ? "ABC" : "Abc  "
        try connection.execute("INSERT INTO artist VALUES ('Abc'), ('lone'), ('other')")
        try connection.execute("INSERT INTO album VALUES (1, '\(other)'), (2, 'Abc'), (3, 'other'), (4, NULL)")
        try connection.close()
        // The second time, the file is opened with what was found the first time.
        for _ in 0..<2 {
            let store = try TestStore.open(path, for: [AdoptedArtist.self, AdoptedAlbum.self])
            try expectLinks(store, ["Abc": [1, 2], "lone": [], "other": [3]])
            try store.close()
        }
        var options = Store.Options()
        options.isReadOnly = true
        try expectLinks(
            TestStore.open(path, for: [AdoptedArtist.self, AdoptedAlbum.self], options: options),
            ["Abc": [1, 2], "lone": [], "other": [3]])
    }

    @Test func editsCompareReferencesLikeTheFile() throws {
        let path = try otherwiseSpelled()
        let connection = try Connection(path: path)
        try connection.execute("INSERT INTO artist VALUES ('Abc'), ('other')")
        try connection.execute("INSERT INTO album VALUES (1, 'ABC'), (2, 'Abc'), (3, 'other')")
        try connection.close()
        let store = try TestStore.open(path, for: [AdoptedArtist.self, AdoptedAlbum.self])
        var artist = try #require(try store.fetch(AdoptedArtist.self, id: "Abc"))
        artist.albums.remove(AdoptedAlbum(id: 1))
        artist = try store.save(artist)
        try expectLinks(store, ["Abc": [2], "other": [3]])
        try store.write { try $0.execute("UPDATE album SET artist = 'aBC' WHERE id < 3") }
        artist.albums.set([AdoptedAlbum(id: 3)])
        try store.save(artist)
        try expectLinks(store, ["Abc": [3], "other": []])
    }

    @Test func queriesFollowReferencesOfAnotherAffinity() throws {
        let path = try otherwiseSpelled("TEXT", "INTEGER")
        let connection = try Connection(path: path)
        try connection.execute("INSERT INTO artist VALUES ('7'), ('8')")
        try connection.execute("INSERT INTO album VALUES (1, '7'), (2, 8), (3, 7)")
        try connection.close()
        let store = try TestStore.open(path, for: [AdoptedArtist.self, AdoptedAlbum.self])
        #expect(try store.count(AdoptedAlbum.where { $0.artist.id == "7" }) == 2)
        #expect(try store.fetch(AdoptedArtist.where { $0.albums.count == 2 }).map(\.id) == ["7"])
        try expectLinks(store, ["7": [1, 3], "8": [2]])
        #expect(try store.fetch(AdoptedAlbum.sorted { $0.id }).map { $0.artist?.id } == ["7", "8", "7"])
    }

    @Test func textsThatReferToIntegersAreReadAsIntegers() throws {
        let path = TestStore.path()
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE label (id INTEGER PRIMARY KEY NOT NULL);
            CREATE TABLE record (id INTEGER PRIMARY KEY NOT NULL, label TEXT REFERENCES label (id) ON DELETE CASCADE);
            CREATE INDEX record_label ON record (label);
            INSERT INTO label VALUES (7), (8);
            INSERT INTO record VALUES (1, '7'), (2, '07'), (3, ' 8 '), (4, '7.0'), (5, '70e-1'), (6, NULL);
            """)
        try connection.close()
        let store = try TestStore.open(path, for: [AdoptedLabel.self, AdoptedRecord.self])
        let records = try store.fetch(AdoptedRecord.sorted { $0.id }.including { $0.label })
        #expect(records.map { $0.label?.id } == [7, 7, 8, 7, 7, nil])
        #expect(records.map { $0.label?.loaded?.id } == [7, 7, 8, 7, 7, nil])
        let labels = try store.fetch(AdoptedLabel.sorted { $0.id }.including { $0.records })
        #expect(try labels.map { try $0.records.objects.map(\.id).sorted() } == [[1, 2, 4, 5], [3]])
        // After saving, a record holds the key as the model stores it.
        var record = records[1]
        record.label = ToOne(id: 8)
        try store.save(record)
        #expect(try store.related(to: AdoptedLabel.self, id: 8) { $0.records }.map(\.id).sorted() == [2, 3])
        // The error quotes a reference that isn't an integer as it is stored.
        try store.write { tx in
            try tx.execute("PRAGMA defer_foreign_keys = ON")
            try tx.execute("UPDATE record SET label = '0x7' WHERE id = 1")
            let error = thrown { try tx.fetch(AdoptedRecord.self, id: 1) }
            #expect(error?.description.contains("which doesn't fit Int") == true, "\(error as Any)")
            try tx.execute("UPDATE record SET label = '7' WHERE id = 1")
        }
    }

    /// A table that was recreated while no store was open is read again.
    @Test func newCollationsAreNoticed() throws {
        let path = TestStore.path()
        try TestStore.open(path, for: [AdoptedArtist.self, AdoptedAlbum.self]).close()
        let connection = try Connection(path: path)
        try connection.execute(
            """
            PRAGMA foreign_keys = OFF; DROP TABLE artist; CREATE TABLE artist (id TEXT COLLATE NOCASE PRIMARY KEY NOT NULL);
            INSERT INTO artist VALUES ('Abc'); INSERT INTO album VALUES (1, 'ABC');
            """)
        try connection.close()
        try expectLinks(TestStore.open(path, for: [AdoptedArtist.self, AdoptedAlbum.self]), ["Abc": [1]])
    }
}

@Shape(of: AdoptedArtist.self) struct AdoptedArtistAlbums {
    var id: String
    var albums: [AdoptedAlbum]
    @Count(\.albums) var count: Int
}

@Shape(of: AdoptedAlbum.self) struct AdoptedAlbumArtist {
    var id: Int
    var artist: AdoptedArtist?
}
