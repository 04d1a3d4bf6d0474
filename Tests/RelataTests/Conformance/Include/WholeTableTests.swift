import Foundation
import Relata
import RelataTesting
import Testing

/// Links of all objects of a model are read from whole tables; links of only some of them, by their keys.
@Suite struct WholeTableTests {
    let recorder = StatementRecorder()

    @Test(arguments: Engine.allCases) func allObjectsAreReadLikeAPartOfThem(_ engine: Engine) throws {
        let store = try Series.three(engine, options: recorder.options)
        let all = Series.all.including { $0.episodes.including { $0.history } }
        let whole = try recorder.expectQueries(3) { try store.fetch(all) }
        let part = try store.fetch(all.where { $0.id.in([1, 2, 3]) })
        #expect(whole.sorted { $0.title < $1.title } == part.sorted { $0.title < $1.title })
        #expect(try whole[0].episodes.objects.map(\.position) == [-9, -6, -3, 0])
        #expect(try whole[0].episodes.objects.map { try $0.history.object?.progress } == [nil, nil, nil, 0])
    }

    @Test(arguments: Engine.allCases) func partsOfAllKindsAreReadCompletely(_ engine: Engine) throws {
        let store = try Series.three(engine, options: recorder.options)
        let all = try store.fetch(Series.all)
        for query in [
            Series.where { $0.title != "" }, Series.matching("title != ''"), Series.sorted { $0.id }.limit(3),
            Series.sorted { $0.id }.limit(9, offset: 0).where { $0.id > 0 },
        ] {
            let found = try recorder.expectQueries(2) { try store.fetch(query.including { $0.episodes }) }
            #expect(try found.flatMap { try $0.episodes.objects }.count == 12)
        }
        let loaded = try store.load(all) { $0.episodes }
        #expect(try loaded.flatMap { try $0.episodes.objects }.count == 12)
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

    @Test(arguments: Engine.allCases) func readsInATransactionSeeItsWrites(_ engine: Engine) throws {
        let store = try Series.three(engine, options: recorder.options)
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

    @Test(arguments: Engine.allCases) func keysOfSeveralColumnsAreLookedUp(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Room.self)
        try store.insert((1...3).map { Room(house: "H", number: $0) })
        try store.insert((1...6).map { Chair(id: $0, room: ToOne(id: Room.Key(house: "H", number: $0 % 3 + 1))) })
        let rooms = try store.fetch(Room.all.including { $0.chairs })
        #expect(try rooms.map { try $0.chairs.objects.map(\.id) } == [[3, 6], [1, 4], [2, 5]])
    }

    @Test(arguments: Engine.allCases) func aShapeOfAllObjectsEqualsAFilteredOne(_ engine: Engine) throws {
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

@Model struct Room {
    @Attribute(.primaryKey) let house: String
    @Attribute(.primaryKey) let number: Int
    @Relationship(deleteRule: .cascade, inverse: \Chair.room) var chairs: ToMany<Chair>
}

@Model struct Chair {
    var id: Int?
    var room: ToOne<Room>
}
