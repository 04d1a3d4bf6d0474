import Foundation
import Relata
import RelataTesting
import Testing

@Model struct Gamer {
    let id: ID<Gamer>
    @Attribute(.unique, .notEmpty) var name: String
    var badges: ToMany<Badge>
    @Relationship(deleteRule: .cascade, inverse: \GameScore.gamer) var scores: ToMany<GameScore>
}

@Model struct GameScore {
    let id: ID<GameScore>
    @Attribute(.range(0...)) var points: Int
    var level: String?
    var gamer: ToOne<Gamer>?
    @Attribute(.createdAt) var createdAt: Date = .distantPast
    @Attribute(.updatedAt) var updatedAt: Date = .distantPast
}

@Model struct Badge {
    @Attribute(.primaryKey) let title: String
    @Relationship(inverse: \Gamer.badges) var gamers: ToMany<Gamer>
}

@Test func gameComingFromParse() async throws {
    try await example {
        let store = try await Store.open(temporary("game.sqlite"), for: GameScore.self)
        var ada = Gamer(name: "Ada")
        ada.badges.add(Badge(title: "First win"))
        let first = try await store.save(GameScore(points: 10, gamer: ToOne(ada)))

        try await store.update(ada.id) { $0.scores.add([GameScore(points: 3), GameScore(points: 120, level: "moon")]) }
        print(first.points, try await store.fetch(ada.related { $0.scores }.sorted { $0.points }).map(\.points))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/ParseSwift.md", "Documentation/ComingFrom/ParseSwift.zh-Hans.md")
        // docs: show

        let fetched = try await store.fetch(GameScore.self, id: first.id)
        let query = GameScore.where { $0.points > 5 && $0.level.in(["moon", "sea"]) }
            .sorted { $0.points.descending }
            .limit(10)
        let best = try await store.first(query)
        print(fetched?.points ?? 0, try await store.fetch(query).count, best?.points ?? 0, try await store.count(query))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/ParseSwift.md", "Documentation/ComingFrom/ParseSwift.zh-Hans.md")
        // docs: show

        let scores = GameScore.where { $0.gamer.name == "Ada" }
        let winners = Gamer.where { $0.badges.contains { $0.title == "First win" } && $0.scores.count > 2 }
        let either = GameScore.where { $0.points < 5 || $0.points > 100 }
        print(try await store.count(scores), try await store.fetch(winners).map(\.name), try await store.count(either))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/ParseSwift.md", "Documentation/ComingFrom/ParseSwift.zh-Hans.md")
        // docs: show

        let withGamer = GameScore.where { $0.points > 5 }.sorted { $0.points }.including { $0.gamer.badges }
        for score in try await store.fetch(withGamer) {
            let gamer = try score.gamer?.object
            print(score.points, gamer?.name ?? "", try gamer?.badges.objects.map(\.title) ?? [])
        }

        let top = Gamer.all.including { $0.scores.sorted { $0.points.descending }.limit(2) }
        print(try await store.fetch(top).map { try $0.scores.objects.map(\.points) })
        // docs: hide
        try printed(in: "Documentation/ComingFrom/ParseSwift.md", "Documentation/ComingFrom/ParseSwift.zh-Hans.md")
        // docs: show

        try await store.update(first.id) { $0.points = 200 }
        try await store.update(first.id) { $0.points += 1 }  // read and written in one transaction
        try await store.update(GameScore.where { $0.level != nil }) { $0.level.set(to: nil) }
        print(try await store.fetch(GameScore.sorted { $0.points }).map(\.points))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/ParseSwift.md", "Documentation/ComingFrom/ParseSwift.zh-Hans.md")
        // docs: show

        print(try await store.deletionPlan(for: ada).deletedKeys(of: "GameScore").count, "scores would go")
        try await store.delete(GameScore.where { $0.points < 5 })
        print(try await store.count(GameScore.all), "scores left")
        // docs: hide
        try printed(in: "Documentation/ComingFrom/ParseSwift.md", "Documentation/ComingFrom/ParseSwift.zh-Hans.md")
        // docs: show

        let results = try await store.saveEach([GameScore(points: 1), GameScore(points: -5)])
        for result in results {
            switch result {
            case .success(let saved): print((saved as? GameScore)?.points ?? 0)
            case .failure(let error): print(error)
            }
        }
        try await store.save([GameScore(points: 7), GameScore(points: 8)])  // all or nothing
        // docs: hide
        try printed(in: "Documentation/ComingFrom/ParseSwift.md", "Documentation/ComingFrom/ParseSwift.zh-Hans.md")
        // docs: show

        let high = GameScore.where { $0.points > 50 }.sorted { $0.points }
        var live = store.observe(high).differences.makeAsyncIterator()
        print("at first:", try await live.next()?.inserted.map(\.element.points) ?? [])
        try await store.write { tx in
            try tx.update(first.id) { $0.points = 1 }
            try tx.insert(GameScore(points: 60))
        }
        if let change = try await live.next() {
            print("entered:", change.inserted.map(\.element.points), "left:", change.removed.map(\.element.points))
        }
        // docs: hide
        try printed(in: "Documentation/ComingFrom/ParseSwift.md", "Documentation/ComingFrom/ParseSwift.zh-Hans.md")
        // docs: show

        print(try Store.pendingMigration(temporary("game.sqlite"), for: GameScore.self).changes.count, "schema changes")
        print(try await store.rows("SELECT max(points) FROM GameScore")[0][0])
        let task = store.perform {
            try await $0.count(Gamer.all)
        } completion: { result in
            print((try? result.get()) ?? 0, "gamer")
        }
        // docs: hide
        await task.value
        // docs: show
        // docs: hide
        try printed(in: "Documentation/ComingFrom/ParseSwift.md", "Documentation/ComingFrom/ParseSwift.zh-Hans.md")
        // docs: show

    }
}
