/// Renames: those that a model declares by `originalName` and `originalTable`, and those that the old models show.
///
/// All renames of tables are decided together, and so are all those of the columns of a table: one may take a name that
/// another gives up.
extension MigrationPlanner {
    /// A name that the models want, and its possible names in the file.
    private struct Claim {
        let name: String
        /// The declared former names, the newest first.
        var declared: [String] = []
        /// Its name in the models with which the file was last opened.
        var current: String?
        /// Its default name, used only if it is free.
        var guesses: [String] = []
        let place: Place
    }

    /// A claim and the name in the file that it takes.
    private struct Decision {
        let claim: Claim
        var old: String
        /// Whether the models declare it.
        let isDeclared: Bool
    }

    mutating func rename() {
        let tables = schema.tables(among: part)
        let joins = schema.joins(among: part)
        let tableClaims = tables.map { table in
            Claim(
                name: table.sqlName, declared: table.entity.originalTable?.names ?? [],
                current: old?[table.name]?.sqlName, place: Place(table.name))
        }
        renameTables(tableClaims) { old, _ in "the table is renamed from \(old)" }
        for table in tables {
            renameColumns(of: table.sqlName, claims(ofColumnsOf: table)) { old, _ in
                "the column is renamed from \(old)"
            }
        }
        renameTables(joins.map(claim)) { old, _ in "the join table is renamed from \(old)" }
        for join in joins {
            renameColumns(of: join.table, claims(ofColumnsOf: join)) { old, new in
                "the column \(new) of the join table is renamed from \(old)"
            }
        }
    }

    /// The entity of the same table in the old models, under its old or new name.
    func oldTable(_ table: Table) -> Table? {
        let key = table.sqlName.foldedName
        let working = tables[key]?.originalName
        if working == nil, givenUp.contains(key) { return nil }
        return oldEntity(named: working ?? table.sqlName)
    }

    private func oldReference(_ property: String, of table: Table) -> Reference? {
        guard let oldTable = oldTable(table) else { return nil }
        return old?.references(of: oldTable.index).first { $0.property == property }
    }

    // MARK: Claims

    private func claims(ofColumnsOf table: Table) -> [Claim] {
        var oldColumns: [String: String] = [:]
        for case .attribute(let attribute) in oldTable(table)?.entity.properties ?? [] {
            oldColumns[attribute.name] = attribute.column
        }
        var claims: [Claim] = []
        for property in table.entity.properties {
            switch property {
            case .attribute(let attribute):
                claims.append(
                    Claim(
                        name: attribute.column,
                        declared: (attribute.originalName?.names ?? []).map { oldColumns[$0] ?? $0 },
                        current: oldColumns[attribute.name],
                        place: Place(table.name, attribute.name)))
            case .relationship(let relationship):
                guard case .reference(let number)? = table.links[relationship.name] else { continue }
                claims += self.claims(of: schema.references[number], relationship, in: table)
            }
        }
        return claims
    }

    /// The columns of a to-one, and the position beside it.
    private func claims(of reference: Reference, _ relationship: Relationship, in table: Table) -> [Claim] {
        let place = Place(table.name, relationship.name)
        let own = oldReference(relationship.name, of: table)
        let former = (relationship.originalName?.names ?? []).map { name in
            (name: name, reference: oldReference(name, of: table))
        }
        func columns(_ former: Reference?, _ name: String) -> [String] {
            let columns = former?.columns ?? reference.defaultColumns(named: name)
            return columns.count == reference.columns.count ? columns : []
        }
        let declared = former.map { columns($0.reference, $0.name) }.filter { !$0.isEmpty }
        var claims = reference.columns.enumerated().map { index, column in
            Claim(
                name: column, declared: declared.map { $0[index] },
                current: own.flatMap { $0.columns.count == reference.columns.count ? $0.columns[index] : nil },
                guesses: own == nil ? [reference.defaultColumns(named: relationship.name)[index]] : [], place: place)
        }
        if let position = reference.orderColumn, reference.isOrderStored {
            claims.append(
                Claim(
                    name: position, declared: former.map { $0.reference?.orderColumn ?? $0.name + "Position" },
                    current: own?.orderColumn, place: place))
        }
        return claims
    }

    private func claim(of join: Join) -> Claim {
        let table = schema.tables[join.source]
        let former = formerJoins(join).map(\.table)
        let defaults = schema.defaultTables(of: join)
        let isDeclared =
            table.entity.originalTable != nil || table.entity.relationship(join.property)?.originalName != nil
        return Claim(
            name: join.table, declared: isDeclared ? former + defaults : [], current: former.first, guesses: defaults,
            place: Place(table.name, join.property))
    }

    private func claims(ofColumnsOf join: Join) -> [Claim] {
        let former = formerJoins(join).first
        let place = Place(schema.tables[join.source].name, join.property)
        let source = (schema.tables[join.source], join.sourceColumns, former?.sourceColumns)
        let target = (schema.tables[join.target], join.targetColumns, former?.targetColumns)
        return [source, target].flatMap { table, columns, former in
            columns.enumerated().map { index, column in
                let names = columns.count == 1 ? table.entity.originalTable?.names ?? [] : []
                return Claim(
                    name: column, declared: names.map { Naming.lowerFirst($0) + "Id" },
                    current: former.flatMap { $0.count == columns.count ? $0[index] : nil }, place: place)
            }
        }
    }

    /// The join in the old models, under its present name or a former one.
    private func formerJoins(_ join: Join) -> [Join] {
        let table = schema.tables[join.source]
        guard let oldSource = oldTable(table)?.index else { return [] }
        let names = [join.property] + (table.entity.relationship(join.property)?.originalName?.names ?? [])
        return names.compactMap { name in old?.joins.first { $0.source == oldSource && $0.property == name } }
    }

    // MARK: Decisions

    private mutating func renameTables(_ claims: [Claim], _ message: (_ old: String, _ new: String) -> String) {
        let decisions = decide(claims, in: nil)
        givenUp.formUnion(decisions.map { $0.old.foldedName })
        carryOut(decisions, in: nil, message) { planner, old, new in planner.rename(table: old, to: new) }
    }

    private mutating func renameColumns(
        of table: String, _ claims: [Claim], _ message: (_ old: String, _ new: String) -> String
    ) {
        guard tables[table.foldedName] != nil else { return }
        carryOut(decide(claims, in: table), in: table, message) { planner, old, new in
            planner.rename(column: old, to: new, in: table)
        }
    }

    /// Whether the file has the table, or the column of a table.
    private func exists(_ name: String, in table: String?) -> Bool {
        guard let table else { return tables[name.foldedName] != nil }
        return tables[table.foldedName]?.description.column(name) != nil
    }

    /// Whether the models have a table of that name, or one of their tables has such a column.
    private func isWanted(_ name: String, in table: String?) -> Bool {
        guard let table else { return expected.contains { $0.name.isSameName(as: name) } }
        return expected.first { $0.name.isSameName(as: table) }?.column(name) != nil
    }

    /// Decides which claims take which names of the file.
    private mutating func decide(_ claims: [Claim], in table: String?) -> [Decision] {
        let declared = claims.map { claim in
            claim.declared.first { old in
                guard exists(old, in: table), !old.isSameName(as: claim.name) else { return false }
                // A reused name is given up only once.
                let isReused = exists(claim.name, in: table) || isWanted(old, in: table)
                return !(isReused && history.knows(old, claim.name, in: table))
            }
        }
        let isDeclared = Set(declared.compactMap { $0?.foldedName })
        var decisions = zip(claims, declared).compactMap { claim, declared in
            let current = claim.current.flatMap { old in
                let isFree = declared?.isSameName(as: old) ?? !isDeclared.contains(old.foldedName)
                return isFree && !old.isSameName(as: claim.name) && exists(old, in: table) ? old : nil
            }
            let guess = claim.guesses.first {
                !$0.isSameName(as: claim.name) && exists($0, in: table) && !isWanted($0, in: table)
            }
            return (current ?? declared ?? guess).map {
                Decision(claim: claim, old: $0, isDeclared: declared?.isSameName(as: $0) ?? false)
            }
        }
        // A name that is taken in the file is free only if its holder gets another one.
        var count = 0
        while decisions.count != count {
            count = decisions.count
            let givenUp = Set(decisions.map { $0.old.foldedName })
            decisions.removeAll {
                exists($0.claim.name, in: table) && !givenUp.contains($0.claim.name.foldedName)
            }
        }
        return settled(decisions)
    }

    /// Each name of the file has one taker.
    private mutating func settled(_ decisions: [Decision]) -> [Decision] {
        var takers: [FoldedName: Place] = [:]
        return decisions.filter { decision in
            let place = decision.claim.place
            guard let other = takers.updateValue(place, forKey: decision.old.foldedName) else { return true }
            takers[decision.old.foldedName] = other
            if decision.isDeclared {
                _ = reportLossy(
                    place,
                    "its original name \(decision.old) is also that of \(other): give it to only one of them")
            }
            return false
        }
    }

    private mutating func carryOut(
        _ decisions: [Decision], in table: String?, _ message: (_ old: String, _ new: String) -> String,
        _ rename: (inout MigrationPlanner, _ old: String, _ new: String) -> Void
    ) {
        var open = decisions
        while !open.isEmpty {
            if let next = open.firstIndex(where: { !exists($0.claim.name, in: table) }) {
                let decision = open.remove(at: next)
                rename(&self, decision.old, decision.claim.name)
            } else {
                // They form a ring: one of them gets a temporary name.
                let spare = "relata_renamed_" + open[0].old
                rename(&self, open[0].old, spare)
                open[0].old = spare
            }
        }
        for decision in decisions {
            report(decision.claim.place, message(decision.old, decision.claim.name))
        }
        history.note(
            decisions.map {
                RenameHistory.Rename(
                    old: $0.old, new: $0.claim.name, property: $0.claim.place.property,
                    isRemembered: $0.isDeclared || !isWanted($0.old, in: table))
            }, in: table)
    }

    // MARK: Statements

    mutating func rename(table old: String, to new: String) {
        guard var working = tables.removeValue(forKey: old.foldedName) else { return }
        plan.preparation.append("ALTER TABLE \(quote(working.description.name)) RENAME TO \(quote(new))")
        working.description.name = new
        tables[new.foldedName] = working
        if var description = oldTables.removeValue(forKey: old.foldedName) {
            description.name = new
            oldTables[new.foldedName] = description
        }
        for key in tables.keys { tables[key]?.description.retarget(table: old, to: new) }
        for key in oldTables.keys { oldTables[key]?.retarget(table: old, to: new) }
    }

    mutating func rename(column old: String, to new: String, in table: String) {
        let key = table.foldedName
        guard var working = tables[key], let actual = working.description.column(old) else { return }
        plan.preparation.append(
            "ALTER TABLE \(quote(working.description.name)) RENAME COLUMN \(quote(actual.name)) TO \(quote(new))")
        working.originalColumns[new.foldedName] = working.originalColumn(actual.name)
        if !old.isSameName(as: new) { working.originalColumns[old.foldedName] = nil }
        tables[key] = working
        for key in tables.keys { tables[key]?.description.rename(column: old, to: new, of: table) }
        for key in oldTables.keys { oldTables[key]?.rename(column: old, to: new, of: table) }
    }
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
