import Relata
import Testing

@Model struct Melody {
    var id: Int?
    var title: String
    var lyrics: String?
    var year: Int
    var collection: ToOne<MelodyCollection>?
    #Search<Melody>([\.title, \.lyrics])
}

@Model struct MelodyCollection {
    let id: ID<MelodyCollection>
    var name: String
    @Relationship(inverse: \Melody.collection) var melodies: ToMany<Melody>
}

@Test func searchingMelodies() async throws {
    try await example {
        let store = try await Store.open(temporary("melodies.sqlite"), for: Melody.self)
        let moons = MelodyCollection(name: "Moons")
        try await store.insert([
            Melody(title: "Blue Moon", lyrics: "You saw me standing alone", year: 1934, collection: ToOne(moons)),
            Melody(title: "Moon River", lyrics: "Wider than a mile", year: 1961, collection: ToOne(moons)),
            Melody(title: "Waiting", lyrics: "I wait for love under the moon so blue", year: 1999),
            Melody(title: "月亮代表我的心", lyrics: "你问我爱你有多深", year: 1973),
        ])
        for text in ["moon", "blue moon", "\"blue moon\"", "wai*", "moon -blue", "river OR love", "代表 爱你"] {
            print(text, try await store.fetch(Melody.search(text)).map(\.title).sorted())
        }
        // docs: hide
        try printed(in: "Documentation/Search.md")
        // docs: show
        let late = Melody.search("moon").where { $0.year > 1950 }.including { $0.collection }.limit(10)
        for melody in try await store.fetch(late) { print(melody.title, melody.collection?.loaded?.name ?? "-") }
        let titled = try await store.fetch(Melody.search("moon", in: { $0.title }).sorted { $0.year })
        print(titled.map(\.title))
        let either = Melody.where { $0.matches("river") || $0.year > 1990 }.sorted { $0.title }
        print(try await store.fetch(either).map(\.title))
        let ranked = try await store.fetch(Melody.search("moon").select { ($0.title, $0.relevance) })
        print(ranked.count, ranked.allSatisfy { $0.1 > 0 })
        // docs: hide
        try printed(in: "Documentation/Search.md")
        // docs: show
        let search = SearchText("blue love")
        for melody in try await store.fetch(Melody.search(search)) {
            let lyrics = melody.lyrics ?? ""
            print(search.snippet(of: lyrics, length: 24))
            print(search.highlights(in: lyrics).map { lyrics[$0] })
        }
        let snippet = search.snippet(of: "true love & more")
        print(snippet.marked("<mark>", "</mark>") { $0.replacing("&", with: "&amp;") })
        // docs: hide
        try printed(in: "Documentation/Search.md")
        // docs: show
    }
}
