import Foundation
import Relata
import RelataCore
import RelataRecords
import RelataEngine
import RelataEngines
import RelataTesting
import TestEngines
import Testing

@Model private struct Squad {
    @Attribute(.primaryKey) let name: String
    @Attribute(.unique) var rank: Int
    var captain: ToOne<Sailor>?
    @Relationship(inverse: \Sailor.squad, ordered: true) var sailors: ToMany<Sailor>
    @Relationship(inverse: \Badge.squads, ordered: true) var badges: ToMany<Badge>
}

@Model private struct Sailor {
    @Attribute(.primaryKey) let name: String
    @Attribute(.unique) var number: Int
    @Attribute(.range(0...9)) var stars: Int
    var squad: ToOne<Squad>?
    var friend: ToOne<Sailor>?
    @Relationship(inverse: \Squad.captain) var leads: HasOne<Squad>
}

@Model private struct Badge {
    @Attribute(.primaryKey) let name: String
    var squads: ToMany<Squad>
}

/// Plans of random saves, each done to models in one file and to records in another.
@Suite(.onEveryEngine) struct TwoDoorsTests {
    /// A squad or a sailor to save.
    private enum Item {
        case squad(name: String, rank: Int, captain: String?, sailors: [Change], badges: [Change])
        case sailor(name: String, number: Int, stars: Int, squad: Owner?, friend: String?)
    }

    /// The edits of a list.
    private enum Change {
        case set([String])
        case add(String)
        case remove(String)
        /// A sailor that isn't stored yet.
        case addNew(String, number: Int)
    }

    private enum Owner {
        case stored(String)
        case new(String, rank: Int)
    }

    private struct Plans {
        var random: SampleRandom
        var serial = 100

        mutating func plan() -> [Item] {
            let numbers = Array(0..<8).shuffled(using: &random)
            let isOfSquads = Bool.random(using: &random)
            let names = (isOfSquads ? ["A", "B", "C"] : ["a", "b", "c", "d", "e"]).shuffled(using: &random)
            return names.prefix(Int.random(in: 1...names.count, using: &random)).enumerated().map { place, name in
                isOfSquads ? squad(name, numbers[place]) : sailor(name, numbers[place])
            }
        }

        private mutating func squad(_ name: String, _ rank: Int) -> Item {
            .squad(
                name: name, rank: rank, captain: optional { $0.sailor() },
                sailors: changes(of: ["a", "b", "c", "d", "e"], areSailors: true),
                badges: changes(of: ["x", "y", "z"], areSailors: false))
        }

        private mutating func sailor(_ name: String, _ number: Int) -> Item {
            .sailor(
                name: name, number: number,
                // The value is sometimes beyond the limit.
                stars: Int.random(in: 0..<40, using: &random) == 0 ? 10 : Int.random(in: 0...9, using: &random),
                squad: optional { plans in
                    guard Int.random(in: 0..<5, using: &plans.random) == 0 else {
                        return .stored(["A", "B", "C"].randomElement(using: &plans.random) ?? "")
                    }
                    plans.serial += 1
                    return .new("N\(plans.serial)", rank: plans.serial)
                }, friend: optional { $0.sailor() })
        }

        private mutating func sailor() -> String { ["a", "b", "c", "d", "e"].randomElement(using: &random) ?? "" }

        private mutating func optional<Part>(_ part: (inout Plans) -> Part) -> Part? {
            Bool.random(using: &random) ? part(&self) : nil
        }

        private mutating func changes(of names: [String], areSailors: Bool) -> [Change] {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return []
            case 1: return [.set(Array(names.shuffled(using: &random).prefix(2)))]
            case 2 where areSailors:
                serial += 1
                return [.addNew("n\(serial)", number: serial)]
            default:
                let names = names.shuffled(using: &random)
                return [.add(names[0]), .remove(names[1]), .add(names[2])]
            }
        }
    }

    // MARK: Doors

    private func save(_ plan: [Item], to store: Store) throws {
        try store.write { tx in
            var squads: [Squad] = []
            var sailors: [Sailor] = []
            for item in plan {
                switch item {
                case .squad(let name, let rank, let captain, let members, let badges):
                    var squad = Squad(name: name, rank: rank, captain: captain.map { ToOne(id: $0) })
                    for change in members {
                        switch change {
                        case .set(let names): squad.sailors.set(ids: names)
                        case .add(let name): squad.sailors.add(id: name)
                        case .remove(let name): squad.sailors.remove(id: name)
                        case .addNew(let name, let number):
                            squad.sailors.add(Sailor(name: name, number: number, stars: 0))
                        }
                    }
                    for change in badges {
                        switch change {
                        case .set(let names): squad.badges.set(ids: names)
                        case .add(let name): squad.badges.add(id: name)
                        case .remove(let name): squad.badges.remove(id: name)
                        case .addNew: break
                        }
                    }
                    squads.append(squad)
                case .sailor(let name, let number, let stars, let owner, let friend):
                    let squad: ToOne<Squad>? =
                        switch owner {
                        case .stored(let name)?: ToOne(id: name)
                        case .new(let name, let rank)?: ToOne(Squad(name: name, rank: rank))
                        case nil: nil
                        }
                    sailors.append(
                        Sailor(
                            name: name, number: number, stars: stars, squad: squad, friend: friend.map { ToOne(id: $0) }
                        ))
                }
            }
            try tx.save(squads)
            try tx.save(sailors)
        }
    }

    private func save(_ plan: [Item], to store: RecordStore) async throws {
        func link(_ entity: String, _ name: String) -> RecordLink { RecordLink(entity, key: KeyValue(.text(name))) }
        func value(_ entity: String, _ name: String?) -> RecordValue { name.map { .link(link(entity, $0)) } ?? .null }
        let records = plan.map { item in
            switch item {
            case .squad(let name, let rank, let captain, let members, let badges):
                var squad = Record(
                    "Squad", ["name": .text(name), "rank": .integer(rank), "captain": value("Sailor", captain)])
                for (field, entity, changes) in [("sailors", "Sailor", members), ("badges", "Badge", badges)] {
                    for change in changes {
                        switch change {
                        case .set(let names): squad[field] = .links(names.map { link(entity, $0) })
                        case .add(let name): squad.add(link(entity, name), to: field)
                        case .remove(let name): squad.remove(link(entity, name), from: field)
                        case .addNew(let name, let number):
                            squad.add(
                                Record("Sailor", ["name": .text(name), "number": .integer(number), "stars": 0]),
                                to: field)
                        }
                    }
                }
                return squad
            case .sailor(let name, let number, let stars, let owner, let friend):
                let squad: RecordValue =
                    switch owner {
                    case .stored(let name)?: value("Squad", name)
                    case .new(let name, let rank)?:
                        .link(Record("Squad", ["name": .text(name), "rank": .integer(rank)]))
                    case nil: .null
                    }
                return Record(
                    "Sailor",
                    [
                        "name": .text(name), "number": .integer(number), "stars": .integer(stars), "squad": squad,
                        "friend": value("Sailor", friend),
                    ])
            }
        }
        try await store.save(records)
    }

    /// All rows of all tables, as text.
    private func rows(_ path: String) throws -> [String] {
        let connection = try DatabaseLocation(path).connect(isReadOnly: true)
        defer { try? connection.close() }
        return try Introspection.tables(of: connection).flatMap { table in
            try connection.values(SQLStatement("SELECT * FROM \(connection.dialect.quote(table.name))"), types: [])
                .map { "\(table.name): \($0.map(\.description).joined(separator: ", "))" }
        }.sorted()
    }

    private static func kind(_ error: any Error) -> String {
        String("\(error as? RelataError ?? .invalidUse("\(error)"))".prefix { $0 != ":" })
    }

    /// `RELATA_TWO_DOORS_SEEDS` in the environment sets the number of plans.
    private static var seeds: Range<UInt64> {
        0..<(ProcessInfo.processInfo.environment["RELATA_TWO_DOORS_SEEDS"].flatMap { UInt64($0) } ?? 4)
    }

    @Test(arguments: seeds) func aPlanGivesTheSameTablesThroughModelsAndThroughRecords(_ seed: UInt64) async throws {
        let folder = try TestDatabases()
        let (one, other) = (try folder.path("models.sqlite"), try folder.path("records.sqlite"))
        let models = try { try Store.open(one, for: Squad.self, Sailor.self, Badge.self) }()
        // The same tables.
        _ = try { try Store.open(other, for: Squad.self, Sailor.self, Badge.self) }()
        let records = try RecordStore.open(other, mode: .production)
        for name in ["x", "y", "z"] {
            try await models.save(Badge(name: name))
            try await records.save(Record("Badge", ["name": .text(name)]))
        }
        var plans = Plans(random: SampleRandom(seed: seed))
        var (done, refused) = (0, 0)
        for step in 0..<120 {
            let plan = plans.plan()
            var errors: (models: String?, records: String?) = (nil, nil)
            do { try save(plan, to: models) } catch { errors.models = Self.kind(error) }
            do { try await save(plan, to: records) } catch { errors.records = Self.kind(error) }
            #expect((errors.models == nil) == (errors.records == nil), "seed \(seed), step \(step): \(errors)\n\(plan)")
            let (expected, found) = (try rows(one), try rows(other))
            try #require(expected == found, "seed \(seed), step \(step): \(plan)")
            if errors.models == nil { done += 1 } else { refused += 1 }
        }
        #expect(done > 30 && refused > 5, "seed \(seed): \(done) done, \(refused) refused")
    }
}
