import Foundation
import RelataRecords
import Testing

@Test func recordsOfMusic() async throws {
    try await example {
        let store = try RecordStore.open(temporary("music.sqlite"))
        let miles = try await store.save(Record("Artist", ["name": "Miles Davis"]))
        var album = Record("Album", ["title": "Kind of Blue", "year": 1959])
        album["artist"] = .link(miles)
        album = try await store.save(album)

        let early = RecordQuery("Album", where: "year < 1960 AND artist.name BEGINSWITH 'Miles'", sort: "year")
        for album in try await store.fetch(early.including("artist")) {
            print(album["title"], album["year"], album["artist"]["name"])
        }
        // docs: hide
        try printed(in: "Documentation/Records.md")
        // docs: show

        for recordClass in try await store.classes {
            print(recordClass.name, recordClass.fields.map(\.name))
        }
        // docs: hide
        try printed(in: "Documentation/Records.md")
        // docs: show

        album["tracks"] = .links(["So What", "Blue in Green"].map { Record("Track", ["title": .text($0)]) })
        album["released"] = .date(Date(timeIntervalSince1970: -327_024_000))
        album["isLive"] = false
        album = try await store.save(album)
        print(try album.relatedList("tracks").map { $0["title"] }, album["released"].date ?? .distantPast)
        // docs: hide
        try printed(in: "Documentation/Records.md")
        // docs: show

        var (one, other) = (album, album)
        one["year"] = 1958
        other["label"] = "Columbia"
        try await store.save(one)
        try await store.save(other)
        let stored = try await store.refreshed(album)
        print(stored?["year"] ?? nil, stored?["label"] ?? nil)
        // docs: hide
        try printed(in: "Documentation/Records.md")
        // docs: show

        album.add(Record("Track", ["title": "All Blues"]), to: "tracks")
        album.remove(try album.relatedList("tracks")[1], from: "tracks")
        album = try await store.save(album)
        print(try album.relatedList("tracks").map { $0["title"] })
        // docs: hide
        try printed(in: "Documentation/Records.md")
        // docs: show

        let before = 1960
        let found = RecordQuery("Album", where: "year < %@ AND artist == %@", before, miles, sort: "-year,title")
        let some = RecordQuery("Album").including("artist").including("tracks", where: "title CONTAINS 'Blue'")
        print(try await store.count(found), try await store.first(some)?["tracks"].records.map { $0["title"] } ?? [])
        // docs: hide
        try printed(in: "Documentation/Records.md")
        // docs: show

        do {
            try await store.save(Record("Album", ["title": 7]))
        } catch let error as RelataError {
            print(error)
        }
        // docs: hide
        try printed(in: "Documentation/Records.md")
        // docs: show

        try await store.alter { schema in
            try schema.addList("albums", of: "Album", to: "Artist", inverse: "artist", deleteRule: .cascade)
            try schema.addUnique("name", in: "Artist")
            try schema.countRevisions(in: "Album")
        }
        let plan = try await store.deletionPlan(for: miles)
        print(plan.deleted.map { "\($0.keys.count) \($0.entity)" }, "denied:", plan.isDenied)
        // docs: hide
        try printed(in: "Documentation/Records.md")
        // docs: show

        let production = try RecordStore.open(temporary("live.sqlite"), mode: .production)
        let wanted = try await store.schema()
        print(try await production.deploymentPlan(for: wanted))
        try await production.deploy(wanted)
        do {
            try await production.save(Record("Artist", ["nmae": "Bill Evans"]))
        } catch let error as RelataError {
            print(error)
        }
        // docs: hide
        try printed(in: "Documentation/Records.md")
        // docs: show

        try await store.write { tx in
            tx.origin = ChangeOrigin("import")
            let evans = try tx.save(Record("Artist", ["name": "Bill Evans"]))
            try tx.save(Record("Album", ["title": "Waltz for Debby", "artist": .link(evans)]))
        }
        for _ in 1...2 {
            let number = try await store.write(requestID: "order-4711") { tx in
                try tx.save(Record("Order", ["item": "Waltz for Debby"]))
                return try tx.count(RecordQuery("Order"))
            }
            print("order no.", number)
        }
        // docs: hide
        try printed(in: "Documentation/Records.md")
        // docs: show

        var titles = store.observe(RecordQuery("Album", sort: "title")).makeAsyncIterator()
        var reviews = store.observe(countOf: RecordQuery("Review")).makeAsyncIterator()
        print(try await titles.next()?.map { $0["title"] } ?? [], try await reviews.next() ?? 0)
        let feed = store.changes
        try await store.save(Record("Review", ["stars": 5, "album": .link(album)]))
        try await store.delete(miles)
        print(try await titles.next()?.map { $0["title"] } ?? [], try await reviews.next() ?? 0)
        var transactions = feed.makeAsyncIterator()
        for _ in 1...2 {
            for change in await transactions.next()?.changes ?? [] {
                print(change.entity, change.kind, change.keys.count, change.properties)
            }
        }
        // docs: hide
        try printed(in: "Documentation/Records.md")
        // docs: show
    }
}
