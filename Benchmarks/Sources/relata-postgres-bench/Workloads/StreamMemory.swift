#if PostgreSQL
import BenchmarkReport
import Relata

extension Workload {
    /// The peak of a process that reads 1,000,000 rows one at a time.
    static let streamMemory = Workload(name: "pg-stream-memory", targets: [.below(60)]) { bench in
        let url = try fill(bench)
        return Outcome(unit: .megabytes, ours: try ChildPeak.measure(["--child", url]))
    }

    private static func fill(_ bench: PostgresBench) throws -> String {
        let url = try bench.emptySchema("stream")
        let store = try bench.store(url, for: Item.self)
        try store.insert(contentsOf: Item.sequence(bench.count(1_000_000)))
        try store.close()
        return url
    }
}

/// The work of the process whose memory is measured.
enum StreamMemory {
    static func run(_ url: String) throws {
        let store = try Store.open(url, for: Item.self)
        var total = 0
        try store.read { try $0.forEach(Item.all) { total &+= $0.digest } }
        guard total != 0 else { throw Failure("there was nothing to read") }
        print(try ChildPeak.ofThisProcess())
    }
}
#endif
