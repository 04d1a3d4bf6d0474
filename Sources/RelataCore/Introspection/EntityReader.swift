/// Reads tables of any program as entities: attributes from columns, relationships from foreign keys, delete rules from
/// their actions.
///
/// The result always makes a valid ``Schema``: a foreign key that can't be a relationship stays an attribute, with a
/// note.
package struct EntityReader {
    /// The entities, those declared first.
    package private(set) var entities: [Entity] = []
    /// Facts about the tables that no entity can describe, such as a foreign key to a missing table.
    package var notes: [SchemaProblem] = []

    /// The tables to read, those of declared entities first.
    let tables: [TableDescription]
    let declared: [Entity]
    /// Whether the entities are exactly the declared ones.
    package var isDeclared: Bool { !declared.isEmpty && declared.count == entities.count }
    /// The foreign keys that become to-ones, by table.
    var references: [[KeyReference]] = []
    /// The foreign keys without a relationship, by table.
    var constraints: [[ForeignKey]] = []
    /// Whether those of them that queries can follow become relationships that are only read.
    let followsAllKeys: Bool
    /// The foreign keys that become such relationships, by table.
    var matches: [[Match]] = []
    /// The kinds of the tables that are left out, by their names.
    let leftOut: [FoldedName: String]
    /// The tables' numbers by their names.
    var numbers: [FoldedName: Int] = [:]
    var entityNames: [String] = []
    var drafts: [Draft] = []

    /// A foreign key in the order of its target's primary key.
    struct KeyReference {
        let columns: [String]
        let target: Int
        let rule: DeleteRule
        /// Whether the database refuses the deletion of the target at once.
        let isRestricting: Bool
        /// The database's action on deletion of the target, if it isn't a delete rule.
        let unsupportedAction: UnsupportedAction?
        let comparison: KeyComparison
        /// The to-one's name, once it has one.
        var property = ""
    }

    /// An entity that is being built.
    struct Draft {
        var properties: [Property] = []
        /// The property of each column, by its name.
        var owners: [FoldedName: String] = [:]
        private var names: Set<String> = []

        /// Takes the first free candidate, or the last one with a number.
        mutating func claim(_ candidates: String...) -> String {
            for name in candidates where !name.isEmpty && names.insert(name).inserted { return name }
            let base = candidates.last ?? "unnamed"
            var number = 2
            while !names.insert("\(base)\(number)").inserted { number += 1 }
            return "\(base)\(number)"
        }
    }

    /// Reads tables; those of `declared` entities are taken as declared, and get no properties from the others.
    ///
    /// - Parameters:
    ///   - leftOut: Other objects whose names a foreign key may point at, such as `a view`.
    ///   - followsAllKeys: Whether foreign keys that hold no primary key of their target are relationships, too, which
    ///     are only read. Such entities aren't stored: the keys may be dropped.
    package init(
        _ all: [TableDescription], declared given: [Entity] = [], leavingOut leftOut: [String: String] = [:],
        followsAllKeys: Bool = false
    ) {
        self.followsAllKeys = followsAllKeys
        let byName = given.isEmpty ? [:] : Dictionary(all.map { ($0.name.foldedName, $0) }) { first, _ in first }
        let ofDeclared = given.compactMap { byName[$0.table.foldedName] }
        let schema = ofDeclared.count == given.count ? try? Schema(given) : nil
        declared = schema == nil ? [] : given
        let covered = Set(schema.map { SchemaDDL.tables(of: $0).map { $0.name.foldedName } } ?? [])
        tables =
            (declared.isEmpty ? [] : ofDeclared)
            + all.filter { !covered.contains($0.name.foldedName) && Self.isReadable($0) }
        var unread: [FoldedName: String] = [:]
        for (name, reason) in leftOut { unread[name.foldedName] = reason }
        for table in all where !Self.isReadable(table) {
            unread[table.name.foldedName] = "a table without a usable key"
        }
        self.leftOut = unread
        for (number, table) in tables.enumerated() { numbers[table.name.foldedName] = number }
        references = Array(repeating: [], count: tables.count)
        constraints = Array(repeating: [], count: tables.count)
        matches = Array(repeating: [], count: tables.count)
        drafts = Array(repeating: Draft(), count: tables.count)
        entities = declared
        nameEntities()
        for table in all where !Self.isReadable(table) { noteLeftOut(table) }
        if let schema, !declared.isEmpty {
            entities = schema.entities(describedBy: tables) ?? declared
            for number in schema.tables.indices {
                readOtherForeignKeys(of: number, in: schema)
                entities[number].foreignKeys = constraints[number]
                for property in entities[number].properties { _ = drafts[number].claim(property.name) }
            }
        }
        let undeclared = declared.count..<tables.count
        for number in undeclared { readForeignKeys(of: number) }
        for number in undeclared { breakKeyCycles(at: number) }
        let targets = Set(references.joined().map { entityNames[$0.target] } + constraints.joined().map(\.target))
        let joins = Set(undeclared.filter { !targets.contains(entityNames[$0]) && isJoin($0) })
        let others = undeclared.filter { !joins.contains($0) }
        for number in others { readColumns(of: number) }
        for number in others { addViews(of: number) }
        for number in undeclared where joins.contains(number) { addManyToMany(number) }
        let shown = Array(declared.indices) + others
        for number in shown { addMatches(of: number) }
        for number in declared.indices { entities[number].properties += drafts[number].properties }
        entities += others.map(entity)
        for (place, number) in shown.enumerated() {
            let isDeclared = place < declared.count
            entities[place].mayLackKeys = mayLackKeys(entities[place], in: tables[number])
            entities[place].columnDefaults = columnDefaults(
                of: entities[place], in: tables[number], isDeclared: isDeclared)
        }
    }

    /// SQLite lets a primary key be `NULL`, unless it is the rowid or the table is `WITHOUT ROWID`.
    private func mayLackKeys(_ entity: Entity, in table: TableDescription) -> Bool {
        !entity.isKeyAssigned && !table.isKeyAssigned && table.hasRowID
            && table.primaryKey.contains { table.column($0)?.isRequired == false }
    }

    /// The defaults that no attribute has as its value: expressions, and those of references. In declared entities, a
    /// constant is the value for existing rows of a new column, not for new rows.
    private func columnDefaults(
        of entity: Entity, in table: TableDescription, isDeclared: Bool
    ) -> [String: String] {
        let attributes = entity.attributes
        let known = attributes.filter { $0.defaultValue != nil }.map { $0.column.foldedName }
        let assigned = entity.isKeyAssigned ? table.primaryKey.map { $0.foldedName } : []
        let others = Set(known + assigned)
        let constant = isDeclared ? Set(attributes.map { $0.column.foldedName }) : []
        var defaults: [String: String] = [:]
        for column in table.columns where !column.isGenerated && !others.contains(column.name.foldedName) {
            guard let sql = column.defaultSQL, Value(literal: sql) != .null else { continue }
            let isComputed = sql.contains("(") || sql.uppercased().hasPrefix("CURRENT_")
            if isComputed || !constant.contains(column.name.foldedName) { defaults[column.name] = sql }
        }
        return defaults
    }

    private static let rowIDNames = ["rowid", "_rowid_", "oid"]

    private static func isReadable(_ table: TableDescription) -> Bool {
        let isHidden = table.primaryKey.isEmpty && rowIDNames.allSatisfy { table.column($0) != nil }
        return !table.name.isEmpty && !table.columns.contains { $0.name.isEmpty } && !isHidden
            && table.primaryKey.count <= KeyValue.maximumParts
    }

    /// Reports that a table is left out, and which tables it points at: deletions of their rows can't be planned
    /// completely.
    private mutating func noteLeftOut(_ table: TableDescription) {
        let targets = table.foreignKeys.compactMap { key in
            numbers[key.target.foldedName].map { (number: $0, key: key) }
        }
        let names = targets.map { tables[$0.number].name }.uniqued()
        notes.append(
            SchemaProblem(
                entity: table.name,
                message: "a name in it is empty, its rowid can't be named or its key has too many columns: "
                    + "it is left out"
                    + (names.isEmpty
                        ? "" : ", and rows of \(names.joined(separator: ", ")) that it refers to can't be deleted")))
    }

    private mutating func nameEntities() {
        var taken = Set(declared.map(\.name))
        entityNames = declared.map(\.name)
        for table in tables.dropFirst(declared.count) {
            var name = table.name
            var number = 2
            while !taken.insert(name).inserted {
                name = "\(table.name)\(number)"
                number += 1
            }
            entityNames.append(name)
        }
    }

    private mutating func readColumns(of number: Int) {
        let table = tables[number]
        var draft = Draft()
        if table.primaryKey.isEmpty {
            // Every table without a declared key has a rowid.
            let column = Self.rowIDNames.first { table.column($0) == nil } ?? "rowid"
            draft.properties.append(.attribute(Attribute(draft.claim("rowid"), column: column, type: .integer)))
        }
        let inReferences = Set(references[number].flatMap(\.columns).map { $0.foldedName })
        for column in table.columns
        where !inReferences.contains(column.name.foldedName) && (!column.isGenerated || table.source != nil) {
            draft.owners[column.name.foldedName] = draft.claim(Naming.lowerCamelCase(column.name))
        }
        let generated = table.columns.filter { $0.isGenerated && draft.owners[$0.name.foldedName] == nil }.map(\.name)
        if !generated.isEmpty {
            notes.append(
                SchemaProblem(
                    entity: table.name, property: generated.joined(separator: ", "),
                    message: generated.count == 1
                        ? "the database computes it: it is left out" : "the database computes them: they are left out"))
        }
        for (index, reference) in references[number].enumerated() {
            let whole = Naming.lowerCamelCase(reference.columns.joined(separator: "_"))
            let name = draft.claim(toOneName(reference.columns, reference.target), whole)
            references[number][index].property = name
            for column in reference.columns { draft.owners[column.foldedName] = name }
        }
        var added: Set<String> = []
        for column in table.columns {
            guard let name = draft.owners[column.name.foldedName], added.insert(name).inserted else { continue }
            if let reference = references[number].first(where: { $0.property == name }) {
                draft.properties.append(.relationship(toOne(reference, of: number)))
                continue
            }
            draft.properties.append(.attribute(attribute(name, column, of: table)))
        }
        drafts[number] = draft
    }

    private func attribute(_ name: String, _ column: ColumnDescription, of table: TableDescription) -> Attribute {
        let isKey = table.primaryKey.contains { $0.isSameName(as: column.name) }
        let type = column.valueType ?? AttributeType(declaredType: column.type)
        var attribute = Attribute(
            name, column: column.name, type: type, isOptional: !column.isRequired && !isKey,
            defaultValue: column.defaultSQL.flatMap(Value.init(literal:)),
            keepsIntegers: column.valueType == nil && type == .real
                && Affinity(declaredType: column.type) == .numeric)
        attribute.declaredType = column.shownType
        attribute.isGenerated = column.isGenerated
        attribute.holdsOtherTypes = isKey && !table.isKeyAssigned && table.source == nil
        return attribute
    }

    private func entity(_ number: Int) -> Entity {
        let table = tables[number]
        let key = table.primaryKey.isEmpty ? ["rowid"] : properties(of: table.primaryKey, in: number) ?? []
        let sets = table.indexes.filter(\.isPlain).compactMap { index in
            properties(of: index.columns, in: number).map { (names: $0, isUnique: index.isUnique) }
        }
        // The rule of the reference is also the rule of its inverse, unless the target is declared without one.
        let isKnown = { (names: [String], isUnique: Bool) in
            self.references[number].contains {
                [$0.property] == names && !(isUnique && $0.target < self.declared.count)
            }
        }
        var entity = Entity(
            name: entityNames[number], table: table.name, properties: drafts[number].properties, key: key,
            isKeyAssigned: table.primaryKey.isEmpty
                || (table.isKeyAssigned && !references[number].contains { [$0.property] == key }),
            uniques: sets.filter { $0.isUnique && $0.names != key && !isKnown($0.names, true) }.map(\.names).uniqued(),
            indexes: sets.filter { !$0.isUnique && !isKnown($0.names, false) }.map(\.names).uniqued())
        entity.foreignKeys = constraints[number]
        entity.source = table.source
        return entity
    }

    /// The properties that these columns make up; `nil` if they hold a part of a reference only.
    private func properties(of columns: [String], in number: Int) -> [String]? {
        let owners = drafts[number].owners
        let names = columns.compactMap { owners[$0.foldedName] }.uniqued()
        let count = owners.values.filter { names.contains($0) }.count
        return names.isEmpty || count != columns.count ? nil : names
    }
}

extension Array where Element: Hashable {
    /// The elements in order, each once.
    package func uniqued() -> [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
