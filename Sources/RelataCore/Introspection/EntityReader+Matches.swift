/// Foreign keys to unique columns that aren't the primary key, or with a column in common with another key: links that
/// are only read.
extension EntityReader {
    /// A foreign key that is a link by the values of its columns.
    struct Match {
        let key: ForeignKey
        /// The number of the table that it refers to.
        let target: Int
    }

    /// Takes a foreign key without a relationship as a link, and returns whether queries can follow it.
    mutating func readMatch(
        _ number: Int, _ key: ForeignKeyDescription, _ target: Int, _ constraint: ForeignKey
    ) -> Bool {
        guard followsAllKeys, tables[target].canBeReferredTo(by: key), isRead(constraint.columns, of: number),
            isRead(constraint.targetColumns, of: target)
        else { return false }
        matches[number].append(Match(key: constraint, target: target))
        return true
    }

    /// Whether the columns are among those that are read.
    private func isRead(_ columns: [String], of number: Int) -> Bool {
        columns.allSatisfy { column in
            tables[number].column(column).map { tables[number].source != nil || !$0.isGenerated } == true
        }
    }

    /// Gives both sides of such keys a link. The names of all other properties come first, so that they stay.
    mutating func addMatches(of number: Int) {
        let targets = references[number].map(\.target) + matches[number].map(\.target)
        for match in matches[number] {
            let (key, target) = (match.key, match.target)
            let targetName = Naming.singular(Naming.lowerCamelCase(tables[target].plainName))
            let whole = Naming.lowerCamelCase(key.columns.joined(separator: "_")) + Naming.capitalized(targetName)
            let name = drafts[number].claim(toOneName(key.columns, target), targetName, whole)
            let isUnique = tables[number].isUnique(key.columns)
            let source = Naming.lowerCamelCase(tables[number].plainName)
            let base = isUnique ? Naming.singular(source) : Naming.plural(source)
            let long = name + Naming.capitalized(base)
            let isAlone = targets.count { $0 == target } == 1
            let inverse = drafts[target].claim(isAlone ? base : long, long)
            var relationship = Relationship(
                name, target: entityNames[target],
                kind: .matched(
                    MatchedColumns(
                        own: key.columns, target: key.targetColumns, isReferring: true, isToMany: false,
                        inverse: inverse)))
            relationship.comparison = key.comparison
            drafts[number].properties.append(.relationship(relationship))
            var view = Relationship(
                inverse, target: entityNames[number],
                kind: .matched(
                    MatchedColumns(
                        own: key.targetColumns, target: key.columns, isReferring: false, isToMany: !isUnique,
                        inverse: name)),
                deleteRule: key.rule)
            view.comparison = key.comparison
            drafts[target].properties.append(.relationship(view))
        }
    }
}
