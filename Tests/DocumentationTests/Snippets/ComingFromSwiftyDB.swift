import Foundation
import Relata
import RelataTesting
import Testing

@Model struct Dog {
    var id: Int?
    @Attribute(.notEmpty) var name: String
    var birth: Date?
    var tricks: [String] = []
    var owner: ToOne<Keeper>?
    @Transient var isBarking = false
}

@Model struct Keeper {
    @Attribute(.primaryKey) let name: String
    @Relationship(deleteRule: .nullify, inverse: \Dog.owner) var dogs: ToMany<Dog>
}

@Test func dogsComingFromSwiftyDB() async throws {
    try await example {
        let store = try await Store.open(temporary("dogs.sqlite"), for: Dog.self)
        let anna = Keeper(name: "Anna")
        var max = try await store.save(Dog(name: "Max", tricks: ["sit", "roll"], owner: ToOne(anna)))
        let luna = try await store.insert(Dog(name: "Luna", owner: ToOne(id: "Anna")))

        max.name = "Maximilian"
        max = try await store.save(max)
        try await store.update(Dog.self, id: 2) { $0.tricks.append("fetch") }
        print(max.id ?? 0, luna.id ?? 0, try await store.fetch(Dog.sorted { $0.id }).map(\.tricks))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/SwiftyDB.md", "Documentation/ComingFrom/SwiftyDB.zh-Hans.md")
        // docs: show

        try await store.save(Keeper(name: "Ben"))
        try await store.update(Keeper.self, id: "Ben") { $0.dogs.add(id: 2) }
        print(try await store.related(to: luna) { $0.owner }?.name ?? "nobody")
        print(try await store.related(to: anna) { $0.dogs }.map(\.name))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/SwiftyDB.md", "Documentation/ComingFrom/SwiftyDB.zh-Hans.md")
        // docs: show

        let first = try await store.fetch(Dog.self, id: 1)
        let some = Dog.where { $0.id > 0 && $0.name.hasPrefix("M") && $0.owner.in(ids: ["Anna", "Ben"]) }
        let either = Dog.where { $0.name == "Luna" || $0.owner.name == "Anna" }.sorted { $0.name }.limit(5)
        let owners = Keeper.where { $0.dogs.contains { $0.name == "Luna" } }
        print(first?.name ?? "", try await store.fetch(some).map(\.name), try await store.fetch(either).map(\.name))
        print(try await store.fetch(owners).map(\.name), try await store.count(Dog.all))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/SwiftyDB.md", "Documentation/ComingFrom/SwiftyDB.zh-Hans.md")
        // docs: show

        let keepers = Keeper.sorted { $0.name }.including { $0.dogs.sorted { $0.name }.limit(3) }
        for keeper in try await store.fetch(keepers) { print(keeper.name, try keeper.dogs.objects.map(\.name)) }
        // docs: hide
        try printed(in: "Documentation/ComingFrom/SwiftyDB.md", "Documentation/ComingFrom/SwiftyDB.zh-Hans.md")
        // docs: show

        print(try await store.delete(Dog.where { $0.name == "Maximilian" }).deletedCount, "deleted")
        print(try await store.delete(Keeper.self, id: "Ben"))
        print(try await store.fetch(Dog.where { $0.owner == nil }).map(\.name))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/SwiftyDB.md", "Documentation/ComingFrom/SwiftyDB.zh-Hans.md")
        // docs: show

        do {
            try await store.insert([Dog(name: "Rex"), Dog(name: "")])
        } catch {
            print(error)
        }
        let results = try await store.saveEach([Dog(name: "Rex"), Dog(name: "")])
        for case .success(let saved) in results { print("saved", (saved as? Dog)?.name ?? "") }
        // docs: hide
        try printed(in: "Documentation/ComingFrom/SwiftyDB.md", "Documentation/ComingFrom/SwiftyDB.zh-Hans.md")
        // docs: show

        try await store.write { tx in
            let rex = try tx.first(Dog.where { $0.name == "Rex" })
            try tx.insert(Dog(name: "Puppy", owner: ToOne(Keeper(name: "Cleo"))))
            if let rex { try tx.delete(rex) }
        }
        let task = store.perform {
            try await $0.fetch(Dog.sorted { $0.name })
        } completion: { result in
            print((try? result.get())?.map(\.name) ?? [])
        }
        // docs: hide
        await task.value
        // docs: show
        // docs: hide
        try printed(in: "Documentation/ComingFrom/SwiftyDB.md", "Documentation/ComingFrom/SwiftyDB.zh-Hans.md")
        // docs: show

        for row in try await store.dictionaries(Dog.where { $0.name == "Puppy" }) {
            print(row["name"] ?? .null, row["ownerId"] ?? .null, row["birth"] ?? .null)
        }
        print(try await store.rows("SELECT count(*) FROM Dog WHERE name LIKE \("P%")")[0][0])
        // docs: hide
        try printed(in: "Documentation/ComingFrom/SwiftyDB.md", "Documentation/ComingFrom/SwiftyDB.zh-Hans.md")
        // docs: show

        var dogs = store.observe(Dog.sorted { $0.name }).makeAsyncIterator()
        print(try await dogs.next()?.map(\.name) ?? [])
        try await store.insert(Dog(name: "Bella"))
        print(try await dogs.next()?.map(\.name) ?? [])

        print(try Store.pendingMigration(temporary("dogs.sqlite"), for: Dog.self).changes.count, "schema changes")
        let memory = try Store.inMemory(for: Dog.self)
        print(try await memory.count(Dog.all))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/SwiftyDB.md", "Documentation/ComingFrom/SwiftyDB.zh-Hans.md")
        // docs: show

    }
}
