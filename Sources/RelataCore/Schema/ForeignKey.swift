/// A foreign key that a database enforces and that isn't a relationship: it refers to unique columns other than the
/// primary key, or shares a column with another foreign key.
///
/// Deletions follow it as SQLite does. Queries do by a relationship that is only read, if the entities were read with
/// such relationships.
package struct ForeignKey: Hashable, Sendable {
    /// The columns that hold it.
    package var columns: [String]
    /// The name of the entity that it refers to.
    package var target: String
    /// The columns that it refers to, in the same order.
    package var targetColumns: [String]
    /// The effect on the row when its target is deleted.
    package var rule: DeleteRule
    /// Those of its columns that may be unset: one unset column is enough for no reference.
    package var optionalColumns: [String]
    /// Those of its columns that become unset when the target is deleted; `nil` for all.
    package var unsetColumns: [String]?
    /// The database's action on deletion of the target, if it isn't a delete rule: such a deletion is refused.
    package var unsupportedAction: UnsupportedAction?
    /// The comparison of its columns with those that they refer to.
    package var comparison: KeyComparison

    /// Describes a foreign key.
    package init(
        columns: [String], target: String, targetColumns: [String], rule: DeleteRule, optionalColumns: [String],
        unsetColumns: [String]? = nil, unsupportedAction: UnsupportedAction? = nil, comparison: KeyComparison = .equal
    ) {
        self.unsupportedAction = unsupportedAction
        self.columns = columns
        self.target = target
        self.targetColumns = targetColumns
        self.rule = rule
        self.optionalColumns = optionalColumns
        self.unsetColumns = unsetColumns
        self.comparison = comparison
    }
}

/// The database's action on the columns of a foreign key on deletion of the target, if it isn't a delete rule. Rows
/// that stay are blockers then.
package enum UnsupportedAction: Hashable, Sendable {
    /// It gives them their defaults.
    case setsDefault
    /// It sets columns to NULL that can't be NULL.
    case unsetsRequired
}

/// The comparison of a foreign key's columns with those that they refer to.
///
/// SQLite compares by the collation and the affinity of the columns that are referred to: `'ABC'` refers to `'Abc'` in
/// a column that collates `NOCASE`, and the text `'7'` to the integer 7.
public enum KeyComparison: Hashable, Sendable {
    /// Both sides have one collation and one affinity: any comparison of the two gives the same result.
    case equal
    /// The sides differ.
    case byTarget
    /// The sides differ, and SQLite's own actions find other rows than the references do: the text `'07'` refers to 7,
    /// but `ON DELETE CASCADE` doesn't find it. A deletion of such a row is refused.
    case byTargetWithExceptions(converted: [ConvertedColumn])
}

/// A column whose value SQLite converts in place when a row is deleted, because it looks up the referring rows in an
/// index of another affinity. Other references to the column are then compared with the converted value: SQLite misses
/// rows, or finds others.
public struct ConvertedColumn: Hashable, Sendable {
    /// The column of the deleted row.
    package let name: String
    /// Whether texts become numbers; else numbers become texts.
    package let isNumber: Bool

    /// Names a column and its converted values.
    package init(_ name: String, isNumber: Bool) {
        self.name = name
        self.isNumber = isNumber
    }
}

/// A foreign key in a schema: of a reference, or without a relationship.
package struct SchemaForeignKey: Sendable {
    /// The key's number in ``Schema/foreignKeys``. Those of references have the reference's own number.
    package private(set) var index: Int
    /// The entity that holds the key, as a number in ``Schema/tables``.
    package let source: Int
    /// The columns that hold it.
    package let columns: [String]
    /// The entity it refers to.
    package let target: Int
    /// The columns it refers to, in the same order.
    package let targetColumns: [String]
    /// The effect on the source when the target is deleted.
    package let rule: DeleteRule
    /// Those of its columns that may be unset: one unset column is enough for no reference.
    package let optionalColumns: [String]
    /// Those of its columns that become unset when the target is deleted.
    package let unsetColumns: [String]
    /// The database's action on deletion of the target, if it isn't a delete rule.
    package let unsupportedAction: UnsupportedAction?
    /// The comparison of the two sides.
    package let comparison: KeyComparison
    /// The property that holds it; several are separated by commas.
    package let property: String
    /// The reference, if the key has a relationship.
    package let reference: Int?

    /// Whether the database has a foreign key for it: all have one, except those that may dangle.
    package var isEnforced: Bool { rule != .noAction }

    /// A copy with another number.
    func numbered(_ index: Int) -> SchemaForeignKey {
        var key = self
        key.index = index
        return key
    }

    /// Whether SQLite's own actions find other rows than the referring ones.
    var hasExceptions: Bool { comparison.hasExceptions }

    /// The columns of the target that SQLite converts when it looks for the rows that refer.
    var converted: [ConvertedColumn] { comparison.converted }
}

extension KeyComparison {
    /// Whether SQLite's own actions find other rows than the referring ones.
    package var hasExceptions: Bool { if case .byTargetWithExceptions = self { true } else { false } }

    /// The columns of the target that SQLite converts when it looks for the rows that refer.
    var converted: [ConvertedColumn] { if case .byTargetWithExceptions(let converted) = self { converted } else { [] } }
}

extension Schema {
    /// The foreign keys of references, followed by those without a relationship.
    ///
    /// Those of entities that weren't resolved are copied.
    static func foreignKeys(_ resolver: SchemaResolver) -> [SchemaForeignKey] {
        let (tables, references, old) = (resolver.tables, resolver.references, resolver.old)
        let known = old?.references.count ?? 0
        var keys = old.map { Array($0.foreignKeys[..<known]) } ?? []
        keys.reserveCapacity(references.count)
        for number in resolver.drafts.keys.sorted() {
            let reference = references[number]
            let relationship = tables[reference.source].entity.relationship(reference.property)
            let required = reference.isOptional ? relationship?.requiredColumns ?? [] : reference.columns
            let key = SchemaForeignKey(
                index: reference.index, source: reference.source, columns: reference.columns, target: reference.target,
                targetColumns: tables[reference.target].keyColumnNames, rule: reference.onTargetDelete,
                optionalColumns: reference.columns.filter { !required.contains($0) }, unsetColumns: reference.columns,
                unsupportedAction: relationship?.unsupportedAction,
                comparison: reference.comparison, property: reference.property, reference: reference.index)
            keys.put(key, at: number)
        }
        var others = old.map { $0.foreignKeys[known...].filter { resolver.isCopied($0.source) } } ?? []
        for index in resolver.scope { others += otherForeignKeys(of: tables[index], resolver.tableIndex) }
        // The keys of one table stay together, in their order.
        others.sort { $0.source < $1.source }
        for key in others { keys.append(key.numbered(keys.count)) }
        return keys
    }

    /// The foreign keys of a table without a relationship, not numbered yet.
    private static func otherForeignKeys(of table: Table, _ numbers: [String: Int]) -> [SchemaForeignKey] {
        table.entity.foreignKeys.compactMap { key in
            guard let target = numbers[key.target] else { return nil }
            var properties: [String] = []
            for column in key.columns {
                // A generated column isn't a property.
                let name = table.columns.first { $0.name.isSameName(as: column) }?.property ?? column
                if !properties.contains(name) { properties.append(name) }
            }
            return SchemaForeignKey(
                index: 0, source: table.index, columns: key.columns, target: target,
                targetColumns: key.targetColumns, rule: key.rule, optionalColumns: key.optionalColumns,
                unsetColumns: key.unsetColumns ?? key.columns,
                unsupportedAction: key.unsupportedAction, comparison: key.comparison,
                property: properties.joined(separator: ", "), reference: nil)
        }
    }
}
