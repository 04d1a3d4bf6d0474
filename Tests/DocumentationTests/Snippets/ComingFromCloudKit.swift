import Foundation
import Relata
import RelataTesting
import Testing

@Model struct Artist {
    @Attribute(.primaryKey) let name: String
    var country: String?
    @Relationship(deleteRule: .cascade, inverse: \Artwork.artist) var artworks: ToMany<Artwork>
}

@Model struct Artwork {
    @Attribute(.primaryKey) let title: String
    var year: Int
    var tags: [String] = []
    var artist: ToOne<Artist>
    var rooms: ToMany<Hall>
    @Attribute(.revision) var revision: Int = 0
}

@Model struct Hall {
    @Attribute(.primaryKey) let number: Int
    @Relationship(inverse: \Artwork.rooms) var artworks: ToMany<Artwork>
}

@Test func museumComingFromCloudKit() async throws {
    try await example {
        let store = try await Store.open(temporary("museum.sqlite"), for: Artwork.self)
        let mei = Artist(name: "Mei Chen", country: "China")
        try await store.save(Artwork(title: "Dawn", year: 1998, tags: ["river", "morning"], artist: ToOne(mei)))

        try await store.save([
            Artwork(title: "Harbour", year: 1987, artist: ToOne(id: "Jonas Berg")),  // who comes later in the batch
            Artwork(title: "Lanterns", year: 2004, artist: ToOne(id: "Mei Chen")),
            Artist(name: "Jonas Berg"),
        ])
        try await store.update(Artist.self, id: "Mei Chen") { $0.artworks.add(Artwork(title: "Rain", year: 2010)) }
        print(try await store.fetch(mei.related { $0.artworks }.sorted { $0.year }).map(\.title))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CloudKit.md", "Documentation/ComingFrom/CloudKit.zh-Hans.md")
        // docs: show

        let results = try await store.saveEach([
            Artwork(title: "Fog", year: 1990, artist: ToOne(id: "Nobody")),
            Artwork(title: "Snow", year: 1991, artist: ToOne(id: "Jonas Berg")),
        ])
        for result in results {
            switch result {
            case .success(let saved): print("saved", (saved as? Artwork)?.title ?? "")
            case .failure(let error): print(error)
            }
        }
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CloudKit.md", "Documentation/ComingFrom/CloudKit.zh-Hans.md")
        // docs: show

        let dawn = try await store.fetch(Artwork.self, id: "Dawn")
        for found in try await store.fetch(ids: [ObjectKey(Artwork.self, "Dawn"), ObjectKey(Artist.self, "Nobody")]) {
            print(found.key, found.object(as: Artwork.self)?.year as Any)
        }

        let recent = Artwork.where { $0.year > 1990 }.sorted { $0.year.descending }
        var page = try await store.page(recent, size: 3)
        print(dawn?.tags ?? [], page.objects.map(\.title))
        while let next = page.next {
            page = try await store.page(recent, size: 3, after: next)
            print(page.objects.map(\.title))
        }
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CloudKit.md", "Documentation/ComingFrom/CloudKit.zh-Hans.md")
        // docs: show

        let chinese = Artwork.where { $0.artist.country == "China" }.sorted { $0.title }
        let prolific = Artist.where { $0.artworks.count >= 3 && $0.artworks.contains { $0.year < 2000 } }
        print(try await store.fetch(chinese).map(\.title), try await store.fetch(prolific).map(\.name))

        try await store.update(Artwork.self, id: "Dawn") { $0.rooms.add([Hall(number: 1), Hall(number: 2)]) }
        let latest = Artist.sorted { $0.name }.including {
            $0.artworks.sorted { $0.year.descending }.limit(1).including { $0.rooms }
        }
        for artist in try await store.fetch(latest) { print(artist.name, try artist.artworks.objects.map(\.title)) }
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CloudKit.md", "Documentation/ComingFrom/CloudKit.zh-Hans.md")
        // docs: show

        let mine = try await store.refresh(Artwork(title: "Dawn", year: 0, artist: ToOne(mei)))
        try await store.update(Artwork.self, id: "Dawn") { $0.year = 1999 }  // somebody else
        do {
            var stale = mine
            stale.year = 2001
            try await store.save(stale)
        } catch RelataError.conflict(let conflict) {
            print("given", (conflict.given as? Artwork)?.year ?? 0, "stored", (conflict.stored as? Artwork)?.year ?? 0)
        }
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CloudKit.md", "Documentation/ComingFrom/CloudKit.zh-Hans.md")
        // docs: show

        print(try await store.deletionPlan(for: mei).sorted())
        let report = try await store.delete(mei)
        print(report.deletedCount, "deleted,", try await store.count(Artwork.all), "artworks left")
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CloudKit.md", "Documentation/ComingFrom/CloudKit.zh-Hans.md")
        // docs: show

        // docs: hide
        try store.close()
        // docs: show
        var options = Store.Options()
        options.changeLog = true
        let museum = try await Store.open(temporary("museum.sqlite"), for: Artwork.self, options: options)
        var artworks = museum.observe(Artwork.sorted { $0.title }).makeAsyncIterator()
        print(try await artworks.next()?.map(\.title) ?? [])
        try await museum.save(Artwork(title: "Tide", year: 2020, artist: ToOne(id: "Jonas Berg")))
        print(try await artworks.next()?.map(\.title) ?? [])

        for row in try await museum.changes(after: 0) {
            print(row.position, row.change.entity, row.change.kind, row.change.keys)
        }
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CloudKit.md", "Documentation/ComingFrom/CloudKit.zh-Hans.md")
        // docs: show

        print(try Store.pendingMigration(temporary("museum.sqlite"), for: Artwork.self).changes.count, "schema changes")
        print(try await museum.rows("SELECT count(*) FROM Artwork WHERE year > \(2000)")[0][0])
        let memory = try Store.inMemory(for: Artwork.self)
        print(try await memory.count(Artwork.all))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CloudKit.md", "Documentation/ComingFrom/CloudKit.zh-Hans.md")
        // docs: show

    }
}
