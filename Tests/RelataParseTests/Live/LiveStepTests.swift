import Foundation
import RelataCore
import TestEngines
import Testing

@testable import RelataParse

/// A step reads one state of the store, which may contain later changes than those that it is about.
@Suite(.onEveryEngine) struct LiveStepTests {
    private let server: TestServer
    private let id = LiveQueryID(client: 1, requestID: 1)
    private var state = LiveState(options: ParseService.Options())

    init() throws { server = try TestServer() }

    /// Lets a new state follow the books with some conditions.
    private mutating func follow(_ condition: JSONValue) async throws {
        let query = try LiveQuery(["requestId": 1, "query": ["className": "Book", "where": condition]])
        state = try await server.store.read(as: .master) { [state, id] transaction in
            var state = state
            _ = try state.follow(id, query, as: .master, Self.reader(transaction))
            return state
        }
    }

    private static func reader(_ transaction: ParseTransaction) -> LiveReader {
        LiveReader(transaction: transaction, start: Date(), options: ParseService.Options(), fileURLs: nil)
    }

    /// The events of a change, as the store is now.
    private mutating func events(_ kind: Change.Kind, _ book: String) async throws -> [LiveEvent.Kind] {
        let change = Change(entity: "Book", kind: kind, keys: KeyList([KeyValue(.text(book))]), properties: ["title"])
        var news = LiveNews()
        (state, news) = try await server.store.read(as: .master) { [state] transaction in
            var state = state
            let news = try state.step(LiveChanges([ChangeSet([change])]), Self.reader(transaction))
            return (state, news)
        }
        return news.told[id]?.events.map(\.kind) ?? []
    }

    @Test mutating func anObjectThatIsDeletedAfterItsChangeIsToldAsDeleted() async throws {
        let book = try await server.create("Book", ["title": "a"])
        try await follow(["title": ["$in": ["a", "b"]]])
        try await server.send("PUT", "/classes/Book/\(book)", ["title": "b"])
        try await server.send("DELETE", "/classes/Book/\(book)")
        #expect(try await events(.update, book) == [.delete])
        #expect(try await events(.delete, book) == [])
    }

    @Test mutating func anObjectThatNoLongerMeetsTheConditionsLeaves() async throws {
        let book = try await server.create("Book", ["title": "a"])
        try await follow(["title": ["$in": ["a", "b"]]])
        try await server.send("PUT", "/classes/Book/\(book)", ["title": "c"])
        #expect(try await events(.update, book) == [.leave])
        try await server.send("PUT", "/classes/Book/\(book)", ["title": "a"])
        #expect(try await events(.update, book) == [.enter])
    }

    @Test mutating func anObjectIsToldOnceAfterItsInsertionAndItsDeletion() async throws {
        _ = try await server.create("Book", ["title": "z"])
        try await follow(["title": "a"])
        let book = try await server.create("Book", ["title": "a"])
        #expect(try await events(.insert, book) == [.create])
        let second = try await server.create("Book", ["title": "a"])
        try await server.send("DELETE", "/classes/Book/\(second)")
        #expect(try await events(.insert, second) == [])
        #expect(try await events(.delete, second) == [])
    }
}
