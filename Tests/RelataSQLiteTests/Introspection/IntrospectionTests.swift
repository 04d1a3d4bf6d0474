import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

@Suite struct IntrospectionTests {
    private func read(_ sql: String) throws -> [String: Entity] {
        let entities = try Introspection.entities(of: try database(sql))
        _ = try Schema(entities)
        return Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
    }

    @Test func columnsBecomeAttributesByTheirDeclaredTypes() throws {
        let thing = try #require(
            read(
                """
                CREATE TABLE Thing (
                    thing_id INTEGER PRIMARY KEY, Name NVARCHAR(20) NOT NULL, is_on BOOLEAN NOT NULL DEFAULT 1,
                    price NUMERIC(10,2), weight DOUBLE, picture BLOB, seen DATETIME, meta JSON, anything,
                    total REAL AS (price * weight), note TEXT DEFAULT 'it''s', stamp TEXT DEFAULT CURRENT_TIMESTAMP)
                """)["Thing"])
        #expect(
            thing.attributes.map(\.name) == [
                "thingId", "name", "isOn", "price", "weight", "picture", "seen", "meta", "anything", "note", "stamp",
            ])
        #expect(
            thing.attributes.map(\.type) == [
                .integer, .text, .boolean, .real, .real, .data, .text, .json, .text, .text, .text,
            ])
        #expect(thing.key == ["thingId"] && thing.isKeyAssigned)
        #expect(thing.attribute("name")?.isOptional == false)
        #expect(thing.attribute("price")?.isOptional == true)
        #expect(thing.attribute("isOn")?.defaultValue == 1)
        #expect(thing.attribute("note")?.defaultValue == "it's")
        #expect(thing.attribute("stamp")?.defaultValue == nil)
    }

    @Test func foreignKeysBecomeToOnesAndTheirViews() throws {
        let entities = try read(
            """
            CREATE TABLE artists (id INTEGER PRIMARY KEY, albums TEXT);
            CREATE TABLE album (AlbumId TEXT PRIMARY KEY, artist_id INTEGER REFERENCES artists ON DELETE SET NULL);
            CREATE TABLE Cover (id INTEGER PRIMARY KEY, AlbumId TEXT NOT NULL UNIQUE REFERENCES album ON DELETE CASCADE);
            """)
        #expect(entities["album"]?.relationship("artist")?.kind == .toOne(isOptional: true, columns: ["artist_id"]))
        let view = try #require(entities["artists"]?.relationship("artistAlbums"))
        #expect(view.kind == .toMany(inverse: "artist"), "albums is taken by an attribute")
        #expect(view.deleteRule == .nullify)
        #expect(entities["album"]?.isKeyAssigned == false)
        let cover = try #require(entities["album"]?.relationship("cover"))
        #expect(cover.kind == .hasOne(inverse: "album"))
        #expect(cover.deleteRule == .cascade)
        #expect(entities["Cover"]?.uniques == [])
    }

    @Test func severalReferencesBetweenTwoTablesGetDifferentNames() throws {
        let entities = try read(
            """
            CREATE TABLE Airport (code TEXT PRIMARY KEY);
            CREATE TABLE Flight (
                id INTEGER PRIMARY KEY, origin_id TEXT NOT NULL REFERENCES Airport, destinationId TEXT REFERENCES Airport);
            CREATE TABLE Employee (id INTEGER PRIMARY KEY, ReportsTo INTEGER REFERENCES Employee (id));
            """)
        #expect(entities["Airport"]?.relationships.map(\.name) == ["originFlights", "destinationFlights"])
        #expect(entities["Employee"]?.relationships.map(\.name) == ["reportsTo", "employees"])
        #expect(entities["Airport"]?.relationship("originFlights")?.deleteRule == .deny)
    }

    @Test func pureJoinTablesBecomeManyToManys() throws {
        let entities = try read(
            """
            CREATE TABLE Playlist (id INTEGER PRIMARY KEY);
            CREATE TABLE Track (id INTEGER PRIMARY KEY);
            CREATE TABLE PlaylistTrack (
                PlaylistId INTEGER NOT NULL REFERENCES Playlist ON DELETE CASCADE,
                TrackId INTEGER NOT NULL REFERENCES Track, position INTEGER NOT NULL DEFAULT 0,
                PRIMARY KEY (PlaylistId, TrackId));
            CREATE TABLE Person (id INTEGER PRIMARY KEY);
            CREATE TABLE Person_following (
                personId INTEGER NOT NULL REFERENCES Person, followingId INTEGER NOT NULL REFERENCES Person,
                UNIQUE (personId, followingId));
            CREATE TABLE Person_blocked (
                personId INTEGER NOT NULL REFERENCES Person, blockedId INTEGER NOT NULL REFERENCES Person ON DELETE RESTRICT,
                UNIQUE (personId, blockedId));
            CREATE TABLE Rating (
                PlaylistId INTEGER NOT NULL REFERENCES Playlist, TrackId INTEGER NOT NULL REFERENCES Track, stars INTEGER,
                PRIMARY KEY (PlaylistId, TrackId));
            """)
        #expect(Set(entities.keys) == ["Playlist", "Track", "Person", "Rating"])
        let tracks = try #require(entities["Playlist"]?.relationship("tracks"))
        #expect(
            tracks.kind
                == .manyToMany(
                    JoinTableNames(table: "PlaylistTrack", sourceColumns: ["PlaylistId"], targetColumns: ["TrackId"])))
        #expect(tracks.order == .stored)
        #expect(tracks.deleteRule == .nullify)
        #expect(entities["Track"]?.relationship("playlists")?.kind == .manyToManyInverse(inverse: "tracks"))
        #expect(entities["Track"]?.relationship("playlists")?.deleteRule == .nullify)
        let person = try #require(entities["Person"])
        #expect(person.relationships.filter { $0.deleteRule == .deny }.count == 1)
        #expect(person.relationships.filter { $0.deleteRule == .nullify }.count == 3)
        #expect(person.relationship("followings") != nil && person.relationship("people") != nil)
        #expect(entities["Rating"]?.key == ["playlist", "track"])
        #expect(entities["Playlist"]?.relationships.map(\.name) == ["ratings", "tracks"])
    }

    @Test func keysOfSeveralColumnsAreReferredToInTheTargetsOrder() throws {
        let entities = try read(
            """
            CREATE TABLE Enrolment (student INTEGER, course TEXT, PRIMARY KEY (student, course));
            CREATE TABLE Mark (
                id INTEGER PRIMARY KEY, enrolmentCourse TEXT NOT NULL, enrolmentStudent INTEGER NOT NULL, a TEXT, b INT,
                FOREIGN KEY (enrolmentCourse, enrolmentStudent) REFERENCES Enrolment (course, student),
                FOREIGN KEY (b, a) REFERENCES Enrolment);
            """)
        #expect(
            entities["Mark"]?.relationship("enrolment")?.kind
                == .toOne(isOptional: false, columns: ["enrolmentStudent", "enrolmentCourse"]))
        #expect(entities["Mark"]?.relationships.last?.kind == .toOne(isOptional: true, columns: ["b", "a"]))
        #expect(entities["Mark"]?.attributes.map(\.name) == ["id"])
    }

    @Test func tablesWithoutAKeyUseTheirRowID() throws {
        let entities = try read("CREATE TABLE Log (message TEXT); CREATE TABLE Odd (rowid TEXT, x)")
        #expect(entities["Log"]?.key == ["rowid"])
        #expect(entities["Log"]?.isKeyAssigned == true)
        #expect(entities["Odd"]?.attribute("rowid")?.column == "_rowid_")
        #expect(entities["Odd"]?.attribute("rowid2")?.column == "rowid")
    }

    @Test func otherTablesAreLeftOut() throws {
        let connection = try database(
            """
            CREATE TABLE A (id INTEGER PRIMARY KEY AUTOINCREMENT);
            CREATE VIEW V AS SELECT * FROM A;
            CREATE VIRTUAL TABLE F USING fts5(text);
            CREATE TABLE relata_metadata (name TEXT PRIMARY KEY, value TEXT);
            CREATE TABLE ""(x);
            PRAGMA writable_schema = ON;
            INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql)
                VALUES ('table', 'G', 'G', 0, 'CREATE VIRTUAL TABLE G USING nowhere(x)');
            PRAGMA writable_schema = RESET;
            """)
        let reader = try Introspection.read(connection)
        #expect(reader.entities.map(\.name) == ["A"])
        #expect(reader.notes.count == 1)
    }

    @Test func unusualNamesAreKept() throws {
        let connection = try database(
            """
            CREATE TABLE "select" ("group" INTEGER PRIMARY KEY, "a ""b""; drop table x" TEXT, "ORDER" TEXT, "order by" REAL)
            """)
        let entities = try Introspection.entities(of: connection)
        #expect(entities.map(\.name) == ["select"])
        #expect(entities[0].attributes.map(\.name) == ["group", "aBDropTableX", "order", "orderBy"])
        #expect(entities[0].attributes[1].column == "a \"b\"; drop table x")
    }

    @Test func similarColumnNamesGetNumbers() throws {
        let entities = try read(
            """
            CREATE TABLE B (id INTEGER PRIMARY KEY);
            CREATE TABLE A (id INTEGER PRIMARY KEY, AlbumId TEXT, album_id TEXT, b TEXT, b_id INTEGER REFERENCES B);
            """)
        #expect(entities["A"]?.properties.map(\.name) == ["id", "albumId", "albumId2", "b", "bId"])
    }

    @Test func unsupportedForeignKeysBecomeAttributesWithANote() throws {
        let connection = try database(
            """
            CREATE TABLE A (id INTEGER PRIMARY KEY, code TEXT UNIQUE, self INTEGER REFERENCES A);
            CREATE TABLE B (
                id INTEGER PRIMARY KEY, lost INTEGER REFERENCES Nowhere, code TEXT REFERENCES A (code),
                a INTEGER REFERENCES A, c INTEGER, d INTEGER DEFAULT 1 REFERENCES A ON DELETE SET DEFAULT,
                FOREIGN KEY (a, c) REFERENCES C);
            CREATE TABLE C (x INTEGER, y INTEGER, PRIMARY KEY (x, y));
            CREATE TABLE K (id INTEGER PRIMARY KEY REFERENCES K);
            CREATE TABLE L (id INTEGER PRIMARY KEY REFERENCES M);
            CREATE TABLE M (id INTEGER PRIMARY KEY REFERENCES L);
            """)
        let reader = try Introspection.read(connection)
        _ = try Schema(reader.entities)
        let b = try #require(reader.entities.first { $0.name == "B" })
        #expect(b.relationships.map(\.name) == ["a", "d"])
        #expect(b.attributes.map(\.name) == ["id", "lost", "code", "c"])
        let all = try Introspection.read(connection, followsAllKeys: true)
        #expect(
            all.entities.first { $0.name == "B" }?.relationships.map(\.name) == ["a", "d", "codeA", "aCC"])
        #expect(
            all.notes.contains {
                "\($0)".hasPrefix("B.a, c: ") && "\($0)".hasSuffix("as a read-only relationship")
            }, "\(all.notes)")
        let notes = reader.notes.map(\.description)
        #expect(notes.count == 6, "\(notes)")
        #expect(
            notes.contains { $0.hasPrefix("B.lost: its foreign key to Nowhere points at a table that doesn't exist") })
        #expect(notes.contains { $0.hasPrefix("B.code: its foreign key to A doesn't point at its primary key") })
        #expect(notes.contains { $0.hasPrefix("B.a, c: its foreign key to C shares a column") })
        #expect(notes.contains { $0.hasPrefix("B.d: its foreign key to A sets a default") })
        #expect(notes.contains { $0.hasPrefix("K.id: its primary key refers to itself") })
    }

    @Test func declaredEntitiesStayUnchangedBesideOthers() throws {
        let declared = [
            Entity(
                name: "Author", table: "author",
                properties: [
                    .attribute(Attribute("id", type: .integer)),
                    .relationship(Relationship("books", target: "Author", kind: .manyToMany(.init(table: "links")))),
                ])
        ]
        let tables = try Introspection.tables(
            of: try database(
                """
                CREATE TABLE note (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author ON DELETE CASCADE);
                CREATE TABLE author (id INTEGER PRIMARY KEY);
                CREATE TABLE links (authorId INTEGER, bookId INTEGER, PRIMARY KEY (authorId, bookId));
                """))
        let entities = EntityReader(tables, declared: declared).entities
        let schema = try Schema(entities)
        #expect(entities.map(\.name) == ["Author", "note"])
        #expect(entities[0] == declared[0])
        #expect(schema.references[0].onTargetDelete == .cascade)
    }

    @Test(.enabled(if: SharedData.chinook != nil, "chinook.sqlite isn't beside the project"))
    func aRealDatabaseIsRead() throws {
        let connection = try Connection(path: SharedData.chinook, isReadOnly: true)
        let reader = try Introspection.read(connection)
        let schema = try Schema(reader.entities)
        #expect(reader.notes.isEmpty)
        #expect(
            Set(reader.entities.map(\.name)) == [
                "Album", "Artist", "Customer", "Employee", "Genre", "Invoice", "InvoiceLine", "MediaType", "Playlist",
                "Track",
            ])
        let links = { (name: String) in schema[name]?.entity.relationships.map(\.name) }
        #expect(links("Album") == ["artist", "tracks"])
        #expect(links("Artist") == ["albums"])
        #expect(links("Playlist") == ["tracks"])
        #expect(links("Track") == ["album", "mediaType", "genre", "invoiceLines", "playlists"])
        #expect(links("Employee") == ["reportsTo", "customers", "employees"] || links("Employee")?.count == 3)
        #expect(links("Customer") == ["supportRep", "invoices"])
        #expect(schema.joins.map(\.table) == ["PlaylistTrack"])
        #expect(schema["Track"]?.entity.attribute("unitPrice")?.type == .real)

        let names = NameResolver(schema)
        #expect(names.entity("album")?.name == "Album")
        #expect(names.entity("invoice_line")?.name == "InvoiceLine")
        let album = try #require(names.entity("Album"))
        for spelling in ["artist", "ArtistId", "artist_id", "ARTISTID"] {
            #expect(names.property(spelling, of: album) == "artist")
        }
        #expect(names.property("PlaylistTrack", of: try #require(schema["Playlist"])) == "tracks")
        #expect(names.property("nothing", of: album) == nil)
    }
}
