import BenchmarkReport
import Foundation
import GRDB
import Relata

extension Workload {
    /// 100 times: one of a list's 100 rows is changed, and the observer gets the new list.
    static let observeLatency = Workload(
        name: "observe-latency", targets: [.faster(1, than: "GRDB ValueObservation")]
    ) { bench in
        let count = 100
        return try await bench.time([
            Contestant(async: .ours) {
                let store = try bench.store(try bench.itemFile("ours.sqlite", count: count), for: Item.self)
                return {
                    var lists = store.observe(Item.all).makeAsyncIterator()
                    _ = try await lists.next()
                    for year in 1...count {
                        try await store.update(Item.self, id: year) { $0.year = year }
                        while let list = try await lists.next(), list[year - 1].year != year {}
                    }
                    return count
                }
            },
            Contestant(async: .peer("GRDB ValueObservation")) {
                let pool = try bench.grdb(try bench.itemFile("grdb.sqlite", count: count))
                return {
                    var lists = ValueObservation.tracking { try IndexedItem.fetchAll($0) }.values(in: pool)
                        .makeAsyncIterator()
                    _ = try await lists.next()
                    for year in 1...count {
                        try await pool.write { database in
                            _ = try IndexedItem.filter(key: year).updateAll(database, Column("year").set(to: year))
                        }
                        while let list = try await lists.next(), list[year - 1].item.year != year {}
                    }
                    return count
                }
            },
        ])
    }

    /// 1,000 commits beside 1,000 observers of other rows' values, and without observers.
    static let observeUnrelated = Workload(name: "observe-unrelated", targets: [.limit(1.1)]) { bench in
        let commits = bench.count(1000)
        let file = try GraphBooks.makeFile(bench)
        let observed = try bench.store(file, for: Novel.self)
        let alone = try bench.store(try bench.directory.copy(file, "alone.sqlite"), for: Novel.self)
        let observers = try await Observers(of: observed, count: 1000)
        defer { observers.cancel() }
        return try await bench.time([
            Contestant(.ours) { { try write(commits, to: observed) } },
            Contestant(.limit) { { try write(commits, to: alone) } },
        ])
    }

    private static func write(_ commits: Int, to store: Store) throws -> Int {
        for number in 1...commits { try store.update(Novel.self, id: number) { $0.year += 1 } }
        return commits
    }

    /// 100,000 commits, with a consumer that looks at the list only now and then: the peak memory, compared with the
    /// peak for a hundredth of the commits.
    static let observeMemory = Workload(name: "observe-memory", targets: [.limit(1.2)]) { bench in
        Outcome(
            unit: .megabytes,
            ours: try ChildProcess.peak("observe-\(bench.count(100_000))", try ObserveMemory.makeFile(bench)),
            limit: try ChildProcess.peak("observe-\(bench.count(1_000))", try ObserveMemory.makeFile(bench)))
    }
}

/// Observers that have got their first value and wait for the next.
private struct Observers {
    private let tasks: [Task<Void, any Error>]

    init(of store: Store, count: Int) async throws {
        let (started, continuation) = AsyncStream.makeStream(of: Void.self)
        tasks = (1...count).map { number in
            Task.detached {
                for try await _ in store.observe(Writer.where { $0.id == number }) { continuation.yield() }
            }
        }
        var waiting = started.makeAsyncIterator()
        for _ in 0..<count { await waiting.next() }
    }

    func cancel() { for task in tasks { task.cancel() } }
}

enum ObserveMemory {
    static func makeFile(_ bench: Bench) throws -> String { try bench.itemFile("observed.sqlite", count: 100) }

    /// In a separate process.
    static func observe(_ file: String, commits: Int) async throws -> Int {
        let store = try await Store.open(file, for: Item.self)
        let consumer = Task.detached {
            var seen = 0
            for try await list in store.observe(Item.all) {
                seen += list.count
                try await Task.sleep(for: .milliseconds(100))
            }
            return seen
        }
        for number in 0..<commits { try await store.update(Item.self, id: number % 100 + 1) { $0.year = number } }
        try store.close()
        return try await consumer.value
    }
}
