import Foundation
import Relata
import RelataTesting
import Testing

@Model struct Trip {
    let id: ID<Trip>
    @Attribute(.unique) var name: String
    var destination: String
    var startDate: Date
    @Relationship(deleteRule: .cascade, inverse: \BucketListItem.trip) var bucketList: ToMany<BucketListItem>
    var travelers: ToMany<Traveler>
    #Index<Trip>([\.startDate])
}

@Model struct BucketListItem {
    let id: ID<BucketListItem>
    var title: String
    var isDone: Bool = false
    var trip: ToOne<Trip>?
}

@Model struct Traveler {
    let id: ID<Traveler>
    var name: String
    @Relationship(inverse: \Trip.travelers) var trips: ToMany<Trip>
}

@Test func tripsComingFromSwiftData() async throws {
    try await example {
        let store = try await Store.open(temporary("trips.sqlite"), for: Trip.self)
        let may = Date(timeIntervalSince1970: 1_777_593_600)
        var fjords = Trip(name: "Fjords", destination: "Norway", startDate: may)
        fjords.bucketList.add(BucketListItem(title: "See the northern lights"))
        fjords.travelers.add([Traveler(name: "Ada"), Traveler(name: "Ben")])
        fjords = try await store.insert(fjords)

        try await store.insert(BucketListItem(title: "Ride the Bergen line", trip: ToOne(fjords)))
        print(try await store.fetch(fjords.related { $0.bucketList }.sorted { $0.title }).map(\.title))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/SwiftData.md", "Documentation/ComingFrom/SwiftData.zh-Hans.md")
        // docs: show

        let open = Trip.where { $0.destination == "Norway" && $0.bucketList.contains { !$0.isDone } }
            .sorted {
                $0.startDate.descending
                $0.name
            }
        print(try await store.fetch(open).map(\.name), try await store.count(open))

        let withAda = Trip.where { $0.travelers.contains { $0.name == "Ada" } && $0.bucketList.count >= 2 }
        let northern = BucketListItem.where { $0.trip.destination == "Norway" && $0.title.contains("lights") }
        print(try await store.fetch(withAda).map(\.name), try await store.fetch(northern).map(\.title))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/SwiftData.md", "Documentation/ComingFrom/SwiftData.zh-Hans.md")
        // docs: show

        let complete = Trip.all.including {
            $0.bucketList.where { !$0.isDone }.sorted { $0.title }.limit(1)
            $0.travelers.sorted { $0.name }
        }
        for trip in try await store.fetch(complete) {
            print(trip.name, try trip.bucketList.objects.map(\.title), try trip.travelers.objects.map(\.name))
        }
        do {
            print(try fjords.bucketList.objects.count)
        } catch {
            print(error)
        }
        // docs: hide
        try printed(in: "Documentation/ComingFrom/SwiftData.md", "Documentation/ComingFrom/SwiftData.zh-Hans.md")
        // docs: show

        try await store.update(fjords.id) { $0.destination = "Western Norway" }
        try await store.update(BucketListItem.all) { $0.isDone.set(to: true) }

        let again = Trip(name: "Fjords", destination: "Bergen", startDate: may)
        print(try await store.save(again, matching: { $0.name }).id == fjords.id)
        do {
            try await store.insert(again)
        } catch {
            print(error)
        }
        // docs: hide
        try printed(in: "Documentation/ComingFrom/SwiftData.md", "Documentation/ComingFrom/SwiftData.zh-Hans.md")
        // docs: show

        print(try await store.deletionPlan(for: fjords).deletedCount, "objects would go")
        let done = try await store.delete(BucketListItem.where { $0.isDone })
        let report = try await store.delete(fjords)
        print(done.deletedCount, "items,", report.deletedCount, "trip")
        print(try await store.count(Traveler.all), "travelers stay")
        // docs: hide
        try printed(in: "Documentation/ComingFrom/SwiftData.md", "Documentation/ComingFrom/SwiftData.zh-Hans.md")
        // docs: show

        try await store.save(["Cleo", "Dora"].map { Traveler(name: $0) })
        let results = try await store.saveEach([
            Trip(name: "Fjords", destination: "Bergen", startDate: may),
            Trip(name: "Fjords", destination: "Oslo", startDate: may),
        ])
        for case .failure(let error) in results { print(error) }
        // docs: hide
        try printed(in: "Documentation/ComingFrom/SwiftData.md", "Documentation/ComingFrom/SwiftData.zh-Hans.md")
        // docs: show

        var trips = store.observe(Trip.sorted { $0.startDate }).makeAsyncIterator()
        print(try await trips.next()?.map(\.destination) ?? [])
        try await store.update(Trip.all) { $0.destination.set(to: "Lofoten") }
        print(try await trips.next()?.map(\.destination) ?? [])
        // docs: hide
        try printed(in: "Documentation/ComingFrom/SwiftData.md", "Documentation/ComingFrom/SwiftData.zh-Hans.md")
        // docs: show

        let plan = try Store.pendingMigration(temporary("trips.sqlite"), for: Trip.self)
        print(plan.changes.isEmpty ? "nothing to migrate" : "\(plan)")
        // docs: hide
        try printed(in: "Documentation/ComingFrom/SwiftData.md", "Documentation/ComingFrom/SwiftData.zh-Hans.md")
        // docs: show

        let ada = try await store.first(Traveler.where { $0.name == "Ada" })
        let renamed = try await Task.detached {
            guard let ada else { return "nobody" }
            return try await store.update(ada.id) { $0.name = "Ada L." }.name
        }.value
        print(renamed, try await store.rows("SELECT count(*) FROM Traveler WHERE name LIKE \("A%")")[0][0])

        let memory = try Store.inMemory(for: Trip.self)
        print(try await memory.count(Trip.all))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/SwiftData.md", "Documentation/ComingFrom/SwiftData.zh-Hans.md")
        // docs: show

    }
}
