import Foundation
import RelataCore
import RelataEngine

/// The results of rows that one statement has written together.
struct RowsOutcome {
    /// The number of the first row among the objects.
    let first: Int
    /// The keys that the database assigned, in the order of the rows.
    private var keys: [Int64] = []
    /// The new rows; `nil` for all.
    private var inserted: Set<Int>?
    /// The rows that the statement wrote; `nil` for all.
    private var written: Set<Int>?
    /// The dates when the updated rows were inserted, by their number.
    private(set) var creations: [Int: Date] = [:]

    /// Rows without further results.
    init(first: Int) { self.first = first }

    /// The keys that a statement returned.
    init(assignedKeysOf rows: RemoteRows, first: Int) throws(RelataError) {
        self.init(first: first)
        keys.reserveCapacity(rows.returnedCount)
        for row in 0..<rows.returnedCount { keys.append(try rows.returnedInteger(row: row, column: 0)) }
    }

    /// The rows that a statement returned: their numbers from 1 on, whether they are new, and when they were inserted.
    init(rowsOf rows: RemoteRows, first: Int, count: Int, createdAt type: AttributeType?) throws {
        self.init(first: first)
        var (inserted, written) = (Set<Int>(), Set<Int>())
        for row in 0..<rows.returnedCount {
            let number = first + Int(try rows.returnedInteger(row: row, column: 0)) - 1
            written.insert(number)
            if try rows.returnedInteger(row: row, column: 1) != 0 { inserted.insert(number) }
            guard let type, case .date(let encoding) = type else { continue }
            let stored = try rows.returnedValue(row: row, column: 2)
            if !stored.isNull { creations[number] = try coding(of: Date.self, as: encoding).decode(stored) }
        }
        if inserted.count < count { self.inserted = inserted }
        if written.count < count { self.written = written }
    }

    /// The key that the database gave a row.
    func assignedKey(_ index: Int) -> Int64 { keys[index - first] }

    /// The number of keys that the database assigned.
    var assignedCount: Int { keys.count }

    /// Whether a row is new.
    func isInserted(_ index: Int) -> Bool { inserted?.contains(index) ?? true }

    /// Whether the statement wrote a row.
    func isWritten(_ index: Int) -> Bool { written?.contains(index) ?? true }
}
