import RelataCore

/// A join table seen from one side.
package struct JoinSide {
    package let own: [String]
    package let other: [String]
    /// The column that orders the members of this side's object, and the one that orders a member's own list.
    package let order: String?
    private let otherOrder: String?
    private let table: String
    /// The rows, in SQL, with the keys as the objects hold them.
    let rows: String
    private let join: Join
    private let isSource: Bool
    private let schema: Schema
    private let rowSQL: RowSQL

    /// Whether rows depend neither on each other nor on stored ones: no member's own list has an order, and the table
    /// compares keys as they are declared.
    var isInsertedTogether: Bool { otherOrder == nil && join.comparesAsDeclared }

    package init(_ join: Join, isSource: Bool, in schema: Schema, _ rowSQL: RowSQL) {
        self.rowSQL = rowSQL
        self.join = join
        self.isSource = isSource
        self.schema = schema
        (own, other) = join.columns(isSource: isSource)
        order = isSource ? join.orderColumn : join.inverseOrderColumn
        otherOrder = isSource ? join.inverseOrderColumn : join.orderColumn
        table = rowSQL.quote(join.table)
        rows = schema.rows(of: join, rowSQL.dialect)
    }

    /// The statement that inserts many rows, with a list of values for each column.
    ///
    /// - Parameters:
    ///   - types: Those of the own and the other key's columns.
    ///   - isPlaced: Whether a row's position in the owner's list comes last.
    ///   - tells: Whether it returns the newly inserted rows.
    func insertTogether(_ types: [AttributeType], isPlaced: Bool, tells: Bool) -> String {
        let order = isPlaced ? [order].compactMap(\.self) : []
        let types = types + order.map { _ in .integer }
        let lists = types.enumerated().map { (parameter: $0 + 1, type: $1) }
        return "INSERT INTO \(table) (\(rowSQL.dialect.list(own + other + order))) SELECT * FROM "
            + rowSQL.dialect.rows(ofLists: lists, isNumbered: false) + " ON CONFLICT DO NOTHING"
            + (tells ? " RETURNING \(rowSQL.dialect.list(own + other))" : "")
    }

    /// The statement that inserts a row, the own key's parameters first. In the member's own list, the owner is last;
    /// the member's position in the owner's is written afterwards.
    var insertion: String {
        var columns: [String] = own + other
        var terms: [String] = columns.indices.map { rowSQL.dialect.parameter($0 + 1) }
        if let otherOrder {
            columns.append(otherOrder)
            terms.append("(\(rowSQL.nextPlace(otherOrder, in: rows, other, from: own.count + 1)))")
        }
        let names = columns.map { rowSQL.quote($0) }.joined(separator: ", ")
        let values = terms.joined(separator: ", ")
        let start = "INSERT INTO \(table) (\(names)) "
        if join.comparesAsDeclared { return start + "VALUES (\(values)) ON CONFLICT DO NOTHING" }
        // A row with another spelling of the two keys doesn't conflict with the table's own key.
        let isMember = rowSQL.matches(own + other, from: 1)
        return start + "SELECT \(values) WHERE NOT EXISTS (SELECT 1 FROM \(rows) AS r WHERE \(isMember)) "
            + "ON CONFLICT DO NOTHING"
    }

    /// Whether a row of the table belongs to the object whose key is in the parameters from a number on.
    func isOwn(from first: Int) -> String { belongs(isSource, own, from: first) }

    /// Whether a row of the table belongs to the object at the other side.
    func isOther(from first: Int) -> String { belongs(!isSource, other, from: first) }

    private func belongs(_ isSource: Bool, _ columns: [String], from first: Int) -> String {
        if join.comparison(isSource: isSource) == .equal { return rowSQL.matches(columns, from: first) }
        let keys = schema.keys(of: join, isSource: isSource, rowSQL.dialect).enumerated().map {
            "\($1) = \(rowSQL.dialect.parameter(first + $0))"
        }
        return isReferring(isSource, where: keys.joined(separator: " AND "))
    }

    /// Whether a row of the table belongs to one of the other side's objects whose keys are in a parameter.
    func isOther(in list: String) -> String {
        if join.comparison(isSource: !isSource) == .equal { return "(\(quoted(other))) IN \(list)" }
        let keys = schema.keys(of: join, isSource: !isSource, rowSQL.dialect).joined(separator: ", ")
        return isReferring(!isSource, where: "(\(keys)) IN \(list)")
    }

    private func isReferring(_ isSource: Bool, where condition: String) -> String {
        "EXISTS (SELECT 1 FROM \(schema.target(of: join, isSource: isSource, rowSQL.dialect)) "
            + "WHERE \(schema.refers(join, isSource: isSource, table, rowSQL.dialect)) AND \(condition))"
    }

    func quoted(_ columns: [String]) -> String { columns.map(rowSQL.quote).joined(separator: ", ") }
}
