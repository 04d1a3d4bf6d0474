import RelataCore

/// The classes of a store as a value: can be encoded, compared with another, and deployed to another store.
///
/// ```swift
/// let wanted = try await development.schema()
/// print(try await production.deploymentPlan(for: wanted))
/// try await production.deploy(wanted)
/// ```
public struct RecordSchema: Hashable, Sendable, Codable {
    let entities: [Entity]

    init(entities: [Entity]) { self.entities = entities }

    /// The classes of another store with the additions of this schema, and its rules for common classes.
    func merged(into known: [Entity]) -> [Entity] {
        var merged = known
        for wanted in entities {
            guard let index = merged.firstIndex(where: { $0.name == wanted.name }) else {
                merged.append(wanted)
                continue
            }
            var entity = merged[index]
            for property in wanted.properties {
                if let place = entity.properties.firstIndex(where: { $0.name == property.name }) {
                    entity.properties[place] = property
                } else {
                    entity.properties.append(property)
                }
            }
            entity.uniques += wanted.uniques.filter { !entity.uniques.contains($0) }
            entity.indexes += wanted.indexes.filter { !entity.indexes.contains($0) }
            entity.search = wanted.search ?? entity.search
            entity.revision = wanted.revision ?? entity.revision
            entity.createdAt = wanted.createdAt ?? entity.createdAt
            entity.updatedAt = wanted.updatedAt ?? entity.updatedAt
            merged[index] = entity
        }
        return merged
    }
}
