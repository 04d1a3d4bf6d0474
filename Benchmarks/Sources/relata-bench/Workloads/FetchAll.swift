import Relata

extension Workload {
    /// 100,000 rows as an array of objects.
    static let fetchAll = Workload(
        name: "fetch-all", targets: [.limit(1), .faster(4, than: "GRDB Codable")]
    ) { bench in
        let file = try bench.itemFile("items.sqlite", count: bench.count(100_000))
        let store = try bench.store(file, for: Item.self)
        let database = try RawDatabase(file)
        let query = try database.prepare("SELECT \(RawStatement.itemColumns) FROM Item")
        let pool = try bench.grdb(file)
        return try await bench.time([
            Contestant(.ours) { { try store.fetch(Item.all).count } },
            Contestant(.limit) { { try query.items().count } },
            Contestant(.byIndex) { { try pool.read { try IndexedItem.fetchAll($0) }.count } },
            Contestant(.codable) { { try pool.read { try CodableItem.fetchAll($0) }.count } },
        ])
    }
}
