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
            unit: .megabytes, ours: try ChildProcess.peak("stream-ours", file),
            limit: try ChildProcess.peak("stream-limit", file),
            peers: [("GRDB Codable", try ChildProcess.peak("stream-codable", file))])
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
}

extension Workload {
    static let streamMemory = Workload(name: "stream-memory", targets: [.below(40)]) { try StreamMemory.measure($0) }
}
