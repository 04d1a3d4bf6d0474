#if PostgreSQL
import BenchmarkReport
import Relata

extension Workload {
    /// Deleting ten trees of 10,000 rows, compared with the actions of the foreign keys of the same tables. Only Relata
    /// reports the deleted objects.
    static let cascadeTree = Workload(name: "pg-cascade-tree", targets: [.limit(1.5)]) { bench in
        let url = try bench.emptySchema("tree")
        let store = try bench.store(url, for: Root.self)
        let raw = try RawConnection(url)
        let leaves = bench.count(100) - 1
        func plant() throws {
            try raw.execute(
                """
                TRUNCATE "Root", "Branch", "Leaf";
                INSERT INTO "Root" ("id", "name") SELECT i, 'Root ' || i FROM generate_series(1, 11) AS i;
                INSERT INTO "Branch" ("id", "name", "rootId")
                SELECT r * 100 + i, 'Branch ' || i, r FROM generate_series(1, 11) AS r, generate_series(0, 99) AS i;
                INSERT INTO "Leaf" ("id", "name", "branchId")
                SELECT b."id" * 100 + i, 'Leaf ' || i, b."id" FROM "Branch" AS b, generate_series(1, \(leaves)) AS i;
                """)
            try raw.execute("VACUUM ANALYZE")
        }
        let deleted = 10 + 1000 + 1000 * leaves
        let outcome = try await bench.time([
            Contestant(.ours) {
                try plant()
                let roots = try store.fetch(Root.where { $0.id < 11 })
                return { try store.delete(roots).deletedCount }
            },
            Contestant(.limit) {
                try plant()
                return {
                    try raw.transaction { try raw.execute(#"DELETE FROM "Root" WHERE "id" < 11"#) }
                    return deleted
                }
            },
        ])
        guard try count(raw) == 1 + 100 + 100 * leaves else { throw Failure("another tree is left than the eleventh") }
        return outcome
    }

    private static func count(_ raw: RawConnection) throws -> Int {
        try raw.prepare(
            "",
            """
            SELECT (SELECT count(*) FROM "Root") + (SELECT count(*) FROM "Branch") + (SELECT count(*) FROM "Leaf")
            """)
        return try raw.run("").integer(0, 0)
    }
}
#endif
