#if PostgreSQL
import BenchmarkCPQ
import BenchmarkReport
import Relata

extension Workload {
    /// 100,000 new rows in one call, which is one transaction, beside a binary `COPY`.
    static let insertBatch = Workload(name: "pg-insert-batch", targets: [.limit(1.25)]) {
        try await insertBatch($0, hasLog: false)
    }

    /// The same in a store that keeps the change log.
    static let insertBatchLog = Workload(name: "pg-insert-batch-log", targets: [.limit(1.25)]) {
        try await insertBatch($0, hasLog: true)
    }

    private static func insertBatch(_ bench: PostgresBench, hasLog: Bool) async throws -> Outcome {
        let items = Item.samples(bench.count(100_000))
        let urls = (try bench.emptySchema("insert_ours"), try bench.emptySchema("insert_limit"))
        var options = Store.Options()
        options.changeLog = hasLog
        let store = try bench.store(urls.0, for: Item.self, options: options)
        try bench.store(urls.1, for: Item.self).close()
        let (cleaner, raw) = (try RawConnection(urls.0), try RawConnection(urls.1))
        let outcome = try await bench.time([
            Contestant(.ours) {
                try cleaner.execute(#"TRUNCATE "Item""#)
                return { try store.insert(items).count }
            },
            Contestant(.limit) {
                try raw.execute(#"TRUNCATE "Item""#)
                return {
                    var count = 0
                    try raw.transaction {
                        let copy = try RawCopy(
                            #"COPY "Item" (\#(RawResult.itemColumns)) FROM STDIN (FORMAT binary)"#, on: raw)
                        for item in items { try copy.append(item) }
                        count = try copy.finish()
                    }
                    return count
                }
            },
        ])
        try store.close()
        return outcome
    }

    /// 100,000 rows as an array of objects.
    static let fetchAll = Workload(name: "pg-fetch-all", targets: [.limit(1.15)]) { bench in
        let url = try bench.itemSchema("items", count: bench.count(100_000))
        let store = try bench.store(url, for: Item.self)
        let raw = try RawConnection(url)
        try raw.prepare("items", #"SELECT \#(RawResult.itemColumns) FROM "Item""#)
        return try await bench.time([
            Contestant(.ours) { { try store.fetch(Item.all).count } },
            Contestant(.limit) { { try raw.run("items").items().count } },
        ])
    }
}
#endif
