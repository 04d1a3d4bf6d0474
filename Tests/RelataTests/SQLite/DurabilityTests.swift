import Foundation
import Relata
import Testing

/// The condition that a commit waits for.
@Suite struct DurabilityTests {
    @Test func durabilityIsNormalByDefault() async throws {
        var options = Store.Options()
        #expect(try await synchronous(options) == 1)
        options.durability = .full
        #expect(try await synchronous(options) == 2)
    }

    private func synchronous(_ options: Store.Options) async throws -> Value {
        let store = try TestStore.make(.sqliteFile, for: Author.self, options: options)
        #expect(try await store.rows("PRAGMA journal_mode") == [["wal"]])
        return try await store.write { try $0.rows("PRAGMA synchronous") }[0][0]
    }
}
