/// Foreign keys and indexes.
extension MigrationPlanner {
    // MARK: Foreign keys

    mutating func compareForeignKeys(_ wanted: TableDescription, _ remake: inout Remake) throws(RelataError) {
        guard let working = tables[wanted.name.foldedName] else { return }
        let formerly = oldTables[wanted.name.foldedName]
        for key in wanted.foreignKeys {
            let place = place(of: key.columns[0], in: wanted)
            if key.columns.contains(where: { working.description.column($0) == nil }) {
                // `ADD COLUMN` takes the key of a single column along.
                if key.columns.count > 1 && !isForeign { remake.isNeeded = true }
                continue
            }
            let former = formerly?.foreignKey(on: key.columns)
            let actual = counterpart(of: key, former, in: working)
            // An index that was dropped manually is created again.
            let isOwn = formerly != nil && (isSame(actual, former) || actual == nil)
            guard let actual, isSamePlace(actual, key) else {
                guard isOwn else {
                    leave(actual, insteadOf: key, of: wanted, &remake)
                    continue
                }
                try point(key, at: place, in: wanted, &remake)
                continue
            }
            guard actual.onDelete != key.onDelete else { continue }
            if isOwn {
                report(place, "the delete rule in the file is \(key.onDelete.rawValue) now")
                remake.isNeeded = true
            } else if actual.onDelete.isDenial || (key.onDelete == .none && actual.onDelete != .cascade) {
                // The rules are carried out before the database could do anything.
                keep(actual, insteadOf: key, &remake)
            } else {
                let isHandled = reportLossy(
                    place,
                    "the file says ON DELETE \(actual.onDelete.rawValue), the models \(key.onDelete.rawValue): "
                        + "declare the delete rule that the file has")
                if isHandled { remake.isNeeded = true }
            }
        }
        dropForeignKeys(wanted, working, formerly, &remake)
    }

    /// Foreign keys that the models don't want: references that may dangle, and keys that are plain attributes now.
    private mutating func dropForeignKeys(
        _ wanted: TableDescription, _ working: WorkingTable, _ formerly: TableDescription?, _ remake: inout Remake
    ) {
        for key in working.description.foreignKeys
        where key.columns.allSatisfy({ wanted.column($0) != nil }) {
            if let own = wanted.foreignKeys.first(where: { $0.isOn(key.columns) }) {
                // A second one of another program on the same columns stays.
                let former = formerly?.foreignKey(on: key.columns)
                if !isSamePlace(key, own), key != counterpart(of: own, former, in: working) {
                    remake.final.foreignKeys.append(key)
                }
                continue
            }
            let place = place(of: key.columns[0], in: wanted)
            let isReference =
                entity(of: wanted).map { schema.references(of: $0.index).contains { $0.columns == key.columns } }
                ?? false
            if formerly.map({ isSame(key, $0.foreignKey(on: key.columns)) }) ?? false {
                report(place, "the file no longer checks where it points")
                remake.isNeeded = true
            } else if isReference {
                let isHandled = reportLossy(
                    place,
                    "it may dangle, but the file checks where it points: declare another rule than noAction")
                if isHandled { remake.isNeeded = true }
            } else {
                remake.final.foreignKeys.append(key)
            }
        }
    }

    /// The file's foreign key that a wanted one replaces, among those on the same columns.
    private func counterpart(
        of key: ForeignKeyDescription, _ former: ForeignKeyDescription?, in working: WorkingTable
    ) -> ForeignKeyDescription? {
        let candidates = working.description.foreignKeys.filter { $0.isOn(key.columns) }
        return candidates.first { isSamePlace($0, key) }
            ?? candidates.first { candidate in former.map { isSamePlace(candidate, $0) } ?? false }
            ?? candidates.first
    }

    /// Makes existing columns a foreign key.
    private mutating func point(
        _ key: ForeignKeyDescription, at place: Place, in table: TableDescription, _ remake: inout Remake
    ) throws(RelataError) {
        guard let working = tables[table.name.foldedName] else { return }
        let target = tables[key.target.foldedName]
        let question = DataQuestion.hasDangling(
            table: table.name, columns: key.columns, target: key.target, targetColumns: key.targetColumns)
        var isDangling = try facts(.hasRows(table: working.originalName))
        if isDangling, let target, key.targetColumns.allSatisfy({ target.description.column($0) != nil }) {
            isDangling = try facts(
                .hasDangling(
                    table: working.originalName, columns: key.columns.map(working.originalColumn),
                    target: target.originalName, targetColumns: key.targetColumns.map(target.originalColumn)))
        }
        if isDangling {
            let isHandled = reportLossy(
                place,
                "rows of the file have keys that \(key.target) doesn't have: declare it as it was, or remove those keys"
            )
            guard isHandled else { return }
            plan.checks.append(
                check(
                    question, place,
                    "rows have keys that \(key.target) doesn't have", "unset or fix them there"))
        } else {
            report(place, "the file checks where it points now")
        }
        remake.isNeeded = true
    }

    /// A table of another program without the key is used unchanged; one whose key points elsewhere isn't.
    private mutating func leave(
        _ actual: ForeignKeyDescription?, insteadOf key: ForeignKeyDescription, of table: TableDescription,
        _ remake: inout Remake
    ) {
        if let actual {
            let isHandled = reportLossy(
                place(of: key.columns[0], in: table),
                "its key points at \(actual.target) in the file, not at the key of \(key.target): declare that target")
            if isHandled { remake.isNeeded = true }
        } else {
            remake.final.foreignKeys.removeAll { $0 == key }
        }
    }

    private func keep(
        _ actual: ForeignKeyDescription, insteadOf key: ForeignKeyDescription, _ remake: inout Remake
    ) {
        guard let index = remake.final.foreignKeys.firstIndex(of: key) else { return }
        remake.final.foreignKeys[index] = actual
    }

    /// Whether two keys point from the same columns at the same ones.
    func isSamePlace(_ actual: ForeignKeyDescription, _ wanted: ForeignKeyDescription) -> Bool {
        guard actual.target.isSameName(as: wanted.target) else { return false }
        let primaryKey = tables[actual.target.foldedName]?.description.primaryKey ?? []
        let pointed = actual.targetColumns.isEmpty ? primaryKey : actual.targetColumns
        let pairs = { (columns: [String], targets: [String]) in
            Set(zip(columns, targets).map { [$0.foldedName, $1.foldedName] })
        }
        return pairs(actual.columns, pointed) == pairs(wanted.columns, wanted.targetColumns)
    }

    private func isSame(_ actual: ForeignKeyDescription?, _ former: ForeignKeyDescription?) -> Bool {
        guard let actual, let former else { return actual == nil && former == nil }
        return isSamePlace(actual, former) && actual.onDelete == former.onDelete
    }

    // MARK: Indexes

    mutating func compareIndexes(_ wanted: TableDescription, _ remake: Remake) throws(RelataError) {
        guard let working = tables[wanted.name.foldedName] else { return }
        let isRemade = remade.contains(wanted.name.foldedName)
        var left = working.description
        refuseDropping(from: left, to: remake.final)
        let stale = left.indexes.filter { isStale($0, wanted) }
        left.indexes.removeAll { stale.contains($0) }
        if dialect.altersTables, let final = finals[wanted.name.foldedName] {
            // An index is dropped with its columns.
            left.indexes.removeAll { !$0.columns.allSatisfy { final.column($0) != nil } }
        }
        for index in stale {
            report(
                place(of: index.columns[0], in: wanted),
                index.isUnique ? "it is no longer unique" : "it is no longer indexed")
            if !isRemade {
                plan.completion.append("DROP INDEX \(quote(index.name))")
                plan.mayBreakReferences = true
            }
        }
        if isRemade { try restore(left.indexes, of: wanted.name, remake.final) }
        for index in wanted.indexes.filter(\.isUnique) where !left.isUnique(index.columns) {
            try addUnique(index, to: wanted, working)
        }
        for index in wanted.indexes where !index.isUnique && !left.isIndexed(index.columns) && !isForeign {
            // The index of a new column isn't reported separately.
            if index.columns.allSatisfy({ working.description.column($0) != nil }) {
                let place = place(of: index.columns[0], in: wanted)
                report(place, "a new index on \(index.columns.joined(separator: ", "))")
            }
            try add(index, to: wanted.name, working)
        }
    }

    /// Refuses to drop columns that an index on an expression, or a partial index, needs: it would be lost silently, or
    /// couldn't be created again.
    private mutating func refuseDropping(from before: TableDescription, to final: TableDescription) {
        for column in before.columns where final.column(column.name) == nil {
            for index in before.indexes where !index.isPlain {
                guard let sql = index.sql, SQLWords.names(in: sql.drop { $0 != "(" }).contains(column.name.foldedName)
                else { continue }
                refuse(
                    Place(place(of: final).entity, column.name),
                    "the index \(index.name) needs it: drop that index first")
            }
        }
    }

    /// Creates an index of an existing table. For one with rows, it is created concurrently if the engine can.
    private mutating func add(
        _ index: IndexDescription, to table: String, _ working: WorkingTable
    ) throws(RelataError) {
        guard dialect.altersTables, part == nil, try facts(.hasRows(table: working.originalName)) else {
            return plan.completion.append(try create(index, on: table))
        }
        plan.laterIndexes.append(LaterIndex(try named(index, of: table), table: table))
    }

    /// Whether an index belongs to a declaration that the old models had and the new don't.
    private func isStale(_ index: IndexDescription, _ wanted: TableDescription) -> Bool {
        guard index.sql != nil, index.isPlain, let formerly = oldTables[wanted.name.foldedName],
            index.columns.allSatisfy({ wanted.column($0) != nil })
        else { return false }
        let isLike = { (other: IndexDescription) in
            other.isUnique == index.isUnique
                && other.columns.map { $0.foldedName } == index.columns.map { $0.foldedName }
        }
        return formerly.indexes.contains(where: isLike) && !wanted.indexes.contains(where: isLike)
            && !(index.isUnique && wanted.isUnique(index.columns))
    }

    /// Creates the indexes of a rebuilt table again.
    private mutating func restore(
        _ indexes: [IndexDescription], of table: String, _ final: TableDescription
    ) throws(RelataError) {
        let isRenamed = tables[table.foldedName]?.isRenamed ?? false
        for index in indexes {
            if let sql = index.sql, !isRenamed {
                guard index.columns.allSatisfy({ final.column($0) != nil || !index.isPlain }) else { continue }
                plan.completion.append(sql)
            } else if index.isWhole && index.columns.allSatisfy({ final.column($0) != nil }) {
                // The text is that before the renaming, and SQLite reads an unknown quoted name as a string.
                plan.completion.append(try create(index, on: table))
            }
        }
    }

    private mutating func addUnique(_ index: IndexDescription, to table: TableDescription, _ working: WorkingTable)
        throws(RelataError)
    {
        let place = place(of: index.columns[0], in: table)
        let words = index.columns.joined(separator: ", ")
        guard !isForeign else { return refuseLack(place, "a unique index on \(words)") }
        let new = index.columns.filter { working.description.column($0) == nil }
        let question: DataQuestion =
            new.isEmpty
            ? .hasDuplicates(table: working.originalName, columns: index.columns.map(working.originalColumn))
            : .hasRows(table: working.originalName)
        // New columns without a default hold nothing that could be equal.
        let isUnset = new.contains { table.column($0)?.defaultSQL == nil }
        if !isUnset, try facts(question) {
            let isHandled = reportLossy(
                place, "it is unique now, and several rows have the same \(words): remove `.unique`")
            guard isHandled else { return }
        } else if new.isEmpty {
            report(place, "it is unique now")
        }
        let added = tables[table.name.foldedName]?.added ?? []
        if index.columns.allSatisfy({ !new.contains($0) || added.contains($0.foldedName) }) {
            checkDuplicates(index, of: table)
        }
        plan.completion.append(try create(index, on: table.name))
    }

    /// Equal values left by a step are found before the index is created, so that they can be named.
    mutating func checkDuplicates(_ index: IndexDescription, of table: TableDescription) {
        if steps.isEmpty { return }
        plan.checks.append(
            check(
                .hasDuplicates(table: table.name, columns: index.columns), place(of: index.columns[0], in: table),
                "several rows have the same \(index.columns.joined(separator: ", "))", "make them differ there"))
    }
}
