import Synchronization

/// A checked set of entities: every name is resolved, every inverse fits, every delete rule has one meaning.
///
/// Plans, SQL and engines work on the schema's *tables*, *references* and *join tables*, which are numbered: an
/// index into `tables` is an entity wherever speed matters.
public final class Schema: Sendable {
    /// The entities, resolved, in the order they were given.
    package let tables: [Table]
    /// Every foreign key: all to-ones of all entities.
    package let references: [Reference]
    /// Every join table of a many-to-many.
    package let joins: [Join]
    /// Every foreign key: those of ``references``, by the same numbers, and then those without a relationship.
    package let foreignKeys: [SchemaForeignKey]
    /// Whether any relationship declares the number of objects it must or may hold.
    package let hasCounts: Bool
    /// For each reference the column of the attribute that orders its inverse, if its values are unique.
    package let uniquePlaces: [Int?]
    /// For each table the unique sets of columns, without its key.
    package let uniqueSets: [[UniqueSet]]
    /// The numbers of the entities, by their names.
    let tableIndex: [String: Int]
    /// The owner of each table, by its name.
    let tableOwners: [FoldedName: TableOwner]
    /// The number of entities resolved for it; all others were copied from the previous schema.
    package let resolvedCount: Int
    /// The result of ``SchemaFingerprint``, once it was needed: an app opens several stores.
    let declarationHash = Mutex<StableHasher?>(nil)
    /// The entities with relationships that declare the number of objects they must or may hold.
    private let countedTables: Set<Int>
    /// The foreign keys of each table.
    private let referenceNumbers: [[Int]]

    /// Checks the entities and resolves how they are related.
    ///
    /// - Throws: ``RelataError/schemaMismatch(_:)`` with every problem: the entity, the property and the remedy.
    package convenience init(_ entities: [Entity]) throws(RelataError) {
        var resolver = SchemaResolver(entities: entities)
        try resolver.resolve()
        self.init(resolver)
    }

    /// A schema in which most of the entities are those of another: only new or changed entities, and those that they
    /// affect, are checked and resolved. Tables, references and joins keep their numbers, and new ones come last.
    ///
    /// Copying the facts about the others takes 0.3 µs for each. That is little compared with SQLite's work after a
    /// change of tables: every connection reads all of them again, which takes 4 µs for each.
    ///
    /// - Parameter changedAt: The positions of new or changed entities; `nil` to find them by comparison.
    /// - Throws: the errors of ``init(_:)``.
    package convenience init(
        _ entities: [Entity], since old: Schema, changedAt places: Set<Int>? = nil
    ) throws(RelataError) {
        if let scope = Self.scope(of: entities, since: old, changedAt: places) {
            var resolver = SchemaResolver(entities: entities, scope: scope, copying: old)
            if (try? resolver.resolve()) != nil {
                self.init(resolver)
                return
            }
        }
        // For errors, all entities are checked.
        try self.init(entities)
    }

    private init(_ resolver: SchemaResolver) {
        let old = resolver.old
        tables = resolver.tables
        references = resolver.references
        joins = resolver.joins
        tableIndex = resolver.tableIndex
        tableOwners = resolver.tableOwners
        resolvedCount = resolver.scope.count
        foreignKeys = Self.foreignKeys(resolver)
        var counted = old?.countedTables ?? []
        var places = old?.uniquePlaces ?? []
        var numbers = old?.referenceNumbers ?? []
        var sets = old?.uniqueSets ?? []
        for number in resolver.drafts.keys.sorted() {
            let reference = resolver.references[number]
            places.put(Self.uniquePlace(of: reference, resolver.tables[reference.source]), at: number)
        }
        for index in resolver.scope {
            let table = resolver.tables[index]
            let relationships = table.entity.relationships
            let hasCounts = relationships.contains { $0.minimumCount != nil || $0.maximumCount != nil }
            if hasCounts { counted.insert(index) } else { counted.remove(index) }
            let own = relationships.compactMap { relationship -> Int? in
                if case .reference(let number)? = table.links[relationship.name] { number } else { nil }
            }
            numbers.put(own, at: index)
            sets.put(UniqueSet.sets(of: table, own.map { resolver.references[$0] }), at: index)
        }
        countedTables = counted
        hasCounts = !counted.isEmpty
        uniquePlaces = places
        referenceNumbers = numbers
        uniqueSets = sets
    }

    private static func uniquePlace(of reference: Reference, _ source: Table) -> Int? {
        guard !reference.isOrderStored, let order = reference.orderColumn,
            let column = source.columns.firstIndex(where: { $0.name == order }),
            source.entity.uniques.contains(where: { $0.contains(source.columns[column].property) })
        else { return nil }
        return column
    }

    /// The foreign keys that an entity holds.
    package func references(of table: Int) -> [Reference] { referenceNumbers[table].map { references[$0] } }

    /// The number of the entity of that name, if the schema has it.
    package func index(of entity: String) -> Int? { tableIndex[entity] }

    /// The entity of that name, if the schema has it.
    package subscript(entity: String) -> Table? { tableIndex[entity].map { tables[$0] } }

    /// The number of the entity of that table, regardless of case, if the schema has it.
    package func index(ofTable table: String) -> Int? { index(ofTable: table.foldedName) }

    private func index(ofTable table: FoldedName) -> Int? {
        if case .entity(let index)? = tableOwners[table] { index } else { nil }
    }

    /// The many-to-many of that join table, if the schema has it.
    package func join(ofTable table: String) -> Join? {
        guard case .join(let number)? = tableOwners[table.foldedName], joins[number].table == table else {
            return nil
        }
        return joins[number]
    }

    /// The entities whose tables are among these, in their order; `nil` for all.
    func tables(among names: Set<FoldedName>?) -> [Table] {
        guard let names else { return tables }
        return names.compactMap { index(ofTable: $0) }.sorted().map { tables[$0] }
    }

    /// The many-to-manys whose join tables are among these, in their order; `nil` for all.
    func joins(among names: Set<FoldedName>?) -> [Join] {
        guard let names else { return joins }
        let numbers = names.compactMap { if case .join(let number)? = tableOwners[$0] { number } else { nil } }
        return numbers.sorted().map { joins[$0] }
    }
}

/// The owner of a table.
enum TableOwner: Hashable, Sendable {
    /// An entity, as a number in ``Schema/tables``.
    case entity(Int)
    /// A many-to-many, as a number in ``Schema/joins``.
    case join(Int)
}

/// An entity of a ``Schema`` with its columns and links resolved.
@usableFromInline
package struct Table: Sendable {
    /// The table's number in ``Schema/tables``.
    package let index: Int
    /// The entity as declared.
    package let entity: Entity
    /// All declared columns, in the order of the properties; a to-one has one for each key column of its target.
    /// Hidden position columns are not among them: see ``Reference/orderColumn``.
    package let columns: [Column]
    /// The indexes in ``columns`` of the primary key.
    package let keyColumns: [Int]
    /// The resolved relationships of the entity, by name.
    package let links: [String: Link]
    /// The positions of each property's columns; `nil` if there are so few that a linear search is faster.
    private let columnPlaces: [String: [Int]]?

    init(index: Int, entity: Entity, columns: [Column], keyColumns: [Int], links: [String: Link]) {
        self.index = index
        self.entity = entity
        self.columns = columns
        self.keyColumns = keyColumns
        self.links = links
        columnPlaces = columns.count > 16 ? Dictionary(grouping: columns.indices) { columns[$0].property } : nil
    }

    /// The entity's name, for messages.
    package var name: String { entity.name }
    /// The table's name in the database.
    package var sqlName: String { entity.table }
    /// The names of the primary key's columns.
    package var keyColumnNames: [String] { keyColumns.map { columns[$0].name } }
    /// The types of the primary key's columns.
    package var keyTypes: [AttributeType] { keyColumns.map { columns[$0].type } }
    /// Whether keys may be stored as other types than their columns'.
    package var holdsOtherKeys: Bool { keyColumns.contains { columns[$0].holdsOtherTypes } }
    /// The columns of one property, as indexes in ``columns``: one for an attribute, one for each key column of the
    /// target for a to-one.
    package func columnIndexes(of property: String) -> [Int] {
        if let columnPlaces { return columnPlaces[property] ?? [] }
        return columns.indices.filter { columns[$0].property == property }
    }

    /// Whether it has a relationship of that name that may hold several objects.
    func isToMany(_ name: String) -> Bool { entity.relationship(name)?.isToMany ?? false }
}

/// A column of an entity's table.
package struct Column: Hashable, Sendable {
    /// The column's name in the database.
    package let name: String
    /// The property it stores.
    package let property: String
    /// The type of the column and its encoding; for a to-one, the type of the target's key column.
    package let type: AttributeType
    /// Whether whole numbers are kept as integers: see ``Attribute/keepsIntegers``.
    package var keepsIntegers = false
    /// Whether it may hold values of other types: see ``Attribute/holdsOtherTypes``. As the target's key column for a
    /// to-one.
    package var holdsOtherTypes = false
    /// Whether it may be `NULL`.
    package let isOptional: Bool
    /// The value of rows that don't give one.
    package let defaultValue: Value?
    /// The default that the database computes for rows without a value, in SQL; `nil` for those whose default is
    /// ``defaultValue``.
    package let defaultSQL: String?
    /// The number in ``Schema/references`` of the to-one it belongs to, or `nil` for an attribute.
    package let reference: Int?

    /// The type written in `CREATE TABLE`.
    package var storage: StorageType { type == .real && keepsIntegers ? .numeric : type.storage }

    /// The type of parameters that are stored in it.
    package var boundType: AttributeType { type.bound(keepsIntegers: keepsIntegers) }
}

/// The stored form of a relationship, seen from the entity that declares it.
package enum Link: Hashable, Sendable {
    /// A foreign key of this entity: a to-one.
    case reference(Int)
    /// The view of a foreign key of the target: a has-one or a to-many.
    case inverse(Int)
    /// A join table; `isSource` is whether this side's key is in the join's source columns.
    case join(Int, isSource: Bool)
    /// Read-only: by a view of a foreign key and then along a foreign key.
    case through(inverse: Int, reference: Int)
    /// Read-only: by the values of columns. Kept apart, because only foreign files have it.
    indirect case matched(MatchedLink)

    /// Whether it is a foreign key of this entity: a to-one.
    package var isReference: Bool { if case .reference = self { true } else { false } }
}

extension Schema {
    /// The rows that lead from an entity's objects along a link, in SQL, and their columns with the keys at both ends.
    ///
    /// - Parameter source: Writes the rows of a table.
    func step(
        along link: Link, from table: Table, _ dialect: Dialect, _ source: (Table) -> String
    ) -> (rows: String, near: [String], far: [String]) {
        switch link {
        case .reference(let number):
            let (rows, columns) = rows(of: references[number], dialect, source)
            return (rows, table.keyColumnNames, columns)
        case .inverse(let number):
            let (rows, columns) = rows(of: references[number], dialect, source)
            return (rows, columns, tables[references[number].source].keyColumnNames)
        case .join(let number, let isSource):
            let (near, far) = joins[number].columns(isSource: isSource)
            return (rows(of: joins[number], dialect), near, far)
        case .through(let inverse, let reference):
            let view = references[inverse]
            return (source(tables[view.source]), view.columns, references[reference].columns)
        case .matched(let link):
            return rows(of: link, dialect, source)
        }
    }

    /// The rows of a reference's source, in SQL, and their columns that hold the key of the target just as the target
    /// holds it.
    ///
    /// If the two are compared by the target's rules, dangling rows are left out.
    ///
    /// - Parameter source: Writes the rows of a table.
    func rows(
        of reference: Reference, _ dialect: Dialect, _ source: (Table) -> String
    ) -> (sql: String, columns: [String]) {
        let (own, target) = (tables[reference.source], tables[reference.target])
        guard reference.comparison != .equal else { return (source(own), reference.columns) }
        let names = target.keyColumns.indices.map { "relata_key\($0)" }
        let keys = zip(target.keyColumnNames, names).map { "t.\(dialect.quote($0)) AS \($1)" }
        // The asterisk doesn't include the rowid.
        let hidden =
            own.entity.isKeyAssigned && dialect == .sqlite
            ? own.keyColumnNames.map { ", s.\(dialect.quote($0)) AS \(dialect.quote($0))" } : []
        return (
            "(SELECT \(keys.joined(separator: ", "))\(hidden.joined()), s.* FROM \(source(own)) AS s "
                + "JOIN \(source(target)) AS t "
                + "ON \(dialect.matches(target.keyColumnNames, of: "t", reference.columns, of: "s")) "
                // Read once and found by an index then, instead of once for each owner.
                + "LIMIT \(dialect.unlimited))", names
        )
    }
}

extension Schema {
    /// Whether every row of a link belongs to one of the objects it leads from, so that the links of all of them are
    /// the whole table.
    package func isTotal(_ link: Link) -> Bool {
        switch link {
        case .reference, .matched: false
        case .inverse(let number), .through(let number, _):
            !references[number].isOptional && references[number].isEnforced
        case .join: true
        }
    }
}

/// A foreign key: one to-one, with the declarations on both sides.
package struct Reference: Sendable {
    /// The reference's number in ``Schema/references``.
    package let index: Int
    /// The entity that holds the key, as a number in ``Schema/tables``.
    package let source: Int
    /// The name of the to-one.
    package let property: String
    /// The names of the key's columns in the source's table, in the order of the target's primary key.
    package let columns: [String]
    /// The entity the key points at.
    package let target: Int
    /// Whether the key may be unset.
    package let isOptional: Bool
    /// Whether no two sources may have the same target (one-to-one).
    package let isUnique: Bool
    /// The name of the view on the target, if it declares one.
    package let inverse: String?
    /// The effect on the source when the target is deleted.
    package let onTargetDelete: DeleteRule
    /// The effect on the target when the source is deleted; `.nullify` means none: the key is deleted with its row.
    package let onSourceDelete: DeleteRule
    /// The effect on the source when an edit removes it from the target's inverse.
    package let removeRule: RemoveRule
    /// The column of the source's table that orders the target's view, if the view is ordered: a declared attribute's,
    /// or a position column that the store keeps.
    package let orderColumn: String?
    /// Whether ``orderColumn`` is kept by the store rather than declared as an attribute.
    package let isOrderStored: Bool
    /// The least and largest number of sources for one target, if the inverse declares them.
    package let minimumCount: Int?
    /// The largest number of members, if one is declared.
    package let maximumCount: Int?
    /// The comparison of the key's columns with the target's primary key.
    package let comparison: KeyComparison

    /// Whether the database has a foreign key for it: all have one, except those that may dangle.
    package var isEnforced: Bool { onTargetDelete != .noAction }
}

/// The join table of a many-to-many.
package struct Join: Sendable {
    /// The join's number in ``Schema/joins``.
    package let index: Int
    /// The table's name in the database.
    package let table: String
    /// The entity that declares the many-to-many, as a number in ``Schema/tables``, and the relationship's name.
    package let source: Int
    /// The relationship's name.
    package let property: String
    /// The columns that hold the source's key.
    package let sourceColumns: [String]
    /// The other entity, and the name of its side, if it declares one.
    package let target: Int
    /// The name of the other side, if it is declared.
    package let inverse: String?
    /// The columns that hold the target's key.
    package let targetColumns: [String]
    /// The position column that orders the source's list, if it is ordered.
    package let orderColumn: String?
    /// The position column that orders the target's list, if that is ordered.
    package let inverseOrderColumn: String?
    /// The effect on the targets when a source is deleted, and on the sources when a target is deleted. Join rows are
    /// always deleted.
    package let onSourceDelete: DeleteRule
    /// The effect on the sources when a target is deleted.
    package let onTargetDelete: DeleteRule
    /// Counts declared on the source's list and on the target's.
    package let minimumCount: Int?
    /// The largest number of members, if one is declared.
    package let maximumCount: Int?
    /// The least number of the target's list, if one is declared.
    package let inverseMinimumCount: Int?
    /// The largest number of the target's list, if one is declared.
    package let inverseMaximumCount: Int?
    /// The comparison of the columns with the source's key.
    package let sourceComparison: KeyComparison
    /// The comparison of the columns with the target's key.
    package let targetComparison: KeyComparison
    /// The source of the rows if another program made the table on a server.
    package let joinedFrom: TableSource?

    /// The table itself.
    package func stored(_ dialect: Dialect) -> String { joinedFrom?.table ?? dialect.quote(table) }
}
