import Relata
import RelataEngine
import RelataSQLite
import Testing

@Model(table: "artist") struct PerformingArtist {
    let id: String
    @Relationship(
        ordered: true, maximum: 3, joinTable: "performed", joinColumns: ["artist", "song"])
    var songs: ToMany<PerformedSong>
}

@Model(table: "song") struct PerformedSong {
    let id: String
    @Relationship(inverse: \PerformingArtist.songs) var artists: ToMany<PerformingArtist>
}

@Shape(of: PerformingArtist.self) struct PerformingArtistSongs {
    var id: String
    var songs: [PerformedSong]
    @Count(\.songs) var count: Int
}

@Model(table: "artist") struct NumberedArtist {
    let id: Int
    @Relationship(joinTable: "performed", joinColumns: ["artist", "song"]) var songs: ToMany<NumberedSong>
}

@Model(table: "song") struct NumberedSong {
    let id: Int
    @Relationship(inverse: \NumberedArtist.songs) var artists: ToMany<NumberedArtist>
}

@Model(table: "node") struct AdoptedNode {
    let id: String
    @Relationship(deleteRule: .cascade, joinTable: "below", joinColumns: ["above", "node"])
    var children: ToMany<AdoptedNode>
}

/// Join tables of other programs whose keys are spelled otherwise than those of the objects.
@Suite struct AdoptedJoinTests {
    private static let models: [any Model.Type] = [PerformingArtist.self, PerformedSong.self]

    /// Three artists and songs, and rows that say: Abc has Two and One, in this order, and Other has One.
    private func file(
        artist: String = "TEXT COLLATE NOCASE", song: String = "TEXT COLLATE NOCASE", join: String = "TEXT",
        rows: String = "('ABC', 'one', 2048), ('aBC', 'TWO', 1024), ('abc', 'One', 4096), ('Other', 'ONE', 1024)"
    ) throws -> String {
        let path = TestStore.path()
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE artist (id \(artist) PRIMARY KEY NOT NULL);
            CREATE TABLE song (id \(song) PRIMARY KEY NOT NULL);
            CREATE TABLE performed (artist \(join) NOT NULL REFERENCES artist (id) ON DELETE CASCADE,
                song \(join) NOT NULL REFERENCES song (id) ON DELETE CASCADE, position INTEGER NOT NULL DEFAULT 0,
                PRIMARY KEY (artist, song));
            CREATE INDEX performed_song ON performed (song);
            INSERT INTO artist VALUES ('Abc'), ('Lone'), ('Other');
            INSERT INTO song VALUES ('One'), ('Three'), ('Two');
            INSERT INTO performed VALUES \(rows);
            """)
        try connection.close()
        return path
    }

    private func expectLinks(
        _ store: Store, _ lists: [String: [String]], location: SourceLocation = #_sourceLocation
    ) throws {
        let names = ["Abc", "Lone", "Other"]
        let artists = try store.fetch(PerformingArtist.sorted { $0.id }.including { $0.songs })
        #expect(artists.map(\.id) == names, sourceLocation: location)
        for artist in artists {
            let songs = lists[artist.id] ?? []
            #expect(try artist.songs.objects.map(\.id) == songs, sourceLocation: location)
            #expect(try store.related(to: artist) { $0.songs }.map(\.id) == songs, sourceLocation: location)
            let one = PerformingArtist.where { $0.id == artist.id }
            let whole = try store.fetch(one.including { $0.songs })
            #expect(try whole.first?.songs.objects.map(\.id) == songs, sourceLocation: location)
            let first = try store.fetch(one.including { $0.songs.limit(1) })
            #expect(try first.first?.songs.objects.map(\.id) == Array(songs.prefix(1)), sourceLocation: location)
            #expect(
                try store.count(PerformingArtist.where { $0.id == artist.id && $0.songs.count == songs.count }) == 1,
                sourceLocation: location)
        }
        for song in ["One", "Three", "Two"] {
            let having = names.filter { lists[$0]?.contains(song) == true }
            let found = PerformingArtist.where { $0.songs.any { $0.id == song } }.sorted { $0.id }
            #expect(try store.fetch(found).map(\.id) == having, sourceLocation: location)
            let included = try store.fetch(PerformedSong.where { $0.id == song }.including { $0.artists })
            #expect(
                try included.first?.artists.objects.map(\.id).sorted() == having, sourceLocation: location)
        }
        let songs = try store.fetch(PerformedSong.sorted { $0.id }.including { $0.artists })
        #expect(
            try songs.flatMap { try $0.artists.objects.map(\.id) }.count == lists.values.joined().count,
            sourceLocation: location)
        let shapes = try store.fetch(PerformingArtistSongs.all.sorted { $0.id })
        #expect(shapes.map { $0.songs.map(\.id) } == names.map { lists[$0] ?? [] }, sourceLocation: location)
        #expect(shapes.map(\.count) == names.map { lists[$0]?.count ?? 0 }, sourceLocation: location)
    }

    @Test(arguments: ["artist", "song", "both"]) func queriesCompareJoinRowsLikeTheFile(side: String) throws {
        let rows =
            switch side {
            case "artist": "('ABC', 'One', 2048), ('aBC', 'Two', 1024), ('abc', 'One', 4096), ('Other', 'One', 1024)"
            case "song": "('Abc', 'one', 2048), ('Abc', 'TWO', 1024), ('Abc', 'One', 4096), ('Other', 'ONE', 1024)"
            default: "('ABC', 'one', 2048), ('aBC', 'TWO', 1024), ('abc', 'One', 4096), ('Other', 'ONE', 1024)"
            }
        let path = try file(
            artist: side == "song" ? "TEXT" : "TEXT COLLATE NOCASE",
            song: side == "artist" ? "TEXT" : "TEXT COLLATE NOCASE", rows: rows)
        // The second time, the file is opened with what was found the first time.
        for _ in 0..<2 {
            let store = try TestStore.open(path, for: Self.models)
            try expectLinks(store, ["Abc": ["Two", "One"], "Other": ["One"]])
            try store.close()
        }
        var options = Store.Options()
        options.isReadOnly = true
        try expectLinks(
            TestStore.open(path, for: Self.models, options: options), ["Abc": ["Two", "One"], "Other": ["One"]])
    }

    @Test func queriesFollowJoinRowsWithSpacesAtTheirEnd() throws {
        let path = try file(
            artist: "TEXT COLLATE RTRIM", song: "TEXT COLLATE RTRIM",
            rows: "('Abc ', 'One  ', 2048), ('Abc', 'Two ', 1024), ('Abc', 'One', 4096), ('Other  ', 'One', 1024)")
        try expectLinks(TestStore.open(path, for: Self.models), ["Abc": ["Two", "One"], "Other": ["One"]])
    }

    /// Join columns whose collation differs from the keys' are compared by the keys' collation.
    @Test func caseSensitiveKeysAreDistinguished() throws {
        let path = try file(artist: "TEXT", song: "TEXT", join: "TEXT COLLATE NOCASE", rows: "('Abc', 'One', 1024)")
        let connection = try Connection(path: path)
        try connection.execute("INSERT INTO artist VALUES ('ABC'); INSERT INTO song VALUES ('ONE')")
        try connection.close()
        let store = try TestStore.open(path, for: Self.models)
        let artists = try store.fetch(PerformingArtist.sorted { $0.id }.including { $0.songs })
        #expect(artists.map(\.id) == ["ABC", "Abc", "Lone", "Other"])
        #expect(try artists.map { try $0.songs.objects.map(\.id) } == [[], ["One"], [], []])
        #expect(try store.delete(PerformingArtist.self, id: "ABC").removedJoinRows.isEmpty)
        #expect(try store.delete(PerformingArtist.self, id: "Abc").removedJoinRows.map(\.count) == [1])
    }

    @Test func editsCompareJoinRowsLikeTheFile() throws {
        let path = try file()
        let store = try TestStore.open(path, for: Self.models)
        let (one, two, three) = (PerformedSong(id: "One"), PerformedSong(id: "Two"), PerformedSong(id: "Three"))
        func rows() throws -> Int { try store.read { try $0.rows("SELECT 1 FROM performed").count } }
        // An existing member isn't added again.
        try store.update(PerformingArtist.self, id: "Abc") { $0.songs.add(one) }
        #expect(try rows() == 4)
        try store.update(PerformingArtist.self, id: "Abc") { $0.songs.place(one, after: nil) }
        try expectLinks(store, ["Abc": ["One", "Two"], "Other": ["One"]])
        try store.update(PerformingArtist.self, id: "Abc") { $0.songs.place(three, after: one) }
        try expectLinks(store, ["Abc": ["One", "Three", "Two"], "Other": ["One"]])
        try store.update(PerformingArtist.self, id: "Abc") { $0.songs.remove(two) }
        try expectLinks(store, ["Abc": ["One", "Three"], "Other": ["One"]])
        try store.update(PerformedSong.self, id: "One") { $0.artists.remove(id: "Abc") }
        try expectLinks(store, ["Abc": ["Three"], "Other": ["One"]])
        try store.write { try $0.execute("UPDATE performed SET artist = upper(artist), song = lower(song)") }
        try store.update(PerformingArtist.self, id: "Abc") { $0.songs.set([two]) }
        try store.update(PerformedSong.self, id: "One") { $0.artists.set(ids: ["Lone", "Other"]) }
        try expectLinks(store, ["Abc": ["Two"], "Lone": ["One"], "Other": ["One"]])
        #expect(try rows() == 3)
        try store.update(PerformingArtist.self, id: "Other") { $0.songs.set([PerformedSong]()) }
        try expectLinks(store, ["Abc": ["Two"], "Lone": ["One"]])
    }

    @Test func countsCompareJoinRowsLikeTheFile() throws {
        let path = try file()
        let connection = try Connection(path: path)
        try connection.execute("INSERT INTO song VALUES ('Four'); INSERT INTO performed VALUES ('ABC', 'FOUR', 9000)")
        try connection.close()
        let store = try TestStore.open(path, for: Self.models)
        let error = thrown {
            try store.update(PerformingArtist.self, id: "Abc") { $0.songs.add(PerformedSong(id: "Three")) }
        }
        #expect(error?.description.contains("must have at most 3, and has 4") == true, "\(error as Any)")
        try store.update(PerformingArtist.self, id: "Abc") {
            $0.songs.remove(PerformedSong(id: "One"))
            $0.songs.add(PerformedSong(id: "Three"))
        }
        try expectLinks(store, ["Abc": ["Two", "Four", "Three"], "Other": ["One"]])
    }

    @Test func deletionsCompareJoinRowsLikeTheFile() throws {
        for (name, isArtist, pairs) in [
            ("Abc", true, [["Abc", "One"], ["Abc", "Two"]]), ("One", false, [["Abc", "One"], ["Other", "One"]]),
        ] {
            let store = try TestStore.open(try file(), for: Self.models)
            func told(_ report: DeletionReport) -> [[String]] {
                report.removedJoinRows.flatMap(\.pairs).map { pair in
                    [pair.source, pair.target].map { key in
                        if case .text(let text)? = key.values.first { text } else { "" }
                    }
                }.sorted { $0.lexicographicallyPrecedes($1) }
            }
            let plan =
                isArtist
                ? try store.deletionPlan(for: PerformingArtist.self, id: name)
                : try store.deletionPlan(for: PerformedSong.self, id: name)
            let report =
                isArtist
                ? try store.delete(PerformingArtist.self, id: name) : try store.delete(PerformedSong.self, id: name)
            #expect(told(plan) == pairs)
            #expect(told(report) == pairs)
            let rest = try store.read { try $0.rows("SELECT artist, song FROM performed").count }
            #expect(rest == (isArtist ? 1 : 1))
            #expect(try store.read { try $0.rows("PRAGMA foreign_key_check").isEmpty })
        }
    }

    @Test func cascadesCompareJoinRowsLikeTheFile() throws {
        let path = TestStore.path()
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE node (id TEXT COLLATE NOCASE PRIMARY KEY NOT NULL);
            CREATE TABLE below (above TEXT NOT NULL REFERENCES node (id) ON DELETE CASCADE,
                node TEXT NOT NULL REFERENCES node (id) ON DELETE CASCADE, PRIMARY KEY (above, node));
            CREATE INDEX below_node ON below (node);
            INSERT INTO node VALUES ('A'), ('B'), ('C'), ('D'), ('E');
            INSERT INTO below VALUES ('a', 'b'), ('b', 'C'), ('B', 'd'), ('c', 'a'), ('E', 'e');
            """)
        try connection.close()
        let store = try TestStore.open(path, for: [AdoptedNode.self])
        let plan = try store.deletionPlan(for: AdoptedNode.self, id: "A")
        #expect(plan.deletedCount == 4)
        #expect(plan.removedJoinRows.map(\.count) == [4])
        let all = try store.fetch(AdoptedNode.where { $0.id == "A" }.including { $0.children.recursive() })
        #expect(try all.first?.children.objects.first?.children.objects.map(\.id).sorted() == ["C", "D"])
        let report = try store.delete(AdoptedNode.self, id: "A")
        #expect(report.deletedCount == 4)
        #expect(report.removedJoinRows.map(\.count) == [4])
        #expect(try store.fetch(AdoptedNode.all).map(\.id) == ["E"])
        #expect(try store.read { try $0.rows("SELECT 1 FROM below").count } == 1)
    }

    /// Texts in a column that refers to the number of a row.
    @Test func joinRowsThatHoldNumbersAsTextsAreFollowed() throws {
        let path = TestStore.path()
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE artist (id INTEGER PRIMARY KEY NOT NULL);
            CREATE TABLE song (id INTEGER PRIMARY KEY NOT NULL);
            CREATE TABLE performed (artist TEXT NOT NULL REFERENCES artist (id) ON DELETE CASCADE,
                song TEXT NOT NULL REFERENCES song (id) ON DELETE CASCADE, PRIMARY KEY (artist, song));
            CREATE INDEX performed_song ON performed (song);
            INSERT INTO artist VALUES (7), (8); INSERT INTO song VALUES (1), (2);
            INSERT INTO performed VALUES ('7', '1'), ('07', '02'), ('8', '1');
            """)
        try connection.close()
        let store = try TestStore.open(path, for: [NumberedArtist.self, NumberedSong.self])
        let artists = try store.fetch(NumberedArtist.sorted { $0.id }.including { $0.songs })
        #expect(try artists.map { try $0.songs.objects.map(\.id).sorted() } == [[1, 2], [1]])
        #expect(try store.count(NumberedSong.where { $0.artists.count == 2 }) == 1)
        try store.update(NumberedArtist.self, id: 7) { $0.songs.remove(id: 1) }
        try store.update(NumberedArtist.self, id: 8) { $0.songs.add(id: 2) }
        #expect(try store.related(to: NumberedSong(id: 2)) { $0.artists }.map(\.id).sorted() == [7, 8])
        #expect(try store.deletionPlan(for: NumberedArtist.self, id: 7).removedJoinRows.map(\.count) == [1])
        #expect(try store.delete(NumberedArtist.self, id: 7).removedJoinRows.map(\.count) == [1])
        #expect(try store.delete(NumberedSong.self, id: 1).removedJoinRows.map(\.count) == [1])
    }

    /// The text '07' refers to no text '7', but SQLite's own cascade of a number column may find it: this isn't planned.
    @Test func valuesThatSQLiteWouldConvertAreRefused() throws {
        let path = TestStore.path()
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE artist (id TEXT PRIMARY KEY NOT NULL);
            CREATE TABLE song (id TEXT PRIMARY KEY NOT NULL);
            CREATE TABLE performed (artist INTEGER NOT NULL REFERENCES artist (id) ON DELETE CASCADE,
                song TEXT NOT NULL REFERENCES song (id) ON DELETE CASCADE, position INTEGER NOT NULL DEFAULT 0,
                PRIMARY KEY (artist, song));
            CREATE INDEX performed_song ON performed (song);
            INSERT INTO artist VALUES ('07'), ('7'), ('8'); INSERT INTO song VALUES ('One');
            INSERT INTO performed VALUES (7, 'One', 1024);
            """)
        try connection.close()
        let store = try TestStore.open(path, for: Self.models)
        let error = thrown { try store.deletionPlan(for: PerformingArtist.self, id: "07") }
        #expect(error?.description.contains("performed.artist holds a key of another") == true, "\(error as Any)")
        #expect(thrown { try store.delete(PerformingArtist.self, id: "07") }?.description == error?.description)
        #expect(try store.delete(PerformingArtist.self, id: "8").deletedCount == 1)
        #expect(try store.delete(PerformingArtist.self, id: "7").removedJoinRows.map(\.count) == [1])
        #expect(try store.delete(PerformingArtist.self, id: "07").deletedCount == 1)
    }

    @Test func observersCompareJoinRowsLikeTheFile() async throws {
        let store = try TestStore.open(try file(), for: Self.models)
        var observer = store.observe(PerformingArtist.where { $0.id == "Abc" }.including { $0.songs })
            .makeAsyncIterator()
        #expect(try await observer.next()?.first?.songs.objects.map(\.id) == ["Two", "One"])
        try await store.update(PerformingArtist.self, id: "Abc") { $0.songs.remove(id: "Two") }
        #expect(try await observer.next()?.first?.songs.objects.map(\.id) == ["One"])
        try await store.delete(PerformedSong.self, id: "One")
        #expect(try await observer.next()?.first?.songs.objects.map(\.id) == [])
    }

    @Test func checksCompareJoinRowsLikeTheFile() throws {
        let path = try file()
        let connection = try Connection(path: path)
        try connection.execute(
            "PRAGMA foreign_keys = OFF; INSERT INTO performed VALUES ('ABC', 'gone', 3000), ('Nobody', 'ONE', 3001)")
        try connection.close()
        let store = try TestStore.open(path, for: Self.models)
        let findings = try store.check()
        #expect(findings.map(\.subject) == ["PerformingArtist.songs", "PerformingArtist.songs"])
        #expect(findings.map(\.count) == [1, 1])
        // Dangling rows are removed with their values.
        #expect(try store.delete(PerformingArtist.self, id: "Abc").removedJoinRows.map(\.count) == [3])
        #expect(try store.check().map(\.count) == [1])
    }
}
