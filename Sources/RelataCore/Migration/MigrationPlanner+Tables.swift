/// An existing table, compared with the wanted one.
extension MigrationPlanner {
    /// The new form of a table, and whether it must be rebuilt.
    struct Remake {
        var final: TableDescription
        var isNeeded = false
        /// Columns whose unset values get a value, as SQL.
        var fills: [FoldedName: String] = [:]
    }

    mutating func compare(_ wanted: TableDescription, _ working: WorkingTable) throws(RelataError) {
        var remake = Remake(final: wanted)
        let formerly = onlyAppends(wanted) ? oldTables[wanted.name.foldedName]?.columns : nil
        for (place, column) in wanted.columns.enumerated() {
            let there = working.description.columns
            if let formerly, Self.isAsItWas(column, at: place, formerly, there) { continue }
            plan.comparedColumns += 1
            if refuseFormerName(column.name, of: wanted) { continue }
            // Without a declared key column, the key is the rowid, which every such table has.
            let isRowID =
                ["rowid", "_rowid_", "oid"].contains(column.name.foldedName) && working.description.hasRowID
            if let actual = working.description.column(column.name) {
                try compare(column, actual, of: wanted, &remake)
            } else if isRowID && wanted.primaryKey == [column.name] {
                remake.final.columns.removeAll { $0.name == column.name }
            } else {
                try add(column, to: wanted, &remake)
            }
        }
        compareKey(wanted, &remake)
        try compareForeignKeys(wanted, &remake)
        try keepOrDropOthers(wanted, &remake)
        try compareIndexes(wanted, remake)
    }

    /// Whether a file only lacks properties at the end of an entity: then its columns need no closer comparison. A
    /// class that is created by use gets hundreds of fields in this way, one after the other.
    private func onlyAppends(_ wanted: TableDescription) -> Bool {
        guard part != nil, let entity = entity(of: wanted), let before = oldTable(entity) else { return false }
        return entity.entity.properties.starts(with: before.entity.properties)
    }

    /// Whether a column is unchanged. It is fast for tables in which nearly all columns are unchanged and in their places.
    private static func isAsItWas(
        _ column: ColumnDescription, at place: Int, _ formerly: NamedColumns, _ there: NamedColumns
    ) -> Bool {
        guard formerly.indices.contains(place), there.indices.contains(place), formerly[place] == column else {
            return false
        }
        return there[place].name == column.name && there[place].type == column.type
            && there[place].isRequired == column.isRequired && !there[place].isGenerated
    }

    /// Makes the database assign keys that the objects supplied so far.
    private mutating func assignKeys(of wanted: TableDescription) {
        report(place(of: wanted).whole, "the database assigns its key now")
    }

    private mutating func compareKey(_ wanted: TableDescription, _ remake: inout Remake) {
        guard let working = tables[wanted.name.foldedName] else { return }
        let actual = working.description
        let isRowID = actual.primaryKey.isEmpty && wanted.primaryKey.allSatisfy { actual.column($0) == nil }
        let names = Set(wanted.primaryKey.map { $0.foldedName })
        let isSame = isRowID || Set(actual.primaryKey.map { $0.foldedName }) == names
        let isAssigned = entity(of: wanted)?.entity.isKeyAssigned == true && !isRowID
        // A unique set serves as a key for look-ups, and for foreign keys.
        if isSame || (actual.isUnique(wanted.primaryKey) && oldTables[wanted.name.foldedName] == nil) {
            if isAssigned && !actual.isKeyAssigned && dialect.altersTables && !isForeign {
                assignKeys(of: wanted)
                remake.isNeeded = true
            } else if isAssigned && !actual.isKeyAssigned {
                remake.isNeeded = reportLossy(
                    place(of: wanted).whole, "its key isn't assigned by the file: declare the key without `?`")
            }
            if !remake.isNeeded {
                remake.final.primaryKey = isSame ? wanted.primaryKey : actual.primaryKey
                remake.final.isKeyAssigned = actual.isKeyAssigned
            }
            return
        }
        let isHandled = reportLossy(
            place(of: wanted),
            "its primary key is (\(wanted.primaryKey.joined(separator: ", "))), that of the file "
                + "(\(actual.primaryKey.joined(separator: ", "))): declare the same key")
        if isHandled {
            remake.isNeeded = true
            let question = DataQuestion.hasDuplicates(table: wanted.name, columns: wanted.primaryKey)
            plan.checks.append(
                check(question, place(of: wanted).whole, "rows have equal keys", "make them differ there"))
        }
    }

    /// Columns without a property: left alone if rows can be inserted without them.
    private mutating func keepOrDropOthers(_ wanted: TableDescription, _ remake: inout Remake) throws(RelataError) {
        guard let working = tables[wanted.name.foldedName] else { return }
        let entity = place(of: wanted).entity
        let former = self.entity(of: wanted).flatMap { oldTable($0) }
        let moved = movedColumns[wanted.name.foldedName] ?? []
        for column in working.description.columns where wanted.column(column.name) == nil {
            let original = working.originalColumn(column.name)
            let property = former?.columns.first { $0.name.isSameName(as: original) }?.property
            if moved.contains(column.name.foldedName) {
                remake.isNeeded = true
                continue
            }
            if let property, let isDropped = try formerToOne(Place(entity, property), column, working) {
                if isDropped { remake.isNeeded = true } else { remake.final.columns.append(column) }
                continue
            }
            let names = [property, column.name].compactMap { $0 }
            let spellings = stepNames(of: entity).flatMap { owner in
                names.map { LossyChange.dropping("\(owner).\($0)") }
            }
            let isAsked = steps.contains { $0.covers(spellings) }
            let isNewer = newerColumns[wanted.name.foldedName]?.contains(column.name.foldedName) ?? false
            if !column.canBeOmitted && !isNewer || isAsked {
                let isDropped = reportLossy(
                    Place(entity, property ?? column.name), column: column.name,
                    isAsked
                        ? "the column \(column.name) is dropped"
                        : "the models don't have it, and the file allows no row without it: declare it",
                    isDropping: true)
                if isDropped {
                    remake.isNeeded = true
                    continue
                }
            }
            remake.final.columns.append(column)
        }
        // Foreign keys of another program on a column that the models don't have.
        let kept = remake.final
        for key in working.description.foreignKeys
        where key.columns.allSatisfy({ kept.column($0) != nil })
            && key.columns.contains(where: { wanted.column($0) == nil })
        {
            remake.final.foreignKeys.append(key)
        }
        if dialect.altersTables {
            finals[wanted.name.foldedName] = remake.final
            if remake.isNeeded { alter(to: remake, working) }
            return
        }
        guard remake.isNeeded else { return }
        let words = SQLWords.obstacles(in: working.description.sql ?? "")
        if !words.isEmpty {
            let isHandled = reportLossy(
                Place(entity),
                "the table has to be rebuilt, and would lose what \(words.joined(separator: ", ")) says: "
                    + "rebuild it manually")
            guard isHandled else { return }
        }
        let texts = textsWithOldNames(of: working)
        if !texts.isEmpty {
            let isHandled = reportLossy(
                Place(entity),
                "the table has to be rebuilt after a rename, and would lose \(texts.joined(separator: ", ")), "
                    + "written with the old names: open the file with only the rename first")
            guard isHandled else { return }
        }
        self.remake(remake, working)
    }

    /// A to-one whose key moved to the other side: its old keys would stay unused. Returns whether a step handles them,
    /// so that the column is dropped; `nil` if nothing can be lost.
    private mutating func formerToOne(
        _ place: Place, _ column: ColumnDescription, _ working: WorkingTable
    ) throws(RelataError) -> Bool? {
        let relationship = place.property.flatMap { schema[place.entity]?.entity.relationship($0) }
        let inverse: String
        switch relationship?.kind {
        case .hasOne(let name), .toMany(let name): inverse = name
        default: return nil
        }
        let question = DataQuestion.hasValues(
            table: working.originalName, column: working.originalColumn(column.name))
        guard let target = relationship?.target, try facts(question) else { return nil }
        return reportLossy(
            place, column: column.name,
            "it was a to-one and is the view of \(target).\(inverse) now, and rows have keys in \(column.name): "
                + "keep it a to-one", isDropping: true)
    }

    /// Parts that can't be recreated from a description of the table, and whose text may be outdated.
    private func textsWithOldNames(of working: WorkingTable) -> [String] {
        let indexes = working.isRenamed ? working.description.indexes.filter { !$0.isWhole } : []
        // Triggers name other tables too.
        let hasTriggers = !working.description.triggers.isEmpty && tables.values.contains(where: \.isRenamed)
        return indexes.map { "the index \($0.name)" } + (hasTriggers ? ["its triggers"] : [])
    }

    /// Rebuilds a table, because SQLite can't change constraints: a new table, its rows, the old one's name.
    private mutating func remake(_ remake: Remake, _ working: WorkingTable) {
        let name = working.description.name
        var final = remake.final
        final.name = "relata_new_\(name)"
        let neverReusedKeys = SQLWords.words(in: working.description.sql ?? "").contains("AUTOINCREMENT")
        final.neverReusesKeys = final.neverReusesKeys || neverReusedKeys
        let added = tables[name.foldedName]?.added ?? []
        // A column that doesn't exist yet is one that an empty table gets.
        let there = final.columns.filter { column in
            working.description.column(column.name) != nil || added.contains(column.name.foldedName)
        }
        var names = there.map(\.name)
        var values = there.map { column in
            let fill = remake.fills[column.name.foldedName]
            return fill.map { "coalesce(\(quote(column.name)), \($0))" } ?? quote(column.name)
        }
        if working.description.hasUndeclaredRowID && final.hasUndeclaredRowID {
            // It may be the key, and SQLite would count from 1.
            names.append("rowid")
            values.append("rowid")
        }
        plan.completion.append(SchemaDDL.createTable(final, dialect: dialect))
        if neverReusedKeys && final.isKeyAssigned {
            // Keys of deleted rows stay used. Dropping the old table loses its last key.
            plan.completion.append(
                "INSERT INTO sqlite_sequence (name, seq) SELECT \(SchemaDDL.literal(.text(final.name))), seq "
                    + "FROM sqlite_sequence WHERE name = \(SchemaDDL.literal(.text(name)))")
        }
        if !there.isEmpty {
            plan.completion.append(
                "INSERT INTO \(quote(final.name)) (\(dialect.list(names))) "
                    + "SELECT \(values.joined(separator: ", ")) FROM \(quote(name))")
        }
        plan.completion += [
            "DROP TABLE \(quote(name))", "ALTER TABLE \(quote(final.name)) RENAME TO \(quote(name))",
        ]
        if !tables.values.contains(where: \.isRenamed) { plan.completion += working.description.triggers }
        remade.insert(name.foldedName)
        plan.mayBreakReferences = true
    }
}
