/// The names that migration steps use. An unknown name would be ignored silently.
extension MigrationPlanner {
    mutating func checkSteps() {
        let areNamed = steps.contains { step in
            step.changes.contains { if case .adopting = $0 { false } else { true } }
        }
        guard areNamed else { return }
        let known = knownNames()
        for step in steps {
            for change in step.changes {
                switch change {
                case .changing(let name): checkChanging(name, step, known)
                case .dropping(let name): checkDropping(name, step, known)
                case .adopting: break
                }
            }
        }
    }

    /// A step may be older than the file, so that names of former models count as well.
    private mutating func checkChanging(_ name: String, _ step: MigrationStepDeclaration, _ known: Set<FoldedName>) {
        guard !known.contains(name.foldedName) else { return }
        let names = schema.tables.flatMap { table in
            [table.name] + table.entity.properties.map { "\(table.name).\($0.name)" }
        }
        refuse(
            step, ".changing", name,
            "names nothing in the models or the file"
                + (NameSuggestion.nearest(to: name, among: names).map { ": did you mean \($0)?" } ?? ""))
    }

    /// A dropped object may never have been in this file, unless one with a similar name exists.
    private mutating func checkDropping(_ name: String, _ step: MigrationStepDeclaration, _ known: Set<FoldedName>) {
        if let wanted = wantedName(name) {
            refuse(step, ".dropping", name, "names \(wanted), which the models have: remove it from the models or here")
            return
        }
        guard !known.contains(name.foldedName), let near = NameSuggestion.nearest(to: name, among: droppable())
        else { return }
        refuse(step, ".dropping", name, "names nothing in the models or the file: did you mean \(near)?")
    }

    private mutating func refuse(_ step: MigrationStepDeclaration, _ kind: String, _ name: String, _ message: String) {
        refuse(Place("migration step \"\(step.name)\""), "`\(kind)(\"\(name)\")` \(message)")
    }

    /// Everything that a step may name, in lower case.
    private func knownNames() -> Set<FoldedName> {
        var names: Set<FoldedName> = []
        func add(_ owners: [String], _ members: [String]) {
            for owner in owners {
                names.insert(owner.foldedName)
                for member in members { names.insert("\(owner).\(member)".foldedName) }
            }
        }
        for table in schema.tables + (old?.tables ?? []) {
            let entity = table.entity
            let properties = entity.properties.flatMap { property in
                switch property {
                case .attribute(let attribute):
                    [attribute.name, attribute.column] + (attribute.originalName?.names ?? [])
                case .relationship(let relationship):
                    [relationship.name] + (relationship.originalName?.names ?? [])
                }
            }
            // The columns of the file's table may be named as well, regardless of the entity's name.
            let columns = tables[table.sqlName.foldedName]?.description.columns.map(\.name) ?? []
            let wanted = expected.first { $0.name == table.sqlName }?.columns.map(\.name) ?? []
            add(
                [entity.name, entity.table] + (entity.originalTable?.names ?? []),
                properties + columns + wanted + table.columns.map(\.name))
        }
        for table in tables.values {
            let columns = table.description.columns.map(\.name)
            add(
                [table.description.name, table.originalName],
                columns + columns.map(table.originalColumn))
        }
        for entry in history.entries {
            guard let owner = entry.table else { continue }
            add([owner] + schema.tables.filter { $0.sqlName.isSameName(as: owner) }.map(\.name), entry.formerNames)
        }
        return names
    }

    /// The entity, or the stored property, that the models have under the name of something to drop.
    private func wantedName(_ name: String) -> String? {
        for table in schema.tables {
            for owner in [table.name, table.sqlName] {
                if owner.isSameName(as: name) { return table.name }
                let wanted = table.columns.first {
                    "\(owner).\($0.name)".isSameName(as: name) || "\(owner).\($0.property)".isSameName(as: name)
                }
                if let wanted { return "\(table.name).\(wanted.property)" }
            }
        }
        return nil
    }

    /// The parts of the file that the models don't have, and no step drops.
    private func droppable() -> [String] {
        tables.values.flatMap { working -> [String] in
            let table = working.description
            guard let wanted = expected.first(where: { $0.name.isSameName(as: table.name) }) else {
                return [table.name]
            }
            let entity = place(of: wanted).entity
            return table.columns.filter { wanted.column($0.name) == nil }.map { "\(entity).\($0.name)" }
        }.filter { name in !steps.contains { $0.covers([.dropping(name)]) } }.sorted()
    }
}
