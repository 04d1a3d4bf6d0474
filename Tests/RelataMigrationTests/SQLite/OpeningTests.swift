import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import Synchronization
import TestSupport
import Testing

/// The cost of opening a file, and concurrent opening.
@Suite struct OpeningTests {
    private func manyEntities() -> [Entity] {
        (0..<50).map { number in
            Entity(
                name: "Entity\(number)",
                properties: [.id()]
                    + (0..<8).map { .attribute("attribute\($0)", default: "") }
                    + [.toOne("next", "Entity\((number + 1) % 50)")])
        }
    }

    @Test func anUnchangedFileCostsOneLookUp() throws {
        let file = try TemporaryFile()
        let schema = try Schema(manyEntities())
        let first = try Connection(path: file.path)
        #expect(try Migrator.migrate(first, schema: schema).changes.count == 50)
        let statements = Mutex<[String]>([])
        let second = try Connection(path: file.path) { sql, _ in statements.withLock { $0.append(sql) } }
        statements.withLock { $0 = [] }
        #expect(try Migrator.migrate(second, schema: schema).isEmpty)
        // One statement reads SQLite's number of the tables' version, the other the row that it is compared with.
        #expect(statements.withLock { $0.count } <= 2)
        // Another program's change is noticed.
        try first.execute("ALTER TABLE Entity7 DROP COLUMN attribute3")
        #expect(try Migrator.migrate(second, schema: schema).changes.map(\.property) == ["attribute3"])
    }

    @Test func concurrentOpensCreateTheFileOnce() async throws {
        let file = try TemporaryFile()
        let path = file.path
        let schema = try Schema(manyEntities())
        let changes = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    let connection = try Connection(path: path)
                    return try Migrator.migrate(connection, schema: schema).changes.count
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(changes == 50)
    }

    @Test func aRefusedFileStaysIdentical() throws {
        let file = try TemporaryFile()
        let other = try Connection(path: file.path)
        try other.execute("CREATE TABLE Book (id INTEGER PRIMARY KEY); INSERT INTO Book VALUES (1)")
        try other.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: file.path))
        let connection = try Connection(path: file.path)
        #expect(throws: RelataError.self) {
            try Migrator.migrate(connection, schema: try Schema([book(.attribute("title"))]))
        }
        try connection.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == before)
    }
}
