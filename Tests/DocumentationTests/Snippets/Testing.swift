import Foundation
import Relata
import RelataTesting
import Testing

@Model struct Cake {
    let id: ID<Cake>
    @Attribute(.unique, .notEmpty) var name: String
    @Attribute(.range(1...5)) var tiers: Int
    var size: Size
    @Attribute(.createdAt) var added: Date
    var baker: ToOne<Baker>
    @Relationship(ordered: true) var toppings: ToMany<Topping>

    enum Size: String, CaseIterable { case small, large }
}

@Model struct Baker {
    @Attribute(.primaryKey) let name: String
    @Relationship(deleteRule: .cascade, inverse: \Cake.baker) var cakes: ToMany<Cake>
}

@Model struct Topping {
    let id: ID<Topping>
    @Attribute(.pattern("[A-Z]{2}-[0-9]{3}")) var code: String
    var season: Season?

    struct Season: Codable { let from: Month, to: Month }
    enum Month: String, Codable { case april, september }
}

// Seasons would be unset without it: nothing tells which months there are.
extension Topping.Month: SampleValue {
    static func sample(_ random: inout SampleRandom) -> Self { random.chance(0.5) ? .april : .september }
}

/// The app's code, which the tests check.
func menu(of store: Store) async throws -> [Cake] {
    let small = Cake.where { $0.tiers < 4 }.sorted { $0.name }.including {
        $0.baker
        $0.toppings
    }
    return try await store.fetch(small)
}

@Test func testing() async throws {
    try await example {
        let recorder = StatementRecorder()
        let store = try Store.inMemory(for: Cake.self, options: recorder.options)
        try await store.save(
            Cake(
                name: "Opera", tiers: 3, size: .small, baker: ToOne(Baker(name: "Ines")),
                toppings: ToMany([Topping(code: "CO-001"), Topping(code: "AL-014")])))

        let cakes = try await recorder.expectQueries(3) { try await menu(of: store) }
        // docs: hide
        #expect(cakes.count == 1)
        // docs: show

        do {
            try await recorder.expectIndexed(on: store) { try await menu(of: store) }
        } catch {
            print("\(error)".split(separator: "\n")[0])
        }
        try await recorder.expectIndexed(on: store) { try await store.fetch(Cake.where { $0.name == "Opera" }) }
        // docs: hide
        try printed(in: "Documentation/Testing.md")
        // docs: show

        print(try await menu(of: store).dump())
        // docs: hide
        try printed(in: "Documentation/Testing.md")
        // docs: show

        print(try store.dump())
        // docs: hide
        try printed(in: "Documentation/Testing.md")
        // docs: show
    }
}

@Test func testingWithSamples() async throws {
    try await example {
        let store = try Store.inMemory(for: Cake.self)
        let cakes = try await store.insertSample(Cake.self, count: 20, related: 4, seed: 7)
        let bakers = try await store.count(Baker.all)
        print(cakes.count, "cakes by", bakers, "bakers with", try await store.count(Topping.all), "toppings")
        let first = Cake.all.limit(1).including {
            $0.baker
            $0.toppings
        }
        print(try await store.fetch(first).dump())
        // docs: hide
        try printed(in: "Documentation/Testing.md")
        // docs: show

        let famous = try await store.save(Baker(name: "Antonin"))
        try await store.insertSample(Cake.self, count: 3, seed: 8) { cake, random in
            cake.tiers = .random(in: 4...5, using: &random)
            cake.baker = ToOne(famous)
        }
        print(try await store.count(Cake.where { $0.baker == famous && $0.tiers > 3 }))
        // docs: hide
        try printed(in: "Documentation/Testing.md")
        // docs: show
    }
}

@Test func testingWithNumbers() async throws {
    try await example {
        let store = try Store.inMemory(for: Cake.self)
        var random = SampleRandom(seed: 7)
        let bakers = random.objects(3) { number, random in Baker(name: random.words(1) + " \(number)") }
        try await store.save(bakers)
        let cakes = random.objects(5) { number, random in
            Cake(
                name: random.words(2) + " \(number)", tiers: .random(in: 1...5, using: &random),
                size: random.chance(0.3) ? .large : .small, baker: random.link(to: bakers) ?? .unset)
        }
        try await store.save(cakes)
        for cake in cakes { print(cake.name, "by", cake.baker.id ?? "") }
        // docs: hide
        try printed(in: "Documentation/Testing.md")
        // docs: show
    }
}
