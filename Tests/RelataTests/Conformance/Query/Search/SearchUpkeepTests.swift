import Relata
import Testing

/// The index of a search stays current with every kind of write.
@Suite struct SearchUpkeepTests {
    @Test(arguments: Engine.allCases) func everyKindOfWriteUpdatesTheIndex(_ engine: Engine) throws {
        let library = try SearchLibrary(engine)
        let store = library.store
        var tune = try store.insert(Ballad(title: "Quartz", lyrics: "granite"))
        #expect(try library.titles("granite") == ["Quartz"])
        tune.lyrics = "basalt"
        try store.save(tune)
        #expect(try library.titles("granite") == [])
        #expect(try library.titles("basalt") == ["Quartz"])
        try store.update(Ballad.self, id: tune.id) { $0.lyrics = nil }
        #expect(try library.titles("basalt") == [])
        try store.update(Ballad.where { $0.title == "Quartz" }) { $0.title.set(to: "Gneiss") }
        #expect(try library.titles("gneiss") == ["Gneiss"])
        try store.delete(tune)
        #expect(try library.titles("gneiss") == [])
        // By a cascade.
        try store.delete(library.moons)
        #expect(try library.titles("moon") == ["Waiting"])
        #expect(try store.fetch(LongPlayer.search("stars")).isEmpty)
        #expect(try store.check() == [])
    }

    @Test(arguments: Engine.allCases) func keysOfEveryKindAreFound(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Verse.self, LongPlayer.self)
        try store.insert((1...300).map { Verse(book: $0 % 2 == 0 ? "a" : "b", number: $0, text: "verse v\($0)") })
        #expect(try store.fetch(Verse.search("v77")).map(\.number) == [77])
        #expect(try store.count(Verse.search("verse")) == 300)
        try store.delete(Verse.where { $0.book == "a" })
        #expect(try store.count(Verse.search("verse")) == 150)
        #expect(try store.count(Verse.where { $0.matches("v7*") }) == 6)
        let player = try store.save(LongPlayer(name: "Obsidian"))
        #expect(try store.fetch(LongPlayer.search("obsidian")).map(\.id) == [player.id])
        #expect(try store.check() == [])
    }

    @Test(arguments: Engine.allCases) func transactionsSearchTheirOwnWrites(_ engine: Engine) throws {
        let library = try SearchLibrary(engine)
        struct Refusal: Error {}
        #expect(throws: Refusal.self) {
            try library.store.write { transaction in
                try transaction.insert(Ballad(title: "Feldspar"))
                #expect(try transaction.fetch(Ballad.search("feldspar")).count == 1)
                throw Refusal()
            }
        }
        #expect(try library.titles("feldspar") == [])
        try library.store.write { transaction in
            try? transaction.savepoint { inner in
                try inner.insert(Ballad(title: "Mica"))
                throw Refusal()
            }
            try transaction.insert(Ballad(title: "Shale"))
        }
        #expect(try library.titles("mica OR shale") == ["Shale"])
        #expect(try library.store.check() == [])
    }

    @Test(arguments: Engine.allCases) func rawSQLUpdatesTheIndex(_ engine: Engine) throws {
        let library = try SearchLibrary(engine)
        try library.store.execute("UPDATE \(name: "Ballad") SET title = 'Marble' WHERE year = 1961")
        #expect(try library.titles("marble").count == 2)
        #expect(try library.titles("river") == [])
    }

    @Test(arguments: Engine.allCases) func indexesAreRebuilt(_ engine: Engine) throws {
        let library = try SearchLibrary(engine)
        #expect(try library.store.rebuildSearch() == ["Ballad", "LongPlayer", "Verse"])
        #expect(try library.titles("moon").count == 3)
        #expect(try library.titles("月亮").count == 1)
        try library.store.insert(Ballad(title: "Slate"))
        #expect(try library.titles("slate") == ["Slate"])
        #expect(try library.store.check() == [])
    }

    @Test(arguments: Engine.allCases) func indexesAreRebuiltWithAwait(_ engine: Engine) async throws {
        let library = try SearchLibrary(engine)
        #expect(try await library.store.rebuildSearch() == ["Ballad", "LongPlayer", "Verse"])
        #expect(try library.titles("moon").count == 3)
        #expect(try await library.store.check() == [])
    }
}
