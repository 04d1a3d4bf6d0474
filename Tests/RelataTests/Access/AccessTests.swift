import Foundation
import Relata
import RelataCore
import RelataTesting
import Testing

extension Store {
    /// The store for a caller who sees only objects that meet the conditions.
    func seeing(_ conditions: [String: ExpressionNode]) throws -> Store {
        acting(under: try Access(conditions, in: schema))
    }
}

/// The condition that a property has a value.
func has(_ property: String, _ value: Value) -> ExpressionNode {
    .comparison(.equal, .property(scope: 0, path: [property]), .value(value), [])
}

@Shape(of: Label.self) private struct LabelDiscs {
    var name: String
    @Count(\.discs) var count: Int
    @Sum(\.discs.copies) var copies: Int
    var discs: [Title]
    @Shape(of: Disc.self) struct Title {
        var title: String
        var tags: [Keyword]
    }
}

@Shape(of: Piece.self) private struct PieceOfDisc {
    var title: String
    @From(\.disc.title) var disc: String?
    @From(\.disc.tags) var tags: [Keyword]
}

/// Hidden objects don't appear anywhere in a store.
struct AccessTests {
    /// Discs B and D are hidden, and the keyword `live`.
    private func discs(_ engine: Engine) throws -> (all: Store, seen: Store) {
        let all = try Discs(engine).store
        let isSeen = ExpressionNode.not(has("word", "live"))
        return (all, try all.seeing(["Disc": has("isLive", 0), "Keyword": isSeen]))
    }

    // MARK: Reading

    @Test(arguments: Engine.allCases) func hiddenObjectsAreNotFoundByKeyOrQuery(_ engine: Engine) throws {
        let (all, store) = try discs(engine)
        #expect(try store.fetch(Disc.self, id: 1)?.title == "A")
        #expect(try store.fetch(Disc.self, id: 2) == nil)
        #expect(try store.fetch(Disc.self, ids: [2, 3, 1]).map { $0?.title } == [nil, "C", "A"])
        #expect(try store.fetch(Disc.self, id: 2) { $0.pieces } == nil)
        #expect(try store.fetch(ids: [ObjectKey(Disc.self, 4)])[0].object(as: Disc.self) == nil)
        let hidden = try #require(try all.fetch(Disc.self, id: 2))
        #expect(thrown { try store.refresh(hidden) }?.kind == "notFound")
        #expect(try store.fetch(Disc.sorted { $0.title }).map(\.title) == ["A", "C", "E"])
        #expect(try store.first(Disc.sorted { $0.title.descending })?.title == "E")
        #expect(try store.count(Disc.all) == 3 && !store.exists(Disc.where { $0.title == "D" }))
        #expect(try store.value(of: Disc.all) { $0.copies.sum() } == 20)
        #expect(try store.dictionaries(Disc.all).count == 3)
        #expect(try store.fetch(Disc.matching("title IN {'A', 'B'}")).map(\.title) == ["A"])
        var titles: [String] = []
        try store.read { try $0.forEach(Disc.all) { titles.append($0.title) } }
        #expect(titles.sorted() == ["A", "C", "E"])
        #expect(try all.count(Disc.all) == 5)
    }

    @Test(arguments: Engine.allCases) func pagesLeaveHiddenObjectsOut(_ engine: Engine) throws {
        let store = try discs(engine).seen
        let query = Disc.sorted {
            $0.label.name
            $0.title.descending
        }
        let first = try store.page(query, size: 2)
        #expect(first.objects.map(\.title) == ["C", "E"])
        #expect(try store.page(query, size: 2, after: first.next).objects.map(\.title) == ["A"])
    }

    @Test(arguments: Engine.allCases) func linksNeverReachHiddenObjects(_ engine: Engine) throws {
        let (all, store) = try discs(engine)
        let labels = try store.fetch(Label.sorted { $0.name }.including { $0.discs.including { $0.tags } })
        #expect(try labels.map { try $0.discs.objects.map(\.title) } == [["A", "E"], [], []])
        #expect(try labels[0].discs.objects.map { try $0.tags.objects.map(\.word) } == [["rock"], ["jazz"]])
        #expect(try store.fetch(Label.where { $0.discs.count == 0 }.sorted { $0.name }).map(\.name) == ["Two", "Void"])
        #expect(try store.fetch(Label.where { $0.discs.any { $0.title == "B" } }).isEmpty)
        let bands = try store.fetch(Band.sorted { $0.name }.including { $0.discs.required })
        #expect(try bands.map { try $0.discs.objects.map(\.title) } == [["A"], ["C"], ["E"]])
        let keywords = try store.fetch(Keyword.sorted { $0.word }.including { $0.discs })
        #expect(try keywords.map { try $0.discs.objects.map(\.title) } == [["E"], ["A"]])
        #expect(try store.related(to: Label.self, id: "One") { $0.discs }.map(\.title) == ["A", "E"])
        // Links from a hidden object are hidden, too.
        let hidden = try #require(try all.fetch(Disc.self, id: 2))
        #expect(try store.related(to: hidden) { $0.pieces }.isEmpty)
        #expect(try store.related(to: hidden) { $0.tags }.isEmpty)
        let loaded = try store.load(hidden) {
            $0.pieces; $0.tags
        }
        #expect(try loaded.pieces.objects.isEmpty && loaded.tags.objects.isEmpty)
    }

    @Test(arguments: Engine.allCases) func toOnesToHiddenObjectsAreUnset(_ engine: Engine) throws {
        let store = try discs(engine).seen
        #expect(try store.count(Piece.where { $0.disc == nil }) == 4)
        #expect(try store.count(Piece.where { $0.disc == 2 }) == 0)
        #expect(try store.count(Piece.where { $0.disc.title == "B" }) == 0)
        let pieces = try store.fetch(Piece.sorted { $0.id }.including { $0.disc })
        #expect(pieces.map { $0.disc.loaded?.title } == ["A", "A", nil, nil, nil, nil, "E"])
        let rows = try store.fetch(
            Piece.sorted {
                $0.disc.title; $0.id
            }.select { ($0.id, $0.disc.copies.optional) })
        #expect(rows.map(\.0) == [20, 40, 41, 42, 10, 11, 50])
        #expect(rows.map(\.1) == [nil, nil, nil, nil, 10, 10, 3])
        #expect(try store.fetch(Piece.all.including { $0.disc.required }).count == 3)
    }

    @Test(arguments: Engine.allCases) func shapesExcludeHiddenObjects(_ engine: Engine) throws {
        let store = try discs(engine).seen
        let labels = try store.fetch(LabelDiscs.sorted { $0.name })
        #expect(labels.map(\.count) == [2, 0, 0] && labels.map(\.copies) == [13, 0, 0])
        #expect(labels.map { $0.discs.map(\.title) } == [["A", "E"], [], []])
        #expect(labels[0].discs.map { $0.tags.map(\.word) } == [["rock"], ["jazz"]])
        let pieces = try store.fetch(PieceOfDisc.sorted { $0.id })
        #expect(pieces.map(\.disc) == ["A", "A", nil, nil, nil, nil, "E"])
        #expect(pieces.map { $0.tags.map(\.word) } == [["rock"], ["rock"], [], [], [], [], ["jazz"]])
        #expect(try store.page(LabelDiscs.sorted { $0.name }, size: 1).objects.map(\.count) == [2])
    }

    @Test(arguments: Engine.allCases) func aTreeEndsAtAHiddenObject(_ engine: Engine) throws {
        let all = try TestStore.make(engine, for: Folder.self)
        let root = try all.insert(Folder(name: "root"))
        let secret = try all.insert(Folder(name: "secret", parent: ToOne(root)))
        let plain = try all.insert(Folder(name: "plain", parent: ToOne(root)))
        let inner = try all.insert(Folder(name: "inner", parent: ToOne(secret)))
        try all.insert(Folder(name: "leaf", parent: ToOne(plain)))
        let store = try all.seeing(["Folder": .not(has("name", "secret"))])
        let tree = try #require(
            try store.fetch(Folder.where { $0.name == "root" }.including { $0.children.recursive() }).first)
        #expect(try tree.children.objects.map(\.name) == ["plain"])
        #expect(try tree.children.objects[0].children.objects.map(\.name) == ["leaf"])
        let roots = try store.fetch(Folder.where { $0.parent == nil }.sorted { $0.name })
        #expect(roots.map(\.name) == ["inner", "root"])
        let up = try store.fetch(Folder.where { $0.name == "inner" }.including { $0.parent.recursive() })
        #expect(up[0].parent?.loaded == nil && up[0].id == inner.id)
        #expect(Set(try store.fetch(root.descendants { $0.children }).map(\.name)) == ["plain", "leaf"])
    }

    @Test(arguments: Engine.allCases) func throughLinksNeverReachHiddenObjects(_ engine: Engine) throws {
        let all = try TestStore.make(engine, for: Setlist.self)
        try all.insert([Tune(name: "a"), Tune(name: "b")])
        let setlist = try all.insert(Setlist(name: "s"))
        for (position, tune) in ["a", "b", "a"].enumerated() {
            try all.insert(SetlistItem(position: position, setlist: ToOne(setlist), tune: ToOne(id: tune)))
        }
        let store = try all.seeing(["Tune": .not(has("name", "b"))])
        let found = try #require(
            try store.fetch(
                Setlist.all.including {
                    $0.tunes; $0.items.including { $0.tune }
                }
            ).first)
        #expect(try found.tunes.objects.map(\.name) == ["a", "a"])
        #expect(try found.items.objects.map { $0.tune.loaded?.name } == ["a", nil, "a"])
        #expect(try store.count(Setlist.where { $0.tunes.count == 2 }) == 1)
        #expect(try store.count(Setlist.where { $0.tunes.any { $0.name == "b" } }) == 0)
        #expect(try store.related(to: setlist) { $0.tunes }.map(\.name) == ["a", "a"])
    }

    @Test func streamsAndAsyncCallsHideTheSameObjects() async throws {
        let store = try discs(.sqliteFile).seen
        var titles: [String] = []
        for try await disc in store.stream(Disc.sorted { $0.title }.including { $0.tags }) {
            titles.append(try disc.title + disc.tags.objects.map(\.word).joined())
        }
        #expect(titles == ["Arock", "C", "Ejazz"])
        #expect(try await store.fetch(Disc.self, id: 2) == nil)
        #expect(try await store.count(Disc.all) == 3)
        #expect(try await store.read { try $0.count(Disc.all) } == 3)
        #expect(try await store.write { try $0.count(Disc.all) } == 3)
    }

    // MARK: Writing

    @Test(arguments: Engine.allCases) func hiddenObjectsCannotBeWritten(_ engine: Engine) throws {
        let (all, store) = try discs(engine)
        var hidden = try #require(try all.fetch(Disc.self, id: 2))
        hidden.copies = 99
        let object = hidden
        #expect(thrown { try store.update(Disc.self, id: 2) { $0.copies = 99 } }?.kind == "notFound")
        #expect(
            thrown { try store.update(Disc.self, id: 2, including: { $0.tags }) { $0.copies = 99 } }?.kind == "notFound"
        )
        #expect(thrown { try store.update(object) }?.kind == "notFound")
        #expect(thrown { try store.save(object) }?.kind == "notFound")
        #expect(thrown { try store.save([object]) }?.kind == "notFound")
        #expect(thrown { try store.save(object, Label(name: "New")) }?.kind == "notFound")
        #expect(thrown { try store.update([object] as [any Model]) }?.kind == "notFound")
        #expect(thrown { try store.save(contentsOf: [object]) }?.kind == "notFound")
        #expect(try store.saveEach([object]).map { (try? $0.get()) == nil } == [true])
        #expect(try store.delete(Disc.self, id: 2).deletedCount == 0)
        #expect(try store.delete(object).deletedCount == 0)
        #expect(try store.delete(Disc.where { $0.title == "B" }).deletedCount == 0)
        #expect(try all.fetch(Disc.self, id: 2)?.copies == 0)
        // Visible objects are written as usual.
        try store.update(Disc.self, id: 1) { $0.copies = 11 }
        _ = try store.save(Disc(id: 6, title: "F", band: ToOne(id: try #require(all.first(Band.all)?.id))))
        #expect(try all.fetch(Disc.self, id: 1)?.copies == 11 && all.count(Disc.all) == 6)
    }

    @Test(arguments: Engine.allCases) func updatesByQueryLeaveHiddenObjectsUnchanged(_ engine: Engine) throws {
        let (all, store) = try discs(engine)
        #expect(try store.update(Disc.all) { $0.copies.set(to: 1) } == 3)
        #expect(try store.update(Disc.where { $0.tags.any { $0.word == "live" } }) { $0.copies.set(to: 2) } == 0)
        #expect(try all.fetch(Disc.sorted { $0.id }).map(\.copies) == [1, 0, 1, -3, 1])
        // An update that hides the object that it changes.
        #expect(try store.update(Disc.where { $0.title == "A" }) { $0.isLive.set(to: true) } == 1)
        #expect(try store.count(Disc.all) == 2)
    }

    @Test(arguments: Engine.allCases) func deletionsCountHiddenObjectsWithoutNamingThem(_ engine: Engine) throws {
        let (all, store) = try discs(engine)
        let ash = try #require(try all.first(Band.where { $0.name == "Ash" }))
        let plan = try store.deletionPlan(for: ash)
        #expect(plan.deletedKeys(of: "Disc").map(\.values) == [[1]])
        #expect(plan.deleted.first { $0.entity == "Disc" }?.hiddenCount == 1)
        #expect(plan.description.contains("Disc: 1 object (1) and 1 hidden"))
        // Only the disc A and the keyword `rock` are named; the other rows have hidden discs or keywords.
        #expect(plan.removedJoinRows.first?.pairs.map(\.target.values) == [["rock"]])
        #expect(plan.removedJoinRows.first?.count == 3)
        #expect(plan.nullified.isEmpty || plan.nullified[0].hiddenCount == 0)
        let report = try store.delete(ash)
        #expect(report.sorted() == plan.sorted() && report.deletedCount == plan.deletedCount)
        // The rules also apply to hidden objects.
        #expect(try all.fetch(Disc.self, id: 2) == nil && all.fetch(Disc.self, id: 1) == nil)
    }

    @Test(arguments: Engine.allCases) func hiddenObjectsDenyWithoutBeingNamed(_ engine: Engine) throws {
        let all = try TestStore.make(engine, for: Trunk.self)
        try all.insert([Trunk(name: "a"), Trunk(name: "b")])
        try all.insert([Denying(id: 1, trunk: ToOne(id: "a")), Denying(id: 2, trunk: ToOne(id: "b"))])
        let store = try all.seeing(["Denying": has("id", 2)])
        let plan = try store.deletionPlan(for: Trunk.all)
        #expect(plan.blockers.map(\.object.description) == ["Denying 2"] && plan.hiddenBlockerCount == 1)
        let error = thrown { try store.delete(Trunk.self, id: "a") }
        #expect(error?.kind == "deleteDenied")
        #expect(error?.description.contains("Denying") == false && error?.description.contains("hidden") == true)
        #expect(try all.count(Trunk.all) == 2)
    }

    // MARK: Following

    @Test func observersNeverSeeHiddenObjects() async throws {
        let (all, store) = try discs(.sqliteFile)
        var titles = store.observe(Disc.sorted { $0.title }).makeAsyncIterator()
        #expect(try await titles.next()?.map(\.title) == ["A", "C", "E"])
        var second = store.observe(Disc.self, id: 2).makeAsyncIterator()
        #expect(try await second.next() == .some(nil))
        var count = store.observe(countOf: Disc.all).makeAsyncIterator()
        #expect(try await count.next() == 3)
        var everything = all.observe(countOf: Disc.all).makeAsyncIterator()
        #expect(try await everything.next() == 5)
        // The first commit changes nothing for these observers; the second one does.
        try await all.update(Disc.self, id: 4) { $0.copies = 5 }
        try await all.update(Disc.self, id: 2) { $0.isLive = false }
        #expect(try await titles.next()?.map(\.title) == ["A", "B", "C", "E"])
        #expect(try await second.next()??.title == "B")
        #expect(try await count.next() == 4)
    }

    @Test func theFeedAndTheLogOmitGuardedObjects() async throws {
        var options = Store.Options()
        options.changeLog = true
        let all = try Discs(.sqliteFile, options: options).store
        let store = try all.seeing(["Disc": has("isLive", 0)])
        let position = try await all.changes(after: 0).last?.position ?? 0
        var feed = store.changes.makeAsyncIterator()
        try await all.write { tx in
            try tx.update(Disc.self, id: 2) { $0.copies = 5 }
            try tx.update(Disc.self, id: 1) { $0.copies = 5 }
            try tx.update(Label.self, id: "One") { $0.country = "SE" }
        }
        let set = try #require(await feed.next())
        #expect(set.changes.filter { $0.entity == "Disc" } == [Change(entity: "Disc", kind: .unknown)])
        #expect(set.keys(of: "Label", .update).count == 1)
        let logged = try await store.changes(after: position)
        #expect(
            logged.filter { $0.change.entity == "Disc" }.allSatisfy { $0.change.keys.isEmpty && $0.versions.isEmpty })
        #expect(logged.contains { $0.change.keys.count == 1 })
    }

    // MARK: Operations that can't be limited

    @Test(arguments: Engine.allCases) func operationsThatSeeEveryRowAreRefused(_ engine: Engine) throws {
        let (_, store) = try discs(engine)
        #expect(thrown { try store.rows("SELECT * FROM Disc") }?.kind == "invalidUse")
        #expect(thrown { try store.execute("DELETE FROM Disc") }?.kind == "invalidUse")
        #expect(thrown { try store.fetch(Disc.self, sql: "SELECT * FROM Disc") }?.kind == "invalidUse")
        #expect(thrown { try store.check() }?.kind == "invalidUse")
        #expect(thrown { try store.repair([]) }?.kind == "invalidUse")
        #expect(thrown { try store.compact() }?.kind == "invalidUse")
        #expect(thrown { try store.rebuildSearch() }?.kind == "invalidUse")
        #expect(thrown { try store.backup(to: TestStore.path()) }?.kind == "invalidUse")
        #expect(thrown { try store.save(Keyword(word: "live"), matching: { $0.word }) } != nil)
    }

    @Test func accessConditionsUseOnlyTheRowItself() throws {
        let schema = try Discs(.sqliteMemory).store.schema
        let others: [ExpressionNode] = [
            .comparison(.equal, .property(scope: 0, path: ["label", "country"]), .value("NO"), []),
            .quantified(.any, RelatedSet(scope: 0, path: ["pieces"], innerScope: 1), condition: .and([])),
            has("nothing", 1), .sql([.text("1")]),
        ]
        for condition in others {
            #expect(thrown { try Access(["Disc": condition], in: schema) }?.kind == "invalidUse", "\(condition)")
        }
        #expect(thrown { try Access(["Nothing": .and([])], in: schema) }?.kind == "invalidUse")
        #expect(!Access.everything.isLimited)
    }
}
