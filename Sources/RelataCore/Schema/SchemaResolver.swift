/// Turns entities that name each other into numbered tables, references and joins, and lists whatever doesn't fit.
///
/// All problems are collected before anything is thrown, so that a developer mends them in one go; a part that depends
/// on a broken one is skipped silently.
struct SchemaResolver {
    let entities: [Entity]
    var tables: [Table] = []
    var references: [Reference] = []
    var joins: [Join] = []
    var tableIndex: [String: Int] = [:]

    var problems: [SchemaProblem] = []
    /// The entities' relationships, taken out once.
    private(set) var relationships: [[Relationship]] = []
    /// The to-ones whose target exists, in the order of their numbers.
    var drafts: [ReferenceDraft] = []
    /// The drafts' numbers by entity and property.
    var draftNumbers: [PropertyName: Int] = [:]
    /// The view of each reference, by the reference's number.
    var views: [Int: View] = [:]
    /// The joins' numbers by the entity and property that declare them.
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

    mutating func resolve() throws(RelataError) {
        relationships = entities.map(\.relationships)
        checkNames()
        numberReferences()
        keys = Array(repeating: .unknown, count: entities.count)
        for index in entities.indices { _ = keyParts(of: index) }
        nameReferenceColumns()
        resolveViews()
        resolveReferences()
        resolveJoins()
        resolveTables()
        checkTableNames()
        if !problems.isEmpty { throw .schemaMismatch(problems) }
    }

    mutating func report(_ entity: Int, _ message: String) { report(entity, nil, message) }

    mutating func report(_ entity: Int, _ property: String?, _ message: String) {
        problems.append(SchemaProblem(entity: entities[entity].name, property: property, message: message))
    }

    private mutating func checkNames() {
        for (index, entity) in entities.enumerated() {
            if tableIndex.updateValue(index, forKey: entity.name) != nil {
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
        for index in entities.indices {
            for relationship in relationships[index] {
                guard let target = tableIndex[relationship.target] else {
                    report(
                        index, relationship.name,
                        "its target \(relationship.target) is unknown: add that model to the schema, or mend the name")
                    continue
                }
                guard case .toOne(let isOptional, let columns) = relationship.kind else { continue }
                let name = PropertyName(entity: index, property: relationship.name)
                guard draftNumbers[name] == nil else { continue }
                draftNumbers[name] = drafts.count
                drafts.append(
                    ReferenceDraft(
                        source: index, relationship: relationship, isOptional: isOptional, target: target,
                        columns: columns))
            }
        }
    }

    private mutating func resolveTables() {
        for (index, entity) in entities.enumerated() {
            let columns = columns(of: index)
            var links: [String: Link] = [:]
            for relationship in relationships[index] {
                links[relationship.name] = link(relationship, of: index)
            }
            let key = entity.key.flatMap { name in columns.indices.filter { columns[$0].property == name } }
            tables.append(Table(index: index, entity: entity, columns: columns, keyColumns: key, links: links))
            checkColumnNames(of: index)
            checkSets(of: index)
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
                        keepsIntegers: attribute.keepsIntegers,
                        isOptional: attribute.isOptional && !entity.key.contains(attribute.name),
                        defaultValue: attribute.defaultValue, reference: nil))
            case .relationship(let relationship):
                let name = PropertyName(entity: index, property: relationship.name)
                guard case .toOne = relationship.kind, let number = draftNumbers[name] else { continue }
                let draft = drafts[number]
                for (column, part) in zip(draft.columns, resolvedKeyParts(of: draft.target)) {
                    columns.append(
                        Column(
                            name: column, property: relationship.name, type: part.type, isOptional: draft.isOptional,
                            defaultValue: nil, reference: number))
                }
            }
        }
        return columns
    }
}
