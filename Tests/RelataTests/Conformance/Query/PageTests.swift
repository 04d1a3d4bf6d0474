import Foundation
import Relata
import Synchronization
import Testing

@Shape(of: Author.self) private struct AuthorName {
    var name: String
}

@Suite struct PageTests {
    @Test(arguments: Engine.allCases) func pagesStayRightWhileObjectsAreAdded(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Author.self)
        try store.insert(["a", "c", "e", "g"].map { Author(name: $0) })
        let first = try store.page(Author.sorted { $0.name }, size: 2)
        #expect(first.objects.map(\.name) == ["a", "c"])
        try store.insert(["b", "d"].map { Author(name: $0) })
        let second = try store.page(Author.sorted { $0.name }, size: 2, after: first.next)
        #expect(second.objects.map(\.name) == ["d", "e"])
        let last = try store.page(Author.sorted { $0.name }, size: 2, after: second.next)
        #expect(last.objects.map(\.name) == ["g"])
        #expect(last.next == nil)
    }

    @Test(arguments: Engine.allCases) func cursorsOfAnotherOrderAreRefused(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        try store.insert(["a", "c", "e", "g"].map { Author(name: $0) })
        let place = try store.page(Author.sorted { $0.name }, size: 1).next
        let orders: [Query<Author>] = [
            Author.sorted { $0.name.descending }, Author.all, Author.sorted { $0.name.lowercased },
            Author.sorted {
                $0.name
                $0.id
            },
        ]
        for query in orders {
            let error = thrown { try store.page(query, size: 1, after: place) }
            #expect(error?.kind == "invalidUse" && "\(error as Any)".contains("another order"))
        }
        let german = try store.page(Author.sorted { $0.name.localized("de") }, size: 1).next
        #expect(try store.page(Author.sorted { $0.name.localized("de") }, size: 1, after: german).objects.count == 1)
        for locale in ["sv", "fr"] {
            let error = thrown { try store.page(Author.sorted { $0.name.localized(locale) }, size: 1, after: german) }
            #expect(error?.kind == "invalidUse")
        }
        #expect(thrown { try store.page(AuthorName.sorted { $0.name.descending }, size: 1, after: place) } != nil)
        // The condition may change between pages; the place keeps its meaning.
        let narrower = Author.where { $0.name != "c" }.sorted { $0.name }
        #expect(try store.page(narrower, size: 1, after: place).objects.map(\.name) == ["e"])
        #expect(try store.page(AuthorName.sorted { $0.name }, size: 1, after: place).objects.map(\.name) == ["c"])
        let text = try JSONEncoder().encode(place)
        let read = try JSONDecoder().decode(PagePosition.self, from: text)
        #expect(try store.page(Author.sorted { $0.name }, size: 1, after: read).objects.map(\.name) == ["c"])
    }

    @Test(arguments: Engine.allCases) func cursorsOfAnEarlierVersionAreAccepted(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Author.self)
        try store.insert(["a", "c"].map { Author(name: $0) })
        let place = try #require(try store.page(Author.sorted { $0.name }, size: 1).next)
        let earlier = PagePosition(place.values)
        #expect(try store.page(Author.sorted { $0.name }, size: 1, after: earlier).objects.map(\.name) == ["c"])
    }

    @Test(arguments: Engine.allCases) func aFullLastPageIsMarkedAndLoadsItsIncludes(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        try store.save(["a", "b"].map { Book(title: $0, authors: ToMany([Author(name: $0 + "'s")])) })
        let page = try store.page(Book.sorted { $0.title }.including { $0.authors }, size: 2)
        #expect(try page.objects.map { try $0.authors.objects.map(\.name) } == [["a's"], ["b's"]])
        #expect(page.next == nil)
        #expect(try store.page(Book.sorted { $0.title }, size: 1).next != nil)
    }

    @Test(arguments: Engine.allCases) func pagesMayHaveTheLargestSize(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Author.self)
        try store.insert(["a", "b"].map { Author(name: $0) })
        for size in [Int.max, Int.max - 1] {
            let page = try store.page(Author.sorted { $0.name }, size: size)
            #expect(page.objects.map(\.name) == ["a", "b"] && page.next == nil)
            let shapes = try store.page(AuthorName.all.sorted { $0.name }, size: size)
            #expect(shapes.objects.map(\.name) == ["a", "b"] && shapes.next == nil)
        }
    }

    @Test(arguments: Engine.allCases) func aPageWithoutIncludesIsOneStatementAndNoTransaction(_ engine: Engine)
        async throws
    {
        let statements = Mutex(0)
        var options = Store.Options()
        options.trace = { _, _ in statements.withLock { $0 += 1 } }
        let store = try TestStore.make(engine, for: Author.self, options: options)
        _ = try await store.page(Author.all, size: 2)
        statements.withLock { $0 = 0 }
        _ = try await store.page(Author.all, size: 2)
        #expect(statements.withLock { $0 } == 1)
    }

    @Test(arguments: Engine.allCases) func aPageRefusesALimitOrOffsetOfItsQuery(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Author.self)
        #expect(throws: RelataError.self) { try store.page(Author.all.limit(3), size: 2) }
        #expect(throws: RelataError.self) { try store.page(Author.all.limit(3, offset: 1), size: 2) }
        #expect(throws: RelataError.self) { try store.page(Author.all, size: 0) }
    }
}
