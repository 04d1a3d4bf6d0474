import Relata
import Testing

@Model private struct Basket {
    var id: Int?
    var fruits: ToMany<Fruit>
    @Relationship(ordered: true) var ranking: ToMany<Fruit>
    @Relationship(inverse: \Fruit.crate) var rest: ToMany<Fruit>
}

@Model private struct Fruit {
    var id: Int?
    var name: String
    var crate: ToOne<Basket>?
}

/// A list without an order has no places.
@Suite struct UnorderedListTests {
    @Test(arguments: Engine.allCases) func positionsInUnorderedListsAreRefused(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Basket.self)
        let fruits = try store.save(["a", "b"].map { Fruit(name: $0) })
        let basket = try store.save(Basket(fruits: ToMany(fruits), ranking: ToMany(fruits), rest: ToMany(fruits)))
        let loaded = try store.load(basket) {
            $0.fruits
            $0.rest
        }
        let edits: [(String, (inout Basket) throws -> Void)] = [
            ("fruits", { try $0.fruits.insert(Fruit(name: "c"), at: 0) }),
            ("fruits", { try $0.fruits.move(from: 0, to: 1) }),
            ("fruits", { $0.fruits.place(fruits[1], after: nil) }),
            ("rest", { $0.rest.place(id: fruits[1].id ?? 0, after: fruits[0].id) }),
        ]
        for (name, edit) in edits {
            var edited = loaded
            try edit(&edited)
            let error = thrown { try store.save(edited) }
            #expect(error?.kind == "invalidUse" && "\(error as Any)".contains("Basket.\(name) isn't ordered"))
        }
        #expect(try store.count(Fruit.all) == 2)
        try store.update(Basket.self, id: basket.id ?? 0) { $0.ranking.place(fruits[1], after: nil) }
        #expect(try store.related(to: basket) { $0.ranking }.map(\.name) == ["b", "a"])
    }
}
