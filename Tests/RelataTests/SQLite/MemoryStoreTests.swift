import Foundation
import Relata
import Testing

/// Stores in memory: one connection, for one store.
@Suite struct MemoryStoreTests {
    @Test func memoryStoresAreSeparateAndVanishWhenClosed() async throws {
        let (first, second) = (try Store.inMemory(for: Author.self), try Store.inMemory(for: Author.self))
        try await first.insert(Author(name: "x"))
        #expect(try await first.count(Author.all) == 1)
        #expect(try await second.count(Author.all) == 0)
        #expect(first.path == nil)
        try first.close()
        #expect(await thrown { try await first.count(Author.all) }?.kind == "closed")
    }

    @Test func inMemoryWritesInAReadAreErrors() async throws {
        let store = try TestStore.make(.sqliteMemory, for: Author.self)
        let error = try await store.read { _ in thrown { try store.insert(Author(name: "inner")) } }
        #expect(error?.kind == "invalidUse")
        #expect(try await store.count(Author.all) == 0)
    }
}
