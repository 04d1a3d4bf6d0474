/// Foreign keys as to-ones, the views of them, and foreign keys that aren't relationships.
extension EntityReader {
    mutating func readForeignKeys(of number: Int) {
        let table = tables[number]
        let key = Set(table.primaryKey.map { $0.foldedName })
        var taken: Set<FoldedName> = []
        for foreignKey in table.foreignKeys {
            guard let target = target(of: foreignKey, in: number) else { continue }
            let targetKey = tables[target].primaryKey
            let pointed = foreignKey.targetColumns.isEmpty ? targetKey : foreignKey.targetColumns
            let pairs = Dictionary(
                zip(pointed.map { $0.foldedName }, foreignKey.columns), uniquingKeysWith: { first, _ in first })
            let columns = targetKey.compactMap { pairs[$0.foldedName] }
            let names = Set(columns.map { $0.foldedName })
            guard !columns.isEmpty, columns.count == targetKey.count, columns.count == foreignKey.columns.count else {
                readConstraint(number, foreignKey, target, "doesn't point at its primary key")
                continue
            }
            guard tables[target].canBeReferredTo(by: foreignKey) else {
                readConstraint(number, foreignKey, target, "points at a key whose index compares by another collation")
                continue
            }
            guard foreignKey.unsetColumns == nil else {
                readConstraint(number, foreignKey, target, "unsets only some of its columns")
                continue
            }
            guard names.count == columns.count, taken.isDisjoint(with: names) else {
                readConstraint(number, foreignKey, target, "shares a column with another")
                continue
            }
            guard key.isDisjoint(with: names) || key.isSuperset(of: names) else {
                readConstraint(number, foreignKey, target, "contains only a part of the primary key")
                continue
            }
            guard key.isDisjoint(with: names) || holds(columns, inOrder: table.primaryKey) else {
                readConstraint(
                    number, foreignKey, target, "is part of the primary key, whose columns have another order")
                continue
            }
            guard !columns.contains(where: { table.column($0)?.isGenerated ?? true }) else {
                readConstraint(number, foreignKey, target, "contains a generated column")
                continue
            }
            if foreignKey.onDelete == .setDefault {
                note(number, foreignKey, "sets a default on delete, which isn't a delete rule: it is read as deny")
            }
            noteUnsetKey(number, foreignKey)
            taken.formUnion(names)
            references[number].append(
                KeyReference(
                    columns: columns, target: target, rule: rule(of: foreignKey, in: number),
                    isRestricting: foreignKey.onDelete == .restrict,
                    unsupportedAction: unsupportedAction(of: foreignKey, in: number),
                    comparison: KeyComparison(columns, of: table, with: targetKey, of: tables[target])))
        }
    }

    /// Whether columns follow each other in a key. The key of an object is composed of the key of the one that it
    /// refers to.
    private func holds(_ columns: [String], inOrder key: [String]) -> Bool {
        let names = key.map { $0.foldedName }
        guard let first = columns.first.flatMap({ names.firstIndex(of: $0.foldedName) }) else { return false }
        return names[first...].starts(with: columns.map { $0.foldedName })
    }

    /// The foreign keys of a declared entity's table that the entity doesn't know.
    mutating func readOtherForeignKeys(of number: Int, in schema: Schema) {
        for foreignKey in tables[number].foreignKeys {
            guard let target = target(of: foreignKey, in: number) else { continue }
            let isKnown = schema.references(of: number).contains { reference in
                reference.target == target
                    && foreignKey.isOn(
                        reference.columns, pointingAt: schema.tables[target].keyColumnNames, of: tables[target])
            }
            if !isKnown { readConstraint(number, foreignKey, target, "isn't declared by the models") }
        }
    }

    private mutating func target(of key: ForeignKeyDescription, in number: Int) -> Int? {
        let name = key.target.foldedName
        if let target = numbers[name] { return target }
        if let reason = leftOut[name] {
            note(number, key, "points at \(reason), which is left out: it is read as plain attributes")
        } else {
            note(number, key, "points at a table that doesn't exist: create that table, or drop the key")
        }
        return nil
    }

    /// Keeps a foreign key that isn't a relationship, with the reason.
    private mutating func readConstraint(
        _ number: Int, _ key: ForeignKeyDescription, _ target: Int, _ reason: String
    ) {
        let pointed = key.targetColumns.isEmpty ? tables[target].primaryKey : key.targetColumns
        guard pointed.count == key.columns.count, pointed.allSatisfy({ tables[target].column($0) != nil }) else {
            note(
                number, key,
                "doesn't match the columns that it points at, so rows of either table can't be deleted")
            return
        }
        let constraint = ForeignKey(
            columns: key.columns, target: entityNames[target], targetColumns: pointed, rule: rule(of: key, in: number),
            optionalColumns: optional(key.columns, of: number), unsetColumns: key.unsetColumns,
            unsupportedAction: unsupportedAction(of: key, in: number),
            comparison: KeyComparison(key.columns, of: tables[number], with: pointed, of: tables[target]))
        constraints[number].append(constraint)
        let setsDefault = key.onDelete == .setDefault
        var message = reason + ": it isn't a link between objects"
        if setsDefault { message += ", and the default that it sets on delete is read as deny" }
        if readMatch(number, key, target, constraint) {
            message += "; deletions follow it, and queries follow it as a read-only relationship"
        } else if !setsDefault {
            message += "; deletions follow it"
        }
        note(number, key, message)
        noteUnsetKey(number, key)
    }

    /// Reports that a foreign key whose columns are unset on deletion of the target is read as a denial.
    private mutating func noteUnsetKey(_ number: Int, _ key: ForeignKeyDescription) {
        guard key.onDelete == .setNull, rule(of: key, in: number) == .deny else { return }
        let table = tables[number]
        let isInKey = key.columns.contains { column in
            table.primaryKey.contains { $0.isSameName(as: column) } && table.column(column)?.isRequired == false
        }
        note(
            number, key,
            isInKey
                ? "sets a part of the primary key to NULL on delete, after which nothing identifies the row: "
                    + "it is read as deny"
                : "sets a column to NULL on delete that can't be NULL, which the database refuses: it is read as deny")
    }

    private mutating func note(_ table: Int, _ key: ForeignKeyDescription, _ message: String) {
        notes.append(
            SchemaProblem(
                entity: tables[table].name, property: key.columns.joined(separator: ", "),
                message: "its foreign key to \(key.target) \(message)"))
    }

    /// A primary key with a reference whose target's key leads back here can't be resolved: the reference is read as
    /// attributes.
    mutating func breakKeyCycles(at number: Int) {
        for reference in references[number]
        where isInKey(reference.columns, of: number) && leads(reference.target, to: number, visited: []) {
            references[number].removeAll { $0.columns == reference.columns }
            notes.append(
                SchemaProblem(
                    entity: tables[number].name, property: reference.columns.joined(separator: ", "),
                    message: "its primary key refers to itself by a chain of keys: it is read as plain attributes"))
            constraints[number].append(
                ForeignKey(
                    columns: reference.columns, target: entityNames[reference.target],
                    targetColumns: tables[reference.target].primaryKey, rule: reference.rule, optionalColumns: [],
                    unsupportedAction: reference.unsupportedAction,
                    comparison: reference.comparison))
        }
    }

    private func leads(_ start: Int, to goal: Int, visited: Set<Int>) -> Bool {
        if start == goal { return true }
        guard !visited.contains(start) else { return false }
        let visited = visited.union([start])
        return references[start].contains {
            isInKey($0.columns, of: start) && leads($0.target, to: goal, visited: visited)
        }
    }

    private func isInKey(_ columns: [String], of number: Int) -> Bool {
        let key = tables[number].primaryKey
        return columns.allSatisfy { column in key.contains { $0.isSameName(as: column) } }
    }

    func isRequired(_ reference: KeyReference, of number: Int) -> Bool {
        isInKey(reference.columns, of: number)
            || reference.columns.allSatisfy { tables[number].column($0)?.isRequired == true }
    }

    /// The columns that may be unset; none is a part of the primary key, which identifies the object.
    private func optional(_ columns: [String], of number: Int) -> [String] {
        let table = tables[number]
        return columns.filter { column in
            !table.primaryKey.contains { $0.isSameName(as: column) }
                && table.column(column).map { !$0.isRequired && !$0.isGenerated } == true
        }
    }

    /// Whether a foreign key sets columns to NULL on deletion of the target, and all of these columns allow it.
    private func canBeUnset(_ key: ForeignKeyDescription, of number: Int) -> Bool {
        let columns = key.unsetColumns ?? key.columns
        return optional(columns, of: number).count == columns.count
    }

    private func unsupportedAction(of key: ForeignKeyDescription, in number: Int) -> UnsupportedAction? {
        switch key.onDelete {
        case .setDefault: .setsDefault
        case .setNull: canBeUnset(key, of: number) ? nil : .unsetsRequired
        case .none, .restrict, .cascade: nil
        }
    }

    /// The rule equivalent to an action; if columns can't be unset, the database refuses.
    private func rule(of key: ForeignKeyDescription, in number: Int) -> DeleteRule {
        switch key.onDelete {
        case .cascade: .cascade
        case .setNull: canBeUnset(key, of: number) ? .nullify : .deny
        case .none, .restrict, .setDefault: .deny
        }
    }

    /// The key's column without `Id`; for several columns their common beginning, or the target's name.
    func toOneName(_ columns: [String], _ target: Int) -> String {
        let names = columns.map(Naming.lowerCamelCase)
        let target = Naming.singular(Naming.lowerCamelCase(tables[target].plainName))
        guard let first = names.first else { return target }
        guard names.count == 1 else {
            let length = names.dropFirst().map { zip(first, $0).prefix { $0 == $1 }.count }.min() ?? 0
            let endsWord = names.allSatisfy { $0.dropFirst(length).first?.isUppercase == true }
            return endsWord ? String(first.prefix(length)) : target
        }
        if ["id", target.lowercased() + "id"].contains(first.lowercased()) { return target }
        return first.hasSuffix("Id") || first.hasSuffix("ID") ? String(first.dropLast(2)) : first
    }

    func toOne(_ reference: KeyReference, of number: Int) -> Relationship {
        // If the target is declared, it has no inverse for the rule.
        var relationship = Relationship(
            reference.property, target: entityNames[reference.target],
            kind: .toOne(isOptional: !isRequired(reference, of: number), columns: reference.columns),
            onTargetDelete: reference.target < declared.count ? reference.rule : nil)
        relationship.comparison = reference.comparison
        relationship.unsupportedAction = reference.unsupportedAction
        relationship.requiredColumns =
            isRequired(reference, of: number)
            ? [] : reference.columns.filter { tables[number].column($0)?.isRequired == true }
        return relationship
    }

    /// Gives each target the inverse: the plural of the source, singular for a unique key, after the to-one's name if
    /// there are several between the same two.
    mutating func addViews(of number: Int) {
        let source = Naming.lowerCamelCase(tables[number].plainName)
        for reference in references[number] where reference.target >= declared.count {
            let isUnique = tables[number].isUnique(reference.columns)
            let base = isUnique ? Naming.singular(source) : Naming.plural(source)
            let long = reference.property + Naming.capitalized(base)
            let isAlone = references[number].filter { $0.target == reference.target }.count == 1
            let name = drafts[reference.target].claim(isAlone ? base : long, long)
            drafts[reference.target].properties.append(
                .relationship(
                    Relationship(
                        name, target: entityNames[number],
                        kind: isUnique ? .hasOne(inverse: reference.property) : .toMany(inverse: reference.property),
                        deleteRule: reference.rule)))
        }
    }
}
