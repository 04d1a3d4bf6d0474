#if PostgreSQL
import BenchmarkCPQ
import BenchmarkReport
import Relata

/// Looking up objects by their keys, in no order.
extension Workload {
    /// 10,000 look-ups in one read, a round trip each.
    static let lookupCall = Workload(name: "pg-lookup-call", targets: [.limit(1.15)]) { bench in
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
            fixture.limit,
        ])
    }

    /// 10,000 look-ups, each an async call of its own.
    static let lookupCallAsync = Workload(name: "pg-lookup-call-async", targets: [.limit(1.4)]) { bench in
        let fixture = try LookupFixture(bench)
        return try await bench.time([
            Contestant(async: .ours) {
                {
                    var total = 0
                    for key in fixture.keys { total &+= try await fixture.store.fetch(Item.self, id: key)?.digest ?? 0 }
                    return total
                }
            },
            fixture.limit,
        ])
    }

    /// 10,000 look-ups in one call, beside a pipeline.
    static let lookupPipelined = Workload(name: "pg-lookup-pipelined", targets: [.limit(1.3)]) { bench in
        let fixture = try LookupFixture(bench)
        return try await bench.time([
            Contestant(.ours) {
                {
                    let items = try fixture.store.fetch(Item.self, ids: fixture.keys)
                    return items.reduce(0) { $0 &+ ($1?.digest ?? 0) }
                }
            },
            Contestant(.limit) {
                {
                    let raw = fixture.raw
                    guard PQenterPipelineMode(raw.handle) == 1 else { throw raw.failure }
                    defer { PQexitPipelineMode(raw.handle) }
                    var total = 0
                    // In groups that are small enough that neither side waits for the other to read.
                    for start in stride(from: 0, to: fixture.keys.count, by: 500) {
                        let keys = fixture.keys[start..<min(start + 500, fixture.keys.count)]
                        for key in keys { try raw.send("item", key: key) }
                        guard PQpipelineSync(raw.handle) == 1 else { throw raw.failure }
                        for _ in keys {
                            let result = RawResult(PQgetResult(raw.handle))
                            if result.count == 1 { total &+= result.item(0).digest }
                            guard PQgetResult(raw.handle) == nil else { throw Failure("a look-up had two results") }
                        }
                        _ = RawResult(PQgetResult(raw.handle))
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
    let raw: RawConnection

    init(_ bench: PostgresBench) throws {
        let count = bench.count(10_000)
        let url = try bench.itemSchema("lookup", count: count)
        // A step that has no factor in common with the number of rows meets each row once.
        keys = (0..<count).map { $0 * 7919 % count + 1 }
        store = try bench.store(url, for: Item.self)
        raw = try RawConnection(url)
        try raw.prepare("item", #"SELECT \#(RawResult.itemColumns) FROM "Item" WHERE "id" = $1"#)
    }

    /// Each look-up is a round trip.
    var limit: Contestant {
        Contestant(.limit) {
            {
                var total = 0
                for key in keys {
                    let result = try raw.run("item", key: key)
                    if result.count == 1 { total &+= result.item(0).digest }
                }
                return total
            }
        }
    }
}
#endif
