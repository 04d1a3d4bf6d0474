import RelataCore

/// A join table seen from one side.
package struct JoinSide {
    package let own: [String]
    package let other: [String]
    /// The column that orders the members of this side's object, and the one that orders a member's own list.
    package let order: String?
    private let otherOrder: String?
    private let table: String

    package init(_ join: Join, isSource: Bool) {
        own = isSource ? join.sourceColumns : join.targetColumns
        other = isSource ? join.targetColumns : join.sourceColumns
        order = isSource ? join.orderColumn : join.inverseOrderColumn
        otherOrder = isSource ? join.inverseOrderColumn : join.orderColumn
        table = RowSQL.quote(join.table)
    }

    /// The statement that inserts a row, the own key's parameters first. In the member's own list the owner comes last.
    ///
    /// - Parameter isLast: Whether the member comes last in the owner's list; else its position is written afterwards.
    package func insertion(isLast: Bool) -> String {
        var columns: [String] = own + other
        var terms: [String] = columns.indices.map { "?\($0 + 1)" }
        if isLast, let order {
            columns.append(order)
            terms.append(end(of: own, from: 1, order))
        }
        if let otherOrder {
            columns.append(otherOrder)
            terms.append(end(of: other, from: own.count + 1, otherOrder))
        }
        let names = columns.map { RowSQL.quote($0) }.joined(separator: ", ")
        let values = terms.joined(separator: ", ")
        return "INSERT INTO \(table) (\(names)) VALUES (\(values)) ON CONFLICT DO NOTHING"
    }

    /// The position after the last of a list.
    private func end(of list: [String], from first: Int, _ order: String) -> String {
        "(\(RowSQL.nextPlace(order, in: table, list, from: first)))"
    }
}
