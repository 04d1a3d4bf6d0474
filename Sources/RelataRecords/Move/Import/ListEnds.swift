import RelataCore
import RelataEngine

/// Positions in lists for rows without one: after all existing ones.
struct ListEnds {
    private let table: MovedTable
    /// The last place of each list that rows were put into lately: of an owner, and the number of its list.
    private var ends: [Owner: Int64] = [:]

    private struct Owner: Hashable {
        let list: Int
        let key: KeyValue
    }

    /// The maximum number of remembered lists.
    private static let limit = 10_000

    init(of table: MovedTable) { self.table = table }

    /// Gives places to rows that are written together.
    mutating func place(_ rows: inout [ImportedRow], on connection: Connection) throws(RelataError) {
        if table.lists.isEmpty { return }
        // Earlier positions are stored by now.
        if ends.count > Self.limit { ends.removeAll(keepingCapacity: true) }
        for (number, list) in table.lists.enumerated() {
            let placed = rows.filter { $0.isGiven[list.place] }
            for index in rows.indices {
                let key = KeyValue(list.owner.map { rows[index].values[$0] })
                if key.values.contains(.null) { continue }
                let owner = Owner(list: number, key: key)
                if rows[index].isGiven[list.place] {
                    // An end that isn't remembered is looked up once all rows are stored.
                    guard case .integer(let place) = rows[index].values[list.place], let end = ends[owner] else {
                        continue
                    }
                    ends[owner] = max(end, place)
                } else {
                    let end =
                        if let known = ends[owner] { known } else {
                            try self.end(of: list, key, among: placed, on: connection)
                        }
                    let (next, overflows) = end.addingReportingOverflow(Relationship.Order.gap)
                    guard !overflows else {
                        throw .invalidUse(
                            "\(table.name): no position is left after \(end), the last one of the list of \(key): renumber its rows"
                        )
                    }
                    rows[index].values[list.place] = .integer(next)
                    ends[owner] = next
                }
            }
        }
    }

    /// The last position of a list, of stored rows and of those that are about to be stored.
    private func end(
        of list: MovedTable.List, _ owner: KeyValue, among rows: [ImportedRow], on connection: Connection
    ) throws(RelataError) -> Int64 {
        let dialect = connection.dialect
        let column = dialect.quote(table.copied.columns[list.place].name)
        let sql =
            "SELECT max(\(column)) FROM \(dialect.quote(table.copied.table)) "
            + "WHERE \(table.condition(list.owner, from: 1, dialect))"
        var end: Int64 = 0
        if case .integer(let last)? = try connection.value(SQLStatement(sql, owner.values.map(Parameter.value))) {
            end = max(end, last)
        }
        for row in rows where list.owner.map({ row.values[$0] }) == owner.values {
            if case .integer(let place) = row.values[list.place] { end = max(end, place) }
        }
        return end
    }
}
