import GRDB
import GRDBSQLite
import Relata

extension Workload {
    /// A fifth of 100,000 rows, chosen by two columns and sorted by two.
    static let filterSort = Workload(name: "filter-sort", targets: [.limit(1.05)]) { bench in
        let file = try bench.itemFile("items.sqlite", count: bench.count(100_000))
        let store = try bench.store(file, for: Item.self)
        let database = try RawDatabase(file)
        let query = try database.prepare(
            """
            SELECT \(RawStatement.itemColumns) FROM Item WHERE year >= ?1 AND price < ?2 ORDER BY year DESC, title
            """)
        let pool = try bench.grdb(file)
        return try await bench.time([
            Contestant(.ours) {
                {
                    try store.fetch(
                        Item.where { $0.year >= 1970 && $0.price < 50 }.sorted {
                            $0.year.descending
                            $0.title
                        }
                    ).digest
                }
            },
            Contestant(.limit) {
                {
                    query.bind(1970, 1)
                    query.bind(50, 2)
                    return try query.items().digest
                }
            },
            Contestant(.codable) {
                {
                    let request = CodableItem.filter(Column("year") >= 1970 && Column("price") < 50)
                        .order(Column("year").desc, Column("title"))
                    return try pool.read { try request.fetchAll($0) }.reduce(0) { $0 &+ $1.digest }
                }
            },
        ])
    }
}
