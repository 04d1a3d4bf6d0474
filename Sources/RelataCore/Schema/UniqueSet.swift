/// Columns whose values are unique together in a table.
package struct UniqueSet: Sendable {
    /// Their numbers in ``Table/columns``.
    package let columns: [Int]
    /// The one-to-one whose key they are: a row that takes its partner may take it from another row.
    package let reference: Int?
}

extension UniqueSet {
    /// The sets that an entity declares, without its key.
    static func sets(of table: Table, _ references: [Reference]) -> [UniqueSet] {
        var sets: [UniqueSet] = []
        for reference in references where reference.isUnique {
            let columns = table.columns.indices.filter { table.columns[$0].reference == reference.index }
            sets.append(UniqueSet(columns: columns, reference: reference.inverse == nil ? nil : reference.index))
        }
        for properties in table.entity.uniques {
            let columns = properties.flatMap(table.columnIndexes)
            let isKnown = sets.contains { Set($0.columns) == Set(columns) }
            if !isKnown, Set(columns) != Set(table.keyColumns) {
                sets.append(UniqueSet(columns: columns, reference: nil))
            }
        }
        return sets
    }
}
