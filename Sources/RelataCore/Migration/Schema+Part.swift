extension Schema {
    /// The tables that may have to change with these entities, and no others: their own, and those that store their
    /// relationships.
    ///
    /// - Parameter old: The schema before.
    package func tables(changedBy entities: Set<String>, since old: Schema) -> Set<String> {
        var names: Set<String> = []
        for entity in entities {
            for (schema, other) in [(self, old), (old, self)] {
                guard let table = schema[entity] else { continue }
                names.insert(table.sqlName)
                for relationship in table.entity.relationships
                where other[entity]?.entity.relationship(relationship.name) != relationship {
                    switch table.links[relationship.name] {
                    case .inverse(let number)?: names.insert(schema.tables[schema.references[number].source].sqlName)
                    case .join(let number, _)?: names.insert(schema.joins[number].table)
                    case .reference?, .through?, .matched?, nil: break
                    }
                }
            }
        }
        return names
    }
}
