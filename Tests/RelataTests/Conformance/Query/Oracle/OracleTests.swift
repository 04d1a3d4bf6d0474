import Foundation
import Relata
import RelataTesting
import Testing

/// Every operator of the typed API over random data, against plain Swift over the same objects.
@Suite struct OracleTests {
    private static let checks =
        DiscCheck.comparisons + DiscCheck.texts + DiscCheck.dates + DiscCheck.arithmetic + DiscCheck.toOnes
        + DiscCheck.members

    private static func expect(_ sample: DiscSample, _ name: String, _ query: Query<Disc>, _ holds: (Disc) -> Bool)
        throws
    {
        let expected = sample.discs.filter(holds).map(\.id)
        let found = try sample.store.fetch(query.sorted { $0.id })
        let (count, exists) = (try sample.store.count(query), try sample.store.exists(query))
        #expect(found.map(\.id) == expected, "\(name), seed \(sample.seed)")
        #expect(count == expected.count && exists == !expected.isEmpty, "\(name), seed \(sample.seed)")
    }

    @Test(arguments: Engine.allCases, 1...6 as ClosedRange<UInt64>)
    func conditionsMatchSwift(_ engine: Engine, _ seed: UInt64) throws {
        let sample = try DiscSample(engine, seed: seed)
        for check in Self.checks {
            try Self.expect(sample, check.name, Disc.where { check.condition($0) }, check.holds)
            try Self.expect(sample, "not " + check.name, Disc.where { !check.condition($0) }) { !check.holds($0) }
        }
    }

    /// A check that holds for all objects, or for none, of every sample shows little.
    @Test(arguments: Engine.first) func everyConditionMatchesSomeObjects(_ engine: Engine) throws {
        let discs = try (1...6).flatMap { try DiscSample(engine, seed: $0).discs }
        for check in Self.checks
        where !["copies in nothing", "label in nothing", "contains nothing"].contains(check.name) {
            let count = discs.filter(check.holds).count
            #expect(count > 0 && count < discs.count, "\(check.name): \(count) of \(discs.count)")
        }
    }

    @Test(arguments: Engine.allCases, 1...4 as ClosedRange<UInt64>)
    func combinationsMatchSwift(_ engine: Engine, _ seed: UInt64) throws {
        let sample = try DiscSample(engine, seed: seed)
        var random = SampleRandom(seed: seed)
        for _ in 0..<150 {
            let (one, two, three) = (
                Self.checks[Int.random(in: Self.checks.indices, using: &random)],
                Self.checks[Int.random(in: Self.checks.indices, using: &random)],
                Self.checks[Int.random(in: Self.checks.indices, using: &random)]
            )
            let names = [one, two, three].map(\.name).joined(separator: ", ")
            let or = Disc.where { one.condition($0) || two.condition($0) && !three.condition($0) }
            try Self.expect(sample, "or: \(names)", or) { one.holds($0) || two.holds($0) && !three.holds($0) }
            let and = Disc.where { !(one.condition($0) || two.condition($0)) }.where { three.condition($0) }
            try Self.expect(sample, "and: \(names)", and) { !(one.holds($0) || two.holds($0)) && three.holds($0) }
            // The same condition on related objects: from the band to its discs and back.
            let bands = try sample.store.fetch(Band.where { $0.discs.any { one.condition($0) } })
            let expected = Set(sample.discs.filter(one.holds).map(\.band.id))
            #expect(Set(bands.map(\.id)) == Set(expected.compactMap { $0 }), "any: \(one.name), seed \(seed)")
        }
    }

    // MARK: Order

    /// Smaller values first; unset ones by `nullsFirst`.
    private static func precedes<Value>(
        _ left: Value?, _ right: Value?, nullsFirst: Bool, _ isBefore: (Value, Value) -> Bool
    ) -> Bool? {
        switch (left, right) {
        case (nil, nil): nil
        case (nil, _): nullsFirst
        case (_, nil): !nullsFirst
        case (let left?, let right?): isBefore(left, right) ? true : isBefore(right, left) ? false : nil
        }
    }

    private static func bytes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    @Test(arguments: Engine.allCases, 1...4 as ClosedRange<UInt64>)
    func ordersMatchSwift(_ engine: Engine, _ seed: UInt64) throws {
        let sample = try DiscSample(engine, seed: seed)
        func expect(
            _ name: String, _ query: Query<Disc>, _ isBefore: (Disc, Disc) -> Bool?
        ) throws {
            // Objects that are equal in an order come by their keys.
            let expected = sample.discs.sorted { isBefore($0, $1) ?? (($0.id ?? 0) < ($1.id ?? 0)) }
            #expect(try sample.store.fetch(query).map(\.id) == expected.map(\.id), "\(name), seed \(seed)")
            let page = try sample.store.fetch(query.limit(7, offset: 5)).map(\.id)
            #expect(page == expected.dropFirst(5).prefix(7).map(\.id), "\(name), seed \(seed)")
        }
        try expect("ascending", Disc.sorted { $0.rating }) {
            Self.precedes($0.rating, $1.rating, nullsFirst: true, <)
        }
        try expect("nulls last", Disc.sorted { $0.rating.ascending.nulls(.last) }) {
            Self.precedes($0.rating, $1.rating, nullsFirst: false, <)
        }
        try expect("descending", Disc.sorted { $0.rating.descending }) {
            Self.precedes($0.rating, $1.rating, nullsFirst: false, >)
        }
        try expect("descending, nulls first", Disc.sorted { $0.rating.descending.nulls(.first) }) {
            Self.precedes($0.rating, $1.rating, nullsFirst: true, >)
        }
        try expect("decimals", Disc.sorted { $0.price.descending }) {
            Self.precedes($0.price, $1.price, nullsFirst: true, >)
        }
        try expect("dates", Disc.sorted { $0.released.ascending.nulls(.last) }) {
            Self.precedes($0.released, $1.released, nullsFirst: false, <)
        }
        try expect("text", Disc.sorted { $0.notes }) {
            Self.precedes($0.notes, $1.notes, nullsFirst: true, Self.bytes)
        }
        try expect("text, folded", Disc.sorted { $0.notes.ascending.caseInsensitive.diacriticInsensitive }) {
            Self.precedes($0.notes?.plain.caseless, $1.notes?.plain.caseless, nullsFirst: true, Self.bytes)
        }
        try expect("a computed value", Disc.sorted { $0.copies * $0.copies }) {
            Self.precedes($0.copies * $0.copies, $1.copies * $1.copies, nullsFirst: true, <)
        }
        try expect("of a to-one", Disc.sorted { $0.label.country.ascending.nulls(.last) }) {
            Self.precedes($0.theLabel?.country, $1.theLabel?.country, nullsFirst: false, Self.bytes)
        }
        try expect("two steps away", Disc.sorted { $0.band.origin.population.descending }) {
            Self.precedes($0.city?.population, $1.city?.population, nullsFirst: false, >)
        }
        try expect("a count", Disc.sorted { $0.pieces.count.descending }) {
            Self.precedes($0.seconds.count, $1.seconds.count, nullsFirst: true, >)
        }
        try expect("an aggregate", Disc.sorted { $0.pieces.maximum { $0.seconds } }) {
            Self.precedes($0.seconds.max(), $1.seconds.max(), nullsFirst: true, <)
        }
        let several = Disc.sorted {
            $0.isLive.descending
            $0.label.name.ascending.nulls(.last)
            $0.copies
        }
        try expect("several", several) { left, right in
            Self.precedes(left.isLive ? 0 : 1, right.isLive ? 0 : 1, nullsFirst: true, <)
                ?? Self.precedes(left.theLabel?.name, right.theLabel?.name, nullsFirst: false, Self.bytes)
                ?? Self.precedes(left.copies, right.copies, nullsFirst: true, <)
        }
    }

    // MARK: Tuples, groups and aggregates

    @Test(arguments: Engine.allCases, 1...4 as ClosedRange<UInt64>)
    func tuplesAndAggregatesMatchSwift(_ engine: Engine, _ seed: UInt64) throws {
        let sample = try DiscSample(engine, seed: seed)
        let (store, discs) = (sample.store, sample.discs)
        let comment: Testing.Comment = "seed \(seed)"
        let rows = try store.fetch(
            Disc.sorted { $0.id }.select { ($0.title, $0.rating, $0.label.country, $0.pieces.count, $0.copies * 2) })
        #expect(rows.map(\.0) == discs.map(\.title) && rows.map(\.1) == discs.map(\.rating), comment)
        #expect(rows.map(\.2) == discs.map { $0.theLabel?.country }, comment)
        #expect(rows.map(\.3) == discs.map(\.seconds.count) && rows.map(\.4) == discs.map { $0.copies * 2 }, comment)

        let ratings = try store.fetch(Disc.all.select { $0.rating }.distinct)
        #expect(ratings.count == Set(discs.map(\.rating)).count && Set(ratings) == Set(discs.map(\.rating)), comment)
        let pairs = try store.fetch(Disc.all.select { ($0.format, $0.isLive) }.distinct).map { "\($0.0) \($0.1)" }
        let expected = Set(discs.map { "\($0.format) \($0.isLive)" })
        #expect(pairs.count == expected.count && Set(pairs) == expected, comment)

        for live in [true, false] {
            let (query, some) = (Disc.where { $0.isLive == live }, discs.filter { $0.isLive == live })
            let set = some.compactMap(\.rating)
            #expect(try store.value(of: query) { $0.copies.sum() } == some.map(\.copies).reduce(0, +), comment)
            #expect(try store.value(of: query) { $0.price.sum() } == some.map(\.price).reduce(0, +), comment)
            #expect(try store.value(of: query) { $0.price.minimum() } == some.map(\.price).min(), comment)
            #expect(try store.value(of: query) { $0.rating.maximum() } == .some(set.max()), comment)
            #expect(
                try store.value(of: query) { $0.released.maximum() } == .some(some.compactMap(\.released).max()),
                comment)
            #expect(
                try store.value(of: query) { $0.rating.average() }
                    == (set.isEmpty ? nil : set.reduce(0, +) / Double(set.count)),
                comment)
            #expect(try store.value(of: query) { $0.rating.count() } == set.count, comment)
            #expect(try store.value(of: query) { $0.rating.count(distinct: true) } == Set(set).count, comment)
            #expect(try store.value(of: query) { $0.objectCount } == some.count, comment)
        }
    }

    @Test(arguments: Engine.allCases, 1...4 as ClosedRange<UInt64>)
    func groupsMatchSwift(_ engine: Engine, _ seed: UInt64) throws {
        let sample = try DiscSample(engine, seed: seed)
        let (store, discs) = (sample.store, sample.discs)
        let groups = Disc.where { $0.copies > -3 }.grouped { $0.label.country }
        let rows = try store.fetch(groups.select { ($0.label.country, $0.objectCount, $0.copies.sum()) })
        let expected = Dictionary(grouping: discs.filter { $0.copies > -3 }) { $0.theLabel?.country }
        #expect(
            Set(rows.map { "\($0.0 ?? "-") \($0.1) \($0.2)" })
                == Set(expected.map { "\($0 ?? "-") \($1.count) \($1.map(\.copies).reduce(0, +))" }), "seed \(seed)")
        #expect(rows.count == expected.count, "seed \(seed)")

        let large = Disc.all.grouped { ($0.title, $0.isLive) }.having { $0.objectCount >= 2 && $0.copies.maximum() > 0 }
        let found = try store.fetch(large.select { ($0.title, $0.isLive, $0.rating.average()) })
        let kept = Dictionary(grouping: discs) { "\($0.title) \($0.isLive)" }
            .filter { $1.count >= 2 && ($1.map(\.copies).max() ?? 0) > 0 }
        #expect(Set(found.map { "\($0.0) \($0.1)" }) == Set(kept.keys) && found.count == kept.count, "seed \(seed)")
        for (title, isLive, average) in found {
            let set = (kept["\(title) \(isLive)"] ?? []).compactMap(\.rating)
            #expect(average == (set.isEmpty ? nil : set.reduce(0, +) / Double(set.count)), "seed \(seed)")
        }
    }
}
