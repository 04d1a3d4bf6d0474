import GRDB
import GRDBSQLite
import Relata

/// Looking up objects by their keys, in no order.
extension Workload {
    /// 10,000 look-ups in one read.
    static let lookupInRead = Workload(
        name: "lookup-in-read", targets: [.limit(1.2), .faster(15, than: "GRDB Codable")]
    ) { bench in
        let fixture = try LookupFixture(bench)
        return try await bench.time([
            Contestant(.ours) {
                {
                    try fixture.store.read { transaction in
                        var total = 0
                        for key in fixture.keys { total &+= try transaction.fetch(Item.self, id: key)?.digest ?? 0 }
                        return total
                    }
                }
            },
            Contestant(.limit) {
                {
                    var total = 0
                    try fixture.database.execute("BEGIN")
                    for key in fixture.keys { total &+= try fixture.query.lookUp(key) }
                    try fixture.database.execute("COMMIT")
                    return total
                }
            },
            Contestant(.codable) {
                {
                    try fixture.pool.read { database in
                        var total = 0
                        for key in fixture.keys { total &+= try CodableItem.fetchOne(database, key: key)?.digest ?? 0 }
                        return total
                    }
                }
            },
        ])
    }

    /// 10,000 look-ups, each its own call.
    static let lookupCall = Workload(name: "lookup-call", targets: [.limit(4)]) { bench in
        let fixture = try LookupFixture(bench)
        return try await bench.time([
            Contestant(.ours) {
                {
                    var total = 0
                    for key in fixture.keys { total &+= try fixture.store.fetch(Item.self, id: key)?.digest ?? 0 }
                    return total
                }
            },
            fixture.limitByCall,
            Contestant(.codable) {
                {
                    var total = 0
                    for key in fixture.keys {
                        total &+= try fixture.pool.read { try CodableItem.fetchOne($0, key: key) }?.digest ?? 0
                    }
                    return total
                }
            },
        ])
    }

    /// 10,000 look-ups, each a separate async call.
    static let lookupCallAsync = Workload(name: "lookup-call-async", targets: [.limit(4)]) { bench in
        let fixture = try LookupFixture(bench)
        return try await bench.time([
            Contestant(async: .ours) {
                {
                    var total = 0
                    for key in fixture.keys { total &+= try await fixture.store.fetch(Item.self, id: key)?.digest ?? 0 }
                    return total
                }
            },
            fixture.limitByCall,
            Contestant(async: .codable) {
                {
                    var total = 0
                    for key in fixture.keys {
                        total &+= try await fixture.pool.read { try CodableItem.fetchOne($0, key: key) }?.digest ?? 0
                    }
                    return total
                }
            },
        ])
    }
}

private struct LookupFixture {
    let keys: [Int]
    let store: Store
    let database: RawDatabase
    let query: RawStatement
    let pool: DatabasePool

    init(_ bench: Bench) throws {
        // Few enough to stay in SQLite's cache: reading the disk costs every contestant the same.
        let count = bench.count(10_000)
        let file = try bench.itemFile("items.sqlite", count: count)
        // A step without a common factor with the number of rows visits each row once.
        keys = (0..<count).map { $0 * 7919 % count + 1 }
        store = try Store.open(file, for: Item.self)
        database = try RawDatabase(file)
        query = try database.prepare("SELECT \(RawStatement.itemColumns) FROM Item WHERE id = ?1")
        pool = try bench.grdb(file)
    }

    /// Each look-up is a separate transaction.
    var limitByCall: Contestant {
        Contestant(.limit) {
            {
                var total = 0
                for key in keys { total &+= try query.lookUp(key) }
                return total
            }
        }
    }
}

extension RawStatement {
    fileprivate func lookUp(_ key: Int) throws -> Int {
        bind(key, 1)
        defer { sqlite3_reset(handle) }
        return try step() ? item.digest : 0
    }
}
