import Foundation
import Relata
import Synchronization
import Testing

@Model private struct Measurement {
    @Attribute(.primaryKey) let number: Int
    @Attribute(.range(0...)) var value: Double
    var note: String
}

/// Saving what comes one object at a time.
@Suite struct SequenceTests {
    private struct Broken: Error {}

    private func measurements(_ count: Int) -> some Sequence<Measurement> {
        (1...count).lazy.map { Measurement(number: $0, value: Double($0), note: "measured as number \($0)") }
    }

    @Test(arguments: Engine.allCases) func aSequenceIsInsertedInOneTransaction(engine: Engine) async throws {
        let log = Mutex<[String]>([])
        var options = Store.Options()
        options.trace = { sql, _ in log.withLock { $0.append(sql) } }
        let store = try TestStore.make(engine, for: Measurement.self, options: options)
        log.withLock { $0 = [] }
        #expect(try await store.insert(contentsOf: measurements(2500)) == 2500)
        #expect(log.withLock { $0.count { $0.hasPrefix("BEGIN") } } == 1)
        #expect(try await store.value(of: Measurement.all) { $0.value.sum() } == 2500 * 2501 / 2)
        #expect(try await store.insert(contentsOf: EmptyCollection<Measurement>()) == 0)
        #expect(try await store.save(contentsOf: measurements(3000)) == 3000)
        #expect(try await store.count(Measurement.all) == 3000)
    }

    @Test(arguments: Engine.allCases) func failedSequencesWriteNothing(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Measurement.self)
        // A value in the third thousand breaks its limit.
        let error = await thrown {
            try await store.insert(
                contentsOf: (1...5000).lazy.map { Measurement(number: $0, value: $0 == 2500 ? -1 : 1, note: "") })
        }
        #expect(error?.failures == ["value"])
        #expect(try await store.count(Measurement.all) == 0)
        // A key that already exists.
        try await store.insert(Measurement(number: 1800, value: 1, note: ""))
        #expect(await thrown { try await store.insert(contentsOf: measurements(3000)) }?.kind == "alreadyExists")
        #expect(try await store.count(Measurement.all) == 1)
        // Inside a transaction that continues.
        try await store.write { tx in
            try tx.insert(Measurement(number: -1, value: 1, note: ""))
            #expect(throws: RelataError.self) { try tx.insert(contentsOf: measurements(3000)) }
            try tx.insert(contentsOf: (-10...(-5)).map { Measurement(number: $0, value: 1, note: "") })
        }
        #expect(try await store.count(Measurement.all) == 8)
    }

    @Test(arguments: Engine.allCases) func eachThousandOfAnAsyncSequenceIsATransaction(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Measurement.self)
        func arriving(_ count: Int, failing: Bool = false) -> AsyncThrowingStream<Measurement, any Error> {
            let (stream, continuation) = AsyncThrowingStream<Measurement, any Error>.makeStream()
            for object in measurements(count) { continuation.yield(object) }
            continuation.finish(throwing: failing ? Broken() : nil)
            return stream
        }
        #expect(try await store.insert(contentsOf: arriving(2500)) == 2500)
        #expect(try await store.save(contentsOf: arriving(3000)) == 3000)
        #expect(try await store.save(contentsOf: arriving(3000)) == 3000)
        #expect(try await store.count(Measurement.all) == 3000)
        #expect(try await store.insert(contentsOf: AsyncStream<Measurement> { nil }) == 0)
        try await store.delete(Measurement.all)
        // Complete batches before an error stay stored, regardless of who throws it.
        await #expect(throws: Broken.self) { try await store.insert(contentsOf: arriving(2500, failing: true)) }
        #expect(try await store.count(Measurement.all) == 2000)
        let error = await thrown { try await store.insert(contentsOf: arriving(10)) }
        #expect(error?.kind == "alreadyExists")
        #expect(try await store.count(Measurement.all) == 2000)
    }

    @Test(arguments: Engine.allCases) func cancellingStopsEndlessSequences(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Measurement.self)
        let task = Task {
            try await store.insert(
                contentsOf: (1...).lazy.map { number in
                    if number == 5000 { withUnsafeCurrentTask { $0?.cancel() } }
                    return Measurement(number: number, value: 1, note: "")
                })
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await store.count(Measurement.all) == 0)
    }

    @Test(arguments: Engine.allCases) func sequencesMayLinkToEarlierAndNewObjects(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Folder.self)
        var parents: [ID<Folder>] = []
        let count = try store.save(
            contentsOf: (0..<2200).lazy.map { number in
                var folder = Folder(name: "\(number)", parent: parents.last.map { ToOne(id: $0) })
                if number % 500 == 0 { folder.children.add(Folder(name: "new of \(number)")) }
                parents.append(folder.id)
                return folder
            })
        #expect(count == 2200)
        #expect(try store.count(Folder.all) == 2205)
        #expect(try store.count(Folder.where { $0.parent == nil }) == 1)
    }
}
