/// Foreign keys as to-ones, and the views of them.
extension EntityReader {
    mutating func readForeignKeys(of number: Int) {
        let table = tables[number]
        let key = Set(table.primaryKey.map { $0.lowercased() })
        var taken: Set<String> = []
        for foreignKey in table.foreignKeys {
            guard let target = numbers[foreignKey.target.lowercased()] else {
                note(number, foreignKey, "points at a table that doesn't exist: make that table, or drop the key")
                continue
            }
            let targetKey = tables[target].primaryKey
            let pointed = foreignKey.targetColumns.isEmpty ? targetKey : foreignKey.targetColumns
            let pairs = Dictionary(
                zip(pointed.map { $0.lowercased() }, foreignKey.columns), uniquingKeysWith: { first, _ in first })
            let columns = targetKey.compactMap { pairs[$0.lowercased()] }
            let names = Set(columns.map { $0.lowercased() })
            guard !columns.isEmpty, columns.count == targetKey.count, columns.count == foreignKey.columns.count else {
                note(number, foreignKey, "doesn't point at its primary key: it is read as plain attributes")
                continue
            }
            guard names.count == columns.count, taken.isDisjoint(with: names) else {
                note(number, foreignKey, "shares a column with another: it is read as plain attributes")
                continue
            }
            guard key.isDisjoint(with: names) || key.isSuperset(of: names) else {
                note(number, foreignKey, "holds a part of the primary key only: it is read as plain attributes")
                continue
            }
            guard !columns.contains(where: { table.column($0)?.isGenerated ?? true }) else {
                note(number, foreignKey, "stands in a generated column: it is left out")
                continue
            }
            if foreignKey.onDelete == .setDefault {
                note(number, foreignKey, "sets a default on delete, which is no delete rule: it is read as deny")
            }
            taken.formUnion(names)
            references[number].append(ForeignKey(columns: columns, target: target, action: foreignKey.onDelete))
        }
    }

    private mutating func note(_ table: Int, _ key: ForeignKeyDescription, _ message: String) {
        notes.append(
            SchemaProblem(
                entity: tables[table].name, property: key.columns.joined(separator: ", "),
                message: "its foreign key to \(key.target) \(message)"))
    }

    /// A primary key that holds a reference whose target's key leads back here can't be resolved: the reference is read
    /// as attributes.
    mutating func breakKeyCycles(at number: Int) {
        for reference in references[number]
        where isInKey(reference, of: number) && leads(reference.target, to: number, visited: []) {
            references[number].removeAll { $0.columns == reference.columns }
            notes.append(
                SchemaProblem(
                    entity: tables[number].name, property: reference.columns.joined(separator: ", "),
                    message: "its primary key refers to itself by a chain of keys: it is read as plain attributes"))
        }
    }

    private func leads(_ start: Int, to goal: Int, visited: Set<Int>) -> Bool {
        if start == goal { return true }
        guard !visited.contains(start) else { return false }
        let visited = visited.union([start])
        return references[start].contains { isInKey($0, of: start) && leads($0.target, to: goal, visited: visited) }
    }

    private func isInKey(_ reference: ForeignKey, of number: Int) -> Bool {
        let key = tables[number].primaryKey
        return reference.columns.allSatisfy { column in key.contains { $0.isSameName(as: column) } }
    }

    func isRequired(_ reference: ForeignKey, of number: Int) -> Bool {
        isInKey(reference, of: number)
            || reference.columns.allSatisfy { tables[number].column($0)?.isRequired == true }
    }

    /// The rule that an action amounts to; where a required key can't be unset, the database refuses.
    private func rule(of reference: ForeignKey, of number: Int) -> DeleteRule {
        switch reference.action {
        case .cascade: .cascade
        case .setNull: isRequired(reference, of: number) ? .deny : .nullify
        case .none, .restrict, .setDefault: .deny
        }
    }

    /// The key's column without `Id`; for several columns what they begin with, or the target's name.
    func toOneName(_ reference: ForeignKey) -> String {
        let names = reference.columns.map(Naming.lowerCamelCase)
        let target = Naming.singular(Naming.lowerCamelCase(tables[reference.target].name))
        guard let first = names.first else { return target }
        guard names.count == 1 else {
            let length = names.dropFirst().map { zip(first, $0).prefix { $0 == $1 }.count }.min() ?? 0
            let endsWord = names.allSatisfy { $0.dropFirst(length).first?.isUppercase == true }
            return endsWord ? String(first.prefix(length)) : target
        }
        if ["id", target.lowercased() + "id"].contains(first.lowercased()) { return target }
        return first.hasSuffix("Id") || first.hasSuffix("ID") ? String(first.dropLast(2)) : first
    }

    func toOne(_ reference: ForeignKey, of number: Int) -> Relationship {
        // Where the target is declared, it has no view that could carry the rule.
        Relationship(
            reference.property, target: entityNames[reference.target],
            kind: .toOne(isOptional: !isRequired(reference, of: number), columns: reference.columns),
            onTargetDelete: reference.target < declared.count ? rule(of: reference, of: number) : nil)
    }

    /// Gives each target the other side: the plural of the source, singular for a unique key, after the to-one's name
    /// where there are several between the same two.
    mutating func addViews(of number: Int) {
        let source = Naming.lowerCamelCase(tables[number].name)
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
                        deleteRule: rule(of: reference, of: number))))
        }
    }
}
