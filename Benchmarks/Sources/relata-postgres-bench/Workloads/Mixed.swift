#if PostgreSQL
import BenchmarkReport
import Foundation
import Relata

extension Workload {
    /// 16 tasks that look up and update, four to one, on eight connections; beside `pgbench` with the same statements
    /// from eight clients.
    static let mixed = Workload(name: "pg-mixed", targets: [.limit(1.25)]) { bench in
        let count = bench.count(10_000)
        let (tasks, calls) = (16, bench.count(2_000))
        let url = try bench.itemSchema("mixed", count: count)
        var options = Store.Options()
        (options.maximumReaders, options.maximumWriters) = (4, 4)
        let store = try bench.store(url, for: Item.self, options: options)
        let items = Item.samples(count)
        var times: (ours: [Double], limit: [Double]) = ([], [])
        let clock = Contest(rounds: 1)
        // The first round warms up caches and connections.
        for round in 0...bench.options.rounds {
            let start = clock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<tasks {
                    group.addTask {
                        for call in 0..<calls {
                            let number = (task * 7919 + call * 104_729) % count
                            if call % 5 != 4 {
                                guard try await store.fetch(Item.self, id: number + 1) != nil else {
                                    throw Failure("item \(number + 1) isn't there")
                                }
                            } else {
                                // Each task has rows of its own to write.
                                var item = items[number / tasks * tasks + task]
                                item.year = 1900 + call % 100
                                _ = try await store.update(item)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let ours = clock.now - start
            let limit = try pgbench(bench, url, rows: count, transactions: tasks * calls)
            if round > 0 {
                times.ours.append(ours)
                times.limit.append(limit)
            }
        }
        return Outcome(ours: times.ours.median, limit: times.limit.median)
    }

    /// The milliseconds that `pgbench` takes for that many transactions, without connecting.
    private static func pgbench(
        _ bench: PostgresBench, _ url: String, rows: Int, transactions: Int
    ) throws -> Double {
        let folder = FileManager.default.temporaryDirectory.appending(path: "relata-pgbench-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (read, write) = (folder.appending(path: "read.sql"), folder.appending(path: "write.sql"))
        let key = "\\set key random(1, \(rows))\n"
        try (key + #"SELECT \#(RawResult.itemColumns) FROM "Item" WHERE "id" = :key;"#).write(
            to: read, atomically: true, encoding: .utf8)
        try
            (key + """
                \\set year random(1900, 1999)
                BEGIN ISOLATION LEVEL READ COMMITTED;
                UPDATE "Item" SET "title" = 'The wonderful adventures, part ' || :key, "year" = :year,
                "price" = :key % 1000 / 10.0, "note" = 'Bought in shop number 7', "createdAt" = now() WHERE "id" = :key;
                COMMIT;
                """).write(to: write, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            bench.options.pgbench, "--no-vacuum", "--client=8", "--jobs=2", "--protocol=prepared",
            "--transactions=\(transactions / 8)", "--file=\(read.path)@4", "--file=\(write.path)@1", url,
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0, let line = output.firstMatch(of: /tps = ([0-9.]+)/),
            let rate = Double(line.1)
        else { throw Failure("pgbench failed: \(output)") }
        return Double(transactions / 8 * 8) / rate * 1000
    }
}
#endif
