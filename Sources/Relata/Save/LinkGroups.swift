extension SaveSession {
    /// The edits, by object and link. Lists that are ordered are read now, before anything is written: whether an
    /// object was a member, and where it stood, is known only then.
    func linkGroups() throws -> [(node: Int, group: LinkWriter.Group)] {
        var groups: [(node: Int, group: LinkWriter.Group)] = []
        var indexes: [GroupID: Int] = [:]
        for operation in operations {
            let id = GroupID(node: operation.owner, link: operation.link.name)
            if let index = indexes[id] {
                groups[index].group.changes.append(operation.change)
            } else {
                indexes[id] = groups.count
                // The owner's key may not be there yet: it is set when the group is written.
                groups.append(
                    (
                        operation.owner,
                        LinkWriter.Group(
                            owner: keyValue(.node(operation.owner)) ?? KeyValue([]), link: operation.link,
                            changes: [operation.change])
                    ))
            }
        }
        for index in groups.indices { groups[index].group.list = try orderedList(groups[index].group) }
        return groups
    }

    private struct GroupID: Hashable {
        let node: Int
        let link: String
    }

    private func orderedList(_ group: LinkWriter.Group) throws -> OrderedList? {
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
        if group.owner.values.isEmpty { return OrderedList([]) }  // a new owner has no members
        let appended = group.changes.compactMap { change -> NodeKey? in
            if case .add(let member) = change { member } else { nil }
        }
        let quote = RowSQL.quote
        let keys = source.other.map(quote).joined(separator: ", ")
        let order = quote(source.order)
        let from = " FROM \(quote(source.table)) WHERE " + RowSQL.matches(source.own, from: 1)
        var parameters = group.owner.values.map(Parameter.value)
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
