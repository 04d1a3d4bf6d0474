import GRDB
import GRDBSQLite
import Relata

extension Workload {
    /// 100,000 rows changed by a condition, of a model without limits.
    static let updateQuery = Workload(name: "update-query", targets: [.limit(1.3)]) { bench in
        let count = bench.count(100_000)
        let template = try bench.itemFile("items.sqlite", count: count)
        let sql = "UPDATE Item SET price = price * 2, note = 'doubled' WHERE year >= 1900"
        return try await bench.time([
            Contestant(.ours) {
                let store = try Store.open(try bench.directory.copy(template, "ours.sqlite"), for: Item.self)
                return {
                    try store.update(Item.where { $0.year >= 1900 }) {
                        $0.price.set(to: $0.price * 2)
                        $0.note.set(to: "doubled")
                    }
                }
            },
            Contestant(.limit) {
                let database = try RawDatabase(try bench.directory.copy(template, "limit.sqlite"))
                return {
                    try database.transaction { try database.execute(sql) }
                    return Int(sqlite3_changes64(database.handle))
                }
            },
            Contestant(.codable) {
                let pool = try bench.grdb(try bench.directory.copy(template, "codable.sqlite"))
                return {
                    try pool.write { database in
                        try database.execute(sql: sql)
                        return database.changesCount
                    }
                }
            },
        ])
    }
}
