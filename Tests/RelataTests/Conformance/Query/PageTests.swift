import Relata
import Testing

@Suite struct PageTests {
    @Test func pagesStayRightWhileObjectsAreAdded() throws {
        let store = try Store.inMemory(for: Author.self)
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

    @Test func aFullLastPageSaysSoAndWhatIsIncludedIsLoaded() throws {
        let store = try Store.inMemory(for: Book.self)
        try store.save(["a", "b"].map { Book(title: $0, authors: ToMany([Author(name: $0 + "'s")])) })
        let page = try store.page(Book.sorted { $0.title }.including { $0.authors }, size: 2)
        #expect(try page.objects.map { try $0.authors.objects.map(\.name) } == [["a's"], ["b's"]])
        #expect(page.next == nil)
        #expect(try store.page(Book.sorted { $0.title }, size: 1).next != nil)
    }

    @Test func aPageRefusesALimitOrOffsetOfItsQuery() throws {
        let store = try Store.inMemory(for: Author.self)
        #expect(throws: RelataError.self) { try store.page(Author.all.limit(3), size: 2) }
        #expect(throws: RelataError.self) { try store.page(Author.all.limit(3, offset: 1), size: 2) }
        #expect(throws: RelataError.self) { try store.page(Author.all, size: 0) }
    }
}
