import RelataCore

/// A join table seen from one side.
package struct JoinSide {
    package let own: [String]
    package let other: [String]
    /// The column that orders the members of this side's object, and the one that orders a member's own list.
    package let order: String?
    private let otherOrder: String?
    private let table: String
    private let rowSQL: RowSQL

    package init(_ join: Join, isSource: Bool, _ rowSQL: RowSQL) {
        self.rowSQL = rowSQL
        own = isSource ? join.sourceColumns : join.targetColumns
        other = isSource ? join.targetColumns : join.sourceColumns
        order = isSource ? join.orderColumn : join.inverseOrderColumn
        otherOrder = isSource ? join.inverseOrderColumn : join.orderColumn
        table = rowSQL.quote(join.table)
    }

    /// The statement that inserts a row, the own key's parameters first. In the member's own list the owner comes last; the
    /// member's position in the owner's is written afterwards.
    var insertion: String {
        var columns: [String] = own + other
        var terms: [String] = columns.indices.map { rowSQL.dialect.parameter($0 + 1) }
        if let otherOrder {
            columns.append(otherOrder)
            terms.append("(\(rowSQL.nextPlace(otherOrder, in: table, other, from: own.count + 1)))")
        }
        let names = columns.map { rowSQL.quote($0) }.joined(separator: ", ")
        let values = terms.joined(separator: ", ")
        return "INSERT INTO \(table) (\(names)) VALUES (\(values)) ON CONFLICT DO NOTHING"
    }
}
