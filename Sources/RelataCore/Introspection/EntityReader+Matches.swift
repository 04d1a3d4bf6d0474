/// Foreign keys to unique columns that aren't the primary key, or with a column in common with another key: links that
/// are only read.
extension EntityReader {
    /// A foreign key that is a link by the values of its columns.
    struct Match {
        let key: KeyReference
        /// The columns that it refers to.
        let pointed: [String]
    }

    /// Takes a foreign key without a relationship as a link, and returns whether queries can follow it.
    mutating func readMatch(
        _ number: Int, _ key: ForeignKeyDescription, _ target: Int, pointed: [String]
    ) -> Bool {
        guard followsAllKeys, tables[target].canBeReferredTo(by: key), isRead(key.columns, of: number),
            isRead(pointed, of: target)
        else { return false }
        let reference = KeyReference(
            columns: key.columns, target: target, rule: rule(of: key, in: number),
            isRestricting: key.onDelete == .restrict, unsupportedAction: nil,
            comparison: KeyComparison(key.columns, of: tables[number], with: pointed, of: tables[target]))
        matches[number].append(Match(key: reference, pointed: pointed))
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
        for match in matches[number] {
            let (key, target) = (match.key, match.key.target)
            let targetName = Naming.singular(Naming.lowerCamelCase(tables[target].plainName))
            let whole = Naming.lowerCamelCase(key.columns.joined(separator: "_")) + Naming.capitalized(targetName)
            let name = drafts[number].claim(toOneName(key), targetName, whole)
            let isUnique = tables[number].isUnique(key.columns)
            let source = Naming.lowerCamelCase(tables[number].plainName)
            let base = isUnique ? Naming.singular(source) : Naming.plural(source)
            let long = name + Naming.capitalized(base)
            let keys = references[number].map(\.target) + matches[number].map(\.key.target)
            let isAlone = keys.filter { $0 == target }.count == 1
            let inverse = drafts[target].claim(isAlone ? base : long, long)
            var relationship = Relationship(
                name, target: entityNames[target],
                kind: .matched(
                    MatchedColumns(
                        own: key.columns, target: match.pointed, isReferring: true, isToMany: false, inverse: inverse)))
            relationship.comparison = key.comparison
            drafts[number].properties.append(.relationship(relationship))
            var view = Relationship(
                inverse, target: entityNames[number],
                kind: .matched(
                    MatchedColumns(
                        own: match.pointed, target: key.columns, isReferring: false, isToMany: !isUnique,
                        inverse: name)),
                deleteRule: key.rule)
            view.comparison = key.comparison
            drafts[target].properties.append(.relationship(view))
        }
    }
}
