import Foundation
import RelataRecords
import TestEngines
import Testing

/// Requests that are done once.
@Suite(.onEveryEngine) struct RequestTests {
    private struct Receipt: Codable, Equatable {
        var number: Int
        var words: String?
    }

    @Test func repeatedRequestsRunOnceEvenAfterReopening() async throws {
        let folder = try TestDatabases()
        let path = try folder.path()
        func order(_ store: RecordStore, _ id: String) async throws -> Receipt {
            try await store.write(requestID: id) { tx in
                try tx.save(Record("Order", ["item": "Kind of Blue"]))
                return Receipt(number: try tx.count(RecordQuery("Order")), words: "done")
            }
        }
        let store = try RecordStore.open(path)
        #expect(try await order(store, "a") == Receipt(number: 1, words: "done"))
        #expect(try await order(store, "a") == Receipt(number: 1, words: "done"))
        #expect(try await order(store, "b").number == 2)
        try store.close()
        let again = try RecordStore.open(path)
        #expect(try await order(again, "a").number == 1)
        #expect(try await order(again, "b").number == 2)
        #expect(try await again.count(RecordQuery("Order")) == 2)
        // Relata's own tables aren't classes.
        #expect(try await again.classes.map(\.name) == ["Order"])
        await #expect(throws: RelataError.self) { try await again.write(requestID: "a") { _ in "another result" } }
    }

    @Test func failedRequestsCanBeRepeated() async throws {
        let store = try RecordStore.make()
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await store.write(requestID: "a") { tx -> Int in
                try tx.save(Record("Order", ["item": "A"]))
                throw Stop()
            }
        }
        let count: Int? = try await store.write(requestID: "a") { tx in
            try tx.save(Record("Order", ["item": "A"]))
            return nil
        }
        let again: Int? = try await store.write(requestID: "a") { _ in 7 }
        #expect(count == nil && again == nil)
        #expect(try await store.count(RecordQuery("Order")) == 1)
    }
}
