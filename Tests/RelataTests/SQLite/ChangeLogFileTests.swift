import Foundation
import Relata
import RelataEngine
import RelataSQLite
import Testing

/// Change logs that other versions have left in a file.
@Suite struct ChangeLogFileTests {
    private var options: Store.Options {
        var options = Store.Options()
        options.changeLog = true
        return options
    }

    @Test func logsInTheFirstFormatContinue() async throws {
        let path = TestStore.path()
        try TestStore.open(path, for: [Author.self]).close()
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE relata_changes (
                position INTEGER PRIMARY KEY AUTOINCREMENT, batch INTEGER NOT NULL, time INTEGER NOT NULL,
                entity TEXT NOT NULL, kind TEXT NOT NULL, ids TEXT NOT NULL, properties TEXT NOT NULL)
            """)
        try connection.execute("INSERT INTO relata_changes VALUES (7, 7, 0, 'Author', 'delete', '[]', '[]')")
        try connection.close()
        let store = try TestStore.open(path, for: [Author.self], options: options)
        try await store.write { tx in
            tx.origin = ChangeOrigin("desk", number: 1)
            try tx.insert(Author(name: "A"))
        }
        let logged = try await store.changes(after: 6)
        #expect(logged.map(\.position) == [7, 8])
        #expect(logged.map(\.origin) == [nil, ChangeOrigin("desk", number: 1)])
    }

    @Test func logsInANewerFormatAreRefusedAndKept() async throws {
        let path = TestStore.path()
        try TestStore.open(path, for: [Author.self], options: options).close()
        let connection = try Connection(path: path)
        try connection.execute("UPDATE relata_metadata SET value = '3' WHERE name = 'change log'")
        try connection.close()
        let options = options
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        // Another model would change the tables.
        let error = thrown { try TestStore.open(path, for: [Author.self, Lamp.self], options: options) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect("\(error.map(String.init(describing:)) ?? "")".contains("in version 3 of its format"))
        try TestStore.open(path, for: [Author.self]).close()
    }
}
