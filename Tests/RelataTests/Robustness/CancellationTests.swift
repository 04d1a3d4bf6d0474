import Foundation
import Relata
import Synchronization
import RelataTesting
import Testing

/// Cancelled tasks leave no partial writes, and block nobody.
@Suite struct CancellationTests {
    @Test(arguments: Engine.embedded) func waitingTasksAreCancelledImmediately(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        let gate = Gate()
        let writer = Thread.run {
            try store.write { _ in
                gate.stop()
            }
        }
        await gate.stopped()
        let tasks = (0..<10).map { number in
            Task { try await store.insert(Author(name: "\(number)")) }
        }
        try await Task.sleep(for: .milliseconds(10))
        for task in tasks.prefix(9) { task.cancel() }
        // The writer still holds the store.
        for task in tasks.prefix(9) {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        gate.open()
        try await writer.value
        _ = try await tasks[9].value
        #expect(try await store.fetch(Author.all).map(\.name) == ["9"])
    }

    @Test(arguments: Engine.allCases) func cancelledTransactionsAreRolledBack(engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        let wrote = Mutex(0)
        let task = Task {
            try await store.write { tx in
                for number in 0..<100 {
                    try tx.insert(Author(name: "\(number)"))
                    wrote.withLock { $0 += 1 }
                    if number == 50 { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(wrote.withLock { $0 } > 50)
        #expect(try await store.count(Author.all) == 0)
        // The batch itself stops, too.
        let batch = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.insert((0..<10_000).map { Author(name: "\($0)") })
        }
        await #expect(throws: CancellationError.self) { try await batch.value }
        #expect(try await store.count(Author.all) == 0)
        try await store.insert(Author(name: "after"))
        #expect(try await store.count(Author.all) == 1)
    }

    @Test(arguments: Engine.allCases) func endlessQueriesAreStopped(engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        let endless: SQL = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
        let read = Task { try await store.rows(endless) }
        let write = Task {
            try await store.write { tx in
                try tx.insert(Author(name: "never"))
                _ = try tx.rows(endless)
            }
        }
        // Not in a task: tasks that run forever may occupy all threads.
        let thread = Thread {
            usleep(20_000)
            read.cancel()
            write.cancel()
        }
        thread.start()
        await #expect(throws: CancellationError.self) { try await read.value }
        await #expect(throws: CancellationError.self) { try await write.value }
        #expect(try await store.count(Author.all) == 0)
    }

    @Test(arguments: Engine.embedded) func hangingRegularExpressionsAreStopped(engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        // Each text takes a few hundredths of a second, and all of them take minutes.
        let text = String(repeating: "a", count: 20)
        try await store.insert((0..<4000).map { Author(name: text + "\($0)") })
        let reading = Task { try await store.count(Author.where { $0.name.matches("(a+)+c") }) }
        let writing = Task { try await store.delete(Author.matching("name MATCHES '(a+)+c'")) }
        let thread = Thread {
            usleep(50_000)
            reading.cancel()
            writing.cancel()
        }
        thread.start()
        await #expect(throws: CancellationError.self) { try await reading.value }
        await #expect(throws: CancellationError.self) { try await writing.value }
        #expect(try await store.count(Author.all) == 4000)
    }

    /// A search that was broken off hasn't found out whether the text fits.
    @Test(arguments: Engine.allCases) func cancelledSavesDoNotBlameAText(engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Event.self)
        let texts = ["AB12", "no code", "AB" + String(repeating: "1", count: 20_000)]
        for text in texts {
            let task = Task {
                try await store.write { tx in
                    withUnsafeCurrentTask { $0?.cancel() }
                    _ = try tx.save(Event(title: "t", code: text))
                }
            }
            let error = await #expect(throws: (any Error).self) { try await task.value }
            #expect(error is CancellationError, "\(error as Any)")
        }
        #expect(try await store.count(Event.all) == 0)
    }

    @Test(arguments: Engine.allCases) func cancellingAtAnyMomentKeepsPairsTogether(engine: Engine) async throws {
        let seed = UInt64.random(in: 0..<UInt64.max)
        print("seed of the cancellations: \(seed)")
        var random = SampleRandom(seed: seed)
        let store = try TestStore.make(engine, for: Series.self)
        var tasks: [Task<Bool, any Error>] = []
        for number in 0..<150 {
            let task = Task {
                var series = Series(title: "\(number)")
                series.episodes.add((0..<5).map { Episode(title: "\(number).\($0)") })
                do {
                    _ = try await store.save(series)
                    return true
                } catch is CancellationError {
                    return false
                }
            }
            tasks.append(task)
            if Bool.random(using: &random) {
                let delay = Int.random(in: 0..<3000, using: &random)
                Task {
                    try? await Task.sleep(for: .microseconds(delay))
                    task.cancel()
                }
            }
        }
        var saved: Set<String> = []
        for (number, task) in tasks.enumerated() where try await task.value { saved.insert("\(number)") }
        // Exactly the acknowledged writes are stored.
        let series = try await store.fetch(Series.all.including { $0.episodes })
        #expect(Set(series.map(\.title)) == saved, "seed \(seed)")
        for one in series { #expect(try one.episodes.objects.count == 5, "seed \(seed)") }
        #expect(try await store.count(Episode.all) == saved.count * 5, "seed \(seed)")
    }
}
