import BenchmarkReport
import GRDB
import GRDBSQLite
import Relata

/// Deleting trees, compared with the actions of the foreign keys of the same file. Only Relata reports the deleted
/// objects.
extension Workload {
    static let cascadeTree = Workload(name: "cascade-tree", targets: [.limit(1.3)]) { bench in
        let file = try bench.emptyFile("tree.sqlite", for: Root.self)
        try plantTrees(file, ["Root", "Branch", "Leaf"], bench)
        return try await measure(bench, file, root: Root.self)
    }

    static let cascadeDeny = Workload(name: "cascade-deny", targets: [.limit(1.7)]) { bench in
        let file = try bench.emptyFile("museum.sqlite", for: Museum.self)
        try plantTrees(file, ["Museum", "Room", "Exhibit"], bench)
        try RawDatabase(file).execute(
            """
            INSERT INTO Loan (id, borrower, exhibitId)
            SELECT e.id, 'Borrower', e.id FROM Exhibit e JOIN Room r ON r.id = e.roomId WHERE r.museumId = 11
            """)
        return try await measure(bench, file, root: Museum.self)
    }

    /// 10,000 playlists with ten tracks each: 100,000 join rows are deleted with them.
    static let cascadeManyToMany = Workload(name: "cascade-many-to-many", targets: [.limit(1.3)]) { bench in
        let count = bench.count(10_000)
        let file = try bench.emptyFile("playlists.sqlite", for: Playlist.self)
        try RawDatabase(file).execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
            INSERT INTO Track (id, title) SELECT i, 'Track ' || i FROM n;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= \(count))
            INSERT INTO Playlist (id, name) SELECT i, 'Playlist ' || i FROM n;
            INSERT INTO Playlist_tracks (playlistId, trackId)
            SELECT p.id, (p.id * 7 + t.id * 97) % 1000 + 1 FROM Playlist p JOIN Track t ON t.id <= 10
            """)
        return try await measure(bench, file, root: Playlist.self, below: count + 1)
    }

    /// Eleven trees of that many rows; the first ten are deleted.
    private static func plantTrees(_ file: String, _ tables: [String], _ bench: Bench) throws {
        func foreignKey(_ index: Int) -> String { tables[index].lowercased() + "Id" }
        let leaves = bench.count(100) - 1
        try RawDatabase(file).execute(
            """
            BEGIN;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 11)
            INSERT INTO \(tables[0]) (id, name) SELECT i, 'Root ' || i FROM n;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
            INSERT INTO \(tables[1]) (name, \(foreignKey(0))) SELECT 'Branch ' || i, id FROM \(tables[0]), n;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(leaves))
            INSERT INTO \(tables[2]) (name, \(foreignKey(1))) SELECT 'Leaf ' || i, id FROM \(tables[1]), n;
            COMMIT
            """)
    }

    private static func measure<Top: Model>(
        _ bench: Bench, _ file: String, root: Top.Type, below bound: Int = 11
    ) async throws -> Outcome where Top.Key == Int, Top: RowOfTree {
        let source = try RawDatabase(file)
        let table = Top.entityName
        try source.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return try await bench.time([
            Contestant(.ours) {
                let store = try Store.open(try bench.directory.copy(file, "ours.sqlite"), for: Top.self)
                let roots = try store.fetch(Top.below(bound))
                return {
                    let report = try store.delete(roots)
                    return report.deletedCount + report.removedJoinRows.reduce(0) { $0 + $1.count }
                }
            },
            Contestant(.limit) {
                let database = try RawDatabase(try bench.directory.copy(file, "limit.sqlite"))
                return {
                    let before = sqlite3_total_changes64(database.handle)
                    try database.transaction { try database.execute("DELETE FROM \(table) WHERE id < \(bound)") }
                    return Int(sqlite3_total_changes64(database.handle) - before)
                }
            },
            Contestant(.peer("GRDB")) {
                let pool = try bench.grdb(try bench.directory.copy(file, "grdb.sqlite"))
                return {
                    try pool.write { database in
                        let before = database.totalChangesCount
                        try GRDB.Table(table).filter(Column("id") < bound).deleteAll(database)
                        return database.totalChangesCount - before
                    }
                }
            },
        ])
    }
}

/// A row that the deletions begin with.
private protocol RowOfTree: Model {
    static func below(_ id: Int) -> Query<Self>
}

extension Root: RowOfTree {
    fileprivate static func below(_ id: Int) -> Query<Root> { Root.where { $0.id < id } }
}

extension Museum: RowOfTree {
    fileprivate static func below(_ id: Int) -> Query<Museum> { Museum.where { $0.id < id } }
}

extension Playlist: RowOfTree {
    fileprivate static func below(_ id: Int) -> Query<Playlist> { Playlist.where { $0.id < id } }
}
