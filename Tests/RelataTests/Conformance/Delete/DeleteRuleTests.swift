import Relata
import Testing

/// The four delete rules in both directions, for one object, many and a query; the plan is the report.
@Suite struct DeleteRuleTests {
    private func store(_ engine: Engine) throws -> Store {
        let store = try TestStore.make(
            engine, for: Trunk.self, Nullified.self, Cascaded.self, Denying.self, Dangling.self)
        try store.insert([Trunk(name: "a"), Trunk(name: "b", parent: ToOne(id: "a")), Trunk(name: "c")])
        try store.insert([Seal(name: "m"), Seal(name: "n")])
        return store
    }

    /// A short form of a report.
    private func lines(_ report: DeletionReport) -> [String] {
        let report = report.sorted()
        return report.deleted.map { "delete \($0.entity) \($0.keys)" }.sorted()
            + report.nullified.map { "unset \($0.entity).\($0.property) \($0.keys)" }.sorted()
            + report.removedJoinRows.map { "unlink \($0.relationship) \($0.count)" }.sorted()
            + report.blockers.map { "deny \($0.object) \($0.relationship) \($0.blocked)" }
    }

    /// Deletes by each way of naming the objects, each undone but the last, and checks that plan and report are one.
    private func delete(_ names: [String], _ store: Store) throws -> [String] {
        let objects = try store.fetch(Trunk.where { $0.name.in(names) })
        let query = Trunk.where { $0.name.in(names) }
        let plan = lines(try store.deletionPlan(for: query))
        #expect(lines(try store.deletionPlan(for: objects)) == plan)
        try store.write { tx in
            #expect(throws: Rollback.self) {
                try tx.savepoint { tx in
                    #expect(lines(try tx.delete(objects)) == plan)
                    throw Rollback()
                }
            }
        }
        if objects.count == 1 {
            #expect(lines(try store.deletionPlan(for: objects[0])) == plan)
            #expect(lines(try store.deletionPlan(for: Trunk.self, id: names[0])) == plan)
            #expect(lines(try store.delete(objects[0])) == plan)
        } else {
            #expect(lines(try store.delete(query)) == plan)
        }
        return plan
    }

    @Test(arguments: Engine.allCases) func deletionsApplyTheRuleToReferringObjects(_ engine: Engine) throws {
        let store = try store(engine)
        let a = ToOne<Trunk>(id: "a")
        try store.insert([Nullified(trunk: a), Nullified(trunk: ToOne(id: "b"))])
        try store.insert([Cascaded(trunk: a), Cascaded(trunk: a), Cascaded()])
        try store.insert(CascadedLeaf(owner: ToOne(id: 2)))
        try store.insert([Dangling(trunk: a)])
        try store.update(Trunk.self, id: "a") { $0.marks.set(ids: ["m", "n"]) }
        #expect(
            try delete(["a"], store) == [
                "delete Cascaded 1, 2", "delete CascadedLeaf 1", "delete Trunk a", "unset Nullified.trunk 1",
                "unset Trunk.parent b", "unlink Trunk.marks 2",
            ])
        #expect(try store.fetch(Nullified.sorted { $0.id }).map(\.trunk?.id) == [nil, "b"])
        #expect(try store.fetch(Trunk.sorted { $0.name }).map(\.parent?.id) == [nil, nil])
        #expect(try store.fetch(Cascaded.all).map(\.id) == [3])
        // A reference that dangles keeps its key, and loads as missing.
        let dangling = try #require(try store.fetch(Dangling.self, id: 1))
        #expect(dangling.trunk?.id == "a")
        #expect(try store.fetch(dangling.trunk) == nil && store.related(to: dangling) { $0.trunk } == nil)
        #expect(try store.count(Dangling.where { $0.trunk == "a" && $0.trunk.marks.isEmpty }) == 1)
        #expect(try store.count(Seal.all) == 2)
        // A missing object isn't an error, and not in the report.
        #expect(lines(try store.delete(Trunk.self, id: "a")) == [])
    }

    @Test(arguments: Engine.allCases) func denyNamesTheBlockers(_ engine: Engine) throws {
        let store = try store(engine)
        try store.insert([Denying(trunk: ToOne(id: "a")), Denying(trunk: ToOne(id: "b"))])
        try store.insert([Cascaded(trunk: ToOne(id: "a"))])
        let plan = try store.deletionPlan(for: Trunk.where { $0.name.in(["a", "c"]) })
        #expect(plan.isDenied && plan.blockers.map(\.object.description) == ["Denying 1"])
        guard case .deleteDenied(let blockers)? = thrown({ try store.delete(Trunk.self, id: "a") }) else {
            Issue.record("a deletion that is denied was done")
            return
        }
        #expect(blockers.map(\.relationship) == ["Trunk.denying"] && blockers.map(\.blocked.description) == ["Trunk a"])
        #expect(thrown { try store.delete(Trunk.all) }?.kind == "deleteDenied")
        #expect(try store.count(Trunk.all) == 3 && store.count(Cascaded.all) == 1)
        // Without the object that denies it, the deletion succeeds.
        try store.delete(Denying.self, id: 1)
        #expect(try store.delete(Trunk.self, id: "a").deletedCount == 2)
    }

    @Test(arguments: Engine.allCases) func denyIsCheckedOnceAllDeletionsAreKnown(_ engine: Engine) throws {
        let store = try store(engine)
        // The leaf denies the deletion of its guardian, but is deleted itself with its owner.
        let denying = try store.insert(Denying(mark: ToOne(id: "m")))
        let cascaded = try store.insert(Cascaded(trunk: ToOne(id: "a")))
        try store.insert(CascadedLeaf(owner: ToOne(cascaded), guardian: ToOne(denying)))
        #expect(thrown { try store.delete(denying) }?.kind == "deleteDenied")
        #expect(thrown { try store.delete(Seal.self, id: "m") }?.kind == "deleteDenied")
        #expect(try store.count(Seal.all) == 2)
        let report = try store.delete(cascaded)
        #expect(lines(report) == ["delete Cascaded 1", "delete CascadedLeaf 1"])
        #expect(lines(try store.delete(Seal.self, id: "m")) == ["delete Denying 1", "delete Seal m"])
    }

    @Test(arguments: Engine.allCases) func deletionsApplyTheRuleToTargets(_ engine: Engine) throws {
        let store = try store(engine)
        let (m, n) = (ToOne<Seal>(id: "m"), ToOne<Seal>(id: "n"))
        // cascade: the target is deleted too, with its dependents; deny: not while the target exists.
        try store.insert([Nullified(mark: m), Nullified(mark: m)])
        try store.insert([Dangling(mark: m), Dangling(mark: n)])
        try store.insert([Cascaded(mark: n)])
        #expect(thrown { try store.delete(Cascaded.self, id: 1) }?.kind == "deleteDenied")
        try store.update(Cascaded.self, id: 1) { $0.mark = nil }
        #expect(lines(try store.delete(Cascaded.self, id: 1)) == ["delete Cascaded 1"])
        let plan = try store.deletionPlan(for: Nullified.where { $0.id == 1 })
        #expect(lines(plan) == ["delete Nullified 1", "delete Seal m", "unset Nullified.mark 2"])
        #expect(lines(try store.delete(Nullified.self, id: 1)) == lines(plan))
        #expect(try store.fetch(Dangling.sorted { $0.id }).map(\.mark?.id) == ["m", "n"])
        #expect(try store.fetch(Seal.all).map(\.name) == ["n"])
        #expect(lines(try store.delete(Dangling.all)) == ["delete Dangling 1, 2"])
    }

    @Test(arguments: Engine.allCases) func aRollbackRestoresEverything(_ engine: Engine) throws {
        let store = try store(engine)
        try store.insert([Nullified(trunk: ToOne(id: "a"))])
        try store.insert([Cascaded(trunk: ToOne(id: "a"))])
        #expect(throws: Rollback.self) {
            try store.write { tx in
                try tx.delete(Trunk.all)
                #expect(try tx.count(Trunk.all) == 0 && tx.count(Cascaded.all) == 0)
                throw Rollback()
            }
        }
        #expect(try store.count(Trunk.all) == 3 && store.count(Cascaded.all) == 1)
        try store.write { tx in
            try tx.delete(Trunk.self, id: "c")
            _ = try? tx.savepoint { tx in
                try tx.delete(Trunk.self, id: "a")
                throw Rollback()
            }
            try tx.savepoint { try $0.delete(Trunk.self, id: "b") }
        }
        #expect(try store.fetch(Trunk.all).map(\.name) == ["a"])
        #expect(try store.fetch(Nullified.self, id: 1)?.trunk?.id == "a")
    }

    @Test(arguments: Engine.allCases) func deletionsByQueryUseOrderAndLimit(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let report = try discs.store.delete(Disc.sorted { $0.price.descending }.limit(2))
        #expect(report.deletedKeys(of: "Disc").count == 2 && report.deletedKeys(of: "Piece").count == 1)
        try discs.expect("ADE", Disc.all)
        try discs.store.delete(Disc.where { $0.pieces.any { $0.seconds > 250 } })
        try discs.expect("AE", Disc.all)
        #expect(try discs.store.delete(discs.ash.related { $0.discs }).deletedKeys(of: "Piece").count == 2)
        #expect(try discs.store.delete(Band.where { $0.name == "Cid" }).deletedCount == 3)
        #expect(try discs.store.count(Piece.all) == 0 && discs.store.count(Keyword.all) == 3)
    }
}
