import Relata

extension Workload {
    /// 10,000 changed objects of 100,000 in one call.
    static let updateBatch = Workload(name: "update-batch", targets: [.limit(1.4)]) { bench in
        let count = bench.count(100_000)
        let template = try bench.itemFile("items.sqlite", count: count)
        let samples = Item.samples(count)
        let changed = stride(from: 0, to: count, by: 10).map { index in
            var item = samples[index]
            item.title += " (revised)"
            item.price += 1
            return item
        }
        let records = changed.map(CodableItem.init)
        return try await bench.time([
            Contestant(.ours) {
                let store = try Store.open(try bench.directory.copy(template, "ours.sqlite"), for: Item.self)
                return { try store.update(changed).count }
            },
            Contestant(.limit) {
                let database = try RawDatabase(try bench.directory.copy(template, "limit.sqlite"))
                return {
                    let update = try database.prepare(
                        "UPDATE Item SET title = ?2, year = ?3, price = ?4, note = ?5, createdAt = ?6 WHERE id = ?1")
                    try database.transaction {
                        for item in changed {
                            update.bind(item)
                            try update.run()
                        }
                    }
                    return changed.count
                }
            },
            Contestant(.codable) {
                let pool = try bench.grdb(try bench.directory.copy(template, "codable.sqlite"))
                return {
                    try pool.write { database in
                        for record in records { try record.update(database) }
                    }
                    return records.count
                }
            },
        ])
    }
}
