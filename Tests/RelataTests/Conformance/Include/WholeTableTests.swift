import Foundation
import Relata
import RelataTesting
import Testing

/// What all objects of a model lead to is read from whole tables; what a part of them leads to, by their keys.
@Suite struct WholeTableTests {
    let recorder = StatementRecorder()

    /// Three series of which the rows of episodes lie in another order than their places.
    private func series(_ engine: Engine = .sqliteMemory) throws -> Store {
        let store = try TestStore.make(engine, for: Series.self, options: recorder.options)
        for number in 1...3 { try store.insert(Series(id: number, title: "S\(number)")) }
        for number in 0..<12 {
            let episode = try store.insert(
                Episode(title: "E\(number)", position: -number, series: ToOne(id: number % 3 + 1)))
            if number % 4 == 0 {
                try store.insert(History(progress: Double(number), episode: ToOne(id: episode.id ?? 0)))
            }
        }
        return store
    }

    /// The steps of the plans of the statements that were run.
    private func plans(_ store: Store) throws -> [String] {
        try recorder.statements.flatMap { sql in
            try store.rows(SQL(stringLiteral: "EXPLAIN QUERY PLAN " + sql)).compactMap { $0.last?.description }
        }
    }

    @Test func allObjectsAreReadWithoutListsOfKeysAndAPartWithoutAScan() throws {
        let store = try series()
        let all = Series.all.including { $0.episodes.including { $0.history } }
        let whole = try recorder.expectQueries(3) { try store.fetch(all) }
        // An episode may have no history, and most have none: those are looked up.
        #expect(try plans(store).filter { $0.contains("VIRTUAL TABLE") }.count == 1)
        let part = try recorder.expectIndexed(on: store) { try store.fetch(all.where { $0.id.in([1, 2, 3]) }) }
        #expect(whole.sorted { $0.title < $1.title } == part.sorted { $0.title < $1.title })
        #expect(try whole[0].episodes.objects.map(\.position) == [-9, -6, -3, 0])
        #expect(try whole[0].episodes.objects.map { try $0.history.object?.progress } == [nil, nil, nil, 0])
    }

    @Test func partsOfAllKindsAreReadByKeys() throws {
        let store = try series()
        let all = try store.fetch(Series.all)
        for query in [
            Series.where { $0.title != "" }, Series.matching("title != ''"), Series.sorted { $0.id }.limit(3),
            Series.sorted { $0.id }.limit(9, offset: 0).where { $0.id > 0 },
        ] {
            let found = try recorder.expectQueries(2) { try store.fetch(query.including { $0.episodes }) }
            #expect(try plans(store).contains { $0.contains("VIRTUAL TABLE") })
            #expect(try found.flatMap { try $0.episodes.objects }.count == 12)
        }
        recorder.reset()
        let loaded = try store.load(all) { $0.episodes }
        #expect(try plans(store).contains { $0.contains("VIRTUAL TABLE") })
        #expect(try loaded.flatMap { try $0.episodes.objects }.count == 12)
    }

    /// SQLite may have been told not to look, and other programs needn't tell it to.
    @Test func rowsThatBelongToNoneAreLeftOut() throws {
        let path = TestStore.path()
        let models: [any Model.Type] = [Series.self]
        try TestStore.open(path, for: models).insert([Series(id: 1, title: "A"), Series(id: 2, title: "B")])
        let connection = try Connection(path: path)
        try connection.execute(
            """
            PRAGMA foreign_keys = OFF;
            INSERT INTO Episode (id, title, position, seriesId) VALUES
                (1, 'of none', 0, 9), (2, 'b', 1, 2), (3, 'of none', 2, 0), (4, 'a', 3, 1), (5, 'c', 0, 2)
            """)
        try connection.close()
        let store = try TestStore.open(path, for: models, options: recorder.options)
        // Looked up by keys after all.
        let series = try recorder.expectQueries(3) { try store.fetch(Series.all.including { $0.episodes }) }
        #expect(try series.map { try $0.episodes.objects.map(\.title) } == [["a"], ["c", "b"]])
        let cards = try recorder.expectQueries(3) { try store.fetch(SeriesCard.all) }
        #expect(cards.map { $0.episodes.map(\.title) } == [["a"], ["c", "b"]])
    }

    @Test(arguments: Engine.allCases) func linksThatMayDangleOrBeUnset(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Trunk.self)
        let (oak, elm) = (try store.insert(Trunk(name: "oak")), try store.insert(Trunk(name: "elm")))
        for trunk in [oak, nil, elm, oak] {
            try store.insert(Dangling(trunk: trunk.map { ToOne($0) }))
            try store.insert(Nullified(trunk: trunk.map { ToOne($0) }))
        }
        try store.delete(elm)
        let trunks = try store.fetch(
            Trunk.all.including {
                $0.dangling; $0.nullified; $0.cascaded
            })
        #expect(try trunks.map { try $0.dangling.objects.map(\.id) } == [[1, 4]])
        #expect(try trunks.map { try $0.nullified.objects.map(\.id) } == [[1, 4]])
        #expect(try trunks.map { try $0.cascaded.objects.count } == [0])
    }

    @Test(arguments: Engine.allCases) func allWithinATransactionSeesWhatItWrote(_ engine: Engine) throws {
        let store = try series(engine)
        try store.write { tx in
            try tx.insert(Series(id: 4, title: "S4", episodes: ToMany([Episode(title: "new", series: .unset)])))
            try tx.delete(Series.self, id: 1)
            let found = try tx.fetch(Series.all.including { $0.episodes })
            #expect(
                try found.map { try $0.episodes.objects.map(\.title) } == [
                    ["E10", "E7", "E4", "E1"], ["E11", "E8", "E5", "E2"], ["new"],
                ])
        }
    }

    @Test func keysOfSeveralColumnsAreLookedUp() throws {
        let store = try TestStore.make(.sqliteMemory, for: Room.self)
        try store.insert((1...3).map { Room(house: "H", number: $0) })
        try store.insert((1...6).map { Chair(id: $0, room: ToOne(id: Room.Key(house: "H", number: $0 % 3 + 1))) })
        let rooms = try store.fetch(Room.all.including { $0.chairs })
        #expect(try rooms.map { try $0.chairs.objects.map(\.id) } == [[3, 6], [1, 4], [2, 5]])
    }

    @Test(arguments: Engine.allCases) func shapesOfEverythingAreThoseOfParts(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Setlist.self, options: recorder.options)
        let tunes = (0..<5).map { Tune(name: "T\($0)") }
        try store.insert(tunes)
        for number in 0..<4 {
            let setlist = try store.insert(Setlist(name: "S\(number)"))
            for position in 0..<number * 2 {
                try store.insert(
                    SetlistItem(
                        position: -position, transposedKey: position == 1 ? "G" : nil, setlist: ToOne(id: setlist.id),
                        tune: ToOne(id: tunes[(number + position) % 5].name)))
            }
        }
        func same<Content: Shape>(_ shape: Content.Type, _ queries: Int, names: Query<Content.RootModel>) throws {
            let whole = try recorder.expectQueries(queries) { try store.fetch(Content.all) }
            let part = try recorder.expectQueries(queries) { try store.fetch(ShapeQuery<Content>(names)) }
            #expect(!whole.isEmpty && whole == part)
        }
        try same(SetlistTunes.self, 2, names: Setlist.where { $0.name != "" })
        try same(TunesOfSetlist.self, 2, names: Setlist.where { $0.name != "" })
        try same(SetlistHalves.self, 6, names: Setlist.where { $0.name != "" })
    }
}

@Shape(of: Series.self) struct SeriesCard {
    var title: String
    var episodes: [Part]
    @Shape(of: Episode.self) struct Part { var title: String }
}

@Model struct Room {
    @Attribute(.primaryKey) let house: String
    @Attribute(.primaryKey) let number: Int
    @Relationship(deleteRule: .cascade, inverse: \Chair.room) var chairs: ToMany<Chair>
}

@Model struct Chair {
    var id: Int?
    var room: ToOne<Room>
}
