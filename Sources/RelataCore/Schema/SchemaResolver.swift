/// Resolves entities that name each other into numbered tables, references and joins, and lists all problems.
///
/// All problems are collected before anything is thrown, so that a developer can fix them all at once; a part that
/// depends on a broken one is skipped silently.
///
/// If most entities are those of a resolved schema, only the others are resolved, and the rest is copied.
struct SchemaResolver {
    let entities: [Entity]
    /// The numbers of the entities that are resolved, in order.
    let scope: [Int]
    private let scopeSet: Set<Int>
    /// The schema that all others are copied from; `nil` if all are resolved.
    let old: Schema?
    var tables: [Table] = []
    var references: [Reference] = []
    var joins: [Join] = []
    var tableIndex: [String: Int] = [:]
    /// The owner of each table, by its name.
    var tableOwners: [FoldedName: TableOwner] = [:]

    var problems: [SchemaProblem] = []
    /// The relationships of the resolved entities, extracted once.
    private(set) var relationships: [[Relationship]] = []
    /// The to-ones whose target exists, by their numbers.
    var drafts: [Int: ReferenceDraft] = [:]
    /// The drafts' numbers by entity and property; those of other entities are in the old schema.
    var draftNumbers: [PropertyName: Int] = [:]
    /// The view of each reference, by the reference's number.
    var views: [Int: View] = [:]
    /// The joins' numbers by the entity and property that declare them; those of other entities are in the old schema.
    var joinNumbers: [PropertyName: Int] = [:]
    var keys: [KeyState] = []

    /// A property of an entity.
    struct PropertyName: Hashable {
        let entity: Int
        let property: String
    }

    /// A to-one before its rules and its view are known.
    struct ReferenceDraft {
        let source: Int
        let relationship: Relationship
        let isOptional: Bool
        let target: Int
        var columns: [String] = []
    }

    /// The declaration of the other side of a reference.
    struct View {
        let entity: Int
        let relationship: Relationship
    }

    /// Resolves all entities.
    init(entities: [Entity]) {
        self.entities = entities
        scope = Array(entities.indices)
        scopeSet = []
        old = nil
    }

    /// Resolves some entities, and copies all others.
    ///
    /// - Parameters:
    ///   - scope: The numbers of the entities that are resolved: see ``Schema/scope(of:since:)``.
    ///   - old: The schema with all entities that aren't new, by the same numbers.
    init(entities: [Entity], scope: [Int], copying old: Schema) {
        self.entities = entities
        self.scope = scope
        scopeSet = Set(scope)
        self.old = old
        tables = old.tables
        references = old.references
        joins = old.joins
        tableIndex = old.tableIndex
        tableOwners = old.tableOwners
    }

    mutating func resolve() throws(RelataError) {
        relationships = Array(repeating: [], count: entities.count)
        for index in scope { relationships[index] = entities[index].relationships }
        checkNames()
        numberReferences()
        keys = Array(repeating: .unknown, count: entities.count)
        for index in scope { _ = keyParts(of: index) }
        for index in scope {
            for target in relationships[index].compactMap({ tableIndex[$0.target] }) { _ = keyParts(of: target) }
        }
        nameReferenceColumns()
        resolveViews()
        resolveReferences()
        resolveJoins()
        resolveTables()
        checkTableNames()
        if !problems.isEmpty { throw .schemaMismatch(problems) }
    }

    /// Whether an entity is copied.
    func isCopied(_ index: Int) -> Bool { old != nil && !scopeSet.contains(index) }

    mutating func report(_ entity: Int, _ message: String) { report(entity, nil, message) }

    mutating func report(_ entity: Int, _ property: String?, _ message: String) {
        problems.append(SchemaProblem(entity: entities[entity].name, property: property, message: message))
    }

    private mutating func checkNames() {
        for index in scope {
            let entity = entities[index]
            if let known = tableIndex.updateValue(index, forKey: entity.name), known != index {
                report(index, "two entities have this name: rename one, or nest it in another type")
                tableIndex[entity.name] = entities.firstIndex { $0.name == entity.name }
            }
            var names: Set<String> = []
            for property in entity.properties where !names.insert(property.name).inserted {
                report(index, property.name, "two properties have this name: rename one")
            }
        }
    }

    private mutating func numberReferences() {
        var next = references.count
        for index in scope {
            for relationship in relationships[index] {
                guard let target = tableIndex[relationship.target] else {
                    report(
                        index, relationship.name,
                        "its target \(relationship.target) is unknown: add that model to the schema, or fix the name")
                    continue
                }
                guard case .toOne(let isOptional, let columns) = relationship.kind else { continue }
                let name = PropertyName(entity: index, property: relationship.name)
                guard draftNumbers[name] == nil else { continue }
                let number = oldReference(relationship.name, of: index) ?? next
                if number == next { next += 1 }
                draftNumbers[name] = number
                drafts[number] = ReferenceDraft(
                    source: index, relationship: relationship, isOptional: isOptional, target: target, columns: columns)
            }
        }
    }

    /// The number that a to-one has in the old schema.
    private func oldReference(_ property: String, of index: Int) -> Int? {
        guard let old, index < old.tables.count, case .reference(let number)? = old.tables[index].links[property] else {
            return nil
        }
        return number
    }

    /// The number of a to-one.
    func draftNumber(_ property: String, of index: Int) -> Int? {
        draftNumbers[PropertyName(entity: index, property: property)] ?? oldReference(property, of: index)
    }

    /// The name of the entity that a to-one leads to.
    func target(ofDraft number: Int) -> String {
        drafts[number]?.relationship.target ?? entities[references[number].target].name
    }

    private mutating func resolveTables() {
        for index in scope {
            let entity = entities[index]
            let columns = columns(of: index)
            var links: [String: Link] = [:]
            for relationship in relationships[index] {
                links[relationship.name] = link(relationship, of: index)
            }
            let key = entity.key.flatMap { name in columns.indices.filter { columns[$0].property == name } }
            tables.put(
                Table(index: index, entity: entity, columns: columns, keyColumns: key, links: links), at: index)
            checkColumnNames(of: index)
            checkSets(of: index)
            checkSearch(of: index)
            checkAttributes(of: index)
        }
    }

    private func columns(of index: Int) -> [Column] {
        let entity = entities[index]
        var columns: [Column] = []
        for property in entity.properties {
            switch property {
            case .attribute(let attribute):
                columns.append(
                    Column(
                        name: attribute.column, property: attribute.name, type: attribute.type,
                        keepsIntegers: attribute.keepsIntegers, holdsOtherTypes: attribute.holdsOtherTypes,
                        isOptional: attribute.isOptional && !entity.key.contains(attribute.name),
                        defaultValue: attribute.defaultValue, defaultSQL: entity.columnDefaults[attribute.column],
                        reference: nil))
            case .relationship(let relationship):
                let name = PropertyName(entity: index, property: relationship.name)
                guard case .toOne = relationship.kind, let number = draftNumbers[name], let draft = drafts[number]
                else { continue }
                for (column, part) in zip(draft.columns, resolvedKeyParts(of: draft.target)) {
                    columns.append(
                        Column(
                            name: column, property: relationship.name, type: part.type,
                            holdsOtherTypes: part.holdsOtherTypes, isOptional: draft.isOptional, defaultValue: nil,
                            defaultSQL: entity.columnDefaults[column], reference: number))
                }
            }
        }
        return columns
    }
}

extension Array {
    /// Puts an element in its position, replacing another or at the end.
    mutating func put(_ element: Element, at index: Int) {
        if index < count { self[index] = element } else { append(element) }
    }
}
