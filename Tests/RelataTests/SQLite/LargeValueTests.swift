import Foundation
import Relata
import RelataCSQLite
import Testing

@Model private struct Document {
    let id: ID<Document>
    var name: String
    var text: String = ""
    var data: Data?
}

/// The memory that SQLite uses for large values.
@Suite struct LargeValueTests {
    @Test func veryLargeValuesRoundTripAndAreFreed() throws {
        let piece = (0..<1024).map { UInt8(truncatingIfNeeded: $0 &* $0 &+ 3) }
        var data = Data(capacity: 100 << 20)
        for _ in 0..<(100 << 10) { data.append(contentsOf: piece) }
        let text = String(repeating: "ten bytes 👋", count: 10 << 20 / 14)
        for engine in Engine.sqlite {
            let store = try TestStore.make(engine, for: Document.self)
            let saved = try store.insert(Document(name: "large", text: text, data: data))
            // A database in memory contains the value, of course, but no statement keeps a copy.
            let most = Int64(engine == .sqliteMemory ? 200 : 60) << 20
            #expect(sqlite3_memory_used() < most, "\(engine): \(sqlite3_memory_used() >> 20) MB")
            let stored = try #require(try store.fetch(Document.self, id: saved.id))
            #expect(stored.data == data)
            #expect(stored.text == text)
            try store.update(saved.id) { $0.data?[5] = 0 }
            #expect(try store.count(Document.where { $0.data == data }) == 0)
            #expect(try store.fetch(Document.self, id: saved.id)?.data?[5] == 0)
            #expect(sqlite3_memory_used() < most, "\(engine): \(sqlite3_memory_used() >> 20) MB")
            try store.close()
        }
    }
}
