import Foundation
import GRDB
import Relata

/// 1,000,000 rows, one at a time: how much memory a process has at most, measured in processes of their own.
enum StreamMemory {
    static func measure(_ bench: Bench) throws -> Outcome {
        let file = try bench.emptyFile("stream.sqlite", for: Item.self)
        let store = try Store.open(file, for: Item.self)
        let count = bench.count(1_000_000)
        for start in stride(from: 0, to: count, by: 100_000) {
            let items = Item.samples(min(100_000, count - start)).map { item in
                Item(
                    id: start + item.id, title: item.title, year: item.year, price: item.price, note: item.note,
                    createdAt: item.createdAt)
            }
            try store.insert(items)
        }
        try store.close()
        return Outcome(
            unit: .megabytes, ours: try peak("ours", file), limit: try peak("limit", file),
            peers: [("GRDB Codable", try peak("codable", file))])
    }

    /// What the processes do: stream all rows, and say how many megabytes they had at most.
    static func runChild(_ arguments: [String]) throws {
        guard arguments.count == 2 else { throw Failure("a child takes a contestant and a file") }
        let total =
            switch arguments[0] {
            case "ours": try streamOurs(arguments[1])
            case "limit": try streamLimit(arguments[1])
            default: try streamCodable(arguments[1])
            }
        guard total != 0 else { throw Failure("the stream was empty") }
        print(try peakOfThisProcess())
    }

    private static func streamOurs(_ file: String) throws -> Int {
        let store = try Store.open(file, for: Item.self)
        var total = 0
        try store.read { try $0.forEach(Item.all) { total &+= $0.digest } }
        return total
    }

    private static func streamLimit(_ file: String) throws -> Int {
        let query = try RawDatabase(file).prepare("SELECT \(RawStatement.itemColumns) FROM Item")
        var total = 0
        while try query.step() { total &+= query.item.digest }
        return total
    }

    private static func streamCodable(_ file: String) throws -> Int {
        try DatabasePool(path: file).read { database in
            var total = 0
            let cursor = try CodableItem.fetchCursor(database)
            while let item = try cursor.next() { total &+= item.digest }
            return total
        }
    }

    private static func peak(_ contestant: String, _ file: String) throws -> Double {
        let process = Process()
        process.executableURL = try executable()
        process.arguments = ["--child", contestant, file]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0, let peak = Double(output.trimmingCharacters(in: .whitespacesAndNewlines))
        else { throw Failure("the process that streams failed") }
        return peak
    }

    private static func executable() throws -> URL {
        guard let url = Bundle.main.executableURL else { throw Failure("the program doesn't know its own file") }
        return url
    }

    private static func peakOfThisProcess() throws -> Double {
        #if os(Linux)
        // Not `getrusage`, which counts what the process that started this one had.
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kilobytes = line.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Double($0) })
        else { throw Failure("the process's memory is unknown") }
        return kilobytes / 1024
        #else
        var usage = rusage()
        guard getrusage(RUSAGE_SELF, &usage) == 0 else { throw Failure("the process's memory is unknown") }
        return Double(usage.ru_maxrss) / 1_048_576
        #endif
    }
}

extension Workload {
    static let streamMemory = Workload(name: "stream-memory", targets: [.below(40)]) { try StreamMemory.measure($0) }
}
