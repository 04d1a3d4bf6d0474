import RelataCore
import RelataEngine

/// Reads the objects of a query one after the other, on a connection that stays leased.
final class ObjectCursor<M: Model> {
    private let transaction: ReadTransaction
    private let rows: RowCursor
    private let includes: [IncludePlan]
    private let undecodable: UndecodableReport?
    /// Objects that were read together because of their includes, the next one last.
    private var loaded: [M] = []

    /// The number of objects whose includes one statement loads.
    private static var chunk: Int { 100 }

    init(_ query: Query<M>, in transaction: ReadTransaction) throws {
        self.transaction = transaction
        includes = query.includes
        undecodable = query.undecodableReport
        let statement = try transaction.compiler.select(try transaction.plan(query)).statement
        rows = try RowCursor(statement, on: transaction.connection, isStreamed: true)
    }

    /// The next object; `nil` after the last one.
    func next() throws -> M? { try transaction.reporting(undecodable) { try loadNext() } }

    private func loadNext() throws -> M? {
        if includes.isEmpty { return try read() }
        if loaded.isEmpty {
            while loaded.count < Self.chunk, let object = try read() { loaded.append(object) }
            if loaded.isEmpty { return nil }
            try IncludeLoader(transaction: transaction).load(includes, into: &loaded)
            loaded.reverse()
        }
        return loaded.popLast()
    }

    /// Ends the query.
    func close() { rows.close() }

    private func read() throws -> M? {
        while let row = try rows.next() {
            if let object = try transaction.object(M.self, at: row) { return object }
        }
        return nil
    }
}
