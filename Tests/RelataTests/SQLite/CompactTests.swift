import Relata
import Testing

/// Shrinking a database to its contents. On a server it takes every table of the database, which other tests use.
@Suite struct CompactTests {
    private func store(_ engine: Engine) async throws -> (Store, kept: [Author]) {
        let store = try TestStore.make(engine, for: Author.self)
        let padding = String(repeating: "x", count: 1000)
        try await store.insert((0..<500).map { Author(name: "\($0) " + padding) })
        try await store.delete(Author.all)
        return (store, try await store.insert([Author(name: "A"), Author(name: "B")]))
    }

    @Test(arguments: Engine.embedded) func objectsStayAndTheStoreIsUsedOn(_ engine: Engine) async throws {
        let (store, kept) = try await store(engine)
        try await store.compact()
        #expect(try await store.fetch(Author.sorted { $0.name }).map(\.id) == kept.map(\.id))
        func compactWithoutAwait() throws { try store.compact() }
        try compactWithoutAwait()
        try await store.insert(Author(name: "C"))
        #expect(try await store.count(Author.all) == 3)
        #expect(try await store.check().isEmpty)
    }

    @Test(arguments: Engine.embedded) func freeSpaceIsGivenBack(_ engine: Engine) async throws {
        let (store, _) = try await store(engine)
        func freePages() async throws -> Int {
            guard
                case .integer(let count)? = try await store.rows("SELECT freelist_count FROM pragma_freelist_count")
                    .first?.first
            else { return -1 }
            return Int(count)
        }
        #expect(try await freePages() > 50)
        try await store.compact()
        #expect(try await freePages() == 0)
    }
}
