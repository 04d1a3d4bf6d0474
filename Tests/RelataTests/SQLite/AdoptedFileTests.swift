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

/// Models of tables that other programs made.
@Suite struct AdoptedFileTests {
    /// SQLite compares a reference by the collation of the column that it refers to, which no model declares.
    @Test func deletionsFollowReferencesAsTheFileComparesThem() throws {
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

    @Test func aSecondReferenceInTheSameColumnIsNoneThatIsKnown() throws {
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
}
