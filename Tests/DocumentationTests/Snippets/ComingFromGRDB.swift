import Foundation
import Relata
import RelataTesting
import Testing

@Model struct Club {
    var id: Int?
    @Attribute(.unique) var name: String
    @Relationship(deleteRule: .cascade, inverse: \Player.club) var players: ToMany<Player>
}

@Model struct Player {
    var id: Int?
    @Attribute(.notEmpty) var name: String
    var score: Int = 0
    var club: ToOne<Club>?
    var awards: ToMany<Award>
}

@Model struct Award {
    @Attribute(.primaryKey) let title: String
    @Relationship(inverse: \Player.awards) var players: ToMany<Player>
}

// docs: hide
/// The season as it was in the first version of the program.
enum OldLeague {
    @Model struct Season {
        var id: Int?
        var name: String
        var began: String
    }
}
// docs: show

@Model struct Season {
    var id: Int?
    var name: String
    var motto: String?
    @Attribute(originalName: "began") var year: Int
}

@Test func leagueComingFromGRDB() async throws {
    try await example {
        let store = try await Store.open(temporary("league.sqlite"), for: Player.self)
        var arthur = Player(name: "Arthur", score: 100, club: ToOne(Club(name: "Reds")))
        arthur.awards.add(Award(title: "Rookie of the year"))
        arthur = try await store.insert(arthur)
        print("player", arthur.id ?? 0, "of club", arthur.club?.id ?? 0)

        // And from the other side.
        try await store.update(Club.self, id: 1) {
            $0.players.add([Player(name: "Barbara", score: 1000), Player(name: "Craig", score: 10)])
        }
        // docs: hide
        try printed(in: "Documentation/ComingFrom/GRDB.md", "Documentation/ComingFrom/GRDB.zh-Hans.md")
        // docs: show

        let player = try await store.fetch(Player.self, id: 1)
        let best = try await store.fetch(Player.sorted { $0.score.descending }.limit(2))
        let count = try await store.count(Player.all)
        print(player?.name ?? "nobody", best.map(\.name), count)
        // docs: hide
        try printed(in: "Documentation/ComingFrom/GRDB.md", "Documentation/ComingFrom/GRDB.zh-Hans.md")
        // docs: show

        let reds = Player.where { $0.score > 50 && $0.club.name == "Reds" }
        let winners = Player.where { $0.awards.contains { $0.title.hasPrefix("Rookie") } }
        let large = Club.where { $0.players.count >= 3 }
        print(try await store.fetch(reds).map(\.name), try await store.fetch(winners).map(\.name))
        print(try await store.fetch(large).map(\.name))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/GRDB.md", "Documentation/ComingFrom/GRDB.zh-Hans.md")
        // docs: show

        let clubs = try await store.fetch(
            Club.sorted { $0.name }.including {
                $0.players.sorted { $0.score.descending }.limit(2).including { $0.awards }
            })
        for club in clubs {
            for player in try club.players.objects {
                print(club.name, player.name, try player.awards.objects.map(\.title))
            }
        }

        let figures = Club.sorted { $0.name }.select { ($0.name, $0.players.count, $0.players.sum { $0.score }) }
        for (name, players, score) in try await store.fetch(figures) { print(name, players, score) }
        // docs: hide
        try printed(in: "Documentation/ComingFrom/GRDB.md", "Documentation/ComingFrom/GRDB.zh-Hans.md")
        // docs: show

        try await store.update(Player.self, id: 1) { $0.score += 5 }
        try await store.update(Player.where { $0.score < 50 }) { $0.score.set(to: $0.score + 20) }
        let blues = try await store.save(Club(name: "Blues"), matching: { $0.name })
        print(try await store.fetch(Player.sorted { $0.id }).map(\.score), blues.name)
        // docs: hide
        try printed(in: "Documentation/ComingFrom/GRDB.md", "Documentation/ComingFrom/GRDB.zh-Hans.md")
        // docs: show

        let report = try await store.delete(Player.self, id: 3)
        print(report.deletedCount, "deleted")
        print(try await store.deletionPlan(for: Club.where { $0.name == "Reds" }).sorted())
        // docs: hide
        try printed(in: "Documentation/ComingFrom/GRDB.md", "Documentation/ComingFrom/GRDB.zh-Hans.md")
        // docs: show

        let results = try await store.saveEach([Player(name: "Dora", score: 1), Player(name: "", score: 2)])
        for result in results {
            switch result {
            case .success(let player): print("saved", (player as? Player)?.name ?? "")
            case .failure(let error): print(error)
            }
        }
        // docs: hide
        try printed(in: "Documentation/ComingFrom/GRDB.md", "Documentation/ComingFrom/GRDB.zh-Hans.md")
        // docs: show

        var leaders = store.observe(Player.sorted { $0.score.descending }).makeAsyncIterator()
        print(try await leaders.next()?.map(\.name) ?? [])
        try await store.update(Player.self, id: 1) { $0.score = 2000 }
        print(try await leaders.next()?.map(\.name) ?? [])
        // docs: hide
        try printed(in: "Documentation/ComingFrom/GRDB.md", "Documentation/ComingFrom/GRDB.zh-Hans.md")
        // docs: show

    }
}

@Test func migrationComingFromGRDB() async throws {
    try await example {
        // docs: hide
        let old = try await Store.open(temporary("seasons.sqlite"), for: OldLeague.Season.self)
        try await old.insert(OldLeague.Season(name: "The first", began: "1998 (in May)"))
        try old.close()
        // docs: show
        var options = Store.Options()
        options.migrations = [
            MigrationStep("years are numbers", taking: .changing("Season.year")) { tx in
                try tx.execute("UPDATE Season SET year = CAST(year AS INTEGER)")
            }
        ]
        let seasons = try await Store.open(temporary("seasons.sqlite"), for: Season.self, options: options)
        print(try await seasons.fetch(Season.all).map(\.year))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/GRDB.md", "Documentation/ComingFrom/GRDB.zh-Hans.md")
        // docs: show

    }
}

@Test func sqlComingFromGRDB() async throws {
    try await example {
        // docs: hide
        let store = try await Store.open(temporary("league.sqlite"), for: Player.self)
        try await store.insert([Player(name: "Arthur", score: 5), Player(name: "Dora", score: 1)])
        // docs: show
        let sums = try await store.read { tx in try tx.rows("SELECT SUM(score) FROM Player") }
        try await store.write { tx in
            _ = try tx.execute("UPDATE Player SET score = \(0) WHERE name = \("Dora")")
            try tx.update(Player.self, id: 1) { $0.score += 1 }
        }
        print(sums[0][0], try await store.fetch(Player.sorted { $0.id }).map(\.score))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/GRDB.md", "Documentation/ComingFrom/GRDB.zh-Hans.md")
        // docs: show

        let recorder = StatementRecorder()  // of the product RelataTesting
        let memory = try Store.inMemory(for: Player.self, options: recorder.options)
        try await memory.insert(Player(name: "Eve", club: ToOne(Club(name: "Greens"))))
        try await recorder.expectQueries(2) { _ = try await memory.fetch(Club.all.including { $0.players }) }
        // docs: hide
        #expect(!recorder.statements.isEmpty)
        // docs: show
    }
}
