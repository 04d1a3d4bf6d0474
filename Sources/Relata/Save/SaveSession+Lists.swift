import RelataCore
import RelataSQLite

extension SaveSession {
    /// The lists of ordered links that are edited, by the number of the edits' group. They are read before anything is
    /// written: whether an object was a member, and where it stood, is known only then.
    func orderedLists() throws -> [Int: OrderedList] {
        var lists: [Int: OrderedList] = [:]
        for (number, group) in groups.enumerated() where group.link.isOrdered {
            lists[number] = try orderedList(group)
        }
        return lists
    }

    private func orderedList(_ group: LinkGroup) throws -> OrderedList? {
        let source: (table: String, own: [String], other: [String], order: String)
        switch group.link.link {
        case .inverse(let number):
            let reference = catalog.schema.references[number]
            guard let order = reference.orderColumn else { return nil }
            let table = catalog.schema.tables[reference.source]
            source = (table.sqlName, reference.columns, table.keyColumnNames, order)
        case .join(let number, let isSource):
            let join = catalog.schema.joins[number]
            let side = JoinSide(join, isSource: isSource)
            guard let order = side.order else { return nil }
            source = (join.table, side.own, side.other, order)
        default: return nil
        }
        // A new owner has no members.
        guard let owner = keyValue(.node(group.owner)) else { return OrderedList([]) }
        let appended = group.changes.compactMap { change -> NodeKey? in
            if case .add(let member) = change { member } else { nil }
        }
        let quote = RowSQL.quote
        let keys = source.other.map(quote).joined(separator: ", ")
        let order = quote(source.order)
        let from = " FROM \(quote(source.table)) WHERE " + RowSQL.matches(source.own, from: 1)
        var parameters = owner.values.map(Parameter.value)
        let types = catalog.schema.tables[group.link.target].keyColumns.map {
            catalog.schema.tables[group.link.target].columns[$0].type as AttributeType?
        }
        // Edits that only append need the end of the list and not the list, unless a member has no position yet.
        if appended.count == group.changes.count {
            let ends = "SELECT max(\(order)), count(*) - count(\(order))" + from
            let end = try connection.values(SQLStatement(ends, parameters)).first
            let base: Int64 = if case .integer(let last)? = end?.first { last } else { 0 }
            let present =
                "SELECT \(keys)" + from + " AND (\(keys)) IN "
                + Dialect.sqlite.rows(ofParameter: parameters.count + 1, columns: source.other.count)
            parameters.append(.keys(appended.compactMap { keyValue($0) }))
            let members = try connection.values(SQLStatement(present, parameters), types: types).map { KeyValue($0) }
            if end?.last == .integer(0), let list = OrderedList(appendingAfter: base, members: members) { return list }
            parameters.removeLast()
        }
        let sql = "SELECT \(keys), \(order)" + from + " ORDER BY \(order) IS NULL, \(order), \(keys)"
        let rows = try connection.values(SQLStatement(sql, parameters), types: types)
        return OrderedList(
            rows.map { row in
                let position: Int64? = if case .integer(let position)? = row.last { position } else { nil }
                return (KeyValue(Array(row.dropLast())), position)
            })
    }
}
