import Foundation
import Relata
import RelataTesting
import Testing

@Model struct Recital {
    @Attribute(.primaryKey) let number: Int
    var venue: ToOne<Hall>?
    @Relationship(deleteRule: .cascade, inverse: \RecitalSlot.show, order: \RecitalSlot.position) var slots:
        ToMany<RecitalSlot>
    @Relationship(through: \Recital.slots, \RecitalSlot.track) var tracks: Through<RecitalTrack>
}

@Model struct RecitalSlot {
    var id: Int?
    var position: Int = 0
    var show: ToOne<Recital>
    var track: ToOne<RecitalTrack>
    var encore: ToOne<RecitalTrack>?
}

@Model struct RecitalTrack {
    @Attribute(.primaryKey) let number: Int
    var bpm: Int
    var gain: Double?
    var writers: ToMany<Lyricist>
    @Relationship(deleteRule: .cascade, inverse: \RecitalSlot.track) var slots: ToMany<RecitalSlot>
}

@Model struct Lyricist {
    @Attribute(.primaryKey) let number: Int
    var born: Int
    @Relationship(inverse: \RecitalTrack.writers) var tracks: ToMany<RecitalTrack>
}

@Model struct Hall {
    @Attribute(.primaryKey) let name: String
    @Relationship(inverse: \Recital.venue) var shows: ToMany<Recital>
}

@Shape(of: Recital.self) struct RecitalFigures {
    var number: Int
    @Count(\.slots.track) var tracks: Int
    @Sum(\.slots.track.bpm) var bpm: Int
    @Sum(\.tracks.bpm) var throughBPM: Int
    @Average(\.slots.track.bpm) var average: Double?
    @Minimum(\.slots.encore.gain) var softest: Double?
    @Sum(\.slots.track.writers.born) var born: Int
}

/// An aggregate along a path and an aggregate of a path are the same, in every spelling: each way along the path
/// counts.
@Suite struct FigurePathTests {
    struct Sample {
        let store: Store
        var shows: [Recital] = []
        var tracks: [Int: RecitalTrack] = [:]
        var writers: [Int: Lyricist] = [:]

        init(_ engine: Engine, seed: UInt64) throws {
            store = try TestStore.make(engine, for: Recital.self)
            var random = SampleRandom(seed: seed)
            try store.save(["North", "South"].map { Hall(name: $0) })
            try store.save((1...4).map { Lyricist(number: $0, born: 1900 + $0) })
            try store.save(
                (1...5).map { number in
                    var track = RecitalTrack(number: number, bpm: 40 * Int.random(in: 1...3, using: &random))
                    track.gain = random.chance(0.3) ? nil : Double(Int.random(in: -4...4, using: &random)) / 2
                    track.writers.set(ids: random.some(of: [1, 2, 3, 4], to: 3))
                    return track
                })
            for number in 1...6 {
                var show = Recital(number: number)
                show.venue = random.chance(0.2) ? nil : ToOne(id: random.chance(0.5) ? "North" : "South")
                let slots = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                    RecitalSlot(
                        show: .unset, track: ToOne(id: Int.random(in: 1...5, using: &random)),
                        encore: random.chance(0.5) ? nil : ToOne(id: Int.random(in: 1...5, using: &random)))
                }
                show.slots.add(slots)
                try store.save(show)
            }
            shows = try store.fetch(Recital.sorted { $0.number }.including { $0.slots })
            for track in try store.fetch(RecitalTrack.all.including { $0.writers }) { tracks[track.number] = track }
            for writer in try store.fetch(Lyricist.all) { writers[writer.number] = writer }
        }

        func tracks(of show: Recital) -> [RecitalTrack] {
            (show.slots.loaded ?? []).compactMap { tracks[$0.track.id ?? 0] }
        }
        func encores(of show: Recital) -> [RecitalTrack] {
            (show.slots.loaded ?? []).compactMap { $0.encore?.id.flatMap { tracks[$0] } }
        }
        func writers(of show: Recital) -> [Lyricist] { tracks(of: show).flatMap { $0.writers.loaded ?? [] } }
        func distinct(_ tracks: [RecitalTrack]) -> [RecitalTrack] {
            Array(Set(tracks.map(\.number))).compactMap { self.tracks[$0] }
        }
    }

    private static func average(_ numbers: [Int]) -> Double? {
        numbers.isEmpty ? nil : Double(numbers.reduce(0, +)) / Double(numbers.count)
    }

    @Test(arguments: Engine.allCases, 1...12 as ClosedRange<UInt64>)
    func typedAggregatesMatchSwift(_ engine: Engine, _ seed: UInt64) throws {
        let sample = try Sample(engine, seed: seed)
        let (store, shows) = (sample.store, sample.shows)
        let bpm = shows.map { sample.tracks(of: $0).map(\.bpm) }
        let all = Recital.sorted { $0.number }

        let sums = try store.fetch(
            all.select { show in
                (
                    show.slots.track.sum { $0.bpm }, show.slots.sum { $0.track.bpm }, show.tracks.sum { $0.bpm },
                    show.slots.track.writers.sum { $0.born }
                )
            })
        #expect(sums.map(\.0) == bpm.map { $0.reduce(0, +) }, "seed \(seed)")
        #expect(sums.map(\.1) == sums.map(\.0) && sums.map(\.2) == sums.map(\.0), "seed \(seed)")
        #expect(sums.map(\.3) == shows.map { sample.writers(of: $0).map(\.born).reduce(0, +) }, "seed \(seed)")

        let counts = try store.fetch(
            all.select { ($0.slots.track.count, $0.tracks.count, $0.slots.encore.count, $0.slots.track.writers.count) })
        #expect(counts.map(\.0) == bpm.map(\.count) && counts.map(\.1) == bpm.map(\.count), "seed \(seed)")
        #expect(counts.map(\.2) == shows.map { sample.encores(of: $0).count }, "seed \(seed)")
        #expect(counts.map(\.3) == shows.map { sample.writers(of: $0).count }, "seed \(seed)")
        let filtered = try store.fetch(all.select { $0.slots.track.count(where: { $0.bpm > 40 }) })
        #expect(filtered == bpm.map { $0.count { $0 > 40 } }, "seed \(seed)")

        let averages = try store.fetch(
            all.select { ($0.slots.track.average { $0.bpm }, $0.slots.average { $0.track.bpm }) })
        #expect(averages.map(\.0) == bpm.map(Self.average) && averages.map(\.1) == averages.map(\.0), "seed \(seed)")

        let gains = shows.map { sample.encores(of: $0).compactMap(\.gain) }
        let ends = try store.fetch(
            all.select {
                (
                    $0.slots.encore.minimum { $0.gain }, $0.slots.maximum { $0.encore.gain },
                    $0.slots.encore.sum { $0.gain }
                )
            })
        #expect(ends.map(\.0) == gains.map { $0.min() } && ends.map(\.1) == gains.map { $0.max() }, "seed \(seed)")
        #expect(ends.map(\.2) == gains.map { $0.reduce(0, +) }, "seed \(seed)")

        let once = shows.map { sample.distinct(sample.tracks(of: $0)) }
        let distinct = try store.fetch(
            all.select { ($0.slots.track.distinct.count, $0.tracks.distinct.sum { $0.bpm }) })
        #expect(distinct.map(\.0) == once.map(\.count), "seed \(seed)")
        #expect(distinct.map(\.1) == once.map { $0.map(\.bpm).reduce(0, +) }, "seed \(seed)")
    }

    @Test(arguments: Engine.allCases, 1...12 as ClosedRange<UInt64>)
    func aggregatesInPredicateTextMatchSwift(_ engine: Engine, _ seed: UInt64) throws {
        let sample = try Sample(engine, seed: seed)
        func expect(_ spellings: [String], _ value: (Recital) -> (any Sendable)?) throws {
            for show in sample.shows {
                let wanted = value(show)
                let same = sample.shows.filter { "\(value($0) as Any)" == "\(wanted as Any)" }.map(\.number)
                for spelling in spellings {
                    let found = try sample.store.fetch(
                        Recital.matching("\(spelling) == %@", wanted).sorted { $0.number })
                    #expect(found.map(\.number) == same, "\(spelling) == \(wanted as Any), seed \(seed)")
                }
            }
        }
        try expect([
            "slots.track.@sum.bpm", "slots.@sum.track.bpm", "slots.track.bpm.@sum", "tracks.@sum.bpm",
            "tracks.bpm.@sum",
        ]) { sample.tracks(of: $0).map(\.bpm).reduce(0, +) }
        try expect(["slots.track.@count", "tracks.@count"]) { sample.tracks(of: $0).count }
        try expect(["slots.track.@avg.bpm", "slots.@avg.track.bpm", "tracks.@avg.bpm"]) {
            Self.average(sample.tracks(of: $0).map(\.bpm))
        }
        try expect(["slots.encore.@min.gain", "slots.encore.gain.@min", "slots.@min.encore.gain"]) {
            sample.encores(of: $0).compactMap(\.gain).min()
        }
        try expect(["slots.track.writers.@sum.born", "tracks.writers.@sum.born"]) {
            sample.writers(of: $0).map(\.born).reduce(0, +)
        }
        try expect([
            "slots.@distinctUnionOfObjects.track.@sum.bpm", "tracks.@distinctUnionOfObjects.@sum.bpm",
            "slots.@distinctUnionOfSets.track.@sum.bpm",
        ]) { sample.distinct(sample.tracks(of: $0)).map(\.bpm).reduce(0, +) }
        try expect(["SUBQUERY(slots, $s, $s.track.bpm > 40).@count", "SUBQUERY(tracks, $t, $t.bpm > 40).@count"]) {
            sample.tracks(of: $0).count { $0.bpm > 40 }
        }
        try expect(["SUBQUERY(slots, $s, $s.track.bpm > 40).@sum.track.bpm"]) {
            sample.tracks(of: $0).map(\.bpm).filter { $0 > 40 }.reduce(0, +)
        }
    }

    @Test(arguments: Engine.allCases, 1...6 as ClosedRange<UInt64>)
    func aggregatesInShapesOrdersAndGroupsMatchSwift(_ engine: Engine, _ seed: UInt64) throws {
        let sample = try Sample(engine, seed: seed)
        let (store, shows) = (sample.store, sample.shows)
        let bpm = shows.map { sample.tracks(of: $0).map(\.bpm) }
        let sums = bpm.map { $0.reduce(0, +) }
        let shapes = try store.fetch(RecitalFigures.sorted { $0.number })
        #expect(shapes.map(\.tracks) == bpm.map(\.count) && shapes.map(\.bpm) == sums, "seed \(seed)")
        #expect(shapes.map(\.throughBPM) == sums && shapes.map(\.average) == bpm.map(Self.average), "seed \(seed)")
        #expect(
            shapes.map(\.softest) == shows.map { sample.encores(of: $0).compactMap(\.gain).min() }, "seed \(seed)")
        #expect(
            shapes.map(\.born) == shows.map { sample.writers(of: $0).map(\.born).reduce(0, +) }, "seed \(seed)")

        let ordered = zip(shows, sums).sorted { ($1.1, $0.0.number) < ($0.1, $1.0.number) }.map(\.0.number)
        #expect(
            try store.fetch(Recital.sorted { $0.slots.track.sum { $0.bpm }.descending }).map(\.number) == ordered,
            "seed \(seed)")

        for (venue, count, total) in try store.fetch(
            Recital.all.grouped { $0.venue.name.optional }.select {
                ($0.venue.name.optional, $0.slots.track.count.sum(), $0.slots.track.sum { $0.bpm }.sum())
            })
        {
            let own = shows.indices.filter { shows[$0].venue?.id == venue }
            #expect(count == own.map { bpm[$0].count }.reduce(0, +), "seed \(seed)")
            #expect(total == own.map { sums[$0] }.reduce(0, +), "seed \(seed)")
        }
        let venues = try store.fetch(
            Hall.sorted { $0.name }.select { ($0.name, $0.shows.slots.track.sum { $0.bpm }, $0.shows.tracks.count) })
        for (venue, sum, count) in venues {
            let own = shows.indices.filter { shows[$0].venue?.id == venue }
            #expect(sum == own.map { sums[$0] }.reduce(0, +), "seed \(seed)")
            #expect(count == own.map { bpm[$0].count }.reduce(0, +), "seed \(seed)")
        }
    }

    @Test(arguments: Engine.allCases) func theSameTrackTwiceCountsTwice(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Recital.self)
        try store.save([RecitalTrack(number: 1, bpm: 100), RecitalTrack(number: 2, bpm: 40)])
        var show = Recital(number: 1)
        show.slots.add([1, 1, 2, 1].map { RecitalSlot(show: .unset, track: ToOne(id: $0)) })
        try store.save(show)
        #expect(try store.fetch(Recital.all.select { $0.slots.track.sum { $0.bpm } }) == [340])
        #expect(try store.fetch(Recital.all.select { $0.slots.sum { $0.track.bpm } }) == [340])
        #expect(try store.count(Recital.matching("slots.track.@sum.bpm == 340")) == 1)
        #expect(try store.fetch(Recital.all.select { $0.slots.track.distinct.sum { $0.bpm } }) == [140])
        #expect(try store.count(Recital.matching("slots.@distinctUnionOfObjects.track.@sum.bpm == 140")) == 1)
    }
}
