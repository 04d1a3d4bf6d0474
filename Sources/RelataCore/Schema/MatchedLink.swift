/// The columns of a relationship that leads along a foreign key without holding a primary key of its own: another
/// program's key to unique columns, or a second one on the columns of a to-one.
///
/// It is only read: the columns belong to attributes or other relationships, which are changed instead.
package struct MatchedColumns: Hashable, Sendable, Codable {
    /// The columns of the entity that declares the relationship.
    package let own: [String]
    /// Those of the target, in the same order.
    package let target: [String]
    /// Whether the entity's own columns are the foreign key; otherwise the target's are.
    package let isReferring: Bool
    /// Whether it may lead to several objects.
    package let isToMany: Bool
    /// The relationship of the target that leads back.
    package let inverse: String
}

/// A relationship by ``MatchedColumns``, resolved.
package struct MatchedLink: Hashable, Sendable {
    /// The entity with the foreign key, as a number in ``Schema/tables``.
    package let source: Int
    /// The columns of the foreign key.
    package let columns: [String]
    /// The entity that it refers to.
    package let target: Int
    /// The columns that it refers to, in the same order.
    package let targetColumns: [String]
    /// The comparison of the two sides.
    package let comparison: KeyComparison
    /// Whether the link leads from the source to the target.
    package let isForward: Bool

    /// The entity to which the link leads.
    package var end: Int { isForward ? target : source }

    /// Resolves the columns of a relationship between two entities.
    init(_ matched: MatchedColumns, from index: Int, to other: Int, _ comparison: KeyComparison) {
        isForward = matched.isReferring
        (source, target) = matched.isReferring ? (index, other) : (other, index)
        (columns, targetColumns) = matched.isReferring ? (matched.own, matched.target) : (matched.target, matched.own)
        self.comparison = comparison
    }
}

extension Schema {
    /// The pairs of objects that a link connects, in SQL, and the columns with the keys at both ends.
    ///
    /// - Parameter source: Writes the rows of a table.
    func rows(
        of link: MatchedLink, _ dialect: Dialect, _ source: (Table) -> String
    ) -> (rows: String, near: [String], far: [String]) {
        let (own, target) = (tables[link.source], tables[link.target])
        let (ownNames, targetNames) = (
            own.keyColumns.indices.map { "relata_source\($0)" }, target.keyColumns.indices.map { "relata_target\($0)" }
        )
        let keys =
            zip(own.keyColumnNames, ownNames).map { "s.\(dialect.quote($0)) AS \($1)" }
            + zip(target.keyColumnNames, targetNames).map { "t.\(dialect.quote($0)) AS \($1)" }
        let columns = own.referring(link.columns)
        let isEqual = link.comparison == .equal
        let condition =
            isEqual
            ? dialect.areSame(link.targetColumns, of: "t", columns, of: "s")
            : dialect.matches(link.targetColumns, of: "t", columns, of: "s")
        // Without an index for the comparison, the pairs are read once, instead of once for each object.
        let end = isEqual ? "" : " LIMIT \(dialect.unlimited)"
        let sql =
            "(SELECT \(keys.joined(separator: ", ")) FROM \(source(own)) AS s JOIN \(source(target)) AS t "
            + "ON \(condition)\(end))"
        return link.isForward ? (sql, ownNames, targetNames) : (sql, targetNames, ownNames)
    }
}

extension Table {
    /// The to-one along a foreign key in the column of an attribute, or of another relationship; `nil` if there is none.
    package func matched(from property: String) -> Relationship? {
        entity.relationships.first { relationship in
            guard case .matched(let matched) = relationship.kind, matched.isReferring, matched.own.count == 1 else {
                return false
            }
            return columns.contains { $0.property == property && $0.name.isSameName(as: matched.own[0]) }
        }
    }
}
