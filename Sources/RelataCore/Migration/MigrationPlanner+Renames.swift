/// Renames: what a model declares by `originalName` and `originalTable`, and what the old models tell.
extension MigrationPlanner {
    mutating func rename() {
        let tables = schema.tables.filter { isInPart($0.sqlName) }
        for table in tables { renameTable(of: table) }
        for table in tables {
            for property in table.entity.properties {
                switch property {
                case .attribute(let attribute):
                    renameAttribute(attribute, of: table)
                case .relationship(let relationship):
                    if case .reference(let number)? = table.links[relationship.name] {
                        renameReference(schema.references[number], relationship, of: table)
                    }
                }
            }
        }
        for join in schema.joins where isInPart(join.table) { renameJoin(join) }
    }

    private func isInPart(_ table: String) -> Bool { part?.contains(table.lowercased()) ?? true }

    /// The entity as it was in the old models: that of the same table, under its old or new name.
    func oldTable(_ table: Table) -> Table? {
        let working = tables[table.sqlName.lowercased()]?.originalName
        return old?.tables.first { $0.sqlName.isSameName(as: working ?? table.sqlName) }
    }

    private mutating func renameTable(of table: Table) {
        guard let original = table.entity.originalTable, rename(table: original, to: table.sqlName) else { return }
        report(Place(table.name), "the table is renamed from \(original)")
    }

    private mutating func renameAttribute(_ attribute: Attribute, of table: Table) {
        let oldEntity = oldTable(table)?.entity
        let declared = attribute.originalName.flatMap { oldEntity?.attribute($0)?.column ?? $0 }
        guard let column = declared ?? oldEntity?.attribute(attribute.name)?.column else { return }
        if rename(column: column, to: attribute.column, in: table.sqlName) {
            report(Place(table.name, attribute.name), "the column is renamed from \(column)")
        }
    }

    private mutating func renameReference(_ reference: Reference, _ relationship: Relationship, of table: Table) {
        let oldName = relationship.originalName ?? relationship.name
        let former = oldReference(oldName, of: table)
        let columns = former?.columns ?? defaultColumns(oldName, for: reference)
        guard columns.count == reference.columns.count else { return }
        for (column, new) in zip(columns, reference.columns) where rename(column: column, to: new, in: table.sqlName) {
            report(Place(table.name, relationship.name), "the column is renamed from \(column)")
        }
        if let position = reference.orderColumn, reference.isOrderStored {
            let column = former?.orderColumn ?? oldName + "Position"
            if rename(column: column, to: position, in: table.sqlName) {
                report(Place(table.name, relationship.name), "the column is renamed from \(column)")
            }
        }
    }

    func oldReference(_ property: String, of table: Table) -> Reference? {
        guard let oldTable = oldTable(table) else { return nil }
        return old?.references.first { $0.source == oldTable.index && $0.property == property }
    }

    /// The columns that a to-one of that name has unless it names them.
    func defaultColumns(_ property: String, for reference: Reference) -> [String] {
        guard reference.columns.count > 1 else { return [property + "Id"] }
        let prefix = reference.property
        return reference.columns.map { $0.hasPrefix(prefix) ? property + $0.dropFirst(prefix.count) : $0 }
    }

    private mutating func renameJoin(_ join: Join) {
        let table = schema.tables[join.source]
        let oldName = table.entity.relationship(join.property)?.originalName ?? join.property
        let oldSource = oldTable(table)
        let former = old?.joins.first { $0.source == oldSource?.index && $0.property == oldName }
        let prefix = table.entity.originalTable ?? table.sqlName
        let oldJoin = former?.table ?? "\(prefix)_\(oldName)"
        if rename(table: oldJoin, to: join.table) {
            report(Place(table.name, join.property), "the join table is renamed from \(oldJoin)")
        }
        let source = table.entity.originalTable.map { [Naming.lowerFirst($0) + "Id"] } ?? join.sourceColumns
        let target = schema.tables[join.target].entity.originalTable.map { [Naming.lowerFirst($0) + "Id"] }
        let pairs =
            Array(zip(former?.sourceColumns ?? source, join.sourceColumns))
            + zip(former?.targetColumns ?? target ?? join.targetColumns, join.targetColumns)
        for (column, new) in pairs where rename(column: column, to: new, in: join.table) {
            report(Place(table.name, join.property), "the column \(new) of the join table is renamed from \(column)")
        }
    }

    // MARK: Statements

    /// Renames a table if the file has it under the old name only, and the models don't want that name.
    private mutating func rename(table old: String, to new: String) -> Bool {
        let (oldKey, newKey) = (old.lowercased(), new.lowercased())
        guard tables[newKey] == nil, var working = tables[oldKey],
            !expected.contains(where: { $0.name.isSameName(as: old) })
        else { return false }
        plan.preparation.append("ALTER TABLE \(quote(working.description.name)) RENAME TO \(quote(new))")
        working.description.name = new
        tables[oldKey] = nil
        tables[newKey] = working
        if var description = oldTables.removeValue(forKey: oldKey) {
            description.name = new
            oldTables[newKey] = description
        }
        for key in tables.keys { tables[key]?.description.retarget(table: old, to: new) }
        for key in oldTables.keys { oldTables[key]?.retarget(table: old, to: new) }
        return true
    }

    /// Renames a column if the table has it under the old name only, and the models don't want that name.
    private mutating func rename(column old: String, to new: String, in table: String) -> Bool {
        let key = table.lowercased()
        let wanted = expected.first { $0.name.isSameName(as: table) }
        guard var working = tables[key], working.description.column(new) == nil, wanted?.column(old) == nil,
            let actual = working.description.column(old)
        else { return false }
        plan.preparation.append(
            "ALTER TABLE \(quote(working.description.name)) RENAME COLUMN \(quote(actual.name)) TO \(quote(new))")
        working.originalColumns[new.lowercased()] = actual.name
        tables[key] = working
        for key in tables.keys { tables[key]?.description.rename(column: old, to: new, of: table) }
        for key in oldTables.keys { oldTables[key]?.rename(column: old, to: new, of: table) }
        return true
    }

    func quote(_ name: String) -> String { Dialect.sqlite.quote(name) }
}

extension TableDescription {
    fileprivate mutating func retarget(table old: String, to new: String) {
        for index in foreignKeys.indices where foreignKeys[index].target.isSameName(as: old) {
            foreignKeys[index].target = new
        }
    }

    /// Follows the renaming of a column of a table, which may be this one or one that it points at.
    fileprivate mutating func rename(column old: String, to new: String, of table: String) {
        let renamed = { (names: [String]) in names.map { $0.isSameName(as: old) ? new : $0 } }
        let isThis = name.isSameName(as: table)
        for index in foreignKeys.indices {
            if foreignKeys[index].target.isSameName(as: table) {
                foreignKeys[index].targetColumns = renamed(foreignKeys[index].targetColumns)
            }
            if isThis { foreignKeys[index].columns = renamed(foreignKeys[index].columns) }
        }
        guard isThis else { return }
        primaryKey = renamed(primaryKey)
        for index in columns.indices where columns[index].name.isSameName(as: old) { columns[index].name = new }
        for index in indexes.indices { indexes[index].columns = renamed(indexes[index].columns) }
    }
}
