import Foundation
import RelataCore
import Synchronization
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// The work of a deletion: its statements don't grow with the rows, and none scans a table that has an index.
@Suite struct DeleteStatementTests {
    private let methods = [Connection.DeletionMethod.setBased, .closureFirst]

    private final class Statements: Sendable {
        let texts = Mutex<[String]>([])
        func trace(_ sql: String, _ duration: Duration) { texts.withLock { $0.append(sql) } }
        func removeAll() { texts.withLock { $0 = [] } }
        var all: [String] { texts.withLock { $0 } }
    }

    private let entities = [
        Describe.entity(
            "Artist", Describe.toMany("albums", "Album", inverse: "artist", rule: .cascade),
            Describe.manyToMany("tags", "Tag")),
        Describe.entity(
            "Album", Describe.toOne("artist", "Artist"),
            Describe.toMany("tracks", "Track", inverse: "album", rule: .cascade)),
        Describe.entity(
            "Track", Describe.toOne("album", "Album"), Describe.toOne("remixOf", "Track", whenTargetGoes: .nullify),
            Describe.toMany("sales", "Sale", inverse: "track", rule: .deny)),
        Describe.entity("Sale", Describe.toOne("track", "Track")), Describe.entity("Tag"),
        Describe.entity("Fan", Describe.toOne("favourite", "Track", whenTargetGoes: .nullify)),
    ]

    private func run(
        albums: Int, tracks: Int, method: Connection.DeletionMethod
    ) throws -> (statements: [String], database: TestDatabase) {
        let statements = Statements()
        let database = try TestDatabase(entities, trace: statements.trace)
        try database.connection.execute(
            """
            INSERT INTO Artist VALUES (1), (2);
            INSERT INTO Tag VALUES (1), (2), (3);
            INSERT INTO Artist_tags SELECT 1, id FROM Tag;
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(albums))
            INSERT INTO Album SELECT i, 1 FROM n;
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(tracks))
            INSERT INTO Track SELECT NULL, a.id, NULL FROM Album AS a, n;
            INSERT INTO Track VALUES (NULL, NULL, 1);
            INSERT INTO Fan SELECT id, id FROM Track;
            """)
        // The declarations are read once for each connection.
        _ = try database.connection.fileKeys(of: database.schema)
        statements.removeAll()
        let report = try database.delete("Artist", 1, method: method)
        #expect(report.deletedCount == 1 + albums + albums * tracks)
        #expect(report.nullified.map(\.keys.count) == [1, albums * tracks])
        #expect(report.removedJoinRows.first?.count == 3)
        return (statements.all, database)
    }

    @Test func statementsDoNotGrowWithTheRows() throws {
        for method in methods {
            let few = try run(albums: 1, tracks: 2, method: method).statements
            let many = try run(albums: 20, tracks: 30, method: method).statements
            #expect(few == many)
            #expect(few.count <= 16)
        }
    }

    @Test func everyStatementFindsItsRowsByAnIndex() throws {
        for method in methods {
            let (statements, database) = try run(albums: 2, tracks: 2, method: method)
            for sql in statements where sql.contains("WHERE") {
                let plan = try database.connection.values(SQLStatement("EXPLAIN QUERY PLAN " + sql)).map {
                    $0[3].description
                }
                let scans = plan.filter {
                    $0.hasPrefix("SCAN") && !$0.contains("relata_values") && !$0.contains("doomed")
                }
                #expect(scans.isEmpty, "\(sql): \(plan)")
            }
        }
    }
}
