import Foundation
import RelataCore
import RelataEngine

extension RecordStore {
    /// Runs `body` in a transaction once for each request: a repeated request gets the first result, even after the
    /// store was reopened.
    ///
    /// Requests are identified by an id that their sender chooses. The result is stored as JSON in the transaction of
    /// the writes, for a day.
    ///
    /// ```swift
    /// let order = try await store.write(requestID: "order-4711") { tx in
    ///     try tx.save(Record("Order", ["item": "Kind of Blue"])).key?.description
    /// }
    /// ```
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if a request of another kind had the same id, or the result was too
    ///   long to be stored; what `body` throws, and then the request isn't done.
    @discardableResult
    public func write<Result: Codable & Sendable>(
        requestID: String, _ body: @Sendable (RecordWriteTransaction) throws -> Result
    ) async throws -> Result {
        let request = KeptRequests.Request(id: requestID, fingerprint: "RelataRecords \(Result.self)")
        return try await write { transaction in
            let connection = transaction.connection
            if try !KeptRequests.isKept(on: connection) {
                try connection.driver.beginChangingTables(connection)
                try KeptRequests.create(on: connection, now: transaction.now)
            }
            switch try KeptRequests.find(request, on: connection, now: transaction.now) {
            case .nothing: break
            case .done(let kept): return try JSONDecoder().decode([Result].self, from: Data(kept.body))[0]
            case .other:
                throw RelataError.invalidUse(
                    "another request had the id \(requestID): give each request its own id")
            case .forgotten:
                throw RelataError.invalidUse(
                    "the request \(requestID) was completed, but its result was too long to keep: read the objects that it wrote"
                )
            }
            let result = try body(transaction)
            // In an array, because JSON of older systems is one or an object.
            let kept = KeptRequests.Result(body: Array(try JSONEncoder().encode([result])))
            try KeptRequests.keep(kept, of: request, KeptRequests.Limits(), on: connection, now: transaction.now)
            return result
        }
    }
}
