import Foundation
import Relata
import Testing

/// The values that observers get, and when.
struct ObserveTests {
    @Test(arguments: Engine.allCases)
    func observersGetTheCurrentValueAndEachChange(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Book.self)
        try await store.insert(Book(title: "A", year: 1999))
        var observer = store.observe(Book.where { $0.year > 1990 }.sorted { $0.title }).makeAsyncIterator()
        #expect(try await observer.next()?.map(\.title) == ["A"])
        try await store.insert(Book(title: "B", year: 1995))
        #expect(try await observer.next()?.map(\.title) == ["A", "B"])
        // This write doesn't change the value: the next one comes with the following commit.
        try await store.insert(Book(title: "Old", year: 1900))
        try await store.delete(Book.where { $0.title == "A" })
        #expect(try await observer.next()?.map(\.title) == ["B"])
    }

    @Test(arguments: Engine.embedded) func unrelatedTablesAndColumnsCauseNoReads(_ engine: Engine)
        async throws
    {
        let log = StatementLog()
        let store = try TestStore.make(engine, for: Book.self, options: log.options)
        let book = try await store.insert(Book(title: "A"))
        var titles = store.observe(Book.all.sorted { $0.title }.select { $0.title }).makeAsyncIterator()
        #expect(try await titles.next()?.count == 1)
        var count = store.observe(countOf: Book.all).makeAsyncIterator()
        #expect(try await count.next() == 1)
        // These two see the other changes.
        var authors = store.observe(countOf: Author.where { $0.name > "A" }).makeAsyncIterator()
        var cheap = store.observe(countOf: Book.where { $0.price == 3 }).makeAsyncIterator()
        #expect(try await authors.next() == 0)
        #expect(try await cheap.next() == 0)
        let task = Task { try await count.next() }
        let other = Task { try await titles.next()?.count }
        _ = log.take()
        try await store.insert(Author(name: "Le Guin"))
        #expect(try await authors.next() == 1)
        try await store.update(book.id) { $0.price = 3 }
        #expect(try await cheap.next() == 1)
        try await store.insert(Book(title: "B"))
        #expect(try await task.value == 2)
        #expect(try await other.value == 2)
        // Each is read again once, for the last change.
        let reads = log.take().filter { $0.hasPrefix("SELECT") && !$0.contains("WHERE") }
        #expect(reads.count <= 2, "\(reads)")
    }

    @Test(arguments: Engine.allCases) func usedLinksAreObservedToo(_ engine: Engine)
        async throws
    {
        let store = try TestStore.make(engine, for: Book.self)
        let genre = try await store.insert(Genre(name: "Fantasy"))
        let book = try await store.insert(Book(title: "A", genre: ToOne(genre)))
        var included = store.observe(Book.all.including { $0.authors }).makeAsyncIterator()
        #expect(try await included.next()?.first?.authors.objects.isEmpty == true)
        try await store.update(book.id) { $0.authors.add(Author(name: "Le Guin")) }
        #expect(try await included.next()?.first?.authors.objects.map(\.name) == ["Le Guin"])
        try await store.update(Author.all) { $0.name.set(to: "Ursula") }
        #expect(try await included.next()?.first?.authors.objects.map(\.name) == ["Ursula"])

        var filtered = store.observe(Book.where { $0.genre.name == "Fantasy" }).makeAsyncIterator()
        #expect(try await filtered.next()?.count == 1)
        try await store.update(genre.id) { $0.name = "Science fiction" }
        #expect(try await filtered.next()?.isEmpty == true)
    }

    @Test(arguments: Engine.allCases) func cascadesAndRawSQLAreObserved(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Series.self, Author.self)
        var series = Series(title: "S")
        series.episodes.add([Episode(title: "1"), Episode(title: "2")])
        series = try await store.insert(series)
        var episodes = store.observe(countOf: Episode.all).makeAsyncIterator()
        #expect(try await episodes.next() == 2)
        try await store.delete(series)
        #expect(try await episodes.next() == 0)
        var authors = store.observe(countOf: Author.all).makeAsyncIterator()
        #expect(try await authors.next() == 0)
        try await store.execute(#"INSERT INTO "Author" ("id", "name") VALUES (\#(UUID()), 'own')"#)
        #expect(try await authors.next() == 1)
    }

    @Test(arguments: Engine.allCases) func uncommittedAndRolledBackStatesAreNeverShown(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        var observer = store.observe(Author.all).makeAsyncIterator()
        #expect(try await observer.next()?.count == 0)
        await #expect(throws: Rollback.self) {
            try await store.write { tx in
                try tx.insert(Author(name: "A"))
                throw Rollback()
            }
        }
        try await store.write { tx in
            try? tx.savepoint { tx in
                try tx.insert(Author(name: "B"))
                throw Rollback()
            }
            try tx.insert([Author(name: "C"), Author(name: "D")])
        }
        #expect(try await observer.next()?.count == 2)
    }

    @Test(arguments: Engine.allCases) func oneObjectIsRereadOnlyWhenItChanges(_ engine: Engine) async throws {
        let log = StatementLog()
        let store = try TestStore.make(engine, for: Author.self, options: log.options)
        let authors = try await store.insert([Author(name: "A"), Author(name: "B")])
        var observer = store.observe(authors[0].id).makeAsyncIterator()
        #expect(try await observer.next() == .some(.some(authors[0])))
        let next = Task { try await observer.next() }
        try await Task.sleep(for: .milliseconds(50))
        _ = log.take()
        try await store.save(Author(id: authors[1].id, name: "B2"))
        try await store.insert(Author(name: "C"))
        try await Task.sleep(for: .milliseconds(50))
        #expect(log.take().filter { $0.hasPrefix("SELECT") && $0.contains("\"Author\"") } == [])
        try await store.delete(authors[0])
        #expect(try await next.value == .some(nil))
    }

    @Test(arguments: Engine.allCases) func observersOfOneQueryShareItsExecution(_ engine: Engine) async throws {
        let log = StatementLog()
        let store = try TestStore.make(engine, for: Author.self, options: log.options)
        _ = log.take()
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        let counts = try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<1000 {
                group.addTask {
                    var observer = store.observe(Author.where { $0.name > "A" }).makeAsyncIterator()
                    _ = try await observer.next()
                    isReady.yield()
                    return try await observer.next()?.count
                }
            }
            var started = 0
            for await _ in ready {
                started += 1
                if started == 1000 { break }
            }
            try await Task.sleep(for: .milliseconds(100))
            #expect(log.take().filter { $0.hasPrefix("SELECT") }.count <= 2)
            try await store.insert(Author(name: "B"))
            var counts: [Int?] = []
            for try await count in group { counts.append(count) }
            return counts
        }
        #expect(counts.allSatisfy { $0 == 1 } && counts.count == 1000)
        #expect(log.take().filter { $0.hasPrefix("SELECT") }.count == 1)
    }

    @Test(arguments: Engine.allCases) func aSlowReaderGetsTheLatestValue(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        var observer = store.observe(countOf: Author.all).makeAsyncIterator()
        #expect(try await observer.next() == 0)
        for number in 1...200 { try await store.insert(Author(name: "\(number)")) }
        #expect(try await observer.next() == 200)
    }

    @Test(arguments: Engine.allCases) func errorsEndOnlyTheirObservers(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        let failing = store.observe { tx -> Int in
            if try tx.count(Author.all) > 0 { throw RelataError.invalidUse("on purpose") }
            return 0
        }
        var first = failing.makeAsyncIterator()
        var healthy = store.observe(countOf: Author.all).makeAsyncIterator()
        #expect(try await first.next() == 0)
        #expect(try await healthy.next() == 0)
        try await store.insert(Author(name: "A"))
        await #expect(throws: RelataError.self) { try await first.next() }
        #expect(try await first.next() == nil)
        #expect(try await healthy.next() == 1)
    }

    @Test(arguments: Engine.allCases) func cancellingTheTaskOrClosingTheStoreEndsAnObserver(_ engine: Engine)
        async throws
    {
        let store = try TestStore.make(engine, for: Author.self)
        let (values, continuation) = AsyncStream.makeStream(of: Void.self)
        let tasks = (0..<2).map { _ in
            Task {
                var count = 0
                for try await _ in store.observe(Author.all) {
                    count += 1
                    continuation.yield()
                }
                return count
            }
        }
        var iterator = values.makeAsyncIterator()
        for _ in 0..<2 { await iterator.next() }
        tasks[0].cancel()
        #expect(try await tasks[0].value == 1)
        try store.close()
        #expect(try await tasks[1].value == 1)
        #expect(
            await thrown {
                var observer = store.observe(Author.all).makeAsyncIterator()
                return try await observer.next()
            }?.kind == "closed")
    }

    @Test(arguments: Engine.allCases) func aggregatesAreObserved(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Book.self)
        var observer = store.observe(valueOf: Book.all) { $0.year.maximum() }.makeAsyncIterator()
        #expect(try await observer.next() == .some(nil))
        try await store.insert(Book(title: "A", year: 1970))
        #expect(try await observer.next() == 1970)
    }

    @Test(arguments: Engine.allCases) func observersCanUseCallbacks(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        let (counts, continuation) = AsyncStream.makeStream(of: Int.self)
        var observer: Cancellable? = store.observe(Author.all) { continuation.yield($0.count) }
        var iterator = counts.makeAsyncIterator()
        #expect(await iterator.next() == 0)
        try await store.insert(Author(name: "A"))
        #expect(await iterator.next() == 1)
        observer?.cancel()
        observer = nil
    }

    @Test(arguments: Engine.shared) func writesOfOtherStoresAreObserved(
        _ engine: Engine
    ) async throws {
        let database = TestDatabase(engine)
        let store = try database.open(Author.self)
        let other = try database.open(Author.self)
        var observer = store.observe(countOf: Author.all).makeAsyncIterator()
        let feed = store.changes
        #expect(try await observer.next() == 0)
        try await other.insert(Author(name: "A"))
        #expect(try await observer.next() == 1)
        for await set in feed {
            #expect(set.touches("Author") && set.changes.allSatisfy { $0.kind == .unknown })
            break
        }
    }

    @Test(.timeLimit(.minutes(20)), arguments: Engine.allCases) func finishedStatementsDoNotHideOthers(
        _ engine: Engine
    ) async throws {
        let store = try TestStore.make(engine, for: Folder.self, Author.self)
        var root = Folder(name: "root")
        for number in 0..<8 { root.children.add(Folder(name: "\(number)", children: ToMany([Folder(name: "leaf")]))) }
        let folder = try await store.save(root)
        var authors = store.observe(Author.all).makeAsyncIterator()
        #expect(try await authors.next()?.count == 0)
        try await store.write { tx in
            // Each level runs the same statement while the level above still runs it. So the statement is prepared
            // again, and released afterwards.
            func walk(_ folder: Folder) throws {
                try tx.forEach(Folder.where { $0.parent == folder }) { try walk($0) }
            }
            try walk(folder)
            try tx.insert(Author(name: "x"))
        }
        #expect(try await authors.next()?.count == 1)
    }
}
