import Foundation
import Relata
import Testing

private enum Nameless {
    @Model struct Author {
        let id: ID<Author>
        var born: Int = 1900
    }
}

/// A store's errors for a file that another store has migrated.
@Suite struct MigratedFileTests {
    @Test func observersNameTheDroppedColumn() async throws {
        let path = TestStore.path()
        let store = try TestStore.open(path, for: [Author.self])
        var authors = store.observe(Author.all).makeAsyncIterator()
        #expect(try await authors.next()?.count == 0)
        var options = Store.Options()
        options.migrations = [MigrationStep("nameless", taking: .dropping("Nameless.Author.name"))]
        let later = try TestStore.open(path, for: [Nameless.Author.self], options: options)
        try await later.insert(Nameless.Author(born: 1929))
        let error = await thrown { try await authors.next() }
        #expect(error?.kind == "database" && "\(error as Any)".contains("no such column"))
    }
}
