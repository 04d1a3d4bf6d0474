import Relata
import Testing

@Model struct Series {
    var id: Int?
    var title: String
    @Relationship(deleteRule: .cascade, inverse: \Episode.series) var episodes: ToMany<Episode>
}

@Model struct Episode {
    var id: Int?
    var title: String
    var series: ToOne<Series>?
    @Relationship(inverse: \Progress.episode) var progress: HasOne<Progress>
}

@Model struct Progress {
    var id: Int?
    var minutes: Int
    var episode: ToOne<Episode>?
}

@Model struct Track {
    var id: Int?
    var title: String
    @Relationship(inverse: \Playlist.tracks) var playlists: ToMany<Playlist>
}

@Model struct Playlist {
    var id: Int?
    var name: String
    @Relationship(ordered: true) var tracks: ToMany<Track>
}

@Model struct Folder {
    var id: Int?
    var name: String
    var parent: ToOne<Folder>?
    @Relationship(deleteRule: .cascade, inverse: \Folder.parent) var children: ToMany<Folder>
}

@Model struct Person {
    @Attribute(.primaryKey) let name: String
    var following: ToMany<Person>
    @Relationship(inverse: \Person.following) var followers: ToMany<Person>
}

@Model struct Team {
    @Attribute(.primaryKey) let name: String
    @Relationship(inverse: \Match.home) var homeMatches: ToMany<Match>
    @Relationship(inverse: \Match.away) var awayMatches: ToMany<Match>
    @Relationship(minimum: 1, maximum: 2) var captains: ToMany<Person>
}

@Model struct Match {
    var id: Int?
    var home: ToOne<Team>
    var away: ToOne<Team>
}

@Model struct Recipe {
    var id: Int?
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Step.recipe, order: \Step.position) var steps: ToMany<Step>
    @Relationship(through: \Recipe.steps, \Step.ingredient) var ingredients: Through<Ingredient>
}

@Model struct Step {
    var id: Int?
    var position: Int = 0
    var grams: Int
    var recipe: ToOne<Recipe>
    var ingredient: ToOne<Ingredient>
}

@Model struct Ingredient {
    @Attribute(.primaryKey) let name: String
}

@Test func eitherSide() async throws {
    try await example {
        let store = try await Store.open(temporary("courses.sqlite"), for: Series.self)
        let series = try await store.save(Series(title: "Swift by example"))
        let values = try await store.save(Episode(title: "Values", series: series))

        try await store.update(Series.self, id: 1) { $0.episodes.add(Episode(title: "Optionals")) }
        print(try await store.fetch(series.related { $0.episodes }.sorted { $0.id }).map(\.title))
        // docs: hide
        try printed(in: "Documentation/Relationships.md")
        // docs: show

        try await store.update(Episode.self, id: 1) { $0.progress.set(Progress(minutes: 12)) }
        let progress = try await store.related(to: values) { $0.progress }
        print(progress?.minutes ?? 0, progress?.episode?.id ?? 0)
        // docs: hide
        try printed(in: "Documentation/Relationships.md")
        // docs: show

        let other = try await store.save(Series(title: "Swift in depth"))
        try await store.update(Series.self, id: 2) { $0.episodes.add(values) }
        print(try await store.related(to: other) { $0.episodes }.map(\.title))
        print(try await store.related(to: series) { $0.episodes }.map(\.title))
        // docs: hide
        try printed(in: "Documentation/Relationships.md")
        // docs: show

        let fetched = try await store.fetch(Episode.sorted { $0.id })
        print(fetched[0].series?.id ?? 0, fetched[0].series?.isLoaded ?? true)
        do {
            print(try fetched[0].series?.object.title ?? "")
        } catch {
            print(error)
        }
        // docs: hide
        try printed(in: "Documentation/Relationships.md")
        // docs: show

        let withEpisodes = Series.sorted { $0.id }.including {
            $0.episodes.sorted { $0.id }.including { $0.progress }
        }
        let loaded = try await store.fetch(withEpisodes)
        for series in loaded {
            for episode in try series.episodes.objects {
                let minutes = try episode.progress.object?.minutes
                print(series.title, "/", episode.title, "/", minutes.map { "\($0) min" } ?? "not begun")
            }
        }
        // docs: hide
        try printed(in: "Documentation/Relationships.md")
        // docs: show

        let later = try await store.load(series) { $0.episodes }
        print(try later.episodes.objects.count)
        // docs: hide
        try printed(in: "Documentation/Relationships.md")
        // docs: show
    }
}

@Test func orderedLists() async throws {
    try await example {
        let store = try await Store.open(temporary("music.sqlite"), for: Playlist.self)
        var evening = Playlist(name: "Evening")
        evening.tracks.set(["Harbour", "Lanterns", "Rain"].map { Track(title: $0) })
        evening = try await store.save(evening)

        try evening.tracks.move(from: 2, to: 0)
        try evening.tracks.insert(Track(title: "Dawn"), at: 1)
        evening = try await store.save(evening)
        print(try await store.related(to: evening) { $0.tracks }.map(\.title))
        // docs: hide
        try printed(in: "Documentation/Relationships.md")
        // docs: show

        try await store.update(Playlist.self, id: 1) {
            $0.tracks.place(id: 1, after: nil)  // Harbour first
            $0.tracks.place(id: 4, after: 1)  // Dawn right after it
            $0.tracks.remove(id: 3)
        }
        print(try await store.related(to: evening) { $0.tracks }.map(\.title))
        // docs: hide
        try printed(in: "Documentation/Relationships.md")
        // docs: show
    }
}

@Test func toItself() async throws {
    try await example {
        let store = try await Store.open(temporary("self.sqlite"), for: Folder.self, Person.self)
        let taxes = Folder(name: "Taxes", children: [Folder(name: "2025")])
        let root = Folder(name: "Documents", children: [Folder(name: "Letters"), taxes])
        let documents = try await store.save(root)
        print(try await store.fetch(documents.related { $0.children }.sorted { $0.name }).map(\.name))
        print(try await store.fetch(documents.descendants { $0.children }.sorted { $0.name }).map(\.name))

        let ada = Person(name: "Ada")
        try await store.save(Person(name: "Ben", following: [ada, Person(name: "Cleo")]))
        print(try await store.related(to: ada) { $0.followers }.map(\.name))
        // docs: hide
        try printed(in: "Documentation/Relationships.md")
        // docs: show
    }
}

@Test func severalBetweenTheSame() async throws {
    try await example {
        let store = try await Store.open(temporary("league.sqlite"), for: Match.self)
        let lions = Team(name: "Lions", captains: [Person(name: "Ada")])
        let bears = Team(name: "Bears", captains: [Person(name: "Ben")])
        try await store.insert(Match(home: lions, away: bears))
        print(try await store.fetch(lions.related { $0.homeMatches }).count)
        print(try await store.fetch(lions.related { $0.awayMatches }).count)

        do {
            try await store.update(Team.self, id: "Lions") { $0.captains.remove(id: "Ada") }
        } catch {
            print(error)
        }
        // docs: hide
        try printed(in: "Documentation/Relationships.md")
        // docs: show
    }
}

@Test func throughAJoinModel() async throws {
    try await example {
        let store = try await Store.open(temporary("kitchen.sqlite"), for: Recipe.self)
        let flour = Ingredient(name: "Flour")
        var bread = Recipe(name: "Bread")
        bread.steps.add([
            Step(grams: 400, ingredient: flour),
            Step(grams: 260, ingredient: Ingredient(name: "Water")),
            Step(grams: 20, ingredient: flour),
        ])
        try await store.insert(bread)

        let everything = Recipe.all.including {
            $0.ingredients
            $0.steps
        }
        let loaded = try await store.fetch(everything)
        print(try loaded[0].ingredients.objects.map(\.name))
        print(try loaded[0].steps.objects.map(\.grams))
        // docs: hide
        try printed(in: "Documentation/Relationships.md")
        // docs: show
    }
}

@Model struct Invoice {
    var id: Int?
    @Relationship(deleteRule: .cascade, removeRule: .delete, inverse: \InvoiceLine.invoice)
    var lines: ToMany<InvoiceLine>
}

@Model struct InvoiceLine {
    var id: Int?
    var text: String
    var invoice: ToOne<Invoice>
}

@Test func removedMembersAreDeleted() async throws {
    try await example {
        let billing = try await Store.open(temporary("billing.sqlite"), for: Invoice.self)
        var invoice = try await billing.save(Invoice(lines: [InvoiceLine(text: "desk"), InvoiceLine(text: "chair")]))
        invoice.lines.remove(id: 1)
        invoice = try await billing.save(invoice)
        print(try await billing.fetch(InvoiceLine.all).map(\.text))
        // docs: hide
        try printed(in: "Documentation/Relationships.md")
        // docs: show
    }
}
