import Foundation
import Relata
import Testing

// A small collection of records: the models that the tests of queries share.

@Model struct Disc {
    var id: Int?
    var title: String
    var released: Date?
    var price: Decimal = 0
    var rating: Double?
    var copies: Int = 0
    var isLive: Bool = false
    var format: Format = .cd
    var notes: String?
    var label: ToOne<Label>?
    var band: ToOne<Band>
    @Relationship(deleteRule: .cascade, inverse: \Piece.disc) var pieces: ToMany<Piece>
    @Relationship(ordered: true) var tags: ToMany<Keyword>
    @Relationship(inverse: \Sleeve.disc) var sleeve: HasOne<Sleeve>

    enum Format: String, Codable, CaseIterable { case vinyl, cd, file }
}

@Model struct Band {
    let id: ID<Band>
    var name: String
    var founded: Int?
    var origin: ToOne<City>?
    @Relationship(deleteRule: .cascade, inverse: \Disc.band) var discs: ToMany<Disc>
}

@Model struct City {
    @Attribute(.primaryKey) let name: String
    var population: Int?
}

@Model struct Label {
    @Attribute(.primaryKey) let name: String
    var country: String?
    @Relationship(deleteRule: .nullify, inverse: \Disc.label) var discs: ToMany<Disc>
}

@Model struct Piece {
    var id: Int?
    var title: String
    var seconds: Int
    var disc: ToOne<Disc>
}

@Model struct Keyword {
    @Attribute(.primaryKey) let word: String
    @Relationship(inverse: \Disc.tags) var discs: ToMany<Disc>
}

@Model struct Sleeve {
    let id: ID<Sleeve>
    var color: String
    var disc: ToOne<Disc>?
}

/// Five discs, called A to E, and the objects that they are linked to.
struct Discs {
    let store: Store
    let ash = Band(name: "Ash", founded: 1990, origin: ToOne(City(name: "Oslo", population: 700)))
    let bee = Band(name: "Bee", origin: ToOne(City(name: "Lima")))
    let cid = Band(name: "Cid", founded: 2001)
    let rock = Keyword(word: "rock")

    init(_ engine: Engine, options: Store.Options = Store.Options()) throws {
        store = try TestStore.make(engine, for: Disc.self, City.self, options: options)
        let (one, two) = (Label(name: "One", country: "NO"), Label(name: "Two"))
        let (jazz, live) = (Keyword(word: "jazz"), Keyword(word: "live"))
        try store.write { [ash, bee, cid, rock] tx in
            try tx.insert([ash, bee, cid])
            try tx.insert([one, two, Label(name: "Void", country: "PE")])
            try tx.insert([rock, jazz, live])
            try tx.insert([
                Self.disc(
                    1, "A", "2001-02-03T04:05:06Z", 9.99, 4.5, 10, .vinyl, "Été à Paris", one, ash, [100, 200],
                    [rock, live]),
                Self.disc(2, "B", "1969-12-31T23:59:59Z", 10, nil, 0, .cd, "ete", two, ash, [50], [rock], isLive: true),
                Self.disc(3, "C", nil, 100, 3, 7, .cd, nil, nil, bee, [], []),
                Self.disc(
                    4, "D", "2001-02-03T00:00:00Z", 9.5, 4.5, -3, .file, "100% Paris_x*", one, cid, [200, 300, 200],
                    [jazz, rock], isLive: true),
                Self.disc(5, "E", "2020-06-15T12:30:00Z", 0, 1, 3, .file, "", one, cid, [10], [jazz]),
            ])
            try tx.insert([Sleeve(color: "red", disc: ToOne(id: 1)), Sleeve(color: "grey")])
        }
    }

    private static func disc(
        _ id: Int, _ title: String, _ released: String?, _ price: Decimal, _ rating: Double?, _ copies: Int,
        _ format: Disc.Format, _ notes: String?, _ label: Label?, _ band: Band, _ seconds: [Int],
        _ tags: [Keyword], isLive: Bool = false
    ) -> Disc {
        var disc = Disc(id: id, title: title, price: price, rating: rating, copies: copies, band: ToOne(band))
        disc.released = released.map(date)
        (disc.isLive, disc.format, disc.notes) = (isLive, format, notes)
        disc.label = label.map { ToOne($0) }
        // Its pieces count on from its number: 10, 11, …
        disc.pieces.add(
            seconds.enumerated().map { Piece(id: id * 10 + $0, title: "\(title)\($0)", seconds: $1, disc: .unset) })
        disc.tags.add(tags)
        return disc
    }

    /// A point in time from ISO text.
    static func date(_ text: String) -> Date { (try? Date(text, strategy: .iso8601)) ?? .distantPast }

    /// The titles that a query finds, in order.
    func titles(_ query: Query<Disc>) throws -> String { try store.fetch(query).map(\.title).joined() }

    /// Checks which discs a query finds, regardless of their order, and that count, existence and deletion plan agree.
    func expect(
        _ titles: String, _ query: Query<Disc>, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let found = try store.fetch(query)
        let count = try store.count(query)
        let exists = try store.exists(query)
        let plan = try store.deletionPlan(for: query)
        #expect(String(found.map(\.title).joined().sorted()) == titles, sourceLocation: sourceLocation)
        #expect(count == titles.count && exists == !titles.isEmpty, sourceLocation: sourceLocation)
        #expect(plan.deletedKeys(of: "Disc").count == titles.count, sourceLocation: sourceLocation)
    }
}
