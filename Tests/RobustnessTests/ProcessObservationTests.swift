import Foundation
import Relata
import RelataRecords
import RobustnessWriter
import Testing

/// Observers of a file that another process writes to.
@Suite struct ProcessObservationTests {
    private static func store(_ path: String) throws -> Store {
        var options = Store.Options()
        options.externalChangeDelay = 0.01
        options.busyTimeout = 60
        return try open(path, Garden.models, options: options)
    }

    @Test(.timeLimit(.minutes(20))) func commitsOfAnotherProcessReachAllObservers() async throws {
        let folder = try Folder()
        let path = folder.file()
        let store = try Self.store(path)
        try await store.insert(Receipt(number: 1000, note: "mine"))
        let feed = store.changes
        var lists = store.observe(Receipt.sorted { $0.number }).makeAsyncIterator()
        var differences = store.observe(Receipt.sorted { $0.number }).differences.makeAsyncIterator()
        var count = store.observe(countOf: Receipt.all).makeAsyncIterator()
        var first = store.observe(firstOf: Receipt.sorted { $0.number }).makeAsyncIterator()
        #expect(try await lists.next()?.map(\.number) == [1000])
        #expect(try await differences.next()?.inserted.count == 1)
        #expect(try await count.next() == 1)
        #expect(try await first.next()??.number == 1000)

        // A row that is never committed: its process ends first.
        let holder = try Writer("lock", path, "BEGIN IMMEDIATE; INSERT INTO Receipt (number, note) VALUES (7, 'never')")
        #expect(holder.line() == "locked")
        try await Task.sleep(for: .milliseconds(100))
        #expect(holder.finish() == [])
        let writer = try Writer("insert", path, "3")
        #expect(writer.finish().count == 1)
        let numbers = [1, 2, 3, 1000]
        #expect(try await lists.next()?.map(\.number) == numbers)
        let difference = try #require(try await differences.next())
        #expect(difference.inserted.map(\.element.number) == [1, 2, 3] && difference.removed.isEmpty)
        #expect(try await count.next() == 4)
        #expect(try await first.next()??.number == 1)
        // Only the other process knows which rows changed.
        for await set in feed where set.touches("Receipt") {
            #expect(set.changes.allSatisfy { $0.kind == .unknown })
            break
        }
    }

    @Test(.timeLimit(.minutes(20))) func observedStatesAreCommittedStates() async throws {
        let folder = try Folder()
        let path = folder.file()
        let store = try Self.store(path)
        // The numbers of receipts, trees, leaves and the leaves' colours, and the sum of the colours' own counts.
        let states = store.observe { tx in
            let counts = [try tx.count(Receipt.all), try tx.count(Tree.all), try tx.count(Leaf.all)]
            let coloured = try tx.value(of: Leaf.all) { $0.colours.count.sum() }
            return counts + [coloured, try tx.value(of: Colour.all) { $0.leafCount.sum() }]
        }
        var observer = states.makeAsyncIterator()
        #expect(try await observer.next() == [0, 0, 0, 0, 0])
        let writer = try Writer("garden", path)
        while let state = try await observer.next() {
            // A transaction of the other process is visible completely, or not at all.
            let trees = min(state[0], Garden.treeCount)
            #expect(state[1] == trees && state[2] == trees * Garden.width * Garden.width, "\(state)")
            #expect(state[3] == state[4], "\(state)")
            if state[0] >= 10 { break }
        }
        _ = writer.kill()
        #expect(try await store.count(Receipt.all) >= 10)
    }

    @Test(.timeLimit(.minutes(20))) func recordStoresSeeWritesOfModelsInAnotherProcess() async throws {
        let folder = try Folder()
        let path = folder.file()
        let typed = try Self.store(path)
        var options = RecordStore.Options()
        options.externalChangeDelay = 0.01
        let records = try RecordStore.open(path, options: options)
        var numbers = records.observe { tx in
            try tx.fetch(RecordQuery("Receipt", sort: "number")).map { $0["number"].integer ?? 0 }
        }.makeAsyncIterator()
        #expect(try await numbers.next() == [])
        let writer = try Writer("insert", path, "3")
        #expect(writer.finish().count == 1)
        #expect(try await numbers.next() == [1, 2, 3])
        // The same for a class that another process creates.
        var visitors = records.observe(countOf: RecordQuery("Visitor")).makeAsyncIterator()
        #expect(try await visitors.next() == 0)
        let other = try Writer(
            "lock", path,
            "CREATE TABLE Visitor (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO Visitor VALUES (1, 'Ada')")
        #expect(other.line() == "locked")
        #expect(try await visitors.next() == 1)
        #expect(other.finish() == [])
        // Objects written by a store of records are seen by the store of models, which another process has open as
        // well.
        var receipts = typed.observe(countOf: Receipt.all).makeAsyncIterator()
        #expect(try await receipts.next() == 3)
        try await records.save(Record("Receipt", ["number": 4, "note": "mine"]))
        #expect(try await receipts.next() == 4)
    }

    @Test(.timeLimit(.minutes(20))) func withoutObserversNothingIsPolled() async throws {
        let folder = try Folder()
        let path = folder.file()
        let store = try Self.store(path)
        // The observer is cancelled. Later changes are still seen by the next observer, at once.
        let calls = AsyncStream.makeStream(of: Int.self)
        let observer = store.observe(Receipt.all) { calls.continuation.yield($0.count) }
        var values = calls.stream.makeAsyncIterator()
        #expect(await values.next() == 0)
        observer.cancel()
        let writer = try Writer("insert", path, "2")
        #expect(writer.finish().count == 1)
        var next = store.observe(countOf: Receipt.all).makeAsyncIterator()
        #expect(try await next.next() == 2)
        try await store.insert(Receipt(number: 9, note: ""))
        #expect(try await next.next() == 3)
        calls.continuation.finish()
        #expect(await values.next() == nil)
    }
}
