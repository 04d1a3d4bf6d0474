import Foundation
import Relata
import Synchronization
import Testing

/// Observers and calls for code without `async`: which callbacks are called, how often, and when they end.
struct CallbackTests {
    /// The calls in order, and a way to wait for one.
    private final class Calls: Sendable {
        private let made = Mutex<[String]>([])
        private let stream: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream() }

        var all: [String] { made.withLock { $0 } }

        func add(_ call: String) {
            made.withLock { $0.append(call) }
            continuation.yield()
        }

        /// Waits until that many calls were made.
        func wait(for count: Int) async {
            if all.count >= count { return }
            for await _ in stream where all.count >= count { return }
        }
    }

    /// The number of authors, which can't be read while there are more than two.
    private struct FewAuthors: ObservableRequest {
        func fetchObserved(_ transaction: ReadTransaction) throws -> Int {
            let count = try transaction.count(Author.all)
            if count > 2 { throw RelataError.invalidUse("too many authors") }
            return count
        }
    }

    @Test(.timeLimit(.minutes(20)), arguments: Engine.allCases) func errorsAreTheLastCallAndComeOnce(_ engine: Engine)
        async throws
    {
        let store = try TestStore.make(engine, for: Author.self)
        let (calls, others) = (Calls(), Calls())
        let request = FewAuthors()
        let observer = store.observe(request, onError: { calls.add("\($0)") }) { calls.add("\($0)") }
        let healthy = store.observe(Author.all, onError: { others.add("\($0)") }) { others.add("\($0.count)") }
        await calls.wait(for: 1)
        await others.wait(for: 1)
        try await store.insert(Author(name: "A"))
        await calls.wait(for: 2)
        await others.wait(for: 2)
        try await store.insert([Author(name: "B"), Author(name: "C")])
        await calls.wait(for: 3)
        await others.wait(for: 3)
        // The value could be read again now, but the observer has ended. The others continue.
        try await store.delete(Author.where { $0.name > "A" })
        await others.wait(for: 4)
        try await store.insert(Author(name: "D"))
        await others.wait(for: 5)
        #expect(calls.all.count == 3 && calls.all[..<2] == ["0", "1"] && calls.all[2].contains("too many authors"))
        #expect(others.all == ["0", "1", "3", "1", "2"])
        withExtendedLifetime((observer, healthy)) {}
    }

    @Test(.timeLimit(.minutes(20)), arguments: Engine.allCases) func anErrorAtTheStartIsTheOnlyCall(_ engine: Engine)
        async throws
    {
        let store = try TestStore.make(engine, for: Author.self)
        try store.close()
        let calls = Calls()
        let observer = store.observe(Author.all, onError: { calls.add("error: \($0)") }) { _ in calls.add("value") }
        await calls.wait(for: 1)
        let later = Calls()
        let other = store.observe(Author.all, onError: { later.add("\($0)") }) { _ in later.add("value") }
        await later.wait(for: 1)
        #expect(calls.all.count == 1 && calls.all[0].hasPrefix("error: the store is closed"))
        withExtendedLifetime((observer, other)) {}
    }

    @Test(.timeLimit(.minutes(20)), arguments: Engine.allCases, [true, false])
    func nothingIsCalledAfterTheEnd(_ engine: Engine, isCancelled: Bool) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        let (calls, others) = (Calls(), Calls())
        let request = FewAuthors()
        var observer: Cancellable? = store.observe(request, onError: { calls.add("\($0)") }) { calls.add("\($0)") }
        let witness = store.observe(Author.all) { others.add("\($0.count)") }
        await calls.wait(for: 1)
        await others.wait(for: 1)
        // Cancelled, or no longer referenced.
        if isCancelled { observer?.cancel() } else { observer = nil }
        try await store.insert(Author(name: "A"))
        await others.wait(for: 2)
        // Neither a value nor an error.
        try await store.insert([Author(name: "B"), Author(name: "C")])
        await others.wait(for: 3)
        observer?.cancel()
        try await store.delete(Author.where { $0.name > "A" })
        await others.wait(for: 4)
        #expect(calls.all == ["0"])
        #expect(others.all == ["0", "1", "3", "1"])
        witness.cancel()
    }

    // MARK: Completion handlers

    @Test(.timeLimit(.minutes(20)), arguments: Engine.allCases) func failedCallsCompleteOnceWithTheirError(
        _ engine: Engine
    ) async throws {
        let store = try TestStore.make(engine, for: Book.self)
        try await store.insert(Genre(name: "fantasy"))
        let calls = Calls()
        let task = store.perform {
            try await $0.insert([Genre(name: "new"), Genre(name: "fantasy")])
        } completion: { result in
            switch result {
            case .success: calls.add("inserted")
            case .failure(RelataError.uniqueViolation(let entity, let properties)): calls.add("\(entity) \(properties)")
            case .failure(let error): calls.add("\(error)")
            }
        }
        await task.value
        #expect(calls.all == ["Genre [\"name\"]"])
        #expect(try await store.count(Genre.all) == 1)
        // The caller's own error is passed on unchanged.
        struct Failure: Error {}
        await store.perform { _ in
            throw Failure()
        } completion: { (result: Result<Int, any Error>) in
            if case .failure(let error) = result { calls.add("\(error is Failure)") }
        }.value
        try store.close()
        await store.perform {
            try await $0.count(Genre.all)
        } completion: { result in
            if case .failure(let error as RelataError) = result { calls.add(error.kind) }
        }.value
        #expect(calls.all.dropFirst() == ["true", "closed"])
    }

    @Test(.timeLimit(.minutes(20)), arguments: Engine.allCases)
    func cancelledCallsCompleteWithCancellationAndWriteNothing(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        let start = DispatchSemaphore(value: 0)
        let calls = Calls()
        let task = store.perform { store in
            try await store.write { tx in
                try tx.insert(Author(name: "A"))
                start.signal()
                while !Task.isCancelled { Thread.sleep(forTimeInterval: 0.001) }
                try tx.insert(Author(name: "B"))
            }
        } completion: { result in
            if case .failure(let error) = result {
                calls.add("\(error is CancellationError)")
            } else {
                calls.add("done")
            }
        }
        // Not in a task: tasks that run until they are cancelled may occupy all threads.
        Thread.detachNewThread {
            start.wait()
            task.cancel()
        }
        await task.value
        #expect(calls.all == ["true"])
        #expect(try await store.count(Author.all) == 0)
    }
}
