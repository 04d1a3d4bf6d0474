import Foundation
import Relata
import Synchronization
import Testing

/// An app's own SQL that only SQLite understands.
@Suite struct StatementTests {
    @Test(arguments: Engine.sqlite) func transactionsCannotChangeTheirMode(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Author.self)
        for sql: SQL in ["BEGIN IMMEDIATE", "begin exclusive"] {
            try store.write { tx in
                #expect(thrown { try tx.execute(sql) }?.kind == "invalidUse", "\(sql)")
                #expect(thrown { try tx.rows(sql) }?.kind == "invalidUse", "\(sql)")
            }
            #expect(thrown { try store.execute(sql) }?.kind == "invalidUse", "\(sql)")
            #expect(thrown { try store.rows(sql) }?.kind == "invalidUse", "\(sql)")
            #expect(thrown { try store.read { try $0.rows(sql) } }?.kind == "invalidUse", "\(sql)")
        }
        #expect(try store.count(Author.all) == 0)
    }

    @Test(arguments: Engine.sqlite) func aPragmaChangesNoRows(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Author.self)
        try store.write { tx in
            try tx.insert([Author(name: "a"), Author(name: "b")])
            #expect(try tx.execute("UPDATE Author SET name = name || 'x'") == 2)
            #expect(try tx.execute("PRAGMA user_version = 3") == 0)
        }
    }

    @Test(arguments: Engine.sqlite) func isComparesOptionalValues(_ engine: Engine) throws {
        let store = try Discs(engine).store
        #expect(try store.rows("SELECT count(*) FROM \(name: "Disc") WHERE \(name: "rating") IS NOT \(4.5)") == [[3]])
    }

    @Test(arguments: Engine.sqlite) func updateStampsUseTheTransactionsTime(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Stamped.self)
        try store.insert(Stamped(name: "a"))
        let now = Date(timeIntervalSince1970: 1_000_000)
        let count = try store.pool.write { connection in
            try store.transaction(on: connection, now: now).update(Stamped.all) { $0.name.set(to: "b") }
        }
        #expect(count == 1)
        #expect(try store.first(Stamped.all)?.updated == now)
    }

    /// The foreign keys wait while required partners are exchanged, and no longer.
    @Test(arguments: Engine.sqlite) func referencesAreCheckedImmediatelyAfterASwap(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Runner.self)
        var runners = try store.insert((1...2).map { Runner(number: $0, bib: ToOne(Bib(code: "\($0)"))) })
        (runners[0].bib, runners[1].bib) = (runners[1].bib, runners[0].bib)
        try store.write { tx in
            try tx.save(runners)
            #expect(thrown { try tx.execute("UPDATE Runner SET pacerId = x'00'") } != nil)
        }
        #expect(try store.rows("PRAGMA foreign_key_check").isEmpty)
        #expect(try store.fetch(Runner.sorted { $0.number }).map(\.bib.id) == ["2", "1"])
    }

    @Test(arguments: Engine.sqlite) func sequencesUseAWriteTransactionFromTheStart(
        _ engine: Engine
    ) async throws {
        let log = Mutex<[String]>([])
        var options = Store.Options()
        options.trace = { sql, _ in log.withLock { $0.append(sql) } }
        let store = try TestStore.make(engine, for: Chain.self, options: options)
        log.withLock { $0 = [] }
        #expect(try await store.insert(contentsOf: (1...2500).lazy.map { Chain(id: $0) }) == 2500)
        #expect(log.withLock { $0.count { $0.hasPrefix("BEGIN IMMEDIATE") } } == 1)
    }
}
