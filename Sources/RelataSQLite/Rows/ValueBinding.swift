import CRelataSQLite
import RelataCSQLite
import Foundation
import RelataCore
import RelataEngine

/// Binds lists as one parameter, the argument of `relata_values`.
enum ValueList {
    static func bind(_ values: [Value], to statement: RunningStatement, at index: Int32) -> Int32 {
        guard var list = RowList(values.count, columns: 1) else { return SQLITE_NOMEM }
        for value in values where !list.add(value) { return SQLITE_NOMEM }
        return list.bind(to: statement, at: index)
    }

    static func bind(_ keys: [KeyValue], to statement: RunningStatement, at index: Int32) -> Int32 {
        let columns = min(keys.first?.values.count ?? 1, KeyValue.maximumParts, RowList.maximumColumns)
        guard var list = RowList(keys.count, columns: columns) else { return SQLITE_NOMEM }
        for key in keys {
            for column in 0..<columns {
                guard list.add(column < key.values.count ? key.values[column] : .null) else { return SQLITE_NOMEM }
            }
        }
        return list.bind(to: statement, at: index)
    }
}

/// Rows that are bound as one parameter, the argument of `relata_values`.
package struct RowList: ~Copyable {
    /// The most columns that a row has.
    package static var maximumColumns: Int { Int(RELATA_VALUES_COLUMNS) }

    private let list: OpaquePointer
    private let columns: Int
    /// The capacity in values.
    private var capacity: Int
    /// The number of added values.
    private var count = 0

    /// Allocates exactly the given number of rows and columns; `nil` if memory is exhausted.
    package init?(_ rows: Int, columns: Int) {
        precondition(columns <= Self.maximumColumns)
        guard let list = relata_values_new(Int32(columns), Int64(rows)) else { return nil }
        self.list = list
        self.columns = columns
        capacity = rows * columns
    }

    deinit { relata_values_free(UnsafeMutableRawPointer(list)) }

    /// Adds the next value: one column after the other, and one row after the other.
    ///
    /// - Returns: Whether there was memory for it.
    package mutating func add(_ value: Value) -> Bool {
        precondition(count < capacity)
        defer { count += 1 }
        return set(value, at: Int64(count)) == SQLITE_OK
    }

    /// Makes room for another row.
    ///
    /// - Returns: Whether there was memory for it.
    mutating func grow() -> Bool {
        guard relata_values_grow(list) == SQLITE_OK else { return false }
        capacity += columns
        return true
    }

    /// Lends the rows to a statement, which must be reset before they go.
    func lend(to statement: RunningStatement, at index: Int32) -> Int32 {
        relata_values_lend(statement.handle, index, list)
    }

    /// Passes the rows to a statement, which frees them when another value is bound.
    consuming func bind(to statement: RunningStatement, at index: Int32) -> Int32 {
        precondition(count == capacity)
        let list = list
        discard self
        return relata_values_bind(statement.handle, index, list)
    }

    private func set(_ value: Value, at position: Int64) -> Int32 {
        switch value {
        case .null: break
        case .integer(let value): relata_values_set_integer(list, position, value)
        case .real(let value): relata_values_set_real(list, position, value)
        case .text(var value):
            return value.withUTF8 { relata_values_set_bytes(list, position, $0.baseAddress, Int64($0.count), 1) }
        case .blob(let value):
            return value.withUnsafeBytes { relata_values_set_bytes(list, position, $0.baseAddress, Int64($0.count), 0) }
        case .uuid(let value):
            return withUnsafeBytes(of: value.uuid) { relata_values_set_bytes(list, position, $0.baseAddress, 16, 0) }
        }
        return SQLITE_OK
    }
}
