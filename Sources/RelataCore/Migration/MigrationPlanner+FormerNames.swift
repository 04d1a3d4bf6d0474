/// Models that are older than the file: they ask for tables and columns by names that newer models gave up.
extension MigrationPlanner {
    /// Refuses a table that newer models renamed; returns whether they did. It would be created again, empty.
    mutating func refuseFormerName(of table: TableDescription) -> Bool {
        guard let entry = missedRename(of: table.name, in: nil) else { return false }
        let steps = [LossyChange.dropping(entry.name)]
        if self.steps.contains(where: { $0.covers(steps) }) { return false }
        let place = place(of: table)
        if isWanted(entry) {
            refuse(
                place,
                "newer models exchanged the tables \(table.name) and \(entry.name): use those models, or declare the "
                    + "original names as they do")
        } else if place.property != nil {
            let declaration = entry.property.map { "declare `originalName: \"\($0)\"`" } ?? "declare its new name"
            refuse(
                place,
                "newer models renamed the join table \(table.name) to \(entry.name), which now holds the links: "
                    + "use those models, or \(declaration) to rename it back")
        } else {
            refuse(
                place,
                "newer models renamed the table \(table.name) to \(entry.name), which now holds the objects: use those "
                    + "models, or declare `originalTable: \"\(entry.name)\"` to rename it back")
        }
        return true
    }

    /// Refuses a column that newer models renamed; returns whether they did. It would be added again, without values.
    mutating func refuseFormerName(_ column: String, of table: TableDescription) -> Bool {
        guard let entry = missedRename(of: column, in: table) else { return false }
        let place = place(of: column, in: table)
        let names = [entry.property, entry.name].compactMap(\.self)
        let steps = stepNames(of: place.entity).flatMap { owner in
            names.map { LossyChange.dropping("\(owner).\($0)") }
        }
        if self.steps.contains(where: { $0.covers(steps) }) { return false }
        if entry.isMoved == true {
            refuse(
                place,
                "newer models keep the values of the column \(column) in the table \(entry.name): use those models")
            return true
        }
        newerColumns[table.name.foldedName, default: []].insert(entry.name.foldedName)
        if isWanted(entry) {
            refuse(
                place,
                "newer models exchanged the columns \(column) and \(entry.name): use those models, or declare the "
                    + "original names as they do")
        } else {
            refuse(
                place,
                "newer models renamed the column \(column) to \(entry.name), which now holds the values: use those "
                    + "models, or declare `originalName: \"\(names[0])\"` to rename it back, or drop that column by a "
                    + "migration step with `.dropping(\"\(place.entity).\(names[0])\")`")
        }
        return true
    }

    /// The rename that the models don't know of.
    private func missedRename(of name: String, in table: TableDescription?) -> RenameHistory.Entry? {
        if history.entries.isEmpty { return nil }
        return history.entries(formerly: name, in: table?.name).first { entry in
            let isThere =
                table == nil || entry.isMoved == true
                ? tables[entry.name.foldedName] != nil
                : table.flatMap { tables[$0.name.foldedName]?.description.column(entry.name) } != nil
            guard isThere else { return false }
            guard isWanted(entry) else { return true }
            // Both names are in use in either version: only the declaration distinguishes them.
            return history.isExchanged(entry.name, with: name, in: table?.name) && !declares(entry, name, table)
        }
    }

    /// Whether the models have the renamed object under its present name.
    private func isWanted(_ entry: RenameHistory.Entry) -> Bool {
        let table = entry.isMoved == true ? nil : entry.table
        guard let wanted = expected.first(where: { $0.name.isSameName(as: table ?? entry.name) }) else { return false }
        return table == nil || wanted.column(entry.name) != nil
    }

    /// Whether the models declare a former name themselves.
    private func declares(_ entry: RenameHistory.Entry, _ former: String, _ table: TableDescription?) -> Bool {
        var names: [String] = []
        var spellings = [former]
        if let table {
            let property = place(of: entry.name, in: table).property
            switch property.flatMap({ entity(of: table)?.entity.property($0) }) {
            case .attribute(let attribute)?: names = attribute.originalName?.names ?? []
            case .relationship(let relationship)?: names = relationship.originalName?.names ?? []
            case nil: break
            }
            spellings += [place(of: former, in: table).property].compactMap(\.self)
        } else if let wanted = expected.first(where: { $0.name.isSameName(as: entry.name) }) {
            names =
                join(of: wanted).map(schema.defaultTables)
                ?? entity(of: wanted)?.entity.originalTable?.names ?? []
        }
        return names.contains { name in spellings.contains { $0.isSameName(as: name) } }
    }
}
