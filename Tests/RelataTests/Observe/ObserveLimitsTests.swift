import Foundation
import Relata
import Synchronization
import Testing

/// The models of a program that came later, on the same database.
private enum Later {
    @Model struct Author {
        let id: ID<Author>
        @Attribute(.notEmpty) var name: String
        var born: Int = 1900
    }
}

/// The same, without the name.
private enum MuchLater {
    @Model struct Author {
        let id: ID<Author>
        var born: Int = 1900
    }
}

@Model private struct Jotting {
    var id: Int?
    var text: String
}

/// Observers whose store closes or whose database is migrated, and those that are slow.
struct ObserveLimitsTests {
    @Test(arguments: Engine.allCases) func closingTheStoreEndsObserversWithoutAnError(_ engine: Engine)
        async throws
    {
        let store = try TestStore.make(engine, for: Jotting.self)
        var list = store.observe(Jotting.all).makeAsyncIterator()
        var differences = store.observe(Jotting.all).differences.makeAsyncIterator()
        _ = try await (list.next(), differences.next())
        let (errors, continuation) = AsyncStream.makeStream(of: String.self)
        let observer = store.observe(Jotting.all, onError: { continuation.yield("\($0)") }) { _ in
            continuation.yield("value")
        }
        var calls = errors.makeAsyncIterator()
        #expect(await calls.next() == "value")
        let waiting = Task { [differences] in
            var differences = differences
            return try await differences.next() == nil
        }
        try store.close()
        #expect(try await list.next() == nil)
        #expect(try await waiting.value)
        var late = store.observe(countOf: Jotting.all).makeAsyncIterator()
        #expect(await thrown { try await late.next() }?.kind == "closed")
        observer.cancel()
        continuation.finish()
        #expect(await calls.next() == nil)
    }

    @Test(arguments: Engine.shared) func observersSurviveALosslessMigration(
        _ engine: Engine
    ) async throws {
        let database = TestDatabase(engine)
        let store = try database.open(Jotting.self, Author.self)
        try await store.insert(Author(name: "A"))
        var authors = store.observe(Author.sorted { $0.name }).makeAsyncIterator()
        var notes = store.observe(countOf: Jotting.all).makeAsyncIterator()
        #expect(try await authors.next()?.map(\.name) == ["A"])
        #expect(try await notes.next() == 0)

        let later = try database.open(Later.Author.self)
        try await later.insert(Later.Author(name: "B", born: 1929))
        #expect(try await authors.next()?.map(\.name) == ["A", "B"])
        // Its own writes continue, too.
        try await store.insert(Author(name: "C"))
        #expect(try await authors.next()?.map(\.name) == ["A", "B", "C"])
        #expect(try await later.fetch(Later.Author.sorted { $0.name }).map(\.born) == [1900, 1929, 1900])
        try await store.insert(Jotting(text: "n"))
        #expect(try await notes.next() == 1)
    }

    @Test(arguments: Engine.embedded.filter(\.isShared))
    func droppingAColumnEndsOnlyItsObserversWithAnError(
        _ engine: Engine
    ) async throws {
        let database = TestDatabase(engine)
        let store = try database.open(Jotting.self, Author.self)
        try await store.insert(Author(name: "A"))
        var authors = store.observe(Author.all).makeAsyncIterator()
        var notes = store.observe(countOf: Jotting.all).makeAsyncIterator()
        #expect(try await authors.next()?.count == 1)
        #expect(try await notes.next() == 0)

        var options = Store.Options()
        options.migrations = [MigrationStep("nameless", taking: .dropping("MuchLater.Author.name"))]
        let later = try database.open(MuchLater.Author.self, options: options)
        try await later.insert(MuchLater.Author(born: 1929))
        #expect(await thrown { try await authors.next() }?.kind == "database")
        #expect(try await authors.next() == nil)
        try await store.insert(Jotting(text: "n"))
        #expect(try await notes.next() == 1)
    }

    /// A value that counts its living instances.
    private final class Counted: Sendable {
        static let alive = Mutex((now: 0, most: 0, ever: 0))
        let sum: Int

        init(_ sum: Int) {
            self.sum = sum
            Self.alive.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.ever + 1) }
        }

        deinit { Self.alive.withLock { $0.now -= 1 } }
    }

    private struct CountedRequest: ObservableRequest {
        struct Value: Equatable, Sendable {
            let counted: Counted
            static func == (left: Value, right: Value) -> Bool { left.counted.sum == right.counted.sum }
        }

        func fetchObserved(_ transaction: ReadTransaction) throws -> Value {
            Value(counted: Counted(try transaction.count(Jotting.all)))
        }
        var observedIdentity: ObservedIdentity? { ObservedIdentity(0) }
    }

    @Test(arguments: Engine.first) func commitsDoNotPileUpForSlowReaders(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Jotting.self)
        var first = store.observe(CountedRequest()).makeAsyncIterator()
        var second = store.observe(CountedRequest()).makeAsyncIterator()
        #expect(try await first.next()?.counted.sum == 0)
        #expect(try await second.next()?.counted.sum == 0)
        for round in 1...10 {
            for _ in 1...1000 { try await store.execute(#"INSERT INTO "Jotting" ("text") VALUES ('n')"#) }
            #expect(try await first.next()?.counted.sum == round * 1000)
        }
        #expect(try await second.next()?.counted.sum == 10_000)
        let (most, ever) = Counted.alive.withLock { ($0.most, $0.ever) }
        #expect(most <= 4, "values are kept for readers that don't want them any more")
        #expect(ever <= 13, "the value was read \(ever) times for 12 that were given")
    }

    /// A trace is called in the middle of the store's work, and may read from the store.
    @Test(arguments: Engine.shared) func tracesMayUseTheStore(_ engine: Engine) async throws {
        let hook = Hook()
        let store = try TestStore.make(engine, for: Jotting.self, options: hook.options)
        hook.arm { _ = store.changes }
        let (ends, continuation) = AsyncStream.makeStream(of: Bool.self)
        // On a separate thread, so that the test ends even if the call waits for itself.
        Thread.detachNewThread {
            _ = store.changes
            continuation.yield(true)
        }
        let timeout = Task {
            try await Task.sleep(for: .seconds(20))
            continuation.yield(false)
        }
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next() == true)
        timeout.cancel()
        // If listening runs no traced statement, the next fetch does.
        if hook.isArmed { _ = try await store.fetch(Jotting.all) }
        #expect(!hook.isArmed)
    }
}

/// Something that a store's trace does once, at the next statement.
private final class Hook: Sendable {
    private let action = Mutex<(@Sendable () -> Void)?>(nil)

    var options: Store.Options {
        var options = Store.Options()
        options.trace = { [self] _, _ in
            let action = action.withLock { action in
                defer { action = nil }
                return action
            }
            action?()
        }
        return options
    }

    var isArmed: Bool { action.withLock { $0 != nil } }

    func arm(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }
}
