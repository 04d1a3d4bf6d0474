import Foundation
import Relata
import RelataCore
import RelataTesting
import Testing

// Everything may be hidden, so nothing is required.

@Model private struct Knot {
    var id: Int?
    var name: String
    var level: Int
    var parent: ToOne<Knot>?
    @Relationship(inverse: \Knot.parent) var children: ToMany<Knot>
    var friends: ToMany<Knot>
    @Relationship(inverse: \Knot.friends) var fans: ToMany<Knot>
    @Relationship(ordered: true) var favourites: ToMany<Knot>
    var bag: ToOne<Bag>?
    @Relationship(inverse: \Pairing.knot) var pairings: ToMany<Pairing>
}

@Model private struct Bag {
    var id: Int?
    var name: String
    var level: Int
    @Relationship(inverse: \Knot.bag, ordered: true) var knots: ToMany<Knot>
    @Relationship(inverse: \Seam.bag) var seam: HasOne<Seam>
    @Relationship(inverse: \Pairing.bag, order: \Pairing.position) var pairings: ToMany<Pairing>
    @Relationship(through: \Bag.pairings, \Pairing.knot) var paired: Through<Knot>
}

@Model private struct Seam {
    var id: Int?
    var name: String
    var level: Int
    var bag: ToOne<Bag>?
}

@Model private struct Pairing {
    var id: Int?
    var position: Int
    var level: Int
    var bag: ToOne<Bag>?
    var knot: ToOne<Knot>?
}

@Shape(of: Knot.self) private struct KnotCard {
    var name: String
    @From(\.bag.name) var bagName: String?
    @Count(\.friends) var friendCount: Int
    @Sum(\.children.level) var levels: Int
    @Exists(\.fans) var hasFans: Bool
    var parent: Name?
    var children: [Name]
    var fans: [Name]
    var favourites: [Name]
    var bag: BagCard?
    @From(\.parent.children) var siblings: [Name]
    @Shape(of: Knot.self) struct Name { var name: String }
    @Shape(of: Bag.self) struct BagCard {
        var name: String
        var seam: SeamCard?
        var knots: [Name]
        var pairings: [PairingCard]
    }
    @Shape(of: Seam.self) struct SeamCard { var name: String }
    @Shape(of: Pairing.self) struct PairingCard {
        var position: Int
        var knot: Name?
    }
}

@Shape(of: Knot.self) private struct KnotTree {
    var name: String
    var children: [KnotTree]
}

/// Stores in which objects are hidden, against stores in which they were never stored.
@Suite struct AccessOracleTests {
    @Test(arguments: Engine.allCases, [1, 2, 3, 4, 5, 6] as [UInt64])
    func hiddenObjectsAppearNowhere(_ engine: Engine, _ seed: UInt64) throws {
        var run = try AccessOracle(engine, seed: seed)
        run.compareFetches()
        run.compareTrees()
        run.compareShapes()
        run.compareMembers()
        run.comparePages()
        run.compareAfterWriting()
    }
}

private struct AccessOracle {
    let limited: Store
    let rest: Store
    let note: Testing.Comment
    var random: SampleRandom
    private static let count = 12
    private var count: Int { Self.count }

    /// Fills one store with all objects, and the other with those that the caller sees.
    init(_ engine: Engine, seed: UInt64) throws {
        var random = SampleRandom(seed: seed)
        let count = Self.count
        let guarded = ["Knot", "Bag", "Seam", "Pairing"].filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
        note = "seed \(seed), guarded \(guarded)"
        let all = try TestStore.make(engine, for: Knot.self)
        let rest = try TestStore.make(engine, for: Knot.self)
        let levels = ["Knot", "Bag", "Seam", "Pairing"].map { name in
            (name, (0...count).map { _ in Int.random(in: 0...3, using: &random) })
        }
        let level = Dictionary(uniqueKeysWithValues: levels)
        func isSeen(_ entity: String, _ id: Int?) -> Bool {
            id.map { !guarded.contains(entity) || (level[entity]?[$0] ?? 0) > 0 } ?? false
        }
        func link<M: Model>(_ model: M.Type, _ id: Int?, in store: Store) -> ToOne<M>? where M.Key == Int {
            id.flatMap { store === rest && !isSeen(M.entityName, $0) ? nil : ToOne(id: $0) }
        }
        func other() -> Int? {
            Int.random(in: 0..<4, using: &random) == 0 ? nil : Int.random(in: 1...count, using: &random)
        }
        let parents = (0...count).map {
            $0 > 1 && Bool.random(using: &random) ? Int.random(in: 1..<$0, using: &random) : nil
        }
        let (bags, seams) = ((0...count).map { _ in other() }, (1...count).shuffled(using: &random))
        let pairs = (0...count).map { _ in (other(), other()) }
        let lists = (0...count).map { _ in
            (0..<2).map { _ in Array((1...count).shuffled(using: &random).prefix(Int.random(in: 0...4, using: &random)))
            }
        }
        for store in [all, rest] {
            let isAll = store === all
            for id in 1...count where isAll || isSeen("Bag", id) {
                try store.insert(Bag(id: id, name: "bag \(id)", level: level["Bag"]?[id] ?? 0))
            }
            for id in 1...count where isAll || isSeen("Knot", id) {
                var knot = Knot(id: id, name: "knot \(id % 5)", level: level["Knot"]?[id] ?? 0)
                knot.parent = link(Knot.self, parents[id], in: store)
                knot.bag = link(Bag.self, bags[id], in: store)
                try store.insert(knot)
            }
            for id in 1...count where isAll || isSeen("Knot", id) {
                try store.update(Knot.self, id: id) { knot in
                    for friend in lists[id][0] where isAll || isSeen("Knot", friend) { knot.friends.add(id: friend) }
                    for friend in lists[id][1] where isAll || isSeen("Knot", friend) { knot.favourites.add(id: friend) }
                }
            }
            for id in 1...count where isAll || isSeen("Seam", id) {
                var seam = Seam(id: id, name: "seam \(id)", level: level["Seam"]?[id] ?? 0)
                if id % 4 > 0 { seam.bag = link(Bag.self, seams[id - 1], in: store) }
                try store.insert(seam)
            }
            for id in 1...count where isAll || isSeen("Pairing", id) {
                var pairing = Pairing(id: id, position: id % 4, level: level["Pairing"]?[id] ?? 0)
                pairing.bag = link(Bag.self, pairs[id].0, in: store)
                pairing.knot = link(Knot.self, pairs[id].1, in: store)
                try store.insert(pairing)
            }
        }
        limited = try all.seeing(
            Dictionary(
                uniqueKeysWithValues: guarded.map {
                    ($0, .comparison(.greater, .property(scope: 0, path: ["level"]), .value(0), []))
                }))
        (self.rest, self.random) = (rest, random)
    }

    /// The queries of both stores.
    private func compare<Answer: Equatable>(
        _ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ ask: (Store) throws -> Answer
    ) {
        do {
            let expected = try ask(rest)
            do {
                #expect(try ask(limited) == expected, "\(note.rawValue), \(what)", sourceLocation: sourceLocation)
            } catch {
                Issue.record("\(note.rawValue), \(what): \(error)", sourceLocation: sourceLocation)
            }
        } catch {
            Issue.record("\(note.rawValue), \(what), nothing hidden: \(error)", sourceLocation: sourceLocation)
        }
    }

    // MARK: Texts

    private func names(_ knots: [Knot]) -> String { knots.map { "\($0.id ?? 0)" }.joined(separator: " ") }

    private func text(_ bag: Bag?) throws -> String {
        guard let bag else { return "-" }
        let pairings = try bag.pairings.objects.map { "\($0.id ?? 0)>\($0.knot?.loaded?.id ?? 0)" }
        return try "\(bag.name) (\(names(bag.knots.objects)); \(bag.seam.object?.name ?? "-"); \(pairings); "
            + "\(names(bag.paired.objects)))"
    }

    private func text(_ knot: Knot) throws -> String {
        try "\(knot.id ?? 0) \(knot.name): \(knot.parent?.loaded?.id ?? 0); \(names(knot.children.objects)); "
            + "\(names(knot.friends.objects)); \(names(knot.fans.objects)); \(names(knot.favourites.objects)); "
            + "\(text(knot.bag?.loaded))"
    }

    private func with(_ query: Query<Knot>) -> Query<Knot> {
        query.including {
            $0.parent
            $0.children.sorted { $0.name.descending }
            $0.friends.where { $0.level != 2 }
            $0.fans.limit(2)
            $0.favourites
            $0.bag.including {
                $0.knots
                $0.seam
                $0.pairings.including { $0.knot }
                $0.paired
            }
        }
    }

    // MARK: Asking

    func compareFetches() {
        let queries: [(String, Query<Knot>)] = [
            ("all", Knot.all),
            (
                "sorted",
                Knot.sorted {
                    $0.name; $0.id
                }
            ),
            (
                "by bag",
                Knot.sorted {
                    $0.bag.name; $0.parent.name.descending; $0.id
                }
            ),
            ("no parent", Knot.where { $0.parent == nil }),
            ("no bag", Knot.where { $0.bag == nil || $0.bag.level > 1 }),
            ("children", Knot.where { $0.children.count > 1 || $0.fans.any { $0.level == 1 } }),
            ("favourites", Knot.where { $0.favourites.all { $0.level > 1 } }),
            ("text", Knot.matching("bag.name BEGINSWITH 'bag' AND ANY friends.parent.level > 1")),
            ("seam", Knot.where { $0.bag.seam != nil }),
        ]
        for (name, query) in queries {
            compare(name) { try $0.fetch(with(query)).map(text).sorted() }
            compare("\(name), some") { try $0.fetch(with(query.sorted { $0.id }.limit(4))).map(text) }
            compare("\(name), count") { try $0.count(query) }
            compare("\(name), exists") { try $0.exists(query) }
            compare("\(name), sum") { try $0.value(of: query) { $0.level.sum() } }
            compare("\(name), rows") {
                try $0.fetch(query.sorted { $0.id }.select { ($0.id, $0.parent.name.optional, $0.friends.count) }).map {
                    "\($0)"
                }
            }
        }
        compare("ids") { try $0.fetch(Knot.self, ids: Array(1...count)).map { $0?.name } }
        for id in 1...count { compare("id \(id)") { try $0.fetch(Knot.self, id: id)?.name } }
        compare("required") {
            try $0.fetch(
                Knot.sorted { $0.id }.including {
                    $0.bag.required; $0.children.required
                }
            ).map(\.id)
        }
        compare("bags") {
            try $0.fetch(
                Bag.all.including {
                    $0.knots; $0.seam; $0.pairings.including { $0.knot }; $0.paired
                }
            ).map(text).sorted()
        }
        compare("pairings") {
            try $0.fetch(
                Pairing.sorted { $0.id }.including {
                    $0.bag; $0.knot
                }
            ).map {
                "\($0.id ?? 0) \($0.bag?.loaded?.name ?? "-") \($0.knot?.loaded?.name ?? "-")"
            }
        }
    }

    func compareTrees() {
        func tree(_ knot: Knot) throws -> String {
            try "\(knot.id ?? 0)(\(knot.children.objects.map(tree).joined(separator: " ")))"
        }
        func chain(_ knot: Knot) -> String { "\(knot.id ?? 0)<\(knot.parent?.loaded.map(chain) ?? "")" }
        compare("tree") {
            try $0.fetch(Knot.sorted { $0.id }.including { $0.children.recursive() }).map(tree)
        }
        compare("chain") { try $0.fetch(Knot.sorted { $0.id }.including { $0.parent.recursive() }).map(chain) }
        for id in 1...count {
            compare("descendants of \(id)") { store in
                let knot = Knot(id: id, name: "", level: 0)
                return Set(try store.fetch(knot.descendants { $0.children }).map(\.id))
                    .union(try store.fetch(knot.descendants { $0.friends }).map { ($0.id ?? 0) + 100 })
            }
        }
        compare("shapes of a tree") { try $0.fetch(KnotTree.sorted { $0.id }).map { "\($0)" } }
    }

    func compareShapes() {
        compare("shapes") { try $0.fetch(KnotCard.sorted { $0.id }).map { "\($0)" } }
        compare("all shapes") { try $0.fetch(KnotCard.all).map { "\($0)" }.sorted() }
        compare("shape by key") { try $0.fetch(KnotCard.self, id: 3).map { "\($0)" } }
        compare("page of shapes") { store in
            let page = try store.page(
                KnotCard.sorted {
                    $0.bag.name; $0.id
                }, size: 3)
            let next = try store.page(
                KnotCard.sorted {
                    $0.bag.name; $0.id
                }, size: 3, after: page.next)
            return (page.objects + next.objects).map { "\($0)" }
        }
    }

    /// Lists of objects that may be hidden themselves.
    func compareMembers() {
        for id in 1...count {
            compare("members of knot \(id)") { store in
                try [
                    store.related(to: Knot.self, id: id) { $0.children }.map(\.id),
                    store.related(to: Knot.self, id: id) { $0.friends }.map(\.id),
                    store.related(to: Knot.self, id: id) { $0.favourites }.map(\.id),
                    [store.related(to: Knot.self, id: id) { $0.bag }?.id],
                ]
            }
            compare("members of bag \(id)") { store in
                try [
                    store.related(to: Bag.self, id: id) { $0.knots }.map(\.id),
                    [store.related(to: Bag.self, id: id) { $0.seam }?.id],
                ]
            }
            // The object was fetched before it was hidden.
            compare("loaded of knot \(id)") { store in
                let knot = try store.load(Knot(id: id, name: "", level: 0)) {
                    $0.children; $0.friends; $0.fans
                }
                return try [knot.children.objects, knot.friends.objects, knot.fans.objects].map(names)
            }
        }
    }

    func comparePages() {
        compare("pages") { store in
            var ids: [Int?] = []
            var place: PagePosition?
            repeat {
                let page = try store.page(
                    Knot.sorted {
                        $0.bag.name; $0.level
                    }, size: 3, after: place)
                ids += page.objects.map(\.id)
                place = page.next
            } while place != nil
            return ids
        }
    }

    mutating func compareAfterWriting() {
        let bound = Int.random(in: 1...3, using: &random)
        compare("update") { try $0.update(Knot.where { $0.bag.level < bound }) { $0.name.set(to: "new") } }
        compare("update of friends") {
            try $0.update(Knot.where { $0.friends.count > 1 }) { $0.name.set(to: $0.name + "!") }
        }
        compare("updated") { try $0.fetch(with(Knot.sorted { $0.id })).map(text) }
        let seams = Seam.where { $0.bag.level >= bound || $0.bag == nil }
        compare("plan") { try $0.deletionPlan(for: seams).deletedCount }
        compare("deletion") { try Set($0.delete(seams).deletedKeys(of: "Seam")) }
        compare("what is left") { try $0.fetch(Seam.sorted { $0.id }).map(\.id) }
    }
}
