import Foundation
import Relata
import RelataTesting
import Testing

/// Random discs with all that they are linked to, in a store and in memory: what queries find in the one, plain Swift
/// must find in the other.
struct DiscSample {
    let store: Store
    let seed: UInt64
    /// All discs in the order of their keys, with their links loaded.
    let discs: [Disc]

    static let texts = ["", "Paris", "paris", "Été à Paris", "ete", "ÉTÉ", "100% x_*", " Salt ", "salt", "Zürich"]
    static let prices: [Decimal] = [0, 9.5, 10, 100, -1.25, Decimal(string: "9.99") ?? 0]

    init(_ engine: Engine, seed: UInt64) throws {
        store = try TestStore.make(engine, for: Disc.self)
        self.seed = seed
        try store.save([City(name: "Oslo", population: 700), City(name: "Lund"), City(name: "Ystad", population: 20)])
        try store.save([
            Label(name: "One", country: "NO"), Label(name: "Two"), Label(name: "Three", country: "SE"),
            Label(name: "Nil"),
        ])
        try store.save(["jazz", "rock", "folk", "live"].map { Keyword(word: $0) })
        var random = SampleRandom(seed: seed)
        try store.save(
            ["Ash", "bee", "Cid"].map { name in
                Band(
                    name: name, founded: random.chance(0.3) ? nil : .random(in: 1960...1963, using: &random),
                    origin: random.link(to: [City(name: "Oslo"), City(name: "Lund"), City(name: "Ystad")], unset: 0.3))
            })
        try store.insertSample(Disc.self, count: 40, related: 70, seed: seed) { disc, random in
            // Few values of each, so that they are the same often.
            disc.title = Self.texts.randomElement(using: &random) ?? ""
            disc.notes = random.chance(0.2) ? nil : Self.texts.randomElement(using: &random)
            disc.price = Self.prices.randomElement(using: &random) ?? 0
            disc.rating = random.chance(0.2) ? nil : Double(Int.random(in: 0...6, using: &random)) / 2
            disc.copies = .random(in: -3...6, using: &random)
            disc.released = random.chance(0.2) ? nil : random.date(in: 1968...1973)
            disc.tags.set(ids: random.some(of: ["jazz", "rock", "folk", "live"], to: 3))
        }
        // Some have none.
        try store.delete(Sleeve.where { $0.color < "I" })
        try store.update(Piece.all) { $0.seconds.set(to: $0.seconds % 5 * 60) }
        let loaded = Disc.sorted { $0.id }.including {
            $0.label
            $0.band.including { $0.origin }
            $0.pieces
            $0.tags
            $0.sleeve
        }
        discs = try store.fetch(loaded)
    }
}

extension Disc {
    var theLabel: Label? { label?.loaded ?? nil }
    var theBand: Band? { band.loaded }
    var city: City? { theBand?.origin?.loaded ?? nil }
    var allPieces: [Piece] { pieces.loaded ?? [] }
    var seconds: [Int] { allPieces.map(\.seconds) }
    var words: Set<String> { Set((tags.loaded ?? []).map(\.word)) }

    /// Parts of the date of release in UTC.
    func released(_ part: Calendar.Component) -> Int? { released.map { Self.calendar.component(part, from: $0) } }

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(identifier: "UTC") ?? calendar.timeZone
        return calendar
    }()
}

extension String {
    /// Without regard to case, to diacritics, or to both.
    var caseless: String { lowercased() }
    var plain: String { folding(options: .diacriticInsensitive, locale: nil) }
}

/// A condition, both as a query and as a Swift function.
struct DiscCheck: Sendable {
    let name: String
    let condition: @Sendable (Disc.Fields) -> Condition
    let holds: @Sendable (Disc) -> Bool

    init(
        _ name: String, _ condition: @escaping @Sendable (Disc.Fields) -> Condition,
        _ holds: @escaping @Sendable (Disc) -> Bool
    ) {
        self.name = name
        self.condition = condition
        self.holds = holds
    }
}
