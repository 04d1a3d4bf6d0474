/// A part of a database: tables, each with all or some columns. It describes the reads of a query, and the writes of a
/// transaction.
package struct TableRegion: Hashable, Sendable {
    /// A part of a table.
    package enum Part: Hashable, Sendable {
        /// Whole rows: some were inserted or deleted.
        case rows
        /// Columns of its rows. Even a reader of none, such as a count, depends on the set of rows.
        case columns(Set<String>)
    }

    /// The tables by name.
    package private(set) var tables: [String: Part] = [:]
    /// Whether it is the whole database.
    package private(set) var isEverything = false

    /// Nothing.
    package init() {}

    /// The whole database.
    package static var everything: TableRegion {
        var region = TableRegion()
        region.isEverything = true
        return region
    }

    /// Whether it is empty.
    package var isEmpty: Bool { tables.isEmpty && !isEverything }

    /// Adds a column; none to record only that the table is read.
    package mutating func add(table: String, column: String?) {
        switch tables[table] {
        case .rows: return
        case .columns(var columns):
            guard let column, !columns.contains(column) else { return }
            tables[table] = nil  // so that the set isn't copied
            columns.insert(column)
            tables[table] = .columns(columns)
        case nil: tables[table] = .columns(column.map { [$0] } ?? [])
        }
    }

    /// Adds whole rows.
    package mutating func add(rowsOf table: String) { tables[table] = .rows }

    /// Adds what another region holds.
    package mutating func formUnion(_ other: TableRegion) {
        if other.isEverything { isEverything = true }
        for (table, part) in other.tables {
            switch part {
            case .rows: tables[table] = .rows
            case .columns(let columns) where columns.isEmpty: add(table: table, column: nil)
            case .columns(let columns):
                for column in columns { add(table: table, column: column) }
            }
        }
    }

    /// Whether a write to that part may change the result of reading this part.
    package func isAffected(by writes: TableRegion) -> Bool {
        if isEverything { return !writes.isEmpty }
        if writes.isEverything { return !isEmpty }
        return writes.tables.contains { isAffected(byTable: $0.key, $0.value) }
    }

    /// Whether a write to that part of a table may change the result of reading this part.
    package func isAffected(byTable table: String, _ written: Part) -> Bool {
        if isEverything { return true }
        guard let read = tables[table] else { return false }
        guard case .columns(let reading) = read, case .columns(let writing) = written else { return true }
        return !reading.isDisjoint(with: writing)
    }
}
