import RelataCore
import RelataEngine

/// The changes of entities that the file must record.
package struct EntityChanges {
    /// The new, removed or changed entities.
    private let changed: [(before: Entity?, after: Entity?)]
    /// The positions of new or changed entities; `nil` to find them by comparing all.
    package let places: Set<Int>?

    /// Compares entities at some positions with the old ones: all others are unchanged, in their positions.
    init(at touched: Set<Int>, of entities: [Entity], since old: [Entity]) {
        let places = touched.filter { !old.indices.contains($0) || old[$0] != entities[$0] }
        changed = places.sorted().map { (old.indices.contains($0) ? old[$0] : nil, entities[$0]) }
        self.places = places
    }

    /// Compares entities with the old ones.
    package init(_ entities: [Entity], since old: [Entity]) {
        // Entities keep their positions, and new ones come last, unless one was removed.
        let known = zip(old, entities).prefix { $0.name == $1.name }.count
        var changed: [(before: Entity?, after: Entity?)] = zip(old, entities).prefix(known).filter { $0 != $1 }
        let before = Dictionary(old[known...].map { ($0.name, $0) }) { first, _ in first }
        let after = Dictionary(entities[known...].map { ($0.name, $0) }) { first, _ in first }
        for entity in entities[known...] where before[entity.name] != entity {
            changed.append((before[entity.name], entity))
        }
        for entity in old[known...] where after[entity.name] == nil { changed.append((entity, nil)) }
        self.changed = changed
        places = nil
    }

    /// Whether the entities are unchanged.
    package var isEmpty: Bool { changed.isEmpty }

    /// The names of the new, removed or changed entities.
    package var names: Set<String> { Set(changed.compactMap { ($0.after ?? $0.before)?.name }) }

    /// A new entity whose name is taken, and the holder of the name: a view or an index of the file, or a module of the
    /// database.
    package func nameTaken(on connection: Connection) throws(RelataError) -> (entity: Entity, owner: String)? {
        for case (nil, let entity?) in changed {
            if let owner = try connection.driver.owner(ofName: entity.table, connection) { return (entity, owner) }
        }
        return nil
    }

    /// The new unique sets that stored objects violate.
    package func duplicates(
        in schema: Schema, on connection: Connection
    ) throws(RelataError) -> [(entity: String, properties: [String], values: String)] {
        var found: [(entity: String, properties: [String], values: String)] = []
        for case (let before?, let entity?) in changed {
            guard !entity.uniques.isEmpty, let table = schema[entity.name] else { continue }
            // New fields have no equal values.
            for set in entity.uniques
            where !before.uniques.contains(set) && set.allSatisfy({ before.property($0) != nil }) {
                let columns = set.flatMap { table.columnIndexes(of: $0) }.map { table.columns[$0].name }
                let question = DataQuestion.hasDuplicates(table: table.sqlName, columns: columns)
                guard let row = try connection.values(SQLStatement(question.query(connection.dialect))).first else {
                    continue
                }
                found.append((before.name, set, row.map(\.description).joined(separator: ", ")))
            }
        }
        return found
    }

    /// The step that drops removed parts, and adopts a file of another program.
    package var step: MigrationStep {
        var changes: [LossyChange] = [.adopting]
        for case (let before?, let after) in changed {
            guard let after else {
                changes.append(.dropping(before.name))
                changes += before.relationships.flatMap { Self.dropping($0, of: before) }
                continue
            }
            let kept = Set(after.properties.map(\.name))
            for property in before.properties where !kept.contains(property.name) {
                changes.append(.dropping("\(before.name).\(property.name)"))
                if case .relationship(let relationship) = property {
                    changes += Self.dropping(relationship, of: before)
                }
            }
        }
        return MigrationStep(allowing: changes)
    }

    /// The table of a many-to-many is dropped with it.
    private static func dropping(_ relationship: Relationship, of entity: Entity) -> [LossyChange] {
        guard case .manyToMany(let names) = relationship.kind else { return [] }
        return [.dropping(names.table ?? "\(entity.table)_\(relationship.name)")]
    }
}
