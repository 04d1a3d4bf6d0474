/// The rows that a statement reads: the only place where tables get their names in a statement.
extension ExpressionWriter {
    /// The rows of a table that the caller sees, for `FROM`: the table itself, or a part of it.
    ///
    /// SQLite merges the part into the query around it, so that indexes serve as they do for the table.
    ///
    /// - Parameter index: The index that must be used.
    mutating func source(_ table: Table, _ index: ForcedIndex? = nil) -> String {
        guard let seen = access.conditions(on: table) else { return rows(of: table, index) }
        if index == nil, let known = sources[table.index] { return known }
        // The conditions may use columns that only the entity of another schema has.
        var rows = ExpressionWriter(
            schema: seen.home?.schema ?? schema, dialect: dialect, access: .everything,
            earlierParameters: earlierParameters + parameters.count, depth: depth)
        let text: String
        do {
            text = try rows.condition(seen.condition, seen.masks, onRowsOf: seen.home?.table ?? table, index).rows
            for number in rows.parameters.indices {
                accessParameters.append(
                    AccessParameter(
                        place: earlierParameters + parameters.count + number, entity: table.name, number: number))
            }
            parameters += rows.parameters
        } catch {
            // The error comes when the statement is written; nothing is detected earlier.
            failure = failure ?? error
            text = "(SELECT * FROM \(table.rows(dialect)) AS t WHERE \(dialect.never))"
        }
        if index == nil { sources[table.index] = text }
        return text
    }

    /// All rows of a table that have a key.
    private func rows(of table: Table, _ index: ForcedIndex?) -> String {
        let name = table.rows(dialect)
        guard table.entity.mayLackKeys else { return name }
        return "(SELECT * FROM \(name)\(index.map(dialect.using) ?? "") WHERE \(dialect.areSet(table.keyColumnNames)))"
    }

    /// Writes a condition on the rows of a table: the matching rows, and the conditions alone.
    ///
    /// - Parameter masks: The conditions of rows that show a property.
    mutating func condition(
        _ condition: ExpressionNode, _ masks: [String: ExpressionNode], onRowsOf table: Table,
        _ index: ForcedIndex? = nil
    ) throws(RelataError) -> (rows: String, statement: SQLStatement) {
        let alias = start(table, scope: 0, index: index)
        let source = frames[0]
        let masked = masks.isEmpty ? nil : try columns(of: table, alias, masks)
        let text = try written { (writer) throws(RelataError) in try writer.condition(condition) }
        guard frames == [source] else {
            throw .invalidUse("the access condition of \(table.name) may use only the row's own columns")
        }
        // The asterisk doesn't include the rowid.
        let hidden =
            table.entity.isKeyAssigned && dialect == .sqlite
            ? table.keyColumnNames.map { "\(column(alias, $0)) AS \(dialect.quote($0)), " }.joined() : ""
        return (
            "(SELECT \(hidden)\(masked ?? "\(alias).*") FROM \(source) WHERE \(text))",
            SQLStatement((masked.map { $0 + " " } ?? "") + text, parameters)
        )
    }

    /// The columns of a row as they are seen.
    private mutating func columns(
        of table: Table, _ alias: String, _ masks: [String: ExpressionNode]
    ) throws(RelataError) -> String {
        // The rowid is selected already.
        let isNumbered = table.entity.isKeyAssigned && dialect == .sqlite
        var names = table.columns.enumerated().compactMap { place, column in
            isNumbered && table.keyColumns.contains(place) ? nil : (column.name, column.property)
        }
        names += schema.references(of: table.index).filter(\.isOrderStored).compactMap { reference in
            reference.orderColumn.map { ($0, reference.property) }
        }
        // PostgreSQL keeps the words of a row in it.
        if dialect != .sqlite, SearchIndex(table) != nil { names.append((SearchIndex.column, "")) }
        var columns: [String] = []
        for (name, property) in names {
            let own = column(alias, name)
            guard let mask = masks[property] else {
                columns.append(own)
                continue
            }
            let text = try written { (writer) throws(RelataError) in try writer.condition(mask) }
            columns.append("CASE WHEN \(text) THEN \(own) END AS \(dialect.quote(name))")
        }
        return columns.joined(separator: ", ")
    }

    /// The condition that the caller sees the object with a key; `nil` for an open entity.
    mutating func isSeen(_ key: [String], of table: Table) -> String? {
        guard access.guards(table) else { return nil }
        let alias = newAlias()
        return "EXISTS (SELECT 1 FROM \(source(table)) AS \(alias) "
            + "WHERE \(pairwise(columns(alias, table.keyColumnNames), key)))"
    }

    /// The rows that lead from an entity's objects along a link, and their columns with the keys at both ends: see
    /// ``Schema/step(along:from:_:_:)``. Those that lead to hidden objects are left out.
    mutating func step(along link: Link, from table: Table) -> (rows: String, near: [String], far: [String]) {
        var step = schema.step(along: link, from: table, dialect) { source($0) }
        let target: Int
        switch link {
        // If an end is the row itself, it is visible.
        case .reference, .inverse, .matched: return step
        case .join(let number, let isSource):
            target = isSource ? schema.joins[number].target : schema.joins[number].source
        case .through(_, let reference): target = schema.references[reference].target
        }
        guard access.guards(schema.tables[target]) else { return step }
        let alias = newAlias()
        let isSeen = isSeen(columns(alias, step.far), of: schema.tables[target]) ?? dialect.always
        step.rows = "(SELECT \(alias).* FROM \(step.rows) AS \(alias) WHERE \(isSeen))"
        return step
    }
}
