import Foundation
import Relata
import Testing

/// Calls of the store inside its own transactions: an error if they would wait for themselves forever.
@Suite struct NestingTests {
    @Test(arguments: Engine.allCases) func nestedWritesAreErrorsAndTheOuterOneContinues(engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        try store.writeInSync { tx in
            try tx.insert(Author(name: "outer"))
            let error = thrown { try store.insert(Author(name: "inner")) }
            #expect(error?.kind == "invalidUse")
            #expect("\(error as Any)".contains("use the transaction that is open"))
            #expect(thrown { try store.count(Author.all) }?.kind == "invalidUse")
            try tx.insert(Author(name: "outer too"))
        }
        // The same from the async call, whose closure isn't async.
        try await store.write { tx in
            #expect(thrown { try store.insert(Author(name: "inner")) }?.kind == "invalidUse")
            #expect(thrown { try store.read { try $0.count(Author.all) } }?.kind == "invalidUse")
            try tx.insert(Author(name: "third"))
        }
        #expect(try await store.fetch(Author.all).map(\.name).sorted() == ["outer", "outer too", "third"])
    }

    @Test(arguments: Engine.shared) func writesInAReadAreInvisibleToIt(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        let counts = try await store.read { tx in
            let before = try tx.count(Author.all)
            try store.insert(Author(name: "written meanwhile"))
            return [before, try tx.count(Author.all), try store.count(Author.all)]
        }
        #expect(counts == [0, 0, 1])
    }

    @Test(arguments: Engine.allCases) func nestedReadsWorkAtAnyDepth(engine: Engine) async throws {
        var options = Store.Options()
        options.maximumReaders = 3
        let store = try TestStore.make(engine, for: Author.self, options: options)
        try await store.insert(Author(name: "a"))
        func depth(_ level: Int) throws -> Int {
            try store.readInSync { tx in
                #expect(try tx.count(Author.all) == 1)
                return level == 10 ? level : try depth(level + 1)
            }
        }
        #expect(try depth(1) == 10)
        // The same from the async call, whose closure isn't async, and in the middle of a query.
        let names = try await store.read { tx in
            var names: [String] = []
            try tx.forEach(Author.all) { author in names += try store.fetch(Author.all).map { author.name + $0.name } }
            return names + [try store.page(Author.all, size: 1).objects[0].name]
        }
        #expect(names == ["aa", "a"])
        // A write within a nested read is treated as in any read.
        let error = try store.readInSync { _ in
            try store.readInSync { _ in thrown { try store.insert(Author(name: "b")) }?.kind }
        }
        #expect(error == (engine.isShared ? nil : "invalidUse"))
        #expect(try await store.count(Author.all) == (engine.isShared ? 2 : 1))
    }

    @Test(arguments: Engine.allCases) func nestedReadsOfManyThreadsDoNotDeadlock(
        engine: Engine
    ) async throws {
        var options = Store.Options()
        options.maximumReaders = 2
        let store = try TestStore.make(engine, for: Author.self, options: options)
        let threads = (0..<8).map { _ in
            Thread.run {
                for _ in 0..<20 { try store.read { _ in _ = try store.count(Author.all) } }
            }
        }
        for thread in threads { try await thread.value }
        #expect(try await store.count(Author.all) == 0)
    }
}

extension Store {
    /// The write without `async`, from a test that is async.
    func writeInSync<Result>(_ body: (WriteTransaction) throws -> Result) throws -> Result { try write(body) }

    /// The read without `async`, from a test that is async.
    func readInSync<Result>(_ body: (ReadTransaction) throws -> Result) throws -> Result { try read(body) }
}
