/// Join tables as many-to-manys.
extension EntityReader {
    /// A table that no other refers to is a pure join if two required foreign keys, unique together, are its only
    /// columns besides positions.
    func isJoin(_ number: Int) -> Bool {
        let (table, keys) = (tables[number], references[number])
        guard keys.count == 2, table.foreignKeys.count == 2,
            keys.allSatisfy({ $0.target >= declared.count && $0.comparison == .equal })
        else { return false }
        let columns = keys[0].columns + keys[1].columns
        let others = table.columns.filter { column in !columns.contains { $0.isSameName(as: column.name) } }
        let arePositions = others.allSatisfy {
            ["position", "inverseposition"].contains($0.name.foldedName)
                && ($0.valueType.map { $0 == .integer } ?? (Affinity(declaredType: $0.type) == .integer))
                && !$0.isGenerated
        }
        // A server's own default may refer to another object.
        if let source = table.source,
            source.kind != .table || keys.contains(where: { $0.unsupportedAction == .setsDefault })
        {
            return false
        }
        return arePositions && keys.allSatisfy { isRequired($0, of: number) } && table.isUnique(columns)
            && !table.isUnique(keys[0].columns) && !table.isUnique(keys[1].columns)
    }

    /// Gives both sides the other's plural: `Playlist.tracks` and `Track.playlists`.
    mutating func addManyToMany(_ number: Int) {
        let table = tables[number]
        let (first, second) = (references[number][0], references[number][1])
        let isSelf = first.target == second.target
        let source = Naming.lowerCamelCase(tables[first.target].plainName)
        let whole = Naming.lowerCamelCase(table.plainName)
        let prefix = tables[first.target].plainName + "_"
        let rest =
            table.plainName.foldedName.hasPrefix(prefix.foldedName)
            ? Naming.lowerCamelCase(String(table.plainName.dropFirst(prefix.count))) : ""
        let target =
            isSelf ? toOneName(second.columns, second.target) : Naming.lowerCamelCase(tables[second.target].plainName)
        let property = drafts[first.target].claim(Naming.plural(target), rest, whole)
        let inverse = drafts[second.target].claim(
            Naming.plural(isSelf ? toOneName(first.columns, first.target) : source),
            rest + Naming.capitalized(Naming.plural(source)), whole)
        // The join's rows contain nothing but the link, so they are deleted with either side; only with RESTRICT do
        // they prevent it.
        let rule = { (key: KeyReference) in key.isRestricting ? DeleteRule.deny : .nullify }
        let order = { (column: String) in table.column(column) == nil ? nil : Relationship.Order.stored }
        let names = JoinTableNames(table: table.name, sourceColumns: first.columns, targetColumns: second.columns)
        var relationship = Relationship(
            property, target: entityNames[second.target], kind: .manyToMany(names), deleteRule: rule(first),
            order: order("position"))
        relationship.joinSource = table.source
        drafts[first.target].properties.append(.relationship(relationship))
        drafts[second.target].properties.append(
            .relationship(
                Relationship(
                    inverse, target: entityNames[first.target], kind: .manyToManyInverse(inverse: property),
                    deleteRule: rule(second), order: order("inversePosition"))))
    }
}
