// Facts about foreign keys in tables that no declaration has.

extension Schema {
    /// The entities with the database's comparison of the columns of their to-ones and join tables, its own actions on
    /// to-ones, and the keys that may be of other types than declared. `nil` if all is as models declare it.
    package func entities(describedBy descriptions: [TableDescription]) -> [Entity]? {
        let tables = Dictionary(descriptions.map { ($0.name.foldedName, $0) }) { first, _ in first }
        var entities = self.tables.map(\.entity)
        var isChanged = false
        for table in self.tables {
            guard let own = tables[table.sqlName.foldedName] else { continue }
            for number in table.entity.properties.indices where own.holdsOtherKeys(than: table, in: number) {
                guard case .attribute(var attribute) = table.entity.properties[number] else { continue }
                attribute.holdsOtherTypes = true
                entities[table.index].properties[number] = .attribute(attribute)
                isChanged = true
            }
        }
        for reference in references {
            let (source, target) = (self.tables[reference.source], self.tables[reference.target])
            guard let own = tables[source.sqlName.foldedName], let other = tables[target.sqlName.foldedName],
                let key = own.foreignKeys.first(where: {
                    $0.isOn(reference.columns, pointingAt: target.keyColumnNames, of: other)
                }),
                let number = entities[source.index].properties.firstIndex(where: { $0.name == reference.property }),
                case .relationship(let declared) = entities[source.index].properties[number]
            else { continue }
            var relationship = declared
            relationship.comparison = KeyComparison(reference.columns, of: own, with: target.keyColumnNames, of: other)
            switch key.onDelete {
            case .setDefault: relationship.unsupportedAction = .setsDefault
            // Whether the columns can be unset was determined when they were read.
            case .setNull: break
            case .none, .restrict, .cascade: relationship.unsupportedAction = nil
            }
            relationship.requiredColumns =
                reference.isOptional ? reference.columns.filter { own.column($0)?.isRequired == true } : []
            if relationship == declared { continue }
            entities[source.index].properties[number] = .relationship(relationship)
            isChanged = true
        }
        for join in joins {
            guard let own = tables[join.table.foldedName],
                let number = entities[join.source].properties.firstIndex(where: { $0.name == join.property }),
                case .relationship(let declared) = entities[join.source].properties[number]
            else { continue }
            var relationship = declared
            relationship.sourceComparison = comparison(of: join, isSource: true, own, tables)
            relationship.comparison = comparison(of: join, isSource: false, own, tables)
            if relationship == declared { continue }
            entities[join.source].properties[number] = .relationship(relationship)
            isChanged = true
        }
        return isChanged ? entities : nil
    }

    /// The comparison of a join table's foreign key to one side.
    private func comparison(
        of join: Join, isSource: Bool, _ own: TableDescription, _ tables: [FoldedName: TableDescription]
    ) -> KeyComparison {
        let (columns, target) = (join.columns(isSource: isSource).own, self.tables[join.entity(isSource: isSource)])
        guard let other = tables[target.sqlName.foldedName],
            own.foreignKeys.contains(where: { $0.isOn(columns, pointingAt: target.keyColumnNames, of: other) })
        else { return .equal }
        return KeyComparison(columns, of: own, with: target.keyColumnNames, of: other)
    }
}

extension Schema {
    /// The entities with the database's comparison of the columns of their to-ones and join tables. `nil` if any
    /// comparison gives the same result, as in all tables that Relata creates.
    package func entities(comparedBy descriptions: [TableDescription]) -> [Entity]? {
        guard let entities = entities(describedBy: descriptions),
            entities.contains(where: {
                $0.relationships.contains { $0.comparison != .equal || $0.sourceComparison != .equal }
            })
        else { return nil }
        return entities
    }
}

extension TableDescription {
    /// Whether a property is a part of its entity's key whose column isn't declared as Relata declares one: another
    /// program made the table, and may store keys of any type.
    fileprivate func holdsOtherKeys(than table: Table, in property: Int) -> Bool {
        guard source == nil, !isKeyAssigned, case .attribute(let attribute) = table.entity.properties[property],
            !attribute.holdsOtherTypes, [.integer, .real, .text, .data, .boolean].contains(attribute.type),
            let key = table.keyColumns.first(where: { table.columns[$0].property == attribute.name }),
            let stored = column(attribute.column)
        else { return false }
        return !stored.type.isSameName(as: Dialect.sqlite.type(of: table.columns[key]))
    }
}

extension ForeignKeyDescription {
    /// Whether the key has exactly these columns and points at exactly those of a table, in any order.
    func isOn(_ columns: [String], pointingAt pointed: [String], of table: TableDescription) -> Bool {
        let own = targetColumns.isEmpty ? table.primaryKey : targetColumns
        return isOn(columns) && target.isSameName(as: table.name)
            && Set(own.map { $0.foldedName }) == Set(pointed.map { $0.foldedName })
    }
}

extension KeyComparison {
    /// SQLite's comparison of a foreign key's columns with those that they refer to.
    init(
        _ columns: [String], of source: TableDescription, with targetColumns: [String], of target: TableDescription
    ) {
        self = .equal
        // On a server, columns are read in the form of their comparison.
        if source.source != nil || target.source != nil { return }
        var hasExceptions = false
        var converted: [ConvertedColumn] = []
        for (column, targetColumn) in zip(columns, targetColumns) {
            guard let own = source.column(column), let other = target.column(targetColumn) else { continue }
            let affinities = (Affinity(declaredType: own.type), Affinity(declaredType: other.type))
            let areNumbers = [affinities.0, affinities.1].allSatisfy { $0 == .integer || $0 == .numeric }
            if target.isKeyAssigned, target.primaryKey == [other.name] {
                // The number of a row, which SQLite always compares as a number.
                if !areNumbers && affinities.0 != .real { self = .byTarget }
            } else if !areNumbers && affinities.0 != affinities.1 {
                hasExceptions = true
                let isText = affinities.1 == .text || affinities.1 == .blob
                if isText && affinities.0 != .blob, source.isIndexed([column]) {
                    converted.append(ConvertedColumn(other.name, isNumber: affinities.0 != .text))
                }
            } else if !own.collation.isSameName(as: other.collation) || other.collation.isSameName(as: "RTRIM") {
                // SQLite's automatic indexes miss texts that differ in their length.
                self = .byTarget
            }
        }
        if hasExceptions { self = .byTargetWithExceptions(converted: converted) }
    }
}
