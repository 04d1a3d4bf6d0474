import Foundation
import Relata
import RelataEngine
import RelataSQLite
import Testing

/// Files that a store has left as the next one needs them: a reading connection looks at them, and the writing one only
/// when it writes.
@Suite struct ReopenedFileTests {
    private let path = TestStore.path()

    private func open(_ options: Store.Options = Store.Options()) throws -> Store {
        try TestStore.open(path, for: [Author.self], options: options)
    }

    private func leave() throws {
        let store = try open()
        try store.insert(Author(name: "a"))
        try store.close()
    }

    @Test func theConnectionThatLooksIsKeptForReading() async throws {
        try leave()
        let store = try open()
        #expect(store.statistics.readers?.open == 1 && store.statistics.readers?.idle == 1)
        try await store.insert(Author(name: "b"))
        #expect(try await store.count(Author.all) == 2)
        #expect(store.statistics.readers?.open == 1)
    }

    @Test func theFirstWriteIsAsDurableAsLaterOnes() async throws {
        try leave()
        for (durability, number) in [(Durability.normal, 1), (.full, 2)] {
            var options = Store.Options()
            options.durability = durability
            for isAsync in [false, true] {
                let store = try open(options)
                let found =
                    isAsync
                    ? try await store.write { try $0.rows("PRAGMA synchronous") }
                    : try written(store)
                #expect(found == [[.integer(Int64(number))]])
                try store.close()
            }
        }
    }

    /// In code without `async`.
    private func written(_ store: Store) throws -> [[Value]] {
        try store.write { try $0.rows("PRAGMA synchronous") }
    }

    @Test func aFileWithoutALogGetsOneAgain() async throws {
        try leave()
        let other = try Connection(path: path)
        try other.execute("PRAGMA journal_mode = DELETE")
        try other.close()
        let store = try open()
        #expect(try await store.rows("PRAGMA journal_mode") == [["wal"]])
    }

    @Test func anotherProgramsChangeOfATableIsNoticed() throws {
        try leave()
        let other = try Connection(path: path)
        try other.execute("ALTER TABLE Author RENAME COLUMN name TO title")
        try other.close()
        #expect(throws: RelataError.self) { try open() }
    }

    @Test func noLogIsLeftWhenTheStoreIsClosed() throws {
        try leave()
        let store = try open()
        try store.close()
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }
}
