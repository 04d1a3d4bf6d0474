import Foundation
import Relata
import RelataTesting
import Testing

// The models are those of FetchingGraphs.swift.

@Shape(of: Evening.self) struct Program: Codable {
    var day: String
    var gigs: [Slot]
    @Count(\.gigs) var gigCount: Int
    @Sum(\.gigs.minutes) var minutes: Int

    @Shape(of: Gig.self) struct Slot: Codable {
        var minutes: Int
        var band: Player
    }

    @Shape(of: Band.self) struct Player: Codable {
        var name: String
        @From(\.town.region.name) var country: String?
    }

    var isLong: Bool { minutes > 120 }
}

@Shape(of: Evening.self) struct Bill {
    @Root var evening: Evening
    var bands: [Band]
}

@Shape(of: Band.self) struct BandCard {
    var name: String
    var town: Place?
    @From(\.gigs) var performances: [Program.Slot]
    var longest: [Performance]
    static let longest = from { $0.gigs.sorted { $0.minutes.descending }.limit(1) }
    var encore: Performance?
    static let encore = from { $0.gigs.where { $0.minutes < 30 }.first }
    var title: String
    static let title = from { $0.name.uppercased }

    @Shape(of: Gig.self) struct Performance {
        var minutes: Int
        @From(\.evening.day) var day: String
    }
}

@Shape(of: Band.self) struct BandFigures {
    var name: String
    @Exists(\.styles) var hasStyle: Bool
    @Minimum(\.gigs.minutes) var shortest: Int?
    @Maximum(\.gigs.minutes) var longest: Int?
    @Average(\.gigs.minutes) var average: Double?
    @First(\.gigs) var debut: Gig?
}

@Shape(of: Place.self) struct Region {
    var name: String
    var parts: [Region]
    static let parts = from { $0.parts.sorted { $0.name } }
}

@Test func shapesOfAFestival() async throws {
    try await example {
        // docs: hide
        let (store, recorder) = try await festival()
        // docs: show
        for program in try await store.fetch(Program.sorted { $0.day }) {
            print(program.day, program.gigCount, "gigs", program.minutes, "min", program.isLong ? "(long)" : "")
            for gig in program.gigs { print(" ", gig.minutes, gig.band.name, gig.band.country ?? "") }
        }
        print(recorder.statements.count, "statements")
        // docs: hide
        try printed(in: "Documentation/Shapes.md")
        // docs: show

        for bill in try await store.fetch(Bill.sorted { $0.day }) { print(bill.evening.day, bill.bands.map(\.name)) }
        // docs: hide
        try printed(in: "Documentation/Shapes.md")
        // docs: show

        let cards = try await store.fetch(BandCard.where { $0.gigs.count > 1 }.sorted { $0.name }.limit(10))
        for card in cards {
            print(card.title, card.town?.name ?? "", card.performances.map(\.minutes))
            print("  longest:", card.longest[0].minutes, "min on", card.longest[0].day)
            print("  encore:", card.encore?.minutes ?? 0, "min")
        }
        // docs: hide
        try printed(in: "Documentation/Shapes.md")
        // docs: show

        for band in try await store.fetch(BandFigures.sorted { $0.name }) {
            print(band.name, band.hasStyle, band.shortest ?? 0, band.longest ?? 0, band.average ?? 0)
        }
        // docs: hide
        try printed(in: "Documentation/Shapes.md")
        recorder.reset()
        // docs: show

        func outline(_ region: Region, _ depth: Int = 0) {
            print(String(repeating: "  ", count: depth) + region.name)
            for part in region.parts { outline(part, depth + 1) }
        }
        for land in try await store.fetch(Region.where { $0.region == nil }.sorted { $0.name }) { outline(land) }
        print(recorder.statements.count, "statements")
        // docs: hide
        try printed(in: "Documentation/Shapes.md")
        // docs: show
    }
}

@Test func shapesAreFetchedLikeObjects() async throws {
    try await example {
        // docs: hide
        let (store, _) = try await festival()
        // docs: show
        let friday = try await store.first(Program.where { $0.day == "Friday" })
        let same = try await store.fetch(Program.self, id: 1)
        print(friday == same, try await store.count(Program.all))

        let page = try await store.page(Program.sorted { $0.day }, size: 1)
        let next = try await store.page(Program.sorted { $0.day }, size: 1, after: page.next)
        print(page.objects.map(\.day), next.objects.map(\.day))

        guard let evening = try await store.first(Evening.all) else { return }
        let slots = evening.related { $0.gigs }.where { $0.minutes > 50 }.shaped(as: Program.Slot.self)
        print(try await store.fetch(slots).map(\.band.name))

        var programs = store.observe(Program.sorted { $0.day }).makeAsyncIterator()
        _ = try await programs.next()
        try await store.update(Gig.where { $0.minutes < 30 }) { $0.minutes.set(to: 35) }
        print(try await programs.next()?.map(\.minutes) ?? [])
        // docs: hide
        try printed(in: "Documentation/Shapes.md")
        // docs: show

        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        print(String(decoding: try encoder.encode(friday), as: UTF8.self))
        // docs: hide
        try printed(in: "Documentation/Shapes.md")
        // docs: show
    }
}
