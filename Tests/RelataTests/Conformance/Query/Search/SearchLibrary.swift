import Relata

@Model struct Ballad {
    let id: ID<Ballad>
    var title: String
    var lyrics: String?
    var year: Int = 2000
    var record: ToOne<LongPlayer>?
    #Search<Ballad>([\.title, \.lyrics])
}

@Model struct LongPlayer {
    var id: Int?
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Ballad.record) var tunes: ToMany<Ballad>
    #Search<LongPlayer>([\.name])
}

@Model struct Verse {
    @Attribute(.primaryKey) var book: String
    @Attribute(.primaryKey) var number: Int
    var text: String
    #Search<Verse>([\.text])
}

/// Some songs, in a store of one engine.
struct SearchLibrary {
    let store: Store
    let moons: LongPlayer

    init(_ engine: Engine) throws {
        store = try TestStore.make(engine, for: Ballad.self, LongPlayer.self, Verse.self)
        moons = try store.save(LongPlayer(name: "Moons and Stars"))
        try store.insert([
            Ballad(
                title: "Blue Moon", lyrics: "Blue moon, you saw me standing alone", year: 1934, record: ToOne(moons)),
            Ballad(title: "Moon River", lyrics: "Wider than a mile", year: 1961, record: ToOne(moons)),
            Ballad(title: "Waiting", lyrics: "I wait for love under the moon so blue", year: 1999),
            Ballad(title: "Déjà vu", lyrics: "L'été, la mer; STRASSE und Straße", year: 2001),
            Ballad(title: "月亮代表我的心", lyrics: "你问我爱你有多深，我爱你有几分", year: 1973),
            Ballad(title: "上を向いて歩こう", lyrics: "涙がこぼれないように", year: 1961),
            Ballad(title: "사랑을 했다", lyrics: nil, year: 2018),
            Ballad(title: "ลมหายใจ", lyrics: "เธอคือลมหายใจ", year: 2003),
        ])
    }

    /// The titles that a search finds, in alphabetical order.
    func titles(_ text: String) throws -> [String] { try titles(Ballad.search(text)) }

    func titles(_ query: Query<Ballad>) throws -> [String] { try store.fetch(query).map(\.title).sorted() }
}
