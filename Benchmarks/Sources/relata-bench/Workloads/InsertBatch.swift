import Relata

extension Workload {
    /// 100,000 new rows in one call, which is one transaction.
    static let insertBatch = Workload(
        name: "insert-batch", targets: [.limit(1.1), .faster(4, than: "GRDB Codable")]
    ) { bench in
        let items = Item.samples(bench.count(100_000))
        let records = items.map(CodableItem.init)
        return try await bench.time([
            Contestant(.ours) {
                let store = try Store.open(try bench.emptyFile("ours.sqlite", for: Item.self), for: Item.self)
                return { try store.insert(items).count }
            },
            Contestant(.limit) {
                let database = try RawDatabase(try bench.emptyFile("limit.sqlite", for: Item.self))
                return {
                    let insert = try database.prepare(
                        "INSERT INTO Item (\(RawStatement.itemColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
                    try database.transaction {
                        for item in items {
                            insert.bind(item)
                            try insert.run()
                        }
                    }
                    return items.count
                }
            },
            Contestant(.codable) {
                let pool = try bench.grdb(try bench.emptyFile("codable.sqlite", for: Item.self))
                return {
                    try pool.write { database in
                        for record in records { try record.insert(database) }
                    }
                    return records.count
                }
            },
        ])
    }
}
