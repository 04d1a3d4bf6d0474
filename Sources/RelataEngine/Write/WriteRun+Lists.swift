import RelataCore

extension WriteRun {
    /// The ordered lists that are edited, by the number of the edits. They are read before anything is written, because
    /// the old members and positions are only known then.
    func orderedLists() throws -> [Int: OrderedList] {
        var lists: [Int: OrderedList] = [:]
        for (number, edits) in plan.edits.enumerated() where edits.link.isOrdered && !edits.onlyRemoves {
            lists[number] = try orderedList(edits)
        }
        return lists
    }

    private func orderedList(_ edits: LinkEdits) throws -> OrderedList? {
        let source: (rows: String, isOwn: String, other: [String], order: String)
        switch edits.link.link {
        case .inverse(let number):
            let reference = schema.references[number]
            guard let order = reference.orderColumn else { return nil }
            let table = schema.tables[reference.source]
            let isOwn = rowSQL.refers(reference, in: schema, from: 1)
            source = (rowSQL.quote(table.sqlName), isOwn, table.keyColumnNames, order)
        case .join(let number, let isSource):
            let join = schema.joins[number]
            let side = JoinSide(join, isSource: isSource, in: schema, rowSQL)
            guard let order = side.order else { return nil }
            source = (side.rows, rowSQL.matches(side.own, from: 1), side.other, order)
        default: return nil
        }
        // A new owner has no members.
        guard let owner = keyValue(edits.owner) else { return OrderedList([]) }
        let appended = edits.changes.compactMap { change -> PlannedKey? in
            if case .add(let member) = change { member } else { nil }
        }
        let quote = rowSQL.quote
        let keys = source.other.map(quote).joined(separator: ", ")
        let order = quote(source.order)
        let from = " FROM \(source.rows) WHERE " + source.isOwn
        var parameters = owner.values.map(Parameter.value)
        let types = schema.tables[edits.link.target].keyColumns.map {
            schema.tables[edits.link.target].columns[$0].type as AttributeType?
        }
        // Edits that only append need the end of the list and not the list, unless a member has no position yet.
        if appended.count == edits.changes.count {
            let ends = "SELECT max(\(order)), count(*) - count(\(order))" + from
            let end = try connection.values(SQLStatement(ends, parameters), types: [.real]).first
            let base: Int64 = if case .integer(let last)? = end?.first { last } else { 0 }
            let present =
                "SELECT \(keys)" + from + " AND (\(keys)) IN "
                + rowSQL.dialect.rows(
                    ofParameter: parameters.count + 1, types: schema.tables[edits.link.target].keyTypes)
            parameters.append(.keys(appended.compactMap { keyValue($0) }))
            let members = try connection.values(SQLStatement(present, parameters), types: types).map { KeyValue($0) }
            if end?.last == .integer(0), let list = OrderedList(appendingAfter: base, members: members) { return list }
            parameters.removeLast()
        }
        let sql = "SELECT \(keys), \(order)" + from + " ORDER BY \(order) IS NULL, \(order), \(keys)"
        // A position may be in a column of any numbers.
        let rows = try connection.values(SQLStatement(sql, parameters), types: types + [.real])
        return OrderedList(
            rows.map { row in
                let position: Int64? = if case .integer(let position)? = row.last { position } else { nil }
                return (KeyValue(Array(row.dropLast())), position)
            })
    }
}

extension Connection {
    /// The number that places an object after all others of a list which is the inverse of a to-one; `nil` for a list
    /// without an order.
    package func nextPlace(in reference: Reference, of owner: KeyValue, _ schema: Schema) throws -> Int64? {
        guard let order = reference.orderColumn else { return nil }
        let sql = rowSQL.nextPlace(
            order, in: rowSQL.quote(schema.tables[reference.source].sqlName),
            where: rowSQL.refers(reference, in: schema, from: 1))
        switch try value(SQLStatement(sql, owner.values.map { .value($0) }), as: .real) {
        case .integer(let place)?: return place
        case .real(let place)?: return Int64(exactly: place.rounded(.down))
        default: return nil
        }
    }
}
