import Foundation
import Relata
import Synchronization
import Testing

/// Tasks that make one call after another, and find a connection each time, leave the threads to others.
@Suite(.serialized) struct FairnessTests {
    /// The stop signal of the loops, and the number of calls they made.
    private final class Loops: Sendable {
        /// So many calls of a loop take some seconds: by then a task that gets no thread has had its time.
        private let limit: Int
        private let isStopped = Atomic<Bool>(false)
        let calls = Atomic<Int>(0)
        let exhausted = Atomic<Int>(0)
        /// The progress of the others.
        let ticks = Atomic<Int>(0)
        let saves = Atomic<Int>(0)

        init(limit: Int) { self.limit = limit }

        func stop() { isStopped.store(true, ordering: .relaxed) }

        func run(_ call: () async throws -> Void) async throws {
            for _ in 0..<limit {
                if isStopped.load(ordering: .relaxed) { return }
                try await call()
                calls.add(1, ordering: .relaxed)
            }
            exhausted.add(1, ordering: .relaxed)
            stop()
        }
    }

    /// Has many tasks loop over a call while a clock ticks and a writer saves; both must end before any loop has made
    /// all its calls.
    private func expectOthersGoOn(
        _ store: Store, tasks: Int, limit: Int, _ call: @escaping @Sendable (Store) async throws -> Void
    ) async throws {
        let loops = Loops(limit: limit)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<tasks { group.addTask { try await loops.run { try await call(store) } } }
            group.addTask {
                try await withThrowingTaskGroup(of: Void.self) { others in
                    others.addTask {
                        for _ in 0..<20 {
                            try await Task.sleep(for: .milliseconds(10))
                            loops.ticks.add(1, ordering: .relaxed)
                        }
                    }
                    others.addTask {
                        for number in 0..<20 {
                            _ = try await store.save(History(id: 1000 + number, progress: 1))
                            loops.saves.add(1, ordering: .relaxed)
                            try await Task.sleep(for: .milliseconds(1))
                        }
                    }
                    try await others.waitForAll()
                }
                loops.stop()
            }
            try await group.waitForAll()
        }
        let counts = "\(loops.ticks.load(ordering: .relaxed)) ticks, \(loops.saves.load(ordering: .relaxed)) saves"
        #expect(loops.exhausted.load(ordering: .relaxed) == 0, "\(counts)")
        #expect(loops.ticks.load(ordering: .relaxed) == 20 && loops.saves.load(ordering: .relaxed) == 20, "\(counts)")
        #expect(loops.calls.load(ordering: .relaxed) > 0)
    }

    private static let cores = ProcessInfo.processInfo.activeProcessorCount

    private func makeStore(_ engine: Engine) throws -> Store {
        let store = try TestStore.make(engine, for: History.self)
        try store.insert((1...500).map { History(id: $0, progress: 1) })
        return store
    }

    /// Runs each job on a new thread, so that a suspension is a further job.
    private final class ThreadForEachJob: TaskExecutor {
        let jobs = Atomic<Int>(0)

        func enqueue(_ job: consuming ExecutorJob) {
            jobs.add(1, ordering: .relaxed)
            let job = UnownedJob(job)
            Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    @Test(arguments: Engine.embedded) func aSingleFetchOnAFreeConnectionNeverLeavesItsThread(_ engine: Engine)
        async throws
    {
        let store = try makeStore(engine)
        let executor = ThreadForEachJob()
        try await Task(executorPreference: executor) {
            let before = executor.jobs.load(ordering: .relaxed)
            let history = try await store.fetch(History.self, id: 7)
            #expect(history?.id == 7)
            #expect(executor.jobs.load(ordering: .relaxed) == before)
            // A loop lets others run, which this executor would notice.
            for _ in 0..<2000 { _ = try await store.fetch(History.self, id: 7) }
            #expect(executor.jobs.load(ordering: .relaxed) > before)
        }.value
    }

    @Test(arguments: Engine.shared, [1, 3]) func loopsOfFetchesLetOthersRun(_ engine: Engine, _ factor: Int)
        async throws
    {
        try await expectOthersGoOn(try makeStore(engine), tasks: Self.cores * factor, limit: 400_000) {
            _ = try await $0.fetch(History.self, id: 7)
        }
    }

    @Test(arguments: Engine.shared) func loopsOfTransactionsAndLongFetchesLetOthersRun(_ engine: Engine) async throws {
        try await expectOthersGoOn(try makeStore(engine), tasks: Self.cores, limit: 20_000) { store in
            _ = try await store.read { try $0.fetch(History.all).count }
        }
    }

    @Test(arguments: Engine.shared) func loopsOfWritesLetOthersRun(_ engine: Engine) async throws {
        try await expectOthersGoOn(try makeStore(engine), tasks: Self.cores, limit: 100_000) {
            _ = try await $0.update(History.self, id: 7) { $0.progress += 1 }
        }
    }

    @Test(arguments: Engine.shared) func loopsOverStreamsLetOthersRun(_ engine: Engine) async throws {
        try await expectOthersGoOn(try makeStore(engine), tasks: Self.cores, limit: 10_000) { store in
            for try await _ in store.stream(History.all) {}
        }
    }
}
