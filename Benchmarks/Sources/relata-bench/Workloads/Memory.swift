import BenchmarkReport
import Foundation
import GRDB
import Relata

/// The peak memory of a process that reads or saves 1,000,000 rows one at a time. Each measurement has its own process.
enum Memory {
    static func measureStream(_ bench: Bench) throws -> Outcome {
        let file = try bench.itemFile("stream.sqlite", count: bench.count(1_000_000))
        return Outcome(
            unit: .megabytes, ours: try ChildProcess.peak("stream-ours", file),
            limit: try ChildProcess.peak("stream-limit", file),
            peers: [("GRDB Codable", try ChildProcess.peak("stream-codable", file))])
    }

    static func measureSave(_ bench: Bench) throws -> Outcome {
        let count = bench.count(1_000_000)
        let (ours, limit) = (
            try bench.emptyFile("ours.sqlite", for: Item.self), try bench.emptyFile("limit.sqlite", for: Item.self)
        )
        return Outcome(
            unit: .megabytes, ours: try ChildProcess.peak("save-ours-\(count)", ours),
            limit: try ChildProcess.peak("save-limit-\(count)", limit))
    }

    static func streamOurs(_ file: String) throws -> Int {
        let store = try Store.open(file, for: Item.self)
        var total = 0
        try store.read { try $0.forEach(Item.all) { total &+= $0.digest } }
        return total
    }

    static func streamLimit(_ file: String) throws -> Int {
        let query = try RawDatabase(file).prepare("SELECT \(RawStatement.itemColumns) FROM Item")
        var total = 0
        while try query.step() { total &+= query.item.digest }
        return total
    }

    static func streamCodable(_ file: String) throws -> Int {
        try DatabasePool(path: file).read { database in
            var total = 0
            let cursor = try CodableItem.fetchCursor(database)
            while let item = try cursor.next() { total &+= item.digest }
            return total
        }
    }

    static func saveOurs(_ file: String, _ count: Int) throws -> Int {
        let store = try Store.open(file, for: Item.self)
        return try store.insert(contentsOf: Item.sequence(count))
    }

    static func saveLimit(_ file: String, _ count: Int) throws -> Int {
        let database = try RawDatabase(file)
        let insert = try database.prepare(
            "INSERT INTO Item (\(RawStatement.itemColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
        try database.transaction {
            for item in Item.sequence(count) {
                insert.bind(item)
                try insert.run()
            }
        }
        return count
    }
}

extension Workload {
    static let streamMemory = Workload(name: "stream-memory", targets: [.below(40)]) { try Memory.measureStream($0) }
    static let saveMillion = Workload(name: "save-million", targets: [.below(40)]) { try Memory.measureSave($0) }
}
