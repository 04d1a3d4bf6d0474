import BenchmarkReport
import Relata
import RelataRecords

/// The export of items to a file of JSON Lines and their import, as `relata export` and `relata import` do them, from
/// opening the database to closing it; and the library's own stream and insert of the same rows.
enum Transfer {
    /// The lines of a database, in a file beside it.
    private static func lines(of file: String) -> String { file + ".jsonl" }

    static func exportLines(of file: String) throws -> Int {
        var options = RecordStore.Options()
        options.isReadOnly = true
        let store = try RecordStore.open(file, mode: .production, options: options)
        let report = try store.export(["Item"], to: .file(lines(of: file)), replaces: true)
        try store.close()
        return report.parts.reduce(0) { $0 + $1.rows }
    }

    /// Imports the lines that were exported from a database of the same name.
    static func importLines(into file: String) throws -> Int {
        let store = try RecordStore.open(file, mode: .production)
        var options = ImportOptions()
        options.className = "Item"
        let report = try store.import(lines(of: file), options: options)
        try store.close()
        return report.parts.reduce(0) { $0 + $1.inserted }
    }

    fileprivate static func stream(_ file: String) throws -> Int {
        let store = try Store.open(file, for: Item.self)
        var (count, total) = (0, 0)
        try store.read { transaction in
            try transaction.forEach(Item.all) { item in
                count += 1
                total &+= item.digest
            }
        }
        try store.close()
        guard total != 0 else { throw Failure("the items have no contents") }
        return count
    }

    fileprivate static func insert(_ count: Int, into file: String) throws -> Int {
        let store = try Store.open(file, for: Item.self)
        let inserted = try store.insert(contentsOf: Item.sequence(count))
        try store.close()
        return inserted
    }

    /// The peak memory of a process with all rows, compared with one with a tenth of them.
    fileprivate static func memory(_ bench: Bench, _ measure: (String) throws -> Double) throws -> Outcome {
        let peaks = try [1_000_000, 100_000].map { full in
            try measure(try bench.itemFile("items.sqlite", count: bench.count(full)))
        }
        return Outcome(unit: .megabytes, ours: peaks[0], limit: peaks[1])
    }
}

extension Workload {
    /// 1,000,000 rows into a file of JSON Lines, which is on the disk at the end; compared with a stream of the rows.
    static let exportRows = Workload(name: "export", targets: [.limit(2)]) { bench in
        let file = try bench.itemFile("items.sqlite", count: bench.count(1_000_000))
        return try await bench.time([
            Contestant(.ours) { { try Transfer.exportLines(of: file) } },
            Contestant(.limit) { { try Transfer.stream(file) } },
        ])
    }

    /// 1,000,000 rows from such a file into an empty table; compared with their insert as a sequence, which is one
    /// transaction too.
    static let importRows = Workload(name: "import", targets: [.limit(2)]) { bench in
        let count = bench.count(1_000_000)
        _ = try Transfer.exportLines(of: try bench.itemFile("items.sqlite", count: count))
        return try await bench.time([
            Contestant(.ours) {
                let file = try bench.emptyFile("items.sqlite", for: Item.self)
                return { try Transfer.importLines(into: file) }
            },
            Contestant(.limit) {
                let file = try bench.emptyFile("limit.sqlite", for: Item.self)
                return { try Transfer.insert(count, into: file) }
            },
        ])
    }

    /// The memory must not grow with the number of rows.
    static let exportMemory = Workload(name: "export-memory", targets: [.limit(1.2)]) { bench in
        try Transfer.memory(bench) { try ChildProcess.peak("export", $0) }
    }

    /// The memory must not grow with the number of rows.
    static let importMemory = Workload(name: "import-memory", targets: [.limit(1.2)]) { bench in
        try Transfer.memory(bench) { file in
            _ = try Transfer.exportLines(of: file)
            return try ChildProcess.peak("import", try bench.emptyFile("items.sqlite", for: Item.self))
        }
    }
}
