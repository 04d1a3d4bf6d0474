import Foundation
import Relata
import RelataTesting
import Testing

@Model struct Band: Codable {
    @Attribute(.primaryKey) let name: String
    var town: ToOne<Place>?
    var styles: ToMany<Style>
    @Relationship(inverse: \Gig.band) var gigs: ToMany<Gig>
}

@Model struct Style: Codable {
    @Attribute(.primaryKey) let name: String
    @Relationship(inverse: \Band.styles) var bands: ToMany<Band>
}

@Model struct Evening: Codable {
    var id: Int?
    var day: String
    @Relationship(deleteRule: .cascade, inverse: \Gig.evening, order: \Gig.position) var gigs: ToMany<Gig>
    @Relationship(through: \Evening.gigs, \Gig.band) var bands: Through<Band>
}

@Model struct Gig: Codable {
    var id: Int?
    var position: Int = 0
    var minutes: Int
    var evening: ToOne<Evening>
    var band: ToOne<Band>
    @Relationship(onTargetDelete: .noAction) var poster: ToOne<Poster>?
}

@Model struct Poster: Codable {
    @Attribute(.primaryKey) let file: String
}

@Model struct Place: Codable {
    @Attribute(.primaryKey) let name: String
    var region: ToOne<Place>?
    @Relationship(inverse: \Place.region) var parts: ToMany<Place>
}

/// A festival of two evenings, and the recorder of its statements.
func festival() async throws -> (Store, StatementRecorder) {
    let recorder = StatementRecorder()
    let store = try await Store.open(temporary("festival.sqlite"), for: [Evening.self], options: recorder.options)
    let norway = Place(name: "Norway")
    let oslo = Place(name: "Oslo", region: ToOne(norway))
    try await store.save([
        norway, oslo, Place(name: "Bergen", region: ToOne(norway)), Place(name: "Grünerløkka", region: ToOne(oslo)),
        Place(name: "Iceland"),
    ])
    let (folk, rock, jazz) = (Style(name: "folk"), Style(name: "rock"), Style(name: "jazz"))
    let northlight = Band(name: "Northlight", town: ToOne(id: "Bergen"), styles: ToMany([folk, rock]))
    let salt = Band(name: "Salt", town: ToOne(id: "Oslo"), styles: ToMany([rock]))
    let moons = Band(name: "Paper Moons", styles: ToMany([jazz]))
    try await store.save([northlight, salt, moons])
    let poster = ToOne(Poster(file: "salt.png"))
    for (day, gigs) in [
        (
            "Friday",
            [
                Gig(minutes: 45, band: ToOne(id: "Salt"), poster: poster),
                Gig(minutes: 60, band: ToOne(id: "Northlight")),
            ]
        ),
        (
            "Saturday",
            [
                Gig(minutes: 40, band: ToOne(id: "Paper Moons")), Gig(minutes: 50, band: ToOne(id: "Salt")),
                Gig(minutes: 30, band: ToOne(id: "Northlight")), Gig(minutes: 20, band: ToOne(id: "Salt")),
            ]
        ),
    ] {
        var evening = Evening(day: day)
        evening.gigs.add(gigs)
        try await store.insert(evening)
    }
    recorder.reset()
    return (store, recorder)
}

@Test func oneStatementForEachEdge() async throws {
    try await example {
        let (store, recorder) = try await festival()

        let program = Evening.sorted { $0.day }.including {
            $0.gigs.band.town
            $0.gigs.band.styles.sorted { $0.name }
        }
        for evening in try await store.fetch(program) {
            print(evening.day)
            for gig in try evening.gigs.objects {
                let band = try gig.band.object
                let styles = try band.styles.objects.map(\.name)
                print(" ", gig.minutes, "min", band.name, styles, try band.town?.object.name ?? "from nowhere")
            }
        }
        print(recorder.statements.count, "statements")
        // docs: hide
        try printed(in: "Documentation/FetchingGraphs.md")
        recorder.reset()
        // docs: show

        let bills = try await store.fetch(Evening.sorted { $0.day }.including { $0.bands })
        for evening in bills { print(evening.day, try evening.bands.objects.map(\.name)) }
        // docs: hide
        try printed(in: "Documentation/FetchingGraphs.md")
        #expect(recorder.statements.count == 2)
        // docs: show
    }
}

@Test func filtersOrdersAndLimitsOfAnInclude() async throws {
    try await example {
        // docs: hide
        let (store, recorder) = try await festival()
        // docs: show
        let longest = Band.sorted { $0.name }.including {
            $0.gigs.where { $0.minutes >= 30 }.sorted { $0.minutes.descending }.limit(1).including { $0.evening }
        }
        for band in try await store.fetch(longest) {
            for gig in try band.gigs.objects { print(band.name, gig.minutes, "min on", try gig.evening.object.day) }
        }
        // docs: hide
        try printed(in: "Documentation/FetchingGraphs.md")
        #expect(recorder.statements.count == 3)
        // docs: show

        let fromSomewhere = Band.sorted { $0.name }.including {
            $0.town.required
            $0.styles.where { $0.name == "folk" }
        }
        for band in try await store.fetch(fromSomewhere) {
            print(band.name, try band.town?.object.name ?? "", try band.styles.objects.map(\.name))
        }
        // docs: hide
        try printed(in: "Documentation/FetchingGraphs.md")
        // docs: show
    }
}

@Test func treesAndCircles() async throws {
    try await example {
        // docs: hide
        let (store, recorder) = try await festival()
        // docs: show
        func outline(_ place: Place, _ depth: Int = 0) {
            let parts = place.parts.loaded
            print(String(repeating: "  ", count: depth) + place.name + (parts == nil ? " …" : ""))
            for part in parts ?? [] { outline(part, depth + 1) }
        }
        let lands = Place.where { $0.region == nil }.sorted { $0.name }
        for land in try await store.fetch(lands.including { $0.parts.sorted { $0.name }.recursive() }) { outline(land) }
        print(recorder.statements.count, "statements")
        // docs: hide
        try printed(in: "Documentation/FetchingGraphs.md")
        // docs: show

        let norway = Place.where { $0.name == "Norway" }
        for land in try await store.fetch(norway.including { $0.parts.recursive(depth: 1) }) { outline(land) }

        let quarter = Place.where { $0.name == "Grünerløkka" }
        for place in try await store.fetch(quarter.including { $0.region.recursive() }) {
            print(sequence(first: place) { $0.region?.loaded }.map(\.name))
        }
        // docs: hide
        try printed(in: "Documentation/FetchingGraphs.md")
        // docs: show

        let around = Style.where { $0.name == "folk" }.including { $0.bands.styles.sorted { $0.name } }
        if let band = try await store.fetch(around).first?.bands.objects.first {
            for style in try band.styles.objects { print(style.name, style.bands.isLoaded) }
        }
        // docs: hide
        try printed(in: "Documentation/FetchingGraphs.md")
        // docs: show
    }
}

@Test func linksDescribeTheirState() async throws {
    try await example {
        // docs: hide
        let (store, recorder) = try await festival()
        // docs: show
        let evenings = try await store.fetch(Evening.sorted { $0.day })
        print(evenings[0].gigs.isLoaded, evenings[0].gigs.loaded?.count as Any)

        let loaded = try await store.load(evenings) { $0.gigs.band }
        print(try loaded.map { try $0.gigs.objects.count })

        let gig = try loaded[0].gigs.objects[0]
        print(gig.band.id ?? "", gig.band.isLoaded, try gig.band.object.town?.id ?? "none")
        print(gig.poster?.id ?? "", gig.poster?.isLoaded ?? false)
        // docs: hide
        try printed(in: "Documentation/FetchingGraphs.md")
        // docs: show

        try await store.delete(Poster.self, id: "salt.png")
        let withPoster = try await store.load(gig) { $0.poster }
        print(withPoster.poster?.isLoaded ?? false, withPoster.poster?.loaded as Any)
        do {
            print(try withPoster.poster?.object.file ?? "")
        } catch {
            print(error)
        }
        // docs: hide
        try printed(in: "Documentation/FetchingGraphs.md")
        // docs: show

        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let friday = try await store.load(evenings[0]) { $0.bands.limit(1) }
        print(String(decoding: try encoder.encode(evenings[0]), as: UTF8.self))
        print(String(decoding: try encoder.encode(friday), as: UTF8.self))
        // docs: hide
        try printed(in: "Documentation/FetchingGraphs.md")
        // docs: show

        do {
            _ = try await store.fetch(Evening.all.including { $0.gigs.limit(0) })
        } catch {
            print(error)
        }
        do {
            _ = try await store.fetch(
                Evening.all.including {
                    $0.gigs.where { $0.minutes > 30 }
                    $0.gigs.limit(1)
                })
        } catch {
            print(error)
        }
        // docs: hide
        try printed(in: "Documentation/FetchingGraphs.md")
        #expect(!recorder.statements.isEmpty)
        // docs: show
    }
}
