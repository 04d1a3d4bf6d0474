import Foundation
import Relata
import Testing

/// Observations other than queries.
struct ObserveRequestTests {
    @Test(arguments: Engine.allCases) func theFirstObjectOfAQueryIsObserved(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        var observer = store.observe(firstOf: Author.where { $0.name != "x" }.sorted { $0.name }).makeAsyncIterator()
        #expect(try await observer.next() == .some(nil))
        let (b, c) = try await store.insert(Author(name: "b"), Author(name: "c"))
        #expect(try await observer.next() == b)
        // Objects that sort after the first one, or don't meet the condition, cause no new value.
        try await store.insert(Author(name: "d"))
        try await store.insert(Author(name: "x"))
        try await store.update(c.id) { $0.name = "a" }
        #expect(try await observer.next()??.name == "a")
        try await store.update(c.id) { $0.name = "x" }
        #expect(try await observer.next() == b)
        try await store.delete(Author.where { $0.name != "x" })
        #expect(try await observer.next() == .some(nil))
    }

    @Test(arguments: Engine.allCases) func theFirstObjectHasItsIncludes(_ engine: Engine) async throws {
        let log = StatementLog()
        let store = try TestStore.make(engine, for: Book.self, options: log.options)
        let query = Book.sorted { $0.year.descending }.including { $0.authors }
        try await store.insert(
            (1...5).map { Book(title: "\($0)", year: $0, authors: ToMany([Author(name: "A\($0)")])) })
        var observer = store.observe(firstOf: query).makeAsyncIterator()
        var count = store.observe(countOf: query).makeAsyncIterator()
        _ = log.take()
        #expect(try await observer.next()??.authors.objects.map(\.name) == ["A5"])
        // One book is read, with its own authors only.
        #expect(log.take().count == 2)
        // The number of the same query is its own request.
        #expect(try await count.next() == 5)
        try await store.update(Author.where { $0.name == "A5" }) { $0.name.set(to: "B") }
        #expect(try await observer.next()??.authors.objects.map(\.name) == ["B"])
    }

    @Test(arguments: Engine.allCases) func differencesCanUseACustomIdentity(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Book.self)
        try await store.insert((1...3).map { Book(title: "\($0)", year: $0) })
        let list = store.observe(Book.sorted { $0.year })
        var byKey = list.differences.makeAsyncIterator()
        var byTitle = list.differences(by: { $0.title }).makeAsyncIterator()
        #expect(try await byKey.next()?.inserted.count == 3)
        #expect(try await byTitle.next()?.inserted.map(\.element.title) == ["1", "2", "3"])
        // Another book with the same title, at another place.
        try await store.write { tx in
            try tx.delete(Book.where { $0.title == "1" })
            try tx.insert(Book(title: "1", year: 9))
        }
        let other = try #require(try await byKey.next())
        #expect(other.removed.map(\.index) == [0] && other.inserted.map(\.index) == [2] && other.updated.isEmpty)
        let same = try #require(try await byTitle.next())
        #expect(same.removed.isEmpty && same.inserted.isEmpty)
        #expect(same.moved.map(\.from) == [0] && same.moved.map(\.to) == [2])
        #expect(same.updated.map(\.new.year) == [9] && same.updated.map(\.old.year) == [1])
    }

    @Test(arguments: Engine.allCases) func differencesOfAnyListCanUseACustomIdentity(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        let names = store.observe { try $0.fetch(Author.sorted { $0.name }).map(\.name) }
        var differences = names.differences(by: { $0.lowercased() }).makeAsyncIterator()
        #expect(try await differences.next()?.isEmpty == true)
        // Elements with the same identity are paired in order.
        try await store.insert(["a", "b", "b"].map { Author(name: $0) })
        #expect(try await differences.next()?.inserted.map(\.element) == ["a", "b", "b"])
        try await store.update(Author.where { $0.name == "a" }) { $0.name.set(to: "A") }
        #expect(try await differences.next()?.updated.map { [$0.old, $0.new] } == [["a", "A"]])
        try await store.write { tx in
            let one = try tx.fetch(Author.where { $0.name == "b" }.limit(1))
            try tx.delete(one)
        }
        let last = try #require(try await differences.next())
        #expect(last.removed.map(\.index) == [2] && last.inserted.isEmpty && last.elements == ["A", "b"])
    }
}
