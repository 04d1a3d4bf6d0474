/// Tables that the engine alters in place, so that nothing is lost that descriptions don't contain.
extension MigrationPlanner {
    /// Alters an existing table until it is as wanted.
    mutating func alter(to remake: Remake, _ working: WorkingTable) {
        let (actual, final) = (working.description, remake.final)
        let (name, table) = (actual.name.foldedName, "ALTER TABLE \(quote(actual.name)) ")
        let isRekeyed =
            Set(actual.primaryKey.map { $0.foldedName }) != Set(final.primaryKey.map { $0.foldedName })
        if isRekeyed {
            rekeyed.insert(name)
            if let key = actual.primaryKeyName { plan.completion.append(table + "DROP CONSTRAINT \(quote(key))") }
        }
        for column in final.columns {
            if let before = actual.column(column.name) {
                if !before.type.isSameName(as: column.type) { retype(before, to: column, of: final, actual) }
            } else if tables[name]?.added.contains(column.name.foldedName) != true {
                // Here, only a table without rows gets a column that the steps didn't see.
                var bare = final
                bare.primaryKey = []
                plan.completion.append(
                    table + "ADD COLUMN \(SchemaDDL.columnDefinition(column, of: bare, dialect: dialect))")
            }
        }
        for column in final.columns {
            guard let fill = remake.fills[column.name.foldedName] else { continue }
            let name = quote(column.name)
            plan.completion.append("UPDATE \(quote(actual.name)) SET \(name) = \(fill) WHERE \(name) IS NULL")
        }
        for column in final.columns { constrain(column, of: final, actual, table) }
        for column in actual.columns where final.column(column.name) == nil {
            let statement = table + "DROP COLUMN \(quote(column.name))"
            plan.completion.append(statement)
            plan.drops[statement] = SchemaProblem(
                entity: place(of: final).entity, property: column.name, message: "something else depends on it")
        }
        if isRekeyed, !final.primaryKey.isEmpty {
            plan.completion.append(table + "ADD PRIMARY KEY (\(dialect.list(final.primaryKey)))")
        }
        assignKey(of: final, actual, isRekeyed: isRekeyed)
    }

    /// Gives a column another type, and its values with it.
    private mutating func retype(
        _ before: ColumnDescription, to column: ColumnDescription, of final: TableDescription,
        _ actual: TableDescription
    ) {
        retyped[actual.name.foldedName, default: []].insert(column.name.foldedName)
        let change = "ALTER TABLE \(quote(actual.name)) ALTER COLUMN \(quote(column.name)) "
        let isKey = final.primaryKey == [column.name]
        if isKey, actual.isKeyAssigned, !final.isKeyAssigned {
            plan.completion.append(change + "DROP IDENTITY IF EXISTS")
        }
        // A default of the old type may be invalid for the new one.
        if before.defaultSQL != nil { plan.completion.append(change + "DROP DEFAULT") }
        let place = place(of: column.name, in: final)
        let type = self.column(column.name, of: final)?.type ?? AttributeType(postgresType: column.type)
        if TypeConversion.cutsFractions(from: before.type, to: type) {
            plan.checks.append(
                check(
                    .hasFractions(table: actual.name, column: column.name), place,
                    "rows have values of another type than \(type)", "convert them there"))
        }
        let conversion = TypeConversion.sql(quote(column.name), from: before.type, to: type, column.type)
        let statement = change + "TYPE \(column.type) USING \(conversion)"
        plan.completion.append(statement)
        plan.explanations[statement] = SchemaProblem(
            entity: place.entity, property: place.property,
            message: "rows have values of another type than \(type) after the steps: convert them there")
        if let value = column.defaultSQL { plan.completion.append(change + "SET DEFAULT \(value)") }
    }

    /// Whether a column takes `NULL`, and its default.
    private mutating func constrain(
        _ column: ColumnDescription, of final: TableDescription, _ actual: TableDescription, _ table: String
    ) {
        let change = table + "ALTER COLUMN \(quote(column.name)) "
        let isKey = final.primaryKey.contains { $0.isSameName(as: column.name) }
        guard let before = actual.column(column.name) else {
            // A step gave the rows their values.
            let isAdded = tables[actual.name.foldedName]?.added.contains(column.name.foldedName) == true
            if isAdded, column.isRequired, !column.canBeOmitted { plan.completion.append(change + "SET NOT NULL") }
            return
        }
        if column.isRequired, !before.isRequired { plan.completion.append(change + "SET NOT NULL") }
        if !column.isRequired, before.isRequired, !isKey { plan.completion.append(change + "DROP NOT NULL") }
        guard before.type.isSameName(as: column.type),
            let formerly = oldTables[actual.name.foldedName]?.column(column.name),
            formerly.defaultSQL != column.defaultSQL
        else { return }
        plan.completion.append(change + (column.defaultSQL.map { "SET DEFAULT \($0)" } ?? "DROP DEFAULT"))
    }

    /// Makes the database assign the keys of new rows, after the existing ones.
    private mutating func assignKey(of final: TableDescription, _ actual: TableDescription, isRekeyed: Bool) {
        guard final.isKeyAssigned, isRekeyed || !actual.isKeyAssigned, final.primaryKey.count == 1 else { return }
        let (table, key) = (quote(actual.name), final.primaryKey[0])
        if let before = actual.column(key), before.type.isSameName(as: "bigint"), actual.isKeyAssigned { return }
        plan.completion.append(
            "ALTER TABLE \(table) ALTER COLUMN \(quote(key)) ADD GENERATED BY DEFAULT AS IDENTITY")
        plan.completion.append(
            "SELECT setval(pg_get_serial_sequence(\(SchemaDDL.literal(.text(table))), \(SchemaDDL.literal(.text(key)))), "
                + "greatest(coalesce(max(\(quote(key))), 0), 0) + 1, false) FROM \(table)")
    }

    // MARK: References

    /// Drops foreign keys that are removed, or prevent a change, before the steps, and creates the wanted ones at the
    /// end.
    ///
    /// While steps run, references aren't enforced, as on SQLite. Dangling ones are found when the keys are created
    /// again.
    mutating func planReferences() {
        var added: [String] = []
        let names = Set(tables.keys).union(finals.keys)
        for name in names.sorted() {
            let working = tables[name]
            guard let final = finals[name] ?? working?.description else { continue }
            var wanted = dropped.contains(name) ? [] : final.foreignKeys
            for key in working?.description.foreignKeys ?? [] {
                let place = wanted.firstIndex { isSamePlace(key, $0) && $0.onDelete == key.onDelete }
                let makesWay = !plan.steps.isEmpty && key.isWhole || isTouched(key, of: name)
                if let place, !makesWay {
                    wanted.remove(at: place)
                } else if let constraint = key.name {
                    plan.preparation.append("ALTER TABLE \(quote(final.name)) DROP CONSTRAINT \(quote(constraint))")
                }
            }
            for key in wanted where !dropped.contains(key.target.foldedName) {
                added.append(add(key, to: final, isNew: working == nil))
            }
        }
        plan.completion += added
    }

    /// Whether a key prevents a change at either end.
    private func isTouched(_ key: ForeignKeyDescription, of table: FoldedName) -> Bool {
        let target = key.target.foldedName
        let isRetyped = { (columns: [String], table: FoldedName) in
            columns.contains { self.retyped[table]?.contains($0.foldedName) == true }
        }
        return rekeyed.contains(target) || dropped.contains(target) || isRetyped(key.columns, table)
            || isRetyped(key.targetColumns, target)
    }

    /// The statement that creates a foreign key. The meaning of a refusal is recorded.
    private mutating func add(_ key: ForeignKeyDescription, to table: TableDescription, isNew: Bool) -> String {
        let statement = SchemaDDL.addForeignKey(key, to: table.name, dialect: dialect)
        if !isNew {
            let place = place(of: key.columns[0], in: table)
            plan.explanations[statement] = SchemaProblem(
                entity: place.entity, property: place.property,
                message: "the migration left references to missing rows of \(key.target): unset or fix them in a step")
        }
        return statement
    }

    // MARK: Names

    /// The tables and columns without those whose names differ in case only from wanted ones, and that the old models
    /// didn't have: PostgreSQL treats them as other tables, of another program.
    static func own(
        _ actual: [TableDescription], _ expected: [TableDescription], _ old: [FoldedName: TableDescription],
        _ dialect: Dialect
    ) -> [TableDescription] {
        guard dialect == .postgres else { return actual }
        let wanted = Dictionary(expected.map { ($0.name.foldedName, $0) }) { first, _ in first }
        return actual.compactMap { table in
            let (now, before) = (wanted[table.name.foldedName], old[table.name.foldedName])
            if now == nil && before == nil { return table }
            guard table.name == now?.name || table.name == before?.name else { return nil }
            let others = table.columns.map(\.name).filter { name in
                let same = [now, before].compactMap { $0?.column(name)?.name }
                return !same.isEmpty && !same.contains(name)
            }
            return others.isEmpty ? table : table.without(Set(others))
        }
    }

    /// Names that the database has in another case are two names to PostgreSQL, and one to the models.
    mutating func matchCase() {
        guard dialect == .postgres else { return }
        for table in expected {
            guard let actual = tables[table.name.foldedName]?.description else { continue }
            if actual.name != table.name {
                matchCase(place(of: table).whole, "table", actual.name, "table") { planner in
                    planner.rename(table: actual.name, to: table.name)
                }
            }
            for column in table.columns {
                guard let name = actual.column(column.name)?.name, name != column.name else { continue }
                matchCase(place(of: column.name, in: table), "column", name, "column") { planner in
                    planner.rename(column: name, to: column.name, in: table.name)
                }
            }
        }
    }

    private mutating func matchCase(
        _ place: Place, _ what: String, _ name: String, _ label: String, _ rename: (inout MigrationPlanner) -> Void
    ) {
        // If no models made the tables, their owner isn't known.
        guard old == nil else {
            rename(&self)
            return report(place, "the \(what) is renamed from \(name)")
        }
        refuse(
            place, "the \(what) is called \(name) in the database, where case counts: declare `\(label): \"\(name)\"`")
    }

    /// Refuses names that the database would cut off.
    mutating func checkLengths() {
        guard let limit = dialect.nameLimit else { return }
        for table in expected {
            if table.name.utf8.count > limit {
                let fix = join(of: table) == nil ? "`@Model(table:)`" : "`joinTable:`"
                refuse(
                    place(of: table),
                    "the table name \(table.name) has more than \(limit) bytes: give a shorter one with \(fix)")
            }
            for column in table.columns where column.name.utf8.count > limit {
                refuse(
                    place(of: column.name, in: table),
                    "the column name \(column.name) has more than \(limit) bytes: give a shorter one with `column:`")
            }
        }
    }
}
