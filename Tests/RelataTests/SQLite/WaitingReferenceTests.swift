import Relata
import RelataTesting
import Testing

@Model private struct Dancer {
    @Attribute(.primaryKey) let id: Int
    var partner: ToOne<Dancer>
}

/// Saves of objects that need each other, if the database checks references at the end.
@Suite struct WaitingReferenceTests {
    private func pair(_ id: Int) -> [Dancer] {
        [Dancer(id: id, partner: ToOne(id: id + 1)), Dancer(id: id + 1, partner: ToOne(id: id))]
    }

    @Test(arguments: Engine.sqlite) func deferringReferencesAffectsOneTransaction(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Dancer.self)
        try store.write { transaction in
            try transaction.execute("PRAGMA defer_foreign_keys = ON")
            try transaction.save(pair(1) + [Dancer(id: 9, partner: ToOne(id: 3))])
            #expect(try transaction.rows("PRAGMA foreign_key_check").count == 1)
            try transaction.save(pair(3))
        }
        try store.save(pair(5))
        #expect(try store.count(Dancer.all) == 7)
        #expect(thrown { try store.save(pair(7) + [Dancer(id: 10, partner: ToOne(id: 11))]) } != nil)
        #expect(try store.count(Dancer.all) == 7)
    }
}
