import Foundation
import Relata
import RelataTesting
import Testing

/// SQLite's query plans: an index if one helps, and a scan of the table if all of its rows are wanted.
@Suite struct PlanTests {
    let recorder = StatementRecorder()

    /// The steps of the plans of the statements that were run.
    private func plans(_ store: Store) throws -> [String] {
        try recorder.statements.flatMap { sql in
            try store.rows(SQL(stringLiteral: "EXPLAIN QUERY PLAN " + sql)).compactMap { $0.last?.description }
        }
    }

    @Test(arguments: Engine.sqlite) func fetchingAllObjectsUsesNoKeyListsAndAPartNoScan(
        _ engine: Engine
    ) throws {
        let store = try Series.three(engine, options: recorder.options)
        let all = Series.all.including { $0.episodes.including { $0.history } }
        let whole = try recorder.expectQueries(3) { try store.fetch(all) }
        // An episode may have no history, and most have none: so they are looked up.
        #expect(try plans(store).filter { $0.contains("VIRTUAL TABLE") }.count == 1)
        let part = try recorder.expectIndexed(on: store) { try store.fetch(all.where { $0.id.in([1, 2, 3]) }) }
        #expect(whole.sorted { $0.title < $1.title } == part.sorted { $0.title < $1.title })
    }

    @Test(arguments: Engine.sqlite) func partsOfAllKindsAreReadByKeys(_ engine: Engine) throws {
        let store = try Series.three(engine, options: recorder.options)
        let all = try store.fetch(Series.all)
        for query in [
            Series.where { $0.title != "" }, Series.matching("title != ''"), Series.sorted { $0.id }.limit(3),
            Series.sorted { $0.id }.limit(9, offset: 0).where { $0.id > 0 },
        ] {
            _ = try recorder.expectQueries(2) { try store.fetch(query.including { $0.episodes }) }
            #expect(try plans(store).contains { $0.contains("VIRTUAL TABLE") })
        }
        recorder.reset()
        _ = try store.load(all) { $0.episodes }
        #expect(try plans(store).contains { $0.contains("VIRTUAL TABLE") })
    }

    @Test(arguments: Engine.sqlite) func aTreeIsReadByAnIndex(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Folder.self, options: recorder.options)
        let root = try store.insert(Folder(name: "root"))
        try store.insert(["a", "b"].map { Folder(name: $0, parent: ToOne(root)) })
        let roots = try recorder.expectIndexed(on: store) {
            try store.fetch(Folder.where { $0.parent == nil }.including { $0.children.recursive() })
        }
        #expect(try roots.map { try $0.children.objects.map(\.name) } == [["a", "b"]])
    }

    @Test(arguments: Engine.sqlite) func anIndexFindsEmptyText(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Consignment.self)
        #expect(try store.explain(Consignment.where { $0.sender.isEmpty }).plan.contains { $0.contains("SEARCH") })
        #expect(try store.explain(Consignment.where { $0.sender ?? "" == "x" }).plan.contains { $0.contains("SCAN") })
    }

    @Test(arguments: Engine.sqlite) func indexesServeBothSides(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let (ash, one) = (discs.ash, Label(name: "One"))
        let plan = try discs.store.explain(Disc.where { $0.band == ash } || Disc.where { $0.label == one }).plan
        #expect(!plan.contains { $0.hasPrefix("SCAN") }, "\(plan)")
    }

    @Test(arguments: Engine.sqlite) func indexesServeMovedDates(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Lending.self)
        let now = Discs.date("2024-03-01T00:00:00Z")
        let plan = try store.explain(Lending.where { $0.lent + .days(14) > now }).plan
        #expect(plan.contains { $0.contains("SEARCH") && $0.contains("lent") }, "\(plan)")
    }

    @Test(arguments: Engine.sqlite) func explanationsShowStatementValuesAndPlan(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let ash = discs.ash
        let found = try discs.store.explain(Disc.where { $0.band == ash && $0.copies > 4 })
        #expect(found.sql.hasPrefix("SELECT") && found.parameters.count == 2)
        #expect(found.plan.contains { $0.hasPrefix("SEARCH") })
        #expect(found.description.contains("?2 = 4"))
        #expect(try discs.store.explain(Disc.where { $0.notes == "x" }).plan.contains { $0.hasPrefix("SCAN") })
    }
}
