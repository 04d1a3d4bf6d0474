/// Columns: new ones, and those with another type or requiredness.
extension MigrationPlanner {
    // MARK: New columns

    mutating func add(_ column: ColumnDescription, to table: TableDescription, _ remake: inout Remake)
        throws(RelataError)
    {
        let place = place(of: column.name, in: table)
        guard let working = tables[table.name.foldedName] else { return }
        guard !isForeign else { return refuseLack(place, "the column \(table.name).\(column.name)") }
        var added = column
        if !column.canBeOmitted {
            guard try facts(.hasRows(table: working.originalName)) else {
                report(place, "a new required column \(column.name)")
                remake.isNeeded = true
                return
            }
            let isHandled = reportLossy(
                place, column: column.name,
                "it is new and required, and existing rows have no value for it: "
                    + "give it a default value, or make it optional")
            guard isHandled else { return }
            added.isRequired = false
            remake.isNeeded = true
            require(column.name, at: place, in: table)
        } else if positionGroup(of: column.name, in: table) != nil {
            report(place, "a new position column \(column.name), filled by the order of keys")
        } else {
            report(place, "a new column \(column.name)")
        }
        tables[table.name.foldedName]?.added.insert(column.name.foldedName)
        // A key becomes one when the rows have their values.
        var bare = table
        bare.primaryKey = []
        let definition = SchemaDDL.columnDefinition(added, of: bare, dialect: dialect)
        plan.preparation.append("ALTER TABLE \(quote(table.name)) ADD COLUMN \(definition)")
        // With a new key, there is no order yet.
        if let group = positionGroup(of: column.name, in: table),
            group.allSatisfy({ working.description.column($0) != nil })
        {
            fillPositions(column.name, of: table, by: group)
        }
    }

    /// The check that a step gave every row a value.
    private mutating func require(_ column: String, at place: Place, in table: TableDescription) {
        plan.checks.append(
            check(
                .hasNulls(table: table.name, column: column), place,
                "rows have no value", "give them one in the step"))
    }

    /// The columns of the key that a position column orders.
    private func positionGroup(of column: String, in table: TableDescription) -> [String]? {
        if let join = join(of: table) {
            return column == join.orderColumn
                ? join.sourceColumns : column == join.inverseOrderColumn ? join.targetColumns : nil
        }
        return entity(of: table).flatMap { entity in
            schema.references(of: entity.index).first { $0.isOrderStored && $0.orderColumn == column }?.columns
        }
    }

    private mutating func fillPositions(_ column: String, of table: TableDescription, by group: [String]) {
        let isSet = dialect.areSet(group)
        let key = dialect.list(table.primaryKey)
        let isSame = table.primaryKey.map { "numbered.\(quote($0)) = \(quote(table.name)).\(quote($0))" }
        plan.preparation.append(
            """
            UPDATE \(quote(table.name)) SET \(quote(column)) = numbered.position FROM (
                SELECT \(key), \(Self.gap) * row_number() OVER (PARTITION BY \(dialect.list(group)) ORDER BY \(key))
                    AS position FROM \(quote(table.name)) WHERE \(isSet)
            ) AS numbered WHERE \(isSame.joined(separator: " AND "))
            """)
    }

    /// The distance of neighbours, as in edited lists.
    static var gap: Int64 { Relationship.Order.gap }

    // MARK: Former to-ones

    /// A to-one that became a many-to-many gives each of its keys a row in the join table.
    mutating func fillFromFormerToOne(_ table: TableDescription) {
        guard let join = join(of: table) else { return }
        let sides = [(join.source, join.property, true)] + (join.inverse.map { [(join.target, $0, false)] } ?? [])
        for (number, property, isSource) in sides {
            let holder = schema.tables[number]
            let target = schema.tables[isSource ? join.target : join.source]
            guard let columns = formerToOne(property, of: holder, target: target) else { continue }
            let (own, other) =
                isSource ? (join.sourceColumns, join.targetColumns) : (join.targetColumns, join.sourceColumns)
            let orders =
                isSource ? (join.orderColumn, join.inverseOrderColumn) : (join.inverseOrderColumn, join.orderColumn)
            var into = own + other
            var values = holder.keyColumnNames.map { "s.\(quote($0))" } + columns.map { "s.\(quote($0))" }
            if let position = orders.0 {
                into.append(position)
                values.append("\(Self.gap)")
            }
            if let position = orders.1 {
                into.append(position)
                let keys = { [dialect] (names: [String]) in dialect.list(names, of: "s") }
                values.append(
                    "\(Self.gap) * row_number() OVER "
                        + "(PARTITION BY \(keys(columns)) ORDER BY \(keys(holder.keyColumnNames)))")
            }
            let isThere = dialect.areSame(target.keyColumnNames, of: "t", columns, of: "s")
            plan.preparation.append(
                """
                INSERT INTO \(quote(table.name)) (\(dialect.list(into)))
                SELECT \(values.joined(separator: ", ")) FROM \(quote(holder.sqlName)) AS s
                WHERE EXISTS (SELECT 1 FROM \(quote(target.sqlName)) AS t WHERE \(isThere))
                """)
            movedColumns[holder.sqlName.foldedName, default: []].formUnion(columns.map { $0.foldedName })
            history.note(columns, of: holder.sqlName, movedTo: table.name, property: property)
            report(
                Place(holder.name, property),
                "the key in \(columns.joined(separator: ", ")) becomes rows of \(table.name)")
        }
    }

    /// The columns of the to-one that was changed to a many-to-many. It had the many-to-many's original name, or the
    /// same name in the singular, pointed at the same table, and no longer exists.
    private func formerToOne(_ property: String, of table: Table, target: Table) -> [String]? {
        guard let working = tables[table.sqlName.foldedName], let former = oldTable(table), let old else {
            return nil
        }
        let originals = table.entity.relationship(property)?.originalName?.names ?? []
        let oldTarget = oldTable(target)?.index
        for reference in old.references where reference.source == former.index && reference.target == oldTarget {
            let isNamed = originals.contains(reference.property)
            let isSingular = originals.isEmpty && [property, Naming.singular(property)].contains(reference.property)
            let isThere = reference.columns.allSatisfy { working.description.column($0) != nil }
            let isGone = reference.columns.allSatisfy { column in
                !table.columns.contains { $0.name.isSameName(as: column) }
            }
            if (isNamed || isSingular) && isThere && isGone { return reference.columns }
        }
        return nil
    }

    // MARK: Changed columns

    mutating func compare(
        _ column: ColumnDescription, _ actual: ColumnDescription, of table: TableDescription, _ remake: inout Remake
    ) throws(RelataError) {
        guard let working = tables[table.name.foldedName],
            let index = remake.final.columns.place(of: column.name)
        else { return }
        let place = place(of: column.name, in: table)
        if actual.isGenerated {
            _ = reportLossy(
                place, column: column.name, "the file computes \(actual.name) itself: leave it out of the model")
            return
        }
        try compareType(column, actual, of: table, working, &remake)
        let isKey = table.primaryKey.contains { $0.isSameName(as: column.name) }
        guard column.isRequired != actual.isRequired, !isKey else { return }
        let formerly = oldTables[table.name.foldedName]?.column(column.name)
        let isOwn = formerly?.isRequired == actual.isRequired
        let original = (table: working.originalName, column: working.originalColumn(actual.name))
        guard column.isRequired else {
            if isOwn {
                report(place, "it is optional now")
                remake.isNeeded = true
            } else if isReference(column.name, of: table, isComposite: true) {
                // Such a key is unset if a part of it is.
                remake.final.columns[index].isRequired = true
            } else {
                let isHandled = reportLossy(
                    place, column: column.name, "the file requires a value: declare it without `?`")
                if isHandled { remake.isNeeded = true } else { remake.final.columns[index].isRequired = true }
            }
            return
        }
        let hasNulls = try facts(.hasNulls(table: original.table, column: original.column))
        if !hasNulls || (isOwn && column.defaultSQL != nil) {
            // Another program's column stays unchanged as long as it has the declarations that the models require.
            guard isOwn else {
                remake.final.columns[index].isRequired = false
                return
            }
            report(place, "it is required now")
            remake.isNeeded = true
            remake.fills[column.name.foldedName] = column.defaultSQL
            return
        }
        let isHandled = reportLossy(
            place, column: column.name,
            "it is required, and some rows have no value for it: give it a default value, or make it optional")
        if isHandled {
            remake.isNeeded = true
            require(column.name, at: place, in: table)
        }
    }

    private mutating func compareType(
        _ column: ColumnDescription, _ actual: ColumnDescription, of table: TableDescription, _ working: WorkingTable,
        _ remake: inout Remake
    ) throws(RelataError) {
        guard let index = remake.final.columns.place(of: column.name) else { return }
        let place = place(of: column.name, in: table)
        let wanted = self.column(column.name, of: table)
        let type = wanted?.type
        let fits = wanted.map { dialect.holds($0, declaredType: actual.type) } ?? fitsStorage(column, actual)
        let former = entity(of: table).flatMap { oldTable($0) }.flatMap {
            oldColumn(working.originalColumn(actual.name), of: $0)
        }?.type
        let isOwn = oldTables[table.name.foldedName]?.column(column.name)?.type.isSameName(as: actual.type) ?? false
        if fits, isOwn, wanted?.keepsIntegers == true, Affinity(declaredType: actual.type) == .real,
            Affinity(declaredType: column.type) == .numeric
        {
            // Another program's column stays unchanged.
            report(place, "its column keeps whole numbers now")
            remake.isNeeded = true
            return
        }
        if fits {
            guard let type, let former, !TypeChange.isWidening(from: former, to: type) else {
                remake.final.columns[index].type = actual.type
                return
            }
        }
        if dialect == .sqlite, type == nil || isReference(column.name, of: table), !isOwn {
            // SQLite compares the key with its target's, regardless of the declared type.
            remake.final.columns[index].type = actual.type
            return
        }
        // Without rows, nothing is lost.
        if isOwn, try !facts(.hasRows(table: working.originalName)) {
            if fits { return }
            report(place, "its column is \(column.type) now")
            remake.isNeeded = true
            return
        }
        if dialect.altersTables, !fits, isOwn, let former, let type, TypeChange.isWidening(from: former, to: type) {
            report(place, "its column is \(column.type) now")
            remake.isNeeded = true
            if former == .real, type == .real {
                // A field of records becomes a `Double` of a model.
                plan.checks.append(
                    check(
                        .hasRounded(table: working.description.name, column: column.name), place,
                        "rows have integers too large for a Double", "declare it as Int, or change them there"))
            }
            return
        }
        let isHandled = reportLossy(
            place, column: column.name,
            "its values in the file are \(former.map { "of type \($0)" } ?? actual.type), not "
                + "\(type.map { "\($0)" } ?? column.type): declare that type")
        guard isHandled, !fits else { return }
        remake.isNeeded = true
        if let type, dialect == .sqlite {
            plan.finalChecks.append(
                check(
                    .hasOtherTypes(
                        table: table.name, column: column.name, types: TypeChange.storageClasses(type)), place,
                    "rows have values of another type than \(type)", "convert them there"))
        }
    }

    /// Whether a column holds the key of a target, alone or with others.
    private func isReference(_ column: String, of table: TableDescription, isComposite: Bool = false) -> Bool {
        self.column(column, of: table)?.reference.map { !isComposite || schema.references[$0].columns.count > 1 }
            ?? false
    }

    private func fitsStorage(_ column: ColumnDescription, _ actual: ColumnDescription) -> Bool {
        if dialect == .postgres {
            return dialect.holds(AttributeType(postgresType: column.type), declaredType: actual.type)
        }
        let affinity = Affinity(declaredType: actual.type)
        return actual.type.isEmpty || affinity == Affinity(declaredType: column.type)
            || (affinity == .numeric && column.type == StorageType.integer.rawValue)
    }
}
